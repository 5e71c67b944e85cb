"""Accuracy of aggregated labels against known labels, over tasks."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import Comparison, FloatArray, Metric, Statistics, ratio
from chorale.metrics.aggregation.result import Aggregation
from chorale.metrics.counts import of_counts
from chorale.metrics.reading.truth_files import Truth
from chorale.metrics.resampling import Resampling
from chorale.metrics.score import Score
from chorale.metrics.score_table import Cell, ScoreTable, comparison_table, jsonable, shown_interval
from chorale.model import UserError
from chorale.model.plural import plural


def with_truth(
    scored: Score,
    result: Aggregation,
    truth: Truth,
    resampling: Resampling,
    *,
    other: tuple[str, Aggregation] | None,
    method: str,
) -> Score:
    """Adds the accuracy of the result, and a comparison with another method."""
    statistics, notes = truth_statistics(result, truth)
    metric = truth_metric(multiple=result.multiple)
    scores = metric.scores(statistics)
    measured: dict[str, Any] = {"n_tasks": len(statistics.items), **scores}
    around = {}
    if resampling.ci:
        around = resampling.intervals(statistics, metric)
        measured["ci"] = jsonable(around)
    rows: list[tuple[Cell, ...]] = [
        (name, value, shown_interval(around.get(name)), len(statistics.items)) for name, value in scores.items()
    ]
    tables = [ScoreTable("Against the truth", ("score", "value#", "95% interval#", "tasks#"), rows)]
    compared: Mapping[str, Comparison] = {}
    if other is not None:
        name, second = other
        first, rival, remarks = _in_both(statistics, truth_statistics(second, truth)[0])
        notes += remarks
        compared = resampling.compare(first, rival, metric)
        measured["against"] = {"method": name, **jsonable(compared)}
        tables.append(comparison_table(f"{method} and {name}", (method, name), compared))
    return scored.extended(
        {"truth": measured},
        tables,
        notes,
        values={**scores, **scored.values},
        intervals={**around, **scored.intervals},
        tests={**compared, **scored.tests},
    )


def _in_both(first: Statistics, second: Statistics) -> tuple[Statistics, Statistics, list[str]]:
    """Compares both on their common tasks."""
    common = set(first.items) & set(second.items)
    if not common:
        raise UserError("The two results have no common task with a true label. Check --task and --truth-task.")
    left = len(set(first.items) ^ set(second.items))
    if not left:
        return first, second, []
    ones, others = (
        Statistics(tuple(statistics.items[place] for place in kept), statistics.rows[kept])
        for statistics in (first, second)
        for kept in [[place for place, item in enumerate(statistics.items) if item in common]]
    )
    note = f"Left out of the comparison: {plural(left, 'task', 'tasks')} in only one of the two results."
    return ones, others, [note]


def truth_statistics(result: Aggregation, truth: Truth) -> tuple[Statistics, list[str]]:
    """Columns per task: correctness, a constant 1 to count tasks, and numbers of correct, wrong and missed options."""
    known = [place for place, task in enumerate(result.tasks) if task in truth.labels]
    if not known:
        raise UserError(
            f"No judged task is in the truth. Tasks of the truth: {_some(truth.labels)}; "
            f"judged tasks: {_some(dict.fromkeys(result.tasks))}. Use the same task names in both, or check --task and "
            "--truth-task."
        )
    code = {option: number for number, option in enumerate(result.options)}
    true = np.zeros((len(known), len(result.options)), dtype=np.bool_)
    beyond = np.zeros(len(known))
    for row, place in enumerate(known):
        for option in truth.labels[result.tasks[place]]:
            if option in code:
                true[row, code[option]] = True
            else:
                beyond[row] += 1
    chosen = result.chosen[known]
    rows = np.column_stack(
        [
            _right(chosen, true, multiple=result.multiple) * (beyond == 0),
            np.ones(len(known)),
            (chosen & true).sum(axis=1),
            (chosen & ~true).sum(axis=1),
            (~chosen & true).sum(axis=1) + beyond,
        ]
    )
    notes = []
    if unjudged := len(truth.labels) - len(known):
        tasks = plural(unjudged, "task of the truth that was", "tasks of the truth that were")
        notes.append(f"Left out of the accuracy: {tasks} not aggregated.")
    if unknown := len(result.tasks) - len(known):
        notes.append(f"Left out of the accuracy: {plural(unknown, 'task', 'tasks')} not in the truth.")
    if count := int((beyond > 0).sum()):
        notes.append(f"{plural(count, 'task has', 'tasks have')} a true label that nobody gave.")
    if unlabelled := 0 if result.multiple else int((~chosen.any(axis=1)).sum()):
        tied = plural(unlabelled, "tied task has no label and counts", "tied tasks have no label and count")
        notes.append(f"{tied} as wrong.")
    return Statistics(tuple(result.tasks[place] for place in known), rows), notes


def _right(chosen: NDArray[np.bool_], true: NDArray[np.bool_], *, multiple: bool) -> FloatArray:
    """Whether the label of each task is correct; each of k tied labels counts 1/k."""
    if multiple:
        return np.asarray((chosen == true).all(axis=1), dtype=np.float64)
    return np.asarray((chosen & true).sum(axis=1) / np.maximum(1, chosen.sum(axis=1)))


def truth_metric(*, multiple: bool) -> Metric:
    """Accuracy and, for sets, precision, recall and F1 over options."""

    def formula(sums: FloatArray) -> Mapping[str, FloatArray]:
        accuracy = {"accuracy": ratio(sums[..., 0], sums[..., 1])}
        if not multiple:
            return accuracy
        return accuracy | of_counts(sums[..., 2:])

    return Metric(formula)


def _some(names: Mapping[str, object]) -> str:
    return ", ".join(repr(name) for name in sorted(names)[:3]) + (
        f" and {len(names) - 3:,} more" if len(names) > 3 else ""
    )
