"""What an aggregator gives: a probability for every label of every task, and what it found out about the workers."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.judgments import Judgments
from chorale.model.plural import plural
from chorale.model.reprs import brief_repr

Progress = Callable[[int, int], None]

_TIE = 1e-9
"""Probabilities closer than this are the same number computed in another order."""
_HALF = 0.5


@dataclass(frozen=True, slots=True, eq=False)
class Aggregation:
    """The crowd's answers. Of a multi-label task every option has a probability of its own: they don't sum to 1."""

    tasks: tuple[str, ...]
    options: tuple[str, ...]
    probabilities: FloatArray
    """Tasks × options."""
    workers: tuple[str, ...]
    quality: Mapping[str, FloatArray]
    """What is known about each worker, one number each: first how good they are; `judgments`: how many they gave."""
    multiple: bool = False
    details: Mapping[str, Any] = field(default_factory=dict)
    """The method's own parameters, as arrays: see the method."""
    iterations: int | None = None
    converged: bool = True
    """Whether the method stopped by itself, and not at the most iterations it was allowed."""
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls, judgments: Judgments, probabilities: FloatArray, quality: Mapping[str, FloatArray], **rest: Any
    ) -> Self:
        """What a method found in judgments: probabilities of tasks × labels, and how good workers are."""
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
        """The most probable option of each task; of equals the one whose name sorts first."""
        return leading(self.probabilities)

    @property
    def labels(self) -> dict[str, str | list[str]]:
        """The answer to each task: a label, or of a multi-label task all options more probable than not."""
        if self.multiple:
            chosen = self.chosen
            return {
                task: [option for option, is_in in zip(self.options, row, strict=True) if is_in]
                for task, row in zip(self.tasks, chosen.tolist(), strict=True)
            }
        return {task: self.options[code] for task, code in zip(self.tasks, self.leading.tolist(), strict=True)}

    @property
    def chosen(self) -> NDArray[np.bool_]:
        """Tasks × options: whether the option is in the answer to the task."""
        if self.multiple:
            return self.probabilities > _HALF + _TIE
        chosen = np.zeros(self.probabilities.shape, dtype=np.bool_)
        chosen[np.arange(len(self.tasks)), self.leading] = True
        return chosen

    @property
    def ties(self) -> int:
        """How many tasks had no single answer that leads."""
        if not self.probabilities.size:
            return 0
        if self.multiple:
            return int((np.abs(self.probabilities - _HALF) <= _TIE).any(axis=1).sum())
        top = self.probabilities.max(axis=1, keepdims=True)
        return int(((self.probabilities >= top - _TIE).sum(axis=1) > 1).sum())


def leading(probabilities: FloatArray) -> NDArray[np.intp]:
    """The column of the largest number in each row; of equals the first."""
    if not probabilities.size:
        return np.zeros(len(probabilities), dtype=np.intp)
    top = probabilities.max(axis=1, keepdims=True)
    return np.asarray(np.argmax(probabilities >= top - _TIE, axis=1), dtype=np.intp)


def judgments_of(judgments: Judgments) -> FloatArray:
    """How many judgments each worker made."""
    return np.bincount(judgments.workers, minlength=len(judgments.worker_names)).astype(np.float64)


def certainty(result: Aggregation) -> FloatArray:
    """The probability of the answer; of a set of options, that of the least certain decision in it."""
    if not result.multiple:
        # Many short rows: the largest of long columns is found several times as fast.
        return np.asarray(np.ascontiguousarray(result.probabilities.T).max(axis=0))
    return np.asarray(np.where(result.chosen, result.probabilities, 1 - result.probabilities).min(axis=1))
