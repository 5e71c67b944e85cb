"""Finds the columns of a file that hold the judgments."""

import difflib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from chorale.files.shortening import shortened
from chorale.model import Problem, UserError

_INPUT, _ANSWER = "Input.", "Answer."
FREE_TEXT = "free_text_fields"
"""The column of Chorale's tables of judgments with the names of the fields with free text, separated by blanks."""
_GOLD = "_gold"
_ORDER = "_order"
_OTHER_NAMES = {
    "task": ("task", "item", "unit", "question", "hit"),
    "worker": ("worker", "annotator", "rater", "coder", "user", "participant"),
    "label": ("label", "answer", "response", "annotation", "judgment", "category"),
}
"""Usual column names in other tools' files, by role."""
_SURELY_MEANT, _PERHAPS_MEANT = 0.8, 0.5


@dataclass(frozen=True, slots=True)
class JudgmentLayout:
    task: str
    worker: str
    label: str
    trust: str | None = None
    refusal: str | None = None
    """The column of a batch file that shows whether work was rejected."""
    refused: frozenset[str] = frozenset()
    """Its values for rejected work, in lower case."""
    candidates: tuple[str, ...] = ()
    """The possible answer columns, if there are several and none was named."""
    free_text: str | None = None
    """The column that names the fields with free text, in Chorale's own tables."""
    field: str | None = None
    """The column with the field of each row, in tables with a row for every value of every field."""
    kind: str | None = None
    """The column with the kind of that field."""
    boxes: tuple[str, ...] = ()
    """The columns of the single options, true or false, if the label joins several options, in a batch file of Chorale.
    Unlike the label, they are unambiguous if an option contains the separator, or if nothing was chosen."""
    platform: str | None = None
    """The platform that the file comes from; None if no columns show it."""

    @property
    def roles(self) -> dict[str, str]:
        """The existing columns, by role."""
        roles = ("task", "worker", "label", "trust", "refusal", "free_text", "field", "kind")
        return {role: name for role in roles if (name := getattr(self, role)) is not None}

    @property
    def columns(self) -> list[str]:
        return list(dict.fromkeys((*self.roles.values(), *self.boxes)))


@dataclass(frozen=True, slots=True)
class _PlatformColumns:
    name: str
    task: str
    worker: str
    trust: str | None
    refusal: str
    refused: frozenset[str]
    own: frozenset[str] = frozenset()
    """Columns that only its files have, if those of tasks and workers are ambiguous."""
    beside: frozenset[str] = frozenset()
    """Columns that are not answers."""

    def made(self, names: Sequence[str]) -> bool:
        """Whether a file with these columns comes from the platform."""
        return {self.task, self.worker, *self.own} <= set(names)

    def renamed(self, names: Sequence[str]) -> bool:
        """Whether a file comes from the platform, although its columns of tasks or workers were renamed."""
        if self.task == "HITId":
            is_batch = any(name.startswith((_INPUT, _ANSWER)) for name in names)
        else:
            is_batch = self.task in names or self.worker in names
        return self.refusal in _ONLY_THERE and is_batch and {self.refusal, *self.own} <= set(names)


_COUNTS = "Counts"
_ONLY_THERE = (_COUNTS, "AssignmentStatus", "_tainted")
"""Columns of rejected work in batch files."""
MECHANICAL_TURK, APPEN = "Mechanical Turk", "Appen"
_PLATFORMS = (
    # Chorale's answers in the columns of Mechanical Turk: all are paid, so none is rejected, but some do not count.
    _PlatformColumns(
        "Chorale",
        "HITId",
        "WorkerId",
        None,
        _COUNTS,
        frozenset({"no"}),
        frozenset({"AssignmentStatus", _COUNTS}),
    ),
    _PlatformColumns(MECHANICAL_TURK, "HITId", "WorkerId", None, "AssignmentStatus", frozenset({"rejected"})),
    _PlatformColumns(APPEN, "_unit_id", "_worker_id", "_trust", "_tainted", frozenset({"true"})),
    _PlatformColumns(
        "Chorale",
        "item",
        "worker",
        None,
        "counts",
        frozenset({"false"}),
        frozenset({"response", "answer", "counts", "item_state"}),
    ),
    _PlatformColumns(
        "Chorale",
        "item",
        "worker",
        "trust",
        "counts",
        frozenset(),
        frozenset({"trust"}),
        frozenset({"item", "worker", "trust", FREE_TEXT}),
    ),
)
_OWN_ANSWER = "answer."
"""The prefix of field names in Chorale's table of responses."""
_TIDY = frozenset({"item", "field", "kind", "value"})
_NO_JUDGMENTS = (
    (_TIDY, "has a row for every value of every field"),
    ({"stage", "item", "payload", "label", "confidence"}, "has aggregated labels, not judgments"),
    ({"item", "confidence", "judgments", "released"}, "has aggregated labels, not judgments"),
)
"""Other tables written by Chorale, recognised by their columns."""


def layout_of(
    path: Path,
    names: Sequence[str],
    *,
    task: str | None = None,
    worker: str | None = None,
    label: str | None = None,
    trust: str | None = None,
    several: bool = False,
) -> JudgmentLayout:
    """The named columns, or the usual ones of this kind of file; UserError if they are missing.

    With `several`, a batch file may have several possible answer columns, which become candidates.
    """
    platform = next(
        (
            each
            for made in (_PlatformColumns.made, _PlatformColumns.renamed)
            for each in _PLATFORMS
            if made(each, names)
        ),
        None,
    )
    problems: list[Problem] = []
    if label is None or task is None:
        _refuse_other_tables(path, names)
    find = partial(column_in, path, names, problems=problems)
    task_column = find("task", task or _default("task", names, platform))
    worker_column = find("worker", worker or _default("worker", names, platform))
    candidates: tuple[str, ...] = ()
    if label is None and platform is not None and "label" not in names:
        candidates = tuple(_answer_columns(names, platform.beside))
        label_column = candidates[0] if len(candidates) == 1 else ""
        if not candidates or (len(candidates) > 1 and not several):
            problems.append(_no_answer(path, candidates, platform))
    else:
        label_column = find("label", _with_prefix(label or "label", names))
    trust_column = None if trust is None else find("trust", trust)
    if problems:
        raise UserError(f"{path} can't be used", problems)
    free_text = FREE_TEXT if FREE_TEXT in names else None
    if platform is None:
        field, kind = ("field", "kind") if set(names) >= _TIDY else (None, None)
        return JudgmentLayout(
            task_column, worker_column, label_column, trust_column, free_text=free_text, field=field, kind=kind
        )
    if trust_column is None and platform.trust in names:
        trust_column = platform.trust
    refusal = platform.refusal if platform.refusal in names else None
    layout = JudgmentLayout(
        task_column, worker_column, label_column, trust_column, refusal, platform.refused, candidates, free_text
    )
    layout = replace(layout, platform=platform.name)
    return replace(layout, boxes=boxes_of(layout, label_column, names))


def boxes_of(layout: JudgmentLayout, label: str, names: Sequence[str]) -> tuple[str, ...]:
    """The columns of a field's options, such as `Answer.topics.law` of `Answer.topics`, in a batch file of Chorale."""
    has_boxes = label.startswith(_ANSWER) and layout.refusal == _COUNTS
    return tuple(name for name in names if name.startswith(f"{label}.")) if has_boxes else ()


def field_of(label: str) -> str:
    """The field in a column of answers."""
    return label.removeprefix(_ANSWER).removeprefix(_OWN_ANSWER)


def _default(role: str, names: Sequence[str], platform: _PlatformColumns | None) -> str:
    """The usual column for a role. In Chorale's own tables, `task` has the kind of work, not the item."""
    if platform is None or (role in names and not platform.own):
        return role
    return platform.task if role == "task" else platform.worker


def _with_prefix(label: str, names: Sequence[str]) -> str:
    """An answer column may be named without its prefix."""
    prefixed = (before + label for before in (_ANSWER, _OWN_ANSWER) if before + label in names)
    return label if label in names else next(prefixed, label)


def column_in(
    path: Path, names: Sequence[str], role: str, name: str, problems: list[Problem], *, option: str | None = None
) -> str:
    """The name of a column; if it does not exist, report a problem with a suggestion."""
    if name not in names:
        option = option or f"--{role}"
        probable = _probably_meant(role, name, names)
        meant = "" if probable is None else f" Did you mean {option} {probable!r}?"
        # Where an option calls tasks items, its hint does too.
        noun = "item" if option.endswith("item") else "weight" if role == "trust" else role
        fix = f"Name the column of {noun}s with {option}.{meant}"
        problems.append(Problem(str(path), 1, f"has no column {name!r}", fix, f"columns {_shown(names)}"))
    return name


def _probably_meant(role: str, name: str, names: Sequence[str]) -> str | None:
    """A column with a very similar spelling, else one with the usual name for the role, else one with a similar
    spelling.
    """
    free = [each for each in names if _usual_role(each) in (role, None)]
    small = {each.lower(): each for each in reversed(free)}
    near = difflib.get_close_matches(name.lower(), small, n=1, cutoff=_SURELY_MEANT)
    near = near or [each.lower() for each in free if _usual_role(each) == role][:1]
    near = near or difflib.get_close_matches(name.lower(), small, n=1, cutoff=_PERHAPS_MEANT)
    return small[near[0]] if near else None


def _usual_role(column: str) -> str | None:
    """The usual role of a column with this name: _worker_id, WorkerId and worker are equivalent.

    >>> _usual_role("_worker_id"), _usual_role("HITId"), _usual_role("Answer.category"), _usual_role("age")
    ('worker', 'task', 'label', None)
    """
    plain = re.sub(r"[^a-z0-9]", "", column.removeprefix(_ANSWER).lower())
    return next((role for role, known in _OTHER_NAMES.items() if plain.removesuffix("id") in known), None)


def _refuse_other_tables(path: Path, names: Sequence[str]) -> None:
    for columns, problem in _NO_JUDGMENTS:
        if columns <= set(names):
            fix = "Use the `crowdkit` export of the study, and name a field with --label."
            raise UserError(f"{path} can't be used", [Problem(str(path), 1, problem, fix)])


def _answer_columns(names: Sequence[str], beside: frozenset[str]) -> list[str]:
    """The possible answer columns: those marked by the platform, or else all that are not the platform's own."""
    marked = [name for name in names if name.startswith((_ANSWER, _OWN_ANSWER)) or f"{name}{_GOLD}" in names]
    if not marked and "answer" in names:
        marked = ["answer"]
    if _COUNTS in names:
        # The columns of single options belong to the field with all of them.
        marked = [name for name in marked if not any(name.startswith(f"{other}.") for other in marked)]
    rest = [name for name in names if not name.startswith("_") and not name.endswith((_GOLD, _ORDER))]
    return marked or [name for name in rest if name not in beside]


def _no_answer(path: Path, candidates: Sequence[str], platform: _PlatformColumns) -> Problem:
    kind = "table" if platform.own else "batch file"
    if not candidates:
        message = f"is a {kind} of {platform.name} without an answer column"
        return Problem(str(path), 1, message, "Check the file name.")
    message = f"is a {kind} of {platform.name} with several possible answer columns"
    return Problem(str(path), 1, message, "Choose one with --label.", _shown(candidates))


def _shown(names: Sequence[str]) -> str:
    return ", ".join(shortened(name) for name in names)
