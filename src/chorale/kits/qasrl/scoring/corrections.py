"""Scores after manual correction of an alignment (Roit et al. 2020, Table 4).

The file is the output of `--alignment` with changed values in `status`, `same_role` or `extra_questions`. Rows are
identified by their verb and two ranges. All rows must remain in the file, and unchanged rows count as before.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from chorale.files.rows import Row, read_rows
from chorale.files.source import MOST_PROBLEMS, digest_of, read_bytes
from chorale.kits.qasrl.files import Verb
from chorale.kits.qasrl.files.cells import SEPARATOR
from chorale.kits.qasrl.metrics import AlignedArgument, counts, metric
from chorale.kits.qasrl.metrics.measures import Average
from chorale.kits.qasrl.scoring.alignment import cells_of
from chorale.kits.qasrl.scoring.scores import measure_json, measures_table
from chorale.metrics import FloatArray, Statistics
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.model import Problem, UserError
from chorale.model.plural import plural

MEASURES = ("ua", "la")
_KEY = ("qasrl_id", "verb_idx", "gold_range", "system_range")
_STATUSES = ("matched", "missed", "spurious", "redundant", "unmatched")
_ROLES = {"true": True, "false": False, "": None}

_Key = tuple[str, ...]


class _Argument(NamedTuple):
    """The values of a row after correction."""

    status: str
    same_role: bool | None
    extra_questions: int
    counted_with: str


def with_corrections(
    scored: Score,
    path: Path,
    rows: Iterable[AlignedArgument],
    per_verb: Statistics,
    average: Average,
    resampling: Resampling,
) -> Score:
    """Adds corrected UA and LA to a score. `rows` and `per_verb` are the automatic results."""
    given = {_key(cells): cells for cells in map(cells_of, rows)}
    corrected, changed = _read(path, given)
    statistics = _statistics(per_verb, corrected)
    by = metric(average)
    scores, sums = by.scores(statistics), counts(statistics)
    around = resampling.intervals(statistics, by) if resampling.ci else {}
    json: dict[str, Any] = {name: measure_json(name, sums[name], scores, around) for name in MEASURES}
    table = measures_table(f"Corrected by hand in {path.name}", sums, scores, around, MEASURES)
    were = "was" if changed == 1 else "were"
    note = f"{path.name}: {changed:,} of {plural(len(given), 'argument', 'arguments')} {were} corrected by hand."
    extended = scored.extended({"corrected": {**json, "changed": changed}}, [table], [note])
    return replace(extended, signature=f"{scored.signature}|corrections:{digest_of(read_bytes(path))}")


def _read(path: Path, given: Mapping[_Key, Mapping[str, Any]]) -> tuple[dict[_Key, _Argument], int]:
    problems: list[Problem] = []
    corrected: dict[_Key, _Argument] = {}
    for row in read_rows(path, shown_as=str(path), problems=problems):
        if absent := [name for name in _KEY if name not in row.values]:
            fix = "Use the file that --alignment writes, with all its columns."
            lost = f"has no {'column' if len(absent) == 1 else 'columns'} {', '.join(absent)}"
            raise UserError(f"{path} can't be used", [Problem(str(path), 1, lost, fix, ", ".join(row.values))])
        key = _key(row.values)
        if key not in given or key in corrected:
            which = "occurs twice" if key in corrected else "is not in the alignment of these files"
            fix = "Edit the rows of the file that --alignment writes for the same files and options."
            problems.append(Problem(str(path), row.line, f"the argument {which}", fix, " ".join(key)))
        else:
            corrected[key] = _argument(path, row, given[key], problems)
    lacking = [key for key in given if key not in corrected]
    if lacking and not problems:
        fix = "Keep all rows in the file. To exclude an argument from scoring, set its status to redundant."
        message = f"is missing {plural(len(lacking), 'argument', 'arguments')} of the alignment"
        problems.append(Problem(str(path), None, message, fix, " ".join(lacking[0])))
    if problems:
        raise UserError(f"{path} can't be used", problems[:MOST_PROBLEMS])
    before = {key: _uncorrected(cells) for key, cells in given.items()}
    return corrected, sum(corrected[key] != before[key] for key in given)


def _key(cells: Mapping[str, Any]) -> _Key:
    return tuple(str(cells.get(name) if cells.get(name) is not None else "").strip() for name in _KEY)


def _uncorrected(cells: Mapping[str, Any]) -> _Argument:
    same = _ROLES[str(cells["same_role"]).lower()]
    return _Argument(str(cells["status"]), same, int(cells["extra_questions"] or 0), str(cells["counted_with"]))


def _argument(path: Path, row: Row, cells: Mapping[str, Any], problems: list[Problem]) -> _Argument:
    """Reads a corrected row. If same_role was changed, but not the number of extra questions, adjusts that number."""
    uncorrected = _uncorrected(cells)
    values = {name: str(row.values.get(name) or "").strip() for name in ("status", "same_role", "extra_questions")}
    status, role, extra = values["status"].lower(), values["same_role"].lower(), values["extra_questions"]

    def refuse(message: str, fix: str, value: str) -> _Argument:
        problems.append(Problem(str(path), row.line, message, fix, repr(value)))
        return uncorrected

    if status not in _STATUSES:
        return refuse("unknown status", f"Write one of {', '.join(_STATUSES)}.", values["status"])
    if role not in _ROLES or (status == "matched" and not role):
        return refuse("same_role is neither True nor False", "Write True or False.", values["same_role"])
    if extra and not extra.isdigit():
        return refuse("extra_questions is not a whole number", "Write the number of wrong questions, 0 or more.", extra)
    if status == "unmatched" and uncorrected.status != "matched":
        return refuse("only a matched argument can become unmatched", "Write missed or spurious.", values["status"])
    same = _ROLES[role] if status == "matched" else None
    many = int(extra or 0)
    if status == "matched" and many == uncorrected.extra_questions and same != uncorrected.same_role:
        asked = str(cells["system_questions"]).count(SEPARATOR) + 1
        if uncorrected.status == "matched":
            many += -1 if same else 1
        else:
            many = 0 if same else asked
    return _Argument(status, same, many if status == "matched" else 0, uncorrected.counted_with)


def _statistics(per_verb: Statistics, corrected: Mapping[_Key, _Argument]) -> Statistics:
    """Counts of UA and LA per verb. Counts of roles stay unchanged, because rows do not contain them."""
    place = {verb: number for number, verb in enumerate(per_verb.items)}
    rows: FloatArray = per_verb.rows.copy()
    rows[:, :6] = 0
    wrong: set[tuple[int, str]] = set()
    for key, argument in corrected.items():
        verb = place[str(Verb(key[0], int(key[1])))]
        for column, count in _counts(argument):
            rows[verb, column] += count
        if argument.status in ("spurious", "unmatched"):
            # Overlapping spans are one error. A span removed from a pair is a separate error.
            wrong.add((verb, argument.counted_with or key[3]))
    for verb, _ in wrong:
        rows[verb, [1, 4]] += 1
    return Statistics(per_verb.items, np.asarray(rows))


def _counts(argument: _Argument) -> Iterator[tuple[int, int]]:
    """Columns of the statistics, with the numbers to add: true positives, false positives, false negatives."""
    if argument.status == "matched":
        yield 0, 1
        yield (3, 1) if argument.same_role else (5, 1)
        yield 4, argument.extra_questions
    elif argument.status in ("missed", "unmatched"):
        yield 2, 1
        yield 5, 1
