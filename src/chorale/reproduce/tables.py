"""Tables of a paper's numbers next to ours, and instructions for missing data."""

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any

from chorale.files.source import digest_of
from chorale.metrics import signature
from chorale.metrics.score import Result
from chorale.metrics.score_table import ScoreTable, shown_interval, shown_number
from chorale.reproduce import Cell, CellAgreement, CheckedFile, FileState, Paper

_MARKS = {CellAgreement.EQUAL: "=", CellAgreement.IN_INTERVAL: "∈", CellAgreement.DIFFERENT: "≠"}
_SAME_REASON = "as above"


def reproduced(paper: Paper, cells: Sequence[Cell], files: Sequence[CheckedFile]) -> Result:
    """A table of every cell with the paper's number and ours, grouped by the paper's tables."""
    columns = ("cell", "paper#", "ours#", "", "why")
    tables = [_summary(cells)]
    tables += [ScoreTable(f"{paper.name}, {name}", columns, _rows(group)) for name, group in _by_table(cells).items()]
    different = [file.file.path for file in files if file.state is FileState.DIFFERENT]
    notes = [
        "= means that both numbers are equal when rounded as in the paper. ∈ means that the paper's number lies in our "
        "95% interval."
    ]
    if different:
        notes.append(
            f"These files differ from those that the docs describe, so the numbers may differ: {', '.join(different)}."
        )
    there = "".join(sorted(f"{file.file.path} {file.digest}\n" for file in files if file.digest is not None))
    json = {
        "paper": paper.name,
        "title": paper.title,
        "cells": [_as_json(cell) for cell in cells],
        "files": {file.file.path: file.state.value for file in files},
    }
    return Result(json, tables, signature(f"reproduce-{paper.name}", {}, {"files": digest_of(there.encode())}), notes)


def what_to_get(files: Iterable[CheckedFile]) -> list[str]:
    """Instructions for the files of each repository, one per line."""
    lines: list[str] = []
    for repository, group in groupby(files, key=lambda checked: checked.repository):
        version = f" at commit {repository.commit}" if repository.commit else ""
        lines.append(f"From {repository.name}{version} ({repository.address}; licence: {repository.licence}):")
        for checked in group:
            needed = " (not needed for every number)" if checked.file.optional else ""
            # Files may stay gzipped; those that are published gzipped should stay so.
            packed = ".gz" if checked.file.origin.endswith(".gz") and not checked.file.path.endswith(".gz") else ""
            lines.append(f"  {checked.state.value:<9} {checked.file.origin} → DIR/{checked.file.path}{packed}{needed}")
    return lines


def _by_table(cells: Iterable[Cell]) -> dict[str, list[Cell]]:
    """The cells of each table, in the order in which the tables first appear."""
    tables: dict[str, list[Cell]] = {}
    for cell in cells:
        tables.setdefault(cell.table, []).append(cell)
    return tables


def _rows(cells: Sequence[Cell]) -> list[tuple[str, str, str, str, str]]:
    """One row per cell. Cells that can't be computed come last, grouped by reason."""
    rows = [_row(cell) for cell in cells if cell.ours is not None]
    lacking: dict[str, list[Cell]] = {}
    for cell in cells:
        if cell.ours is None:
            lacking.setdefault(cell.reason, []).append(cell)
    for reason, group in lacking.items():
        reasons = [reason, *[_SAME_REASON] * (len(group) - 1)]
        rows += [
            (cell.name, _number(cell.paper, cell.digits), "not computed", "", why)
            for cell, why in zip(group, reasons, strict=True)
        ]
    return rows


def _row(cell: Cell) -> tuple[str, str, str, str, str]:
    ours = _number(cell.ours, cell.digits if cell.shown is None else cell.shown)
    if cell.interval is not None:
        ours = f"{ours} ({shown_interval(cell.interval, cell.digits)})"
    why = cell.reason or ("" if cell.paper is not None else "The paper has no such number.")
    return (cell.name, _number(cell.paper, cell.digits), ours, _MARKS.get(cell.agreement, ""), why)


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else shown_number(value, digits)


def _summary(cells: Sequence[Cell]) -> ScoreTable:
    rows = [_counted(name, group) for name, group in _by_table(cells).items()]
    rows.append(_counted("all", cells))
    return ScoreTable("Summary", ("where", "cells#", *(f"{each}#" for each in CellAgreement)), rows)


def _counted(name: str, cells: Sequence[Cell]) -> tuple[str | int, ...]:
    agreements = [cell.agreement for cell in cells]
    return (name, len(agreements), *(agreements.count(each) for each in CellAgreement))


def _as_json(cell: Cell) -> dict[str, Any]:
    return {
        "table": cell.table,
        "name": cell.name,
        "paper": cell.paper,
        "ours": cell.ours,
        "interval": None if cell.interval is None else cell.interval.as_list(),
        "digits": cell.digits,
        "agreement": cell.agreement.value,
        "reason": cell.reason,
    }
