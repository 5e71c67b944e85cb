"""Scored inference rules, and judged applications of rules.

A rule states that one predicate entails another: `be abandoned by → abandon` with swapped arguments. Files write the
same rule in several ways; here it is normalised.
"""

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from chorale.files.json_text import FlawError
from chorale.kits.rules.files.text_tables import TextTable, column_of, read_table, sound_rows
from chorale.model.plural import plural
from chorale.model.reprs import brief_repr

_REVERSED = "@R@"
_ARROWS = {"->": False, "-R>": True}
_VARIABLES = re.compile(r"(?:(?P<straight>X\s+(?P<between>\S.*?)\s+Y)|Y\s+(?P<turned>\S.*?)\s+X)")
_ANSWERS = {
    **dict.fromkeys(("yes", "y", "true", "1", "entailing"), True),
    **dict.fromkeys(("no", "n", "false", "0", "non-entailing"), False),
}
_MEANINGLESS = "meaningless"
_JUDGMENTS = "Write Yes or No. A table with a header can also have Meaningless."
_ARTICLES = frozenset({"a", "an", "the"})


class Rule(NamedTuple):
    """An inference rule. Predicates are in lower case with single spaces."""

    lhs: str
    rhs: str
    turned: bool
    """Whether the arguments are swapped: X … Y entails Y … X."""


@dataclass(frozen=True, slots=True)
class JudgedApplication:
    """An application of a rule, and whether people judged it as valid."""

    rule: Rule
    entails: bool
    confidence: float | None
    """None if the file has no confidence."""
    phrases: tuple[str, str] | None
    """The phrase and its conclusion, if the file has them."""
    meaningless: bool = False
    """Whether the left phrase is meaningless, so that nothing follows from it."""
    line: int | None = None
    """Line in its file."""


@dataclass(frozen=True, slots=True)
class JudgedFile:
    applications: tuple[JudgedApplication, ...]
    digest: str
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class RuleSet:
    """A resource of rules with their scores."""

    name: str
    scores: Mapping[Rule, float]
    digest: str
    scored: bool
    """Whether the file has scores. Otherwise all rules have score 1."""
    notes: tuple[str, ...] = ()
    size: int | None = None
    """Total number of rules, including those not in memory."""

    def __repr__(self) -> str:
        return brief_repr("RuleSet", self.name, plural(self.rules, "rule", "rules"))

    @property
    def rules(self) -> int:
        return len(self.scores) if self.size is None else self.size


def rule_of(lhs: str, rhs: str, *, turned: bool = False) -> Rule:
    """Parses a rule from its two sides in a file.

    `@R@` after a predicate, or `Y … X` instead of `X … Y`, marks swapped arguments.

    >>> rule_of("be abandoned by", "Abandon@R@")
    Rule(lhs='be abandoned by', rhs='abandon', turned=True)
    >>> rule_of("X work as Y", "X hired  as Y")
    Rule(lhs='work as', rhs='hired as', turned=False)
    """
    left, left_turned = _predicate(lhs)
    right, right_turned = _predicate(rhs)
    return Rule(left, right, turned ^ left_turned ^ right_turned)


def read_rules(path: Path) -> RuleSet:
    """Reads rules from a table with the columns `lhs` and `rhs` (or `rule_lhs`, `rule_rhs`) and optionally `score`.

    Tab-separated files need no header: two predicates and optionally a score, or two typed predicates with an arrow
    between them (`<contain::food::metal>`, `->` or `-R>`), as in the published sets. Types are removed. If a rule
    occurs several times, the highest score counts.
    """
    table = read_table(path, _is_rule_header)
    read: Callable[[Sequence[str]], tuple[Rule, float | None]] = _untitled_rule
    if table.columns is not None:
        lhs, rhs = _side_columns(table)
        score = table.columns.index("score") if "score" in table.columns else None

        def read(cells: Sequence[str]) -> tuple[Rule, float | None]:
            return rule_of(cells[lhs], cells[rhs]), None if score is None else _score(cells[score])

    rules = [rule for _, rule in sound_rows(table, read)]
    scores: dict[Rule, float] = {}
    for rule, scored_as in rules:
        value = 1.0 if scored_as is None else scored_as
        scores[rule] = max(value, scores.get(rule, value))
    scored = any(scored_as is not None for _, scored_as in rules)
    notes = []
    repeated = len(rules) - len(scores)
    if repeated:
        notes.append(
            f"{path}: {repeated:,} of {len(rules):,} rules {'is a duplicate' if repeated == 1 else 'are duplicates'}. "
            "Rules are compared without types, and arguments swapped on both sides make no difference. The highest "
            "score counts."
        )
    if not scored:
        notes.append(f"{path} has no scores, so all its rules have the same score and its curve is a single point.")
    return RuleSet(stem_of(path), scores, table.digest, scored, tuple(notes))


def read_judged(path: Path) -> JudgedFile:
    """Reads judged applications from a table, or from the Levy/Holt format.

    The table has `rule_lhs`, `rule_rhs` and `judgment`, and optionally `confidence`, `lhs` and `rhs` (the two phrases).
    Without `rule_lhs`, `lhs` and `rhs` are the predicates. Levy/Holt has no header. Its lines have three cells,
    separated by tabs: conclusion, premise (both as `argument, predicate, argument`), and True or False.
    """
    table = read_table(path, lambda names: "judgment" in names)
    if table.columns is None:
        return _levy_holt(table)
    lhs, rhs = _side_columns(table)
    judgment = column_of(table, "judgment")
    confidence = table.columns.index("confidence") if "confidence" in table.columns else None
    phrases = None
    if "rule_lhs" in table.columns and {"lhs", "rhs"} <= set(table.columns):
        phrases = table.columns.index("lhs"), table.columns.index("rhs")

    def read(cells: Sequence[str]) -> JudgedApplication:
        return JudgedApplication(
            rule_of(cells[lhs], cells[rhs]),
            not _is_meaningless(cells[judgment]) and _answer(cells[judgment]),
            None if confidence is None else _confidence(cells[confidence]),
            None if phrases is None else (cells[phrases[0]], cells[phrases[1]]),
            _is_meaningless(cells[judgment]),
        )

    return JudgedFile(_applications(table, read), table.digest)


def _applications(
    table: TextTable, read: Callable[[Sequence[str]], JudgedApplication]
) -> tuple[JudgedApplication, ...]:
    return tuple(replace(application, line=line) for line, application in sound_rows(table, read))


# Cells


def _is_rule_header(names: Sequence[str]) -> bool:
    return {"lhs", "rhs"} <= set(names) or {"rule_lhs", "rule_rhs"} <= set(names)


def _side_columns(table: TextTable) -> tuple[int, int]:
    prefix = "rule_" if "rule_lhs" in (table.columns or ()) else ""
    return column_of(table, f"{prefix}lhs"), column_of(table, f"{prefix}rhs")


def stem_of(path: Path) -> str:
    """The file name without its extension, compressed or not."""
    name = path.name.removesuffix(".gz")
    return name.rpartition(".")[0] or name


def _predicate(text: str) -> tuple[str, bool]:
    plain = text.strip()
    turned = plain.endswith(_REVERSED)
    plain = plain.removesuffix(_REVERSED).strip()
    if match := _VARIABLES.fullmatch(plain):
        plain, turned = match["between"] or match["turned"], turned ^ (match["straight"] is None)
    if not plain:
        raise FlawError("has no predicate on one side of the rule", "Write both sides.")
    return " ".join(plain.lower().split()), turned


def _untitled_rule(cells: Sequence[str]) -> tuple[Rule, float | None]:
    if len(cells) in {3, 4} and cells[1] in _ARROWS:
        score = _score(cells[3]) if len(cells) == 4 else None
        return _typed_rule(cells[0], cells[1], cells[2]), score
    if len(cells) not in {2, 3}:
        fix = "Write two predicates and optionally a score, separated by tabs."
        raise FlawError("is not a rule", fix, "\t".join(cells))
    return rule_of(cells[0], cells[1]), _score(cells[2]) if len(cells) == 3 else None


def _typed_rule(lhs: str, arrow: str, rhs: str) -> Rule:
    """An edge between typed predicates. If the types differ, they identify the arguments."""
    sides = [side.strip().removeprefix("<").removesuffix(">").rsplit("::", 2) for side in (lhs, rhs)]
    for side, text in zip(sides, (lhs, rhs), strict=True):
        if len(side) != 3:
            raise FlawError("has no typed predicate next to the arrow", "Write <predicate::type::type>.", text)
    (left, first, second), (right, other_first, other_second) = sides
    by_type = first != second and (other_first, other_second) == (second, first)
    return rule_of(left, right, turned=_ARROWS[arrow] ^ by_type)


def _score(text: str) -> float:
    number = _number(text)
    if number is None:
        raise FlawError("has a score that is not a number", "Write a number. Higher is better.", text)
    return number


def _confidence(text: str) -> float | None:
    if not text.strip():
        return None
    number = _number(text)
    if number is None or not 0 <= number <= 1:
        raise FlawError("has a confidence that is not between 0 and 1", "Write a fraction, or leave it empty.", text)
    return number


def _number(text: str) -> float | None:
    try:
        number = float(text)
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _is_meaningless(text: str) -> bool:
    return text.strip().lower() == _MEANINGLESS


def _answer(text: str) -> bool:
    answer = _ANSWERS.get(text.strip().lower())
    if answer is None:
        raise FlawError("has a judgment that is neither yes nor no", _JUDGMENTS, text)
    return answer


# Levy/Holt


def _levy_holt(table: TextTable) -> JudgedFile:
    unclear = 0

    def read(cells: Sequence[str]) -> JudgedApplication:
        nonlocal unclear
        if len(cells) != 3:
            fix = (
                "Write a header with the column judgment, or lines in the Levy/Holt format: conclusion, premise, and "
                "True or False, separated by tabs."
            )
            raise FlawError("is not a judged application", fix, "\t".join(cells))
        (first, concluded, second), (other_first, given, other_second) = _triple(cells[0]), _triple(cells[1])
        straight = _likeness(first, other_first) + _likeness(second, other_second)
        crossed = _likeness(first, other_second) + _likeness(second, other_first)
        unclear += straight == crossed
        rule = rule_of(given, concluded, turned=crossed > straight)
        return JudgedApplication(rule, _answer(cells[2]), None, (cells[1], cells[0]))

    applications = _applications(table, read)
    notes: tuple[str, ...] = ()
    if unclear:
        notes = (
            f"{table.path}: in {plural(unclear, 'application', 'applications')} it is unclear which arguments "
            "correspond. They are assumed to be in the same order.",
        )
    return JudgedFile(applications, table.digest, notes)


def _triple(text: str) -> list[str]:
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 3 or not all(parts):
        raise FlawError("is not an argument, predicate and argument", "Write three parts, separated by commas.", text)
    return parts


def _likeness(left: str, right: str) -> int:
    """2 for the same argument, 1 for a common word, ignoring articles and plural s."""
    if left == right:
        return 2
    return int(bool(_words(left) & _words(right)))


def _words(text: str) -> set[str]:
    return {word.removesuffix("s") for word in text.lower().split()} - _ARTICLES
