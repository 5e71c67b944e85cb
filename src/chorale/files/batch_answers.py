"""The answer columns of a batch file, and their types."""

import json
import re
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

JSON_LISTS = "json"
MOST_FIELDS = 30
MOST_OPTIONS, LONGEST_OPTION = 50, 100
"""Maximum number of different labels, and their length, for a column to be a choice."""
ANSWER, INPUT, GOLD = "Answer.", "Input.", "_gold"
_LONGEST_NAME = 40
_TAKEN = frozenset({"item", "worker", "trust", "confidence", "judgments", "released"})
_ENDINGS = ("_confidence", "_order")


@dataclass(frozen=True, slots=True)
class BatchField:
    """A column of answers."""

    name: str
    """Its name in the form."""
    column: str
    sep: str | None
    """The separator between labels of a set; None if an answer is a single label or text."""
    is_text: bool = False
    """Whether the file is one of Chorale's tables and lists the field as free text."""
    boxes: tuple[str, ...] = ()
    """The columns of its options, true or false, in a batch file of Chorale."""

    @property
    def title(self) -> str:
        """The column's name without the platform's prefix."""
        return self.column.removeprefix(ANSWER).strip() or self.column


class AnswerScan:
    """Reads all rows of a file and determines which of the possible answer columns hold answers.

    Forms also send hidden fields that repeat the item: a column that equals an item column in every row is not an
    answer. If a file does not separate answers from items, columns that are constant within a task belong to the
    item.
    """

    def __init__(self, names: Sequence[str], candidates: Sequence[str], task: str, sep: str) -> None:
        self._candidates, self._sep = candidates, sep
        self._places = {name: place for place, name in enumerate(names)}
        self._task = self._places[task]
        self._unfilled = set(candidates)
        self._labels = {name: LabelScan(sep) for name in candidates}
        self._marked = any(name.startswith(ANSWER) or f"{name}{GOLD}" in self._places for name in candidates)
        items = [name for name in names if name.startswith(INPUT) or _may_be_item(name, candidates)]
        self._repeating = {(name, item) for name in candidates for item in items} if self._marked else set()
        self._constant = set() if self._marked else set(candidates)
        self._first: dict[str, array[int]] = {}

    def look(self, cells: Sequence[Any]) -> None:
        """Process a row."""
        places = self._places
        for name in self._candidates:
            value = cells[places[name]]
            if isinstance(value, str | list):
                self._labels[name].look(value)
            if name in self._unfilled and _has_text(value):
                self._unfilled.discard(name)
        if self._repeating:
            self._repeating -= {
                (name, item)
                for name, item in self._repeating
                if not _are_alike(cells[places[name]], cells[places[item]])
            }
        if self._constant:
            self._compare(str(cells[self._task]), cells)

    def _compare(self, task: str, cells: Sequence[Any]) -> None:
        # Hashes instead of values, which may be long texts of many tasks.
        here = array("q", [hash(repr(cells[self._places[name]])) for name in self._candidates])
        first = self._first.setdefault(task, here)
        if first != here:
            same = zip(self._candidates, first, here, strict=True)
            self._constant -= {name for name, left, right in same if left != right}

    def fields(self) -> list[BatchField]:
        """A field for each answer column, with valid names for a form."""
        filled = [name for name in self._candidates if name not in self._unfilled]
        if self._marked and filled:
            repeating = {name for name, _ in self._repeating}
            columns = [name for name in filled if name not in repeating] or filled
        else:
            columns = [name for name in filled if name not in self._constant]
        fields: dict[str, BatchField] = {}
        for column in columns:
            plain = name = _name(column)
            number = 2
            while name in fields:
                name = f"{plain[: _LONGEST_NAME - 4]}_{number}"
                number += 1
            fields[name] = BatchField(name, column, self._labels[column].sep)
        return list(fields.values())


def _may_be_item(name: str, candidates: Sequence[str]) -> bool:
    return f"{name}{GOLD}" not in candidates and name not in candidates and not name.startswith("_")


def _has_text(value: Any) -> bool:
    return value is not None and str(value).strip() != ""


def _are_alike(left: Any, right: Any) -> bool:
    return bool(left == right) or _plain(left) == _plain(right)


def _plain(value: Any) -> str:
    return " ".join(str(value if value is not None else "").casefold().split())


def is_list(value: Any) -> bool:
    """Whether a cell is a list of labels: a list, or the text of a JSON list, as in Chorale's own tables."""
    if isinstance(value, str):
        try:
            value = json.loads(value) if value.startswith("[") else None
        except (ValueError, RecursionError):
            return False
    return isinstance(value, list) and all(isinstance(each, str) for each in value)


class LabelScan:
    """The different labels of a column, collected until there are too many for the options of a choice."""

    def __init__(self, sep: str) -> None:
        self._sep = sep
        self._lists = True
        """Whether all cells are lists of labels."""
        self._seen = self._separated = False
        self._different: set[str] = set()
        self._count = 0
        self._possible = True

    def look(self, value: str | list[Any]) -> None:
        """Process a cell."""
        if isinstance(value, str) and not value.strip():
            return
        self._lists = self._lists and is_list(value)
        text = value if isinstance(value, str) else json.dumps(value)
        if self._seen and not self._possible:
            return
        self._seen = True
        if self._sep == JSON_LISTS:
            self._possible = text.lstrip().startswith("[")
            return
        parts = [part for each in text.split(self._sep) if (part := each.strip())]
        self._separated = self._separated or self._sep in text
        self._count += len(parts)
        self._different.update(parts)
        self._possible = fits(self._different)

    @property
    def sep(self) -> str | None:
        """The separator between labels of a set; None if the cells are single labels or texts."""
        if self._seen and self._lists:
            return JSON_LISTS
        if self._sep == JSON_LISTS:
            return JSON_LISTS if self._seen and self._possible else None
        are_sets = self._possible and self._separated and self._count >= 2 * len(self._different)
        return self._sep if are_sets else None


def fits(labels: Iterable[str]) -> bool:
    """Whether labels can be the options of a choice."""
    different = set(labels)
    return len(different) <= MOST_OPTIONS and all(len(label) <= LONGEST_OPTION for label in different)


def _name(column: str) -> str:
    """A column's name as a valid field name.

    >>> _name("Answer.Q1"), _name("2nd choice"), _name("Answer.confidence"), _name("sort_order")
    ('q1', 'q_2nd_choice', 'confidence_given', 'sort_order_given')
    """
    plain = re.sub(r"[^a-z0-9]+", "_", column.removeprefix(ANSWER).lower()).strip("_") or "answer"
    plain = plain if plain[0].isalpha() else f"q_{plain}"
    plain = plain[: _LONGEST_NAME - 6].rstrip("_")
    return f"{plain}_given" if plain in _TAKEN or plain.endswith(_ENDINGS) else plain
