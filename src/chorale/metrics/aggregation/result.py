"""Result of an aggregator: a probability for every label of every task, and estimates about the workers."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.tie_draw import TIE
from chorale.metrics.aggregation.ties import TieRule, leaders, untied
from chorale.metrics.judgments import Judgments
from chorale.model.plural import plural
from chorale.model.reprs import brief_repr

Progress = Callable[[int, int], None]

_HALF = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Aggregation:
    """Aggregated labels. In multi-label tasks, every option has its own probability, and they do not sum to 1."""

    tasks: tuple[str, ...]
    options: tuple[str, ...]
    probabilities: FloatArray
    """Tasks × options."""
    workers: tuple[str, ...]
    quality: Mapping[str, FloatArray]
    """Values per worker: first their quality; `judgments` is the number of judgments."""
    multiple: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of the method as arrays; see the method."""
    iterations: int | None = None
    converged: bool = True
    """Whether the method converged before the maximum number of iterations."""
    notes: tuple[str, ...] = ()
    tie_rule: TieRule = "random"
    """Rule for tied labels: the first in alphabetical order, one selected randomly by task name, none, or all."""
    tie_seed: int = 1

    @classmethod
    def of(
        cls, judgments: Judgments, probabilities: FloatArray, quality: Mapping[str, FloatArray], **rest: Any
    ) -> Self:
        """Builds a result from probabilities (tasks × labels) and the quality of workers."""
        return cls(
            judgments.task_names,
            judgments.label_names,
            np.ascontiguousarray(probabilities),
            judgments.worker_names,
            {**quality, "judgments": judgments_of(judgments)},
            notes=judgments.notes,
            **rest,
        )

    def __repr__(self) -> str:
        steps = [] if self.iterations is None else [plural(self.iterations, "iteration", "iterations")]
        return brief_repr(
            "Aggregation",
            plural(len(self.tasks), "task", "tasks"),
            plural(len(self.options), "label", "labels") + (" in sets" if self.multiple else ""),
            f"{plural(len(self.workers), 'worker', 'workers')} with {next(iter(self.quality))}",
            *steps,
        )

    @property
    def leading(self) -> NDArray[np.intp]:
        """The most probable option of each task. Ties are broken at random, unless the rule is to take the first."""
        at_top = leaders(self.probabilities)
        if self.tie_rule == "first":
            return np.asarray(at_top.argmax(axis=1) if at_top.size else np.zeros(len(at_top)), dtype=np.intp)
        return untied(at_top, self.tasks, self.tie_seed)

    @property
    def labels(self) -> dict[str, str | list[str] | None]:
        """The answer to each task: a label or, in multi-label tasks, all options with a probability above one half.

        A tied task has the result of the tie rule: a label, None, or a list.
        """
        if self.multiple:
            return dict(zip(self.tasks, self._listed(range(len(self.tasks))), strict=True))
        labels: dict[str, str | list[str] | None] = {
            task: self.options[code] for task, code in zip(self.tasks, self.leading.tolist(), strict=True)
        }
        if self.tie_rule in ("abstain", "all"):
            tied = np.flatnonzero(self.tied).tolist()
            given = self._listed(tied) if self.tie_rule == "all" else [None] * len(tied)
            labels |= zip((self.tasks[row] for row in tied), given, strict=True)
        return labels

    def _listed(self, rows: Sequence[int]) -> list[list[str]]:
        """All options in the answers to some tasks."""
        return [
            [option for option, is_in in zip(self.options, row, strict=True) if is_in]
            for row in self.chosen[list(rows)].tolist()
        ]

    @property
    def chosen(self) -> NDArray[np.bool_]:
        """Tasks × options: whether the option is in the answer to the task."""
        if self.multiple:
            return self.probabilities > (_HALF - TIE if self.tie_rule == "all" else _HALF + TIE)
        at_top = leaders(self.probabilities)
        if self.tie_rule == "all":
            return at_top
        chosen = np.zeros(self.probabilities.shape, dtype=np.bool_)
        chosen[np.arange(len(self.tasks)), self.leading] = True
        if self.tie_rule == "abstain":
            chosen[at_top.sum(axis=1) > 1] = False
        return chosen

    @property
    def tied(self) -> NDArray[np.bool_]:
        """Whether each task is tied; in multi-label tasks, whether exactly half chose an option."""
        if self.multiple:
            return np.asarray((np.abs(self.probabilities - _HALF) <= TIE).any(axis=1))
        return np.asarray(leaders(self.probabilities).sum(axis=1) > 1)

    @property
    def ties(self) -> int:
        """Number of tied tasks."""
        return int(np.count_nonzero(self.tied))


def judgments_of(judgments: Judgments) -> FloatArray:
    """Number of judgments per worker."""
    return np.bincount(judgments.workers, minlength=len(judgments.worker_names)).astype(np.float64)


def certainty(result: Aggregation) -> FloatArray:
    """The probability of the answer; for a set of options, of its least certain decision."""
    if not result.multiple:
        # For many short rows, taking the maximum over long columns is several times faster.
        return np.asarray(np.ascontiguousarray(result.probabilities.T).max(axis=0))
    return np.asarray(np.maximum(result.probabilities, 1 - result.probabilities).min(axis=1))
