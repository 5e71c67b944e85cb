"""Which columns of a batch file people filled in, and what kind of answer each of them holds."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from chorale.formats.rows import Row

JSON_LISTS = "json"
MOST_FIELDS = 30
MOST_OPTIONS, LONGEST_OPTION = 50, 100
"""Different labels, and their length, that are still a choice."""
ANSWER, INPUT, GOLD = "Answer.", "Input.", "_gold"
_LONGEST_NAME = 40
_TAKEN = frozenset({"item", "worker", "trust", "confidence", "judgments", "released"})
_ENDINGS = ("_confidence", "_order")


@dataclass(frozen=True, slots=True)
class BatchField:
    """A column of answers."""

    name: str
    """What the form calls it."""
    column: str
    sep: str | None
    """What separates the labels of a set; None where an answer is one label or text."""

    @property
    def title(self) -> str:
        """The column, without what a platform puts before it."""
        return self.column.removeprefix(ANSWER).strip() or self.column


def answer_columns(rows: Sequence[Row], names: Sequence[str], candidates: Sequence[str], task: str) -> list[str]:
    """Those of the columns that may hold answers which people filled in themselves.

    Forms send hidden fields along that repeat what was shown: a column that says the same as one of the item in every
    row is no answer. Where a file does not tell answers from items at all, whatever is the same in all rows of a task
    belongs to the item.
    """
    filled = [name for name in candidates if any(_has_text(row.values.get(name)) for row in rows)]
    if not any(name.startswith(ANSWER) or f"{name}{GOLD}" in names for name in filled):
        return _varying(rows, filled, task)
    items = [name for name in names if name.startswith(INPUT) or _may_be_item(name, candidates)]
    return [name for name in filled if not any(_repeats(rows, name, item) for item in items)] or filled


def _may_be_item(name: str, candidates: Sequence[str]) -> bool:
    return f"{name}{GOLD}" not in candidates and name not in candidates and not name.startswith("_")


def _has_text(value: Any) -> bool:
    return value is not None and str(value).strip() != ""


def _repeats(rows: Sequence[Row], name: str, item: str) -> bool:
    return all(_plain(row.values.get(name)) == _plain(row.values.get(item)) for row in rows)


def _plain(value: Any) -> str:
    return " ".join(str(value if value is not None else "").casefold().split())


def _varying(rows: Sequence[Row], names: Sequence[str], task: str) -> list[str]:
    first: dict[str, Mapping[str, Any]] = {}
    found: set[str] = set()
    for row in rows:
        known = first.setdefault(str(row.values.get(task)), row.values)
        found.update(name for name in names if known.get(name) != row.values.get(name))
    return [name for name in names if name in found]


def fields_of(rows: Sequence[Row], columns: Sequence[str], sep: str) -> list[BatchField]:
    """A field for each of several columns, under names that a form can use."""
    found: dict[str, BatchField] = {}
    for column in columns:
        texts = [text for row in rows if isinstance(text := row.values.get(column), str) and text.strip()]
        plain = name = _name(column)
        number = 2
        while name in found:
            name = f"{plain[: _LONGEST_NAME - 4]}_{number}"
            number += 1
        found[name] = BatchField(name, column, sep if are_sets(texts, sep) else None)
    return list(found.values())


def are_sets(texts: Sequence[str], sep: str) -> bool:
    """Whether texts are labels put together: they have the separator, and the same few labels come again and again."""
    if sep == JSON_LISTS:
        return bool(texts) and all(text.lstrip().startswith("[") for text in texts)
    parts = [part.strip() for text in texts for part in text.split(sep) if part.strip()]
    return any(sep in text for text in texts) and fits(parts) and len(parts) >= 2 * len(set(parts))


def fits(labels: Iterable[str]) -> bool:
    """Whether labels can be the options of a choice."""
    different = set(labels)
    return len(different) <= MOST_OPTIONS and all(len(label) <= LONGEST_OPTION for label in different)


def _name(column: str) -> str:
    """A column as forms name fields.

    >>> _name("Answer.Q1"), _name("2nd choice"), _name("Answer.confidence"), _name("sort_order")
    ('q1', 'q_2nd_choice', 'confidence_given', 'sort_order_given')
    """
    plain = re.sub(r"[^a-z0-9]+", "_", column.removeprefix(ANSWER).lower()).strip("_") or "answer"
    plain = plain if plain[0].isalpha() else f"q_{plain}"
    plain = plain[: _LONGEST_NAME - 6].rstrip("_")
    return f"{plain}_given" if plain in _TAKEN or plain.endswith(_ENDINGS) else plain
