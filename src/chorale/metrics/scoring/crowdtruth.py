"""CrowdTruth results for people and scripts."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from chorale.metrics import FloatArray, Interval, Metric, Tally, ratio
from chorale.metrics.aggregation.crowdtruth import CrowdTruth, CrowdTruthResampling
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, comparison_table, jsonable, shown_interval
from chorale.metrics.scoring.aggregation_intervals import Paired, compared_means, not_compared
from chorale.model.plural import plural

_SHOWN = 10
"""Maximum number of rows in tables for people. `--json` has all."""
_OF_WORKERS = ("wqs", "wwa", "wua")
_MEAN = Metric(lambda sums: {"mean": ratio(sums[..., 0], sums[..., 1])})


@dataclass(frozen=True, slots=True)
class _Drawn:
    """Intervals by index; empty if not requested."""

    units: Mapping[int, tuple[FloatArray, FloatArray]] = field(default_factory=dict)
    workers: Mapping[int, Mapping[str, FloatArray]] = field(default_factory=dict)
    annotations: Mapping[int, FloatArray] = field(default_factory=dict)
    means: Mapping[str, Interval] = field(default_factory=dict)
    medians: Mapping[str, Interval] = field(default_factory=dict)


def crowdtruth_scored(
    result: CrowdTruth,
    *,
    signature: str,
    resampling: Resampling | None = None,
    for_scripts: bool = True,
    shown: int = _SHOWN,
) -> Score:
    """All results for `--json`; for people, the least clear units, the weakest workers and annotations.

    Intervals take time, so unless `for_scripts` is set, only values shown on the terminal get one.
    """
    drawn = _Drawn()
    if resampling is not None and resampling.ci:
        drawn = _draw(result, resampling, for_scripts=for_scripts, shown=shown)
    tables = [_summary(result, drawn), _units(result, shown, drawn), _workers(result, shown, drawn)]
    if not result.open_task:
        tables.append(_annotations(result, shown, drawn))
    json = _json(result)
    _add_intervals(json, result, drawn)
    notes = result.notes
    if drawn.means:
        notes += (
            "Intervals resample the workers of a unit, the units of a worker, or the units of an annotation; "
            "everything else is fixed. Intervals of means and medians resample the values. Minimum and maximum have "
            "none, because resamples cannot exceed them.",
        )
    values = {f"mean {name.upper()}": float(values.mean()) for name, values in _kinds(result).items()}
    around = {f"mean {name.upper()}": one for name, one in drawn.means.items()}
    return Score(json=json, tables=tables, signature=signature, notes=notes, values=values, intervals=around)


def crowdtruth_compared(
    result: CrowdTruth, other: CrowdTruth, names: tuple[str, str], resampling: Resampling
) -> tuple[dict[str, Any], ScoreTable, list[str]]:
    """Paired comparison of mean qualities over common units, workers and annotations of two files."""
    kinds: list[Paired] = [
        ("uqs", result.units, result.uqs, other.units, other.uqs),
        *((name, result.workers, getattr(result, name), other.workers, getattr(other, name)) for name in _OF_WORKERS),
    ]
    if not result.open_task:
        kinds.append(("aqs", result.annotations, result.aqs, other.annotations, other.aqs))
    compared = compared_means(kinds, resampling)
    json = {name: {"common": len(ours), **one.as_dict()} for name, (ours, _, one) in compared.items()}
    rows = {f"mean {name.upper()} of {len(ours):,}": one for name, (ours, _, one) in compared.items()}
    notes = not_compared(name.upper() for name, *_ in kinds if name not in compared)
    return json, comparison_table("CrowdTruth compared", names, rows), notes


def _draw(result: CrowdTruth, resampling: Resampling, *, for_scripts: bool, shown: int) -> _Drawn:
    if result.evidence is None:
        raise ValueError("this result does not contain the data for intervals")
    draws = CrowdTruthResampling(result.evidence, resamples=resampling.resamples, seed=resampling.seed)
    units = range(len(result.units)) if for_scripts else _lowest(result.uqs, shown)
    workers = range(len(result.workers)) if for_scripts else _lowest(result.wqs, shown)
    kinds = _kinds(result)
    means = {
        name: resampling.tally_intervals(Tally.of(np.column_stack([values, np.ones(len(values))])), _MEAN)["mean"]
        for name, values in kinds.items()
    }
    medians = {name: resampling.median_interval(values) for name, values in kinds.items()}
    annotations = {} if result.open_task else dict(enumerate(draws.of_annotations(resampling.progress).T))
    of_workers = draws.of_workers(workers, resampling.progress)
    return _Drawn(draws.of_units(units), of_workers, annotations, means, medians)


def _kinds(result: CrowdTruth) -> dict[str, FloatArray]:
    """The available qualities; none for annotations of an open task."""
    return {name: getattr(result, name) for name in ("uqs", *_OF_WORKERS, *([] if result.open_task else ["aqs"]))}


def _add_intervals(json: dict[str, Any], result: CrowdTruth, drawn: _Drawn) -> None:
    edges = np.searchsorted(result.cell_unit, np.arange(len(result.units) + 1))
    for place, (uqs, uas) in drawn.units.items():
        labels = [result.annotations[code] for code in result.cell_annotation[edges[place] : edges[place + 1]]]
        of_labels = {label: _json_ends(ends) for label, ends in zip(labels, uas.T, strict=True)}
        json["units"][result.units[place]]["ci"] = {"uqs": _json_ends(uqs), "uas": of_labels}
    for place, of_worker in drawn.workers.items():
        json["workers"][result.workers[place]]["ci"] = {name: _json_ends(ends) for name, ends in of_worker.items()}
    for place, ends in drawn.annotations.items():
        json["annotations"][result.annotations[place]]["ci"] = {"aqs": ends.tolist()}
    if drawn.means:
        kinds = _kinds(result)
        json["means"] = {"ci": jsonable(drawn.means)} | {name: float(each.mean()) for name, each in kinds.items()}
        json["medians"] = {"ci": jsonable(drawn.medians)} | {
            name: float(np.median(each)) for name, each in kinds.items()
        }


def _json_ends(ends: FloatArray) -> list[float] | None:
    return Interval(*map(float, ends)).as_list()


def _shown_ends(ends: FloatArray) -> str:
    return shown_interval(Interval(*map(float, ends)), 3)


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


def _summary(result: CrowdTruth, drawn: _Drawn) -> ScoreTable:
    titles = {"uqs": "units (UQS)", "wqs": "workers (WQS)", "aqs": "annotations (AQS)"}
    rows: list[tuple[Cell, ...]] = []
    for name, values in _kinds(result).items():
        if name not in titles:
            continue
        around = [[shown_interval(one[name])] if one else [] for one in (drawn.means, drawn.medians)]
        mean, median, *ends = (float(each) for each in (values.mean(), np.median(values), values.min(), values.max()))
        rows.append((titles[name], len(values), mean, *around[0], median, *around[1], *ends))
    around_any = ["95% interval#"] * bool(drawn.means)
    columns = ("quality of", "count#", "mean#", *around_any, "median#", *around_any, "lowest#", "highest#")
    return ScoreTable(f"CrowdTruth, {plural(result.iterations, 'iteration', 'iterations')}", columns, rows)


def _units(result: CrowdTruth, shown: int, drawn: _Drawn) -> ScoreTable:
    edges = np.searchsorted(result.cell_unit, np.arange(len(result.units) + 1))
    rows: list[tuple[Cell, ...]] = []
    for place in _lowest(result.uqs, shown):
        cells = slice(int(edges[place]), int(edges[place + 1]))
        best = cells.start + int(np.argmax(result.uas[cells]))
        leading = result.annotations[int(result.cell_annotation[best])]
        uqs: list[Cell] = [float(result.uqs[place])]
        uas: list[Cell] = [float(result.uas[best])]
        if drawn.units:
            uqs.append(_shown_ends(drawn.units[place][0]))
            uas.append(_shown_ends(drawn.units[place][1][:, best - cells.start]))
        rows.append((result.units[place], *uqs, leading, *uas))
    title = _title("units", "least clear", rows, result.units)
    around = ["95% interval#"] * bool(drawn.units)
    return ScoreTable(title, ("unit", "UQS#", *around, "leading", "UAS#", *around), rows)


def _workers(result: CrowdTruth, shown: int, drawn: _Drawn) -> ScoreTable:
    columns, rows = ["worker"], []
    for name in _OF_WORKERS:
        columns += [f"{name.upper()}#", *["95% interval#"] * bool(drawn.workers)]
    for place in _lowest(result.wqs, shown):
        row: list[Cell] = [result.workers[place]]
        for name in _OF_WORKERS:
            row.append(float(getattr(result, name)[place]))
            if drawn.workers:
                row.append(_shown_ends(drawn.workers[place][name]))
        rows.append(row)
    return ScoreTable(_title("workers", "lowest agreement", rows, result.workers), tuple(columns), rows)


def _annotations(result: CrowdTruth, shown: int, drawn: _Drawn) -> ScoreTable:
    around = ["95% interval#"] * bool(drawn.annotations)
    rows: list[tuple[Cell, ...]] = [
        (
            result.annotations[place],
            float(result.aqs[place]),
            *([_shown_ends(drawn.annotations[place])] if drawn.annotations else []),
        )
        for place in _lowest(result.aqs, shown)
    ]
    title = _title("annotations", "lowest agreement", rows, result.annotations)
    return ScoreTable(title, ("annotation", "AQS#", *around), rows)


def _lowest(values: FloatArray, shown: int) -> list[int]:
    return [int(place) for place in np.argsort(values, kind="stable")[:shown]]


def _title(title: str, which: str, rows: list[Any], names: tuple[str, ...]) -> str:
    if len(rows) == len(names):
        return title.capitalize()
    return f"{title.capitalize()}: {which}, {len(rows)} of {len(names):,}"
