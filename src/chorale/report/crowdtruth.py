"""What CrowdTruth found, for people and for scripts."""

from typing import Any

import numpy as np

from chorale.aggregate.crowdtruth import CrowdTruth
from chorale.report.scoring import Cell, Scored, ScoreTable
from chorale.scores import FloatArray

_SHOWN = 10
"""Rows of a table for people; `--json` has them all."""


def crowdtruth_scored(result: CrowdTruth, *, signature: str, shown: int = _SHOWN) -> Scored:
    """Everything for `--json`; for people, the least clear units, the weakest workers and annotations."""
    tables = [_summary(result), _units(result, shown), _workers(result, shown)]
    if not result.open_task:
        tables.append(_annotations(result, shown))
    return Scored(json=_json(result), tables=tables, signature=signature, notes=result.notes)


def _json(result: CrowdTruth) -> dict[str, Any]:
    scores = dict(result.unit_annotation_scores())
    at_first = dict(result.unit_annotation_scores(initial=True))
    units = zip(result.units, result.uqs.tolist(), result.uqs_initial.tolist(), strict=True)
    of_workers = ("wqs", "wwa", "wua", "wqs_initial", "wwa_initial", "wua_initial")
    columns = [getattr(result, name).tolist() for name in of_workers]
    annotations = zip(result.annotations, result.aqs.tolist(), result.aqs_initial.tolist(), strict=True)
    return {
        "units": {
            unit: {"uqs": uqs, "uas": scores[unit], "uqs_initial": initial, "uas_initial": at_first[unit]}
            for unit, uqs, initial in units
        },
        "workers": {
            worker: dict(zip(of_workers, values, strict=True))
            for worker, *values in zip(result.workers, *columns, strict=True)
        },
        "annotations": {label: {"aqs": aqs, "aqs_initial": initial} for label, aqs, initial in annotations},
        "iterations": result.iterations,
        "changes": [{"largest": one.largest, "wqs": one.wqs, "uqs": one.uqs, "aqs": one.aqs} for one in result.log],
    }


def _summary(result: CrowdTruth) -> ScoreTable:
    kinds: list[tuple[str, FloatArray]] = [("units (UQS)", result.uqs), ("workers (WQS)", result.wqs)]
    if not result.open_task:
        kinds.append(("annotations (AQS)", result.aqs))
    rows = [
        (name, len(values), float(values.mean()), float(np.median(values)), float(values.min()), float(values.max()))
        for name, values in kinds
    ]
    title = f"CrowdTruth, {result.iterations} iterations"
    return ScoreTable(title, ("quality of", "how many#", "mean#", "median#", "lowest#", "highest#"), rows)


def _units(result: CrowdTruth, shown: int) -> ScoreTable:
    edges = np.searchsorted(result.cell_unit, np.arange(len(result.units) + 1))
    rows: list[tuple[Cell, ...]] = []
    for place in _lowest(result.uqs, shown):
        cells = slice(int(edges[place]), int(edges[place + 1]))
        best = cells.start + int(np.argmax(result.uas[cells]))
        leading = result.annotations[int(result.cell_annotation[best])]
        rows.append((result.units[place], float(result.uqs[place]), leading, float(result.uas[best])))
    return ScoreTable(_title("units", "the least clear", rows, result.units), ("unit", "UQS#", "leading", "UAS#"), rows)


def _workers(result: CrowdTruth, shown: int) -> ScoreTable:
    rows = [
        (result.workers[place], float(result.wqs[place]), float(result.wwa[place]), float(result.wua[place]))
        for place in _lowest(result.wqs, shown)
    ]
    title = _title("workers", "the least in agreement", rows, result.workers)
    return ScoreTable(title, ("worker", "WQS#", "WWA#", "WUA#"), rows)


def _annotations(result: CrowdTruth, shown: int) -> ScoreTable:
    rows = [(result.annotations[place], float(result.aqs[place])) for place in _lowest(result.aqs, shown)]
    title = _title("annotations", "the least agreed on", rows, result.annotations)
    return ScoreTable(title, ("annotation", "AQS#"), rows)


def _lowest(values: FloatArray, shown: int) -> list[int]:
    return [int(place) for place in np.argsort(values, kind="stable")[:shown]]


def _title(what: str, which: str, rows: list[Any], names: tuple[str, ...]) -> str:
    if len(rows) == len(names):
        return what.capitalize()
    return f"{what.capitalize()}: {which}, {len(rows)} of {len(names):,}"
