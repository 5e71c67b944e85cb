"""Multi-label aggregation: every option is a separate yes/no question.

This is binary relevance (Tsoumakas and Katakis 2007). Aggregators are defined for one label; for a multi-label task
they run once per option, on whether each worker chose it.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.result import Aggregation, Progress
from chorale.metrics.aggregation.votes import present
from chorale.metrics.judgments import Judgments

Method = Callable[[Judgments, Progress | None], Aggregation]
NO_YES = ("no", "yes")
MOST_CELLS = 200_000_000
"""Maximum size (tasks × options) of a result that fits into memory."""


def aggregated(judgments: Judgments, method: Method, progress: Progress | None = None) -> Aggregation:
    """The result of the method, option by option for multi-label tasks."""
    if not len(judgments):
        raise ValueError("there are no judgments to aggregate")
    judgments = present(judgments)
    if len(judgments.task_names) * len(judgments.options) > MOST_CELLS:
        raise ValueError(
            f"too many different labels to aggregate: {len(judgments.options):,} labels of "
            f"{len(judgments.task_names):,} tasks. Check the column of labels"
        )
    sets = judgments.sets
    if sets is None:
        return method(judgments, progress)
    count = len(judgments.options)
    results = []
    for option in range(count):
        has = np.array([option in one for one in sets], dtype=np.int32)
        results.append(method(_about(judgments, has), None))
        if progress:
            progress(option + 1, count)
    return Aggregation(
        tasks=judgments.task_names,
        options=judgments.options,
        probabilities=np.column_stack([result.probabilities[:, 1] for result in results]),
        workers=judgments.worker_names,
        quality={name: _mean([result.quality[name] for result in results]) for name in results[0].quality},
        multiple=True,
        iterations=max((result.iterations or 0 for result in results), default=0) or None,
        converged=all(result.converged for result in results),
        notes=judgments.notes,
    )


def _about(judgments: Judgments, has: NDArray[np.int32]) -> Judgments:
    """Judgments of whether workers chose an option, given the labels that contain it."""
    return replace(judgments, labels=has[judgments.labels], label_names=NO_YES, options=NO_YES, sets=None, notes=())


def _mean(values: list[FloatArray]) -> FloatArray:
    return np.asarray(np.mean(values, axis=0))
