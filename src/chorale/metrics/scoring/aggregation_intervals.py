"""Intervals of an aggregation without truth, and a comparison with another file."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from chorale.metrics import Comparison, FloatArray, Interval, Metric, Statistics, ratio
from chorale.metrics.aggregation.result import Aggregation, certainty
from chorale.metrics.aggregation.task_evidence import TaskEvidence
from chorale.metrics.aggregation.worker_evidence import WorkerEvidence
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, comparison_table, jsonable, shown_interval
from chorale.metrics.scoring.aggregation import CERTAINTY
from chorale.metrics.support import FEWEST
from chorale.model.plural import plural

_SHOWN = 10
_MOST_DRAWN = 2 * 10**10
"""Maximum number of samples for the intervals of all tasks, about ten minutes of work."""
_MEAN = Metric(lambda sums: {"mean": ratio(sums[..., 0], sums[..., 1])})
Paired = tuple[str, Sequence[str], FloatArray, Sequence[str], FloatArray]
"""A compared value: its name, and its values in both files by task or worker."""


def with_intervals(
    scored: Score,
    result: Aggregation,
    evidence: tuple[WorkerEvidence | None, TaskEvidence | None],
    resampling: Resampling,
    *,
    for_scripts: bool,
) -> Score:
    """Adds intervals. Those of mean certainty and label probabilities are over tasks; those of the quality of a
    worker and the certainty of a single task are over their judgments.
    """
    means = {CERTAINTY: certainty(result)}
    means |= {f"probability of {label}": result.probabilities[:, at] for at, label in enumerate(result.options)}
    drawn = mean_intervals(means, resampling)
    rows: list[tuple[Cell, ...]] = [
        (name, float(means[name].mean()), shown_interval(drawn[name]), "tasks") for name in list(means)[: _SHOWN + 1]
    ]
    json = dict(scored.json)
    json["ci"] = {
        "mean_certainty": drawn[CERTAINTY].as_list(),
        "probabilities": {label: drawn[f"probability of {label}"].as_list() for label in result.options},
    }
    of_tasks, notes = _task_intervals(result, evidence[1], resampling, for_scripts=for_scripts)
    if of_tasks:
        json["ci"]["certainty"] = {task: around.as_list() for task, (_, around) in of_tasks.items()}
    for task, (value, around) in sorted(of_tasks.items(), key=lambda interval: interval[1][0])[:_SHOWN]:
        rows.append((f"certainty of {task}", value, shown_interval(around), "its judgments"))
    of_workers, remarks = _worker_intervals(result, evidence[0], resampling, for_scripts=for_scripts)
    notes += remarks
    quality = next(iter(result.quality))
    for place, around in of_workers.items():
        worker, value = result.workers[place], float(result.quality[quality][place])
        rows.append((f"{quality} of {worker}", value, shown_interval(around), "their judgments"))
        if "workers" in json:
            json["workers"][worker]["ci"] = {quality: around.as_list()}
    table = ScoreTable("Intervals", ("quantity", "value#", "95% interval#", "resampled"), rows)
    return scored.extended(
        json,
        [table],
        notes,
        values={**scored.values, **{name: float(values.mean()) for name, values in means.items()}},
        intervals={**scored.intervals, **drawn},
    )


def compared_without_truth(
    result: Aggregation, other: Aggregation, names: tuple[str, str], resampling: Resampling
) -> tuple[dict[str, Any], ScoreTable, list[str]]:
    """Compares certainty and label probabilities of the common tasks of two files, and worker quality."""
    quality = next(iter(result.quality))
    kinds: list[Paired] = [
        ("mean certainty", result.tasks, certainty(result), other.tasks, certainty(other)),
        (f"mean {quality}", result.workers, result.quality[quality], other.workers, other.quality[quality]),
    ]
    code = {label: at for at, label in enumerate(other.options)}
    for at, label in enumerate(result.options):
        if label in code:
            ours, theirs = result.probabilities[:, at], other.probabilities[:, code[label]]
            kinds.append((f"probability of {label}", result.tasks, ours, other.tasks, theirs))
    compared = {name: comparison for name, (_, _, comparison) in compared_means(kinds, resampling).items()}
    shown = dict(list(compared.items())[: _SHOWN + 2])
    notes = not_compared(name for name, *_ in kinds if name not in compared)
    return jsonable(compared), comparison_table("Compared", names, shown), notes


def not_compared(names: Iterable[str]) -> list[str]:
    return [f"{name} is not compared, because the two files have no common values." for name in names]


def compared_means(
    kinds: Iterable[Paired], resampling: Resampling
) -> dict[str, tuple[FloatArray, FloatArray, Comparison]]:
    """Compares the means over common tasks or workers; empty without any."""
    compared = {}
    for name, ours, values, theirs, others in kinds:
        common = sorted(set(ours) & set(theirs))
        if common:
            first, second = _mean_statistics(common, ours, values), _mean_statistics(common, theirs, others)
            comparison = resampling.compare(first, second, _MEAN)["mean"]
            compared[name] = first.rows[:, 0], second.rows[:, 0], comparison
    return compared


def _mean_statistics(common: Sequence[str], names: Sequence[str], values: FloatArray) -> Statistics:
    """Statistics of the mean over common values."""
    place = {name: number for number, name in enumerate(names)}
    taken = values[[place[name] for name in common]]
    return Statistics(tuple(common), np.column_stack([taken, np.ones(len(taken))]))


def mean_intervals(columns: Mapping[str, FloatArray], resampling: Resampling) -> dict[str, Interval]:
    """Intervals of means over the same tasks or workers, from the same samples."""
    rows = np.column_stack(list(columns.values()))
    means = Metric(lambda sums: {name: sums[..., at] / len(rows) for at, name in enumerate(columns)})
    return resampling.row_intervals(rows, means)


def _task_intervals(
    result: Aggregation, evidence: TaskEvidence | None, resampling: Resampling, *, for_scripts: bool
) -> tuple[dict[str, tuple[float, Interval]], list[str]]:
    """Intervals of the certainty of every task; for people, only of the least certain tasks."""
    if evidence is None:
        return {}, [
            "The certainty of single tasks has no interval for sets of options, for kos, or for methods of kits."
        ]
    certain = certainty(result)
    wanted, notes = np.argsort(certain, kind="stable")[:_SHOWN], []
    if result.probabilities.size * resampling.resamples > _MOST_DRAWN:
        notes.append(
            f"Only the {_SHOWN} least certain tasks have an interval: intervals of all tasks would take too long."
        )
    elif for_scripts:
        wanted = np.arange(len(certain))
    low, high = evidence.intervals(
        wanted.tolist(), resamples=resampling.resamples, seed=resampling.seed, progress=resampling.progress
    ).tolist()
    places = zip(wanted.tolist(), low, high, strict=True)
    notes.append(
        f"The interval of a task's certainty resamples its own judgments, and requires at least {FEWEST} of them. It "
        "may be too narrow if they are few or all agree."
    )
    return {result.tasks[at]: (float(certain[at]), Interval(*ends)) for at, *ends in places}, notes


def _worker_intervals(
    result: Aggregation, evidence: WorkerEvidence | None, resampling: Resampling, *, for_scripts: bool
) -> tuple[dict[int, Interval], list[str]]:
    """Intervals by worker index; for people, only of the weakest workers."""
    quality = next(iter(result.quality))
    if evidence is None:
        why = "it is a mean over options" if result.multiple else _WITHOUT_EVIDENCE.get(quality, _NO_MEAN)
        return {}, [f"Workers' {quality} has no interval: {why}."]
    lowest = np.argsort(result.quality[quality], kind="stable")[:_SHOWN].tolist()
    wanted = range(len(result.workers)) if for_scripts else lowest
    intervals = {}
    for number, place in enumerate(wanted, 1):
        rows = evidence.rows(place)
        if len(rows):
            value = float(result.quality[quality][place])
            intervals[place] = evidence.interval(place, value, resamples=resampling.resamples, seed=resampling.seed)
        if resampling.progress:
            resampling.progress(number, len(wanted))
    lacking = len(wanted) - len(intervals)
    without = plural(lacking, "worker has", "workers have")
    return intervals, [f"{without} no gold answers, so their gold accuracy (trust) has no interval."] if lacking else []


_WITHOUT_EVIDENCE = {
    "trust": "it is not estimated from these judgments",
    "ability": "its scale depends on a prior",
}
_NO_MEAN = "it is not a mean over the worker's judgments"
"""Reason for all other qualities."""
