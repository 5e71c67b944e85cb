"""Applies rules to extractions, to create items for annotators.

As in section 4 of Zeichner, Berant and Dagan (2012): extractions are sampled from those that enough rules of the
resources match. For each of them, rules are sampled from the union of the resources. Every extraction has the same
probability, however often it occurs, and so has every matching rule, however many resources contain it.
"""

import hashlib
import heapq
import random
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from chorale.kits.rules.files.resources import read_resources, rules_by_left_side
from chorale.kits.rules.files.rules import Rule, RuleSet
from chorale.model import UserError
from chorale.model.plural import plural

LONGEST_PHRASE = 500
"""Maximum length of a phrase in characters."""


class Extraction(NamedTuple):
    arg1: str
    predicate: str
    arg2: str


@dataclass(frozen=True, slots=True)
class DrawnApplication:
    extraction: Extraction
    rule: Rule
    resources: Mapping[str, float]
    """The resources that proposed the rule, with their scores."""

    @property
    def phrases(self) -> tuple[str, str]:
        subject, predicate, object_ = self.extraction
        first, second = (object_, subject) if self.rule.turned else (subject, object_)
        return f"{subject} {predicate} {object_}", f"{first} {self.rule.rhs} {second}"

    def as_item(self, key: str, number: int) -> dict[str, Any]:
        """A row for the rules template."""
        lhs, rhs = self.phrases
        return {
            "id": key,
            "rule_lhs": self.rule.lhs,
            "rule_rhs": f"{self.rule.rhs}@R@" if self.rule.turned else self.rule.rhs,
            "lhs": lhs,
            "rhs": rhs,
            "extraction": number,
            "resources": list(self.resources),
            "scores": list(self.resources.values()),
        }


@dataclass(frozen=True, slots=True)
class Applied:
    applications: tuple[DrawnApplication, ...]
    extractions: int
    """Number of sampled extractions."""
    matching: int
    """Number of extractions that enough rules match, including repeated ones."""
    read: int

    def items(self) -> Iterator[dict[str, Any]]:
        numbers: dict[Extraction, int] = {}
        for place, application in enumerate(self.applications, 1):
            number = numbers.setdefault(application.extraction, len(numbers) + 1)
            yield application.as_item(f"a{place:05}", number)


def apply_rules(
    extractions: Iterable[pl.DataFrame],
    resources: Sequence[Path],
    *,
    sample: int,
    per_extraction: int,
    at_least: int,
    seed: int,
) -> Applied:
    """Applies sampled rules to sampled extractions. The order of rows and rules in the files does not matter."""
    fitting = {lhs for lhs, rules in rules_by_left_side(resources).items() if rules >= at_least}
    drawn, matching, read = _drawn_extractions(extractions, fitting, sample, seed)
    if not drawn:
        nothing = f"No extraction matches the left side of at least {plural(at_least, 'rule', 'rules')}"
        raise UserError(f"{nothing}. Lower --at-least, or use other files.")
    wanted = {spelled(each.predicate) for each in drawn}
    sets = [one for path in resources for one in read_resources(path, wanted)]
    by_lhs = _by_left_side(sets)
    applications = [
        application
        for extraction in drawn
        for application in _drawn_rules(extraction, by_lhs.get(spelled(extraction.predicate), {}), per_extraction, seed)
    ]
    return Applied(tuple(applications), len({each.extraction for each in applications}), matching, read)


def spelled(predicate: str) -> str:
    """A predicate in the spelling of rules."""
    return " ".join(predicate.lower().split())


def _drawn_extractions(
    tables: Iterable[pl.DataFrame], fitting: set[str], sample: int, seed: int
) -> tuple[list[Extraction], int, int]:
    """The extractions with the smallest random numbers, which depend only on the seed and the extraction."""
    kept: dict[int, Extraction] = {}
    matching = read = 0
    lhs = sorted(fitting)
    predicate = pl.col("predicate").str.to_lowercase().str.replace_all(r"\s+", " ").str.strip_chars()
    for table in tables:
        read += table.height
        fitting_rows = table.filter(predicate.is_in(lhs)).select("arg1", "predicate", "arg2")
        matching += fitting_rows.height
        for row in fitting_rows.unique().iter_rows():
            extraction = Extraction(*(" ".join(part.split()) for part in row))
            kept[_number(seed, extraction)] = extraction
        if len(kept) > 2 * sample:
            kept = {number: kept[number] for number in heapq.nsmallest(sample, kept)}
    return [kept[number] for number in heapq.nsmallest(sample, kept)], matching, read


def _number(seed: int, extraction: Extraction) -> int:
    text = "\t".join((str(seed), *extraction))
    return int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "big")


def _by_left_side(sets: Sequence[RuleSet]) -> dict[str, dict[Rule, dict[str, float]]]:
    by_left_side: dict[str, dict[Rule, dict[str, float]]] = {}
    for rule_set in sets:
        for rule, score in rule_set.scores.items():
            by_left_side.setdefault(rule.lhs, {}).setdefault(rule, {})[rule_set.name] = score
    return by_left_side


def _drawn_rules(
    extraction: Extraction, rules: Mapping[Rule, Mapping[str, float]], per_extraction: int, seed: int
) -> Iterator[DrawnApplication]:
    possible = [DrawnApplication(extraction, rule, rules[rule]) for rule in sorted(rules)]
    sound = [one for one in possible if len(set(one.phrases)) == 2 and max(map(len, one.phrases)) <= LONGEST_PHRASE]
    rng = random.Random(_number(seed + 1, extraction))
    yield from rng.sample(sound, min(per_extraction, len(sound)))
