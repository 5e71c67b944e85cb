"""Which cells of a file of extractions are the two arguments, the predicate, and how often it was found."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from chorale.files.rows import shortened
from chorale.files.source import refused
from chorale.model import UserError

PARTS = ("arg1", "predicate", "arg2", "count")
_NAMES = {
    "arg1": ("arg1", "argument1", "subject", "x", "arg1 normalized", "arg1_norm"),
    "predicate": ("predicate", "rel", "relation", "p", "rel normalized", "rel_norm"),
    "arg2": ("arg2", "argument2", "object", "y", "arg2 normalized", "arg2_norm"),
    "count": ("count", "frequency", "freq", "n"),
}
_REVERB_WIDTH = 18
_REVERB = (15, 16, 17)
"""ReVerb writes 18 cells a line without a header; the last three are the normalised argument, relation, argument."""
_PLAIN_WIDTHS = {3: (0, 1, 2), 4: (0, 1, 2, 3)}


@dataclass(frozen=True, slots=True)
class ColumnPlan:
    width: int
    """Cells a line has."""
    places: tuple[int, ...]
    """Of the first argument, the predicate, the second argument, and perhaps the count."""
    has_header: bool


def planned_columns(path: Path, line: int, cells: Sequence[str], asked: str | None, *, header: bool) -> ColumnPlan:
    """From the first line of a file, and what was asked for: places counted from 1, or names, commas between.

    `header`: whether the first line must be one, as in CSV.
    """
    names = [cell.strip().lower() for cell in cells]
    if asked is not None:
        wanted = [part.strip() for part in asked.split(",")]
        if len(wanted) not in {3, 4}:
            raise UserError(f"--columns takes three or four columns with commas between them (found {asked!r}).")
        if all(re.fullmatch(r"[1-9]\d{0,3}", part) for part in wanted):
            places = [int(part) - 1 for part in wanted]
            if max(places) >= len(names):
                problem = f"has {len(names)} columns, fewer than --columns asks for"
                raise refused(path, line, problem, "Correct --columns", asked)
            return ColumnPlan(len(names), tuple(places), header or _named(names) is not None)
        if missing := [part for part in wanted if part.lower() not in names]:
            problem = f"has no column {missing[0]!r}"
            raise refused(path, line, problem, "Correct --columns", shortened(", ".join(names)))
        return ColumnPlan(len(names), tuple(names.index(part.lower()) for part in wanted), has_header=True)
    if (places_by_name := _named(names)) is not None:
        return ColumnPlan(len(names), places_by_name, has_header=True)
    if not header and len(names) in _PLAIN_WIDTHS:
        return ColumnPlan(len(names), _PLAIN_WIDTHS[len(names)], has_header=False)
    if not header and len(names) == _REVERB_WIDTH:
        return ColumnPlan(len(names), _REVERB, has_header=False)
    fix = "Name the columns arg1, predicate and arg2, or say which they are with --columns"
    raise refused(path, line, "does not say which columns are an extraction", fix, shortened(", ".join(names)))


def _named(names: Sequence[str]) -> tuple[int, ...] | None:
    """Where the parts are by their names; normalised columns of the same name count before the others."""
    places: list[int] = []
    for part in PARTS:
        matches = [names.index(name) for name in reversed(_NAMES[part]) if name in names]
        if matches:
            places.append(matches[0])
        elif part != "count":
            return None
    return tuple(places)
