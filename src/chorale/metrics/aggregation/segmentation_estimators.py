"""Aggregation of masks as classes, with the interface of crowd-kit."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Self

import numpy as np

from chorale.files.judgment_columns import columns_of
from chorale.metrics import FloatArray
from chorale.metrics.aggregation.limits import check_limits
from chorale.metrics.aggregation.segmentation import Masks, segmentation_em, segmentation_majority, segmentation_rasa
from chorale.metrics.aggregation.tables_by_name import coded, series_by_name


def masks_of(given: Sequence[Any], task: Any) -> Masks:
    """The masks of a task as one array. Raises ValueError if they do not have the same size."""
    try:
        masks = np.array([np.asarray(mask) for mask in given])
    except ValueError:
        masks = np.zeros(0)
    if masks.ndim != 3 or masks.dtype.kind not in "biuf" or not np.isin(masks, (0, 1)).all():
        raise ValueError(f"the masks of task {task!r} must have the same size, with rows and columns of 0 and 1")
    return np.asarray(masks, dtype=np.bool_)


@dataclass(eq=False)
class _Segmentation:
    segmentations_: Any = field(init=False, repr=False)
    """The mask of each task."""

    def fit(self, data: Any) -> Self:
        """Fits a table with the columns task, worker and segmentation, a mask of 0 and 1."""
        self.segmentations_ = self._joined(data, None)
        return self

    def _joined(self, data: Any, skills: Mapping[Any, float] | None) -> Any:
        columns = columns_of(data, ("task", "worker", "segmentation"))
        tasks, names = coded(columns["task"], "task")
        workers, people = coded(columns["worker"], "worker")
        weights = self._weights(people, skills)
        masks = list(columns["segmentation"])
        places: list[list[int]] = [[] for _ in names]
        for place in np.lexsort((workers, tasks)).tolist():
            if not np.isnan(weights[workers[place]]):
                places[tasks[place]].append(place)
        joined = []
        for name, rows in zip(names, places, strict=True):
            if not rows:
                raise ValueError(
                    f"task {name!r} has no mask of a worker with a skill. Remove the task, or set default_skill"
                )
            joined.append(self._joint(masks_of([masks[row] for row in rows], name), weights[workers[rows]]))
        return series_by_name(data, "task", names, "segmentation", joined)

    def _weights(self, people: Sequence[Any], skills: Mapping[Any, float] | None) -> FloatArray:  # noqa: ARG002
        return np.ones(len(people))

    def _joint(self, masks: Masks, weights: FloatArray) -> Masks:
        raise NotImplementedError

    def fit_predict(self, data: Any) -> Any:
        """The mask of each task."""
        return self.fit(data).segmentations_


@dataclass(eq=False)
class SegmentationMajorityVote(_Segmentation):
    """Pixels that at least half of the workers marked. `skills` are weights of workers, as in `MajorityVote`."""

    default_skill: float | None = None
    on_missing_skill: Literal["error", "ignore", "value"] = "error"

    def fit(self, data: Any, skills: Any = None) -> Self:
        self.segmentations_ = self._joined(data, None if skills is None else dict(skills.items()))
        return self

    def fit_predict(self, data: Any, skills: Any = None) -> Any:
        return self.fit(data, skills).segmentations_

    def _weights(self, people: Sequence[Any], skills: Mapping[Any, float] | None) -> FloatArray:
        if skills is None:
            return np.ones(len(people))
        default = np.nan if self.default_skill is None else self.default_skill
        weights = np.array([skills.get(worker, default) for worker in people], dtype=np.float64)
        if np.isnan(weights).any() and self.on_missing_skill != "ignore":
            name = people[int(np.isnan(weights).argmax())]
            raise ValueError(f"worker {name!r} has no skill. Set default_skill, or give every worker a skill")
        return weights

    def _joint(self, masks: Masks, weights: FloatArray) -> Masks:
        return segmentation_majority(masks, weights)


@dataclass(eq=False)
class SegmentationEM(_Segmentation):
    """Pixels that are probably inside, with estimated worker accuracies."""

    n_iter: int = 10
    tol: float = 1e-5
    eps: float = 1e-15

    def __post_init__(self) -> None:
        check_limits(self.n_iter, self.tol)

    def _joint(self, masks: Masks, weights: FloatArray) -> Masks:  # noqa: ARG002
        return segmentation_em(masks, iterations=self.n_iter, tolerance=self.tol, least=self.eps)[0]


@dataclass(eq=False)
class SegmentationRASA(_Segmentation):
    """Pixels with at least half of the workers' weight. Workers weigh more if their masks are close to the result."""

    n_iter: int = 10
    tol: float = 1e-5

    def __post_init__(self) -> None:
        check_limits(self.n_iter, self.tol)

    def _joint(self, masks: Masks, weights: FloatArray) -> Masks:  # noqa: ARG002
        return segmentation_rasa(masks, iterations=self.n_iter, tolerance=self.tol)[0]
