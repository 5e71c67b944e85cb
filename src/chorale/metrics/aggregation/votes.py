"""Judgments laid out for counting: sorted by task, and by worker and label.

Every algorithm repeatedly sums over the votes of each task or of each worker. With sorted votes, such a sum is one pass
over adjacent numbers. The order is that of the names, not of the file, so sums are identical to the last digit for any
order of the file.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.judgments import Judgments
from chorale.metrics.ordering import order_of

Index = NDArray[np.intp]
_SMALL = 2**31


@dataclass(frozen=True, slots=True, eq=False)
class Votes:
    """Votes in the order of task, label, worker.

    A *pair* is a worker with a label that they used. A *cell* is a task with a label that somebody gave it. Pairs are
    numbered in the order of worker and label, cells in the order of task and label.
    """

    tasks: int
    workers: int
    labels: int
    task: Index
    """The task of every vote, like `worker`, `label` and `pair` below."""
    worker: Index
    label: Index
    pair: Index
    task_starts: Index
    """Start of each task's votes."""
    cell_starts: Index
    cell_task: Index
    cell_label: Index
    by_pair: Index
    """The votes in the order of worker, label, task."""
    pair_starts: Index
    """Start of each pair's votes in `by_pair`."""
    pair_worker: Index
    pair_label: Index
    worker_starts: Index
    """Start of each worker's pairs."""

    def __len__(self) -> int:
        return len(self.task)

    @classmethod
    def of(cls, judgments: Judgments) -> Self:
        """Every task and worker must have at least one judgment: see `present`."""
        tasks, workers, labels = len(judgments.task_names), len(judgments.worker_names), len(judgments.label_names)
        # Task, label and worker of a vote are packed into one number, sorted, and unpacked.
        wide: Any = np.int32 if tasks * labels * workers < _SMALL else np.int64
        vote = (judgments.tasks.astype(wide) * labels + judgments.labels) * wide(workers) + judgments.workers
        vote.sort()
        cell = vote // wide(workers)
        worker = (vote - cell * wide(workers)).astype(np.intp)
        task = (cell // wide(labels)).astype(np.intp)
        label = cell - task * labels
        cell_starts = _starts(cell)
        wide_pair = worker * labels + label
        by_pair = order_of(wide_pair, workers * labels)
        ordered_pair = wide_pair[by_pair]
        pair_starts = _starts(ordered_pair)
        pair = np.empty(len(task), dtype=np.intp)
        pair[by_pair] = np.repeat(np.arange(len(pair_starts)), np.diff(np.r_[pair_starts, len(task)]))
        first = by_pair[pair_starts]
        return cls(
            tasks=tasks,
            workers=workers,
            labels=labels,
            task=task,
            worker=worker,
            label=label,
            pair=pair,
            task_starts=_starts(task),
            cell_starts=cell_starts,
            cell_task=task[cell_starts],
            cell_label=label[cell_starts],
            by_pair=by_pair,
            pair_starts=pair_starts,
            pair_worker=worker[first],
            pair_label=label[first],
            worker_starts=_starts(worker[first]),
        )

    @property
    def per_task(self) -> FloatArray:
        """Number of votes per task."""
        return _lengths(self.task_starts, len(self))

    @property
    def per_pair(self) -> FloatArray:
        return _lengths(self.pair_starts, len(self))

    @property
    def per_worker(self) -> FloatArray:
        return np.add.reduceat(self.per_pair, self.worker_starts)

    def shares(self, weights: FloatArray | None = None) -> FloatArray:
        """The share of each label among the votes of each task, as labels × tasks. Weights are one per vote.

        If the votes of a task have no weight, they count equally.
        """
        each = np.ones(len(self)) if weights is None else weights
        total = np.add.reduceat(each, self.task_starts)
        if not (total > 0).all():
            each = np.where((total > 0)[self.task], each, 1.0)
            total = np.where(total > 0, total, self.per_task)
        shares = np.zeros((self.labels, self.tasks))
        shares[self.cell_label, self.cell_task] = np.add.reduceat(each, self.cell_starts)
        return shares / total


def _lengths(starts: Index, end: int) -> FloatArray:
    return np.asarray(np.diff(np.r_[starts, end]), dtype=np.float64)


def present(judgments: Judgments) -> Judgments:
    """The judgments, with only the names of tasks and workers that have judgments."""
    tasks, task_names = _used(judgments.tasks, judgments.task_names)
    workers, worker_names = _used(judgments.workers, judgments.worker_names)
    if task_names is judgments.task_names and worker_names is judgments.worker_names:
        return judgments
    return replace(judgments, tasks=tasks, workers=workers, task_names=task_names, worker_names=worker_names)


def _used(codes: NDArray[np.int32], names: tuple[str, ...]) -> tuple[NDArray[np.int32], tuple[str, ...]]:
    used = np.bincount(codes, minlength=len(names)) > 0
    if used.all():
        return codes, names
    return (np.cumsum(used) - 1)[codes].astype(np.int32), tuple(
        name for name, is_used in zip(names, used, strict=True) if is_used
    )


def _starts(ordered: Index) -> Index:
    """Start of each run of equal numbers."""
    if not len(ordered):
        return np.zeros(0, dtype=np.intp)
    return np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
