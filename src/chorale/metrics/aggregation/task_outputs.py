"""Methods whose result is not a label from a list but a text, a mask or a number, by their command-line names."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from chorale.metrics import FloatArray
from chorale.metrics.aggregation.methods import MethodOptions
from chorale.metrics.aggregation.result import Progress, judgments_of
from chorale.metrics.aggregation.rover import rover
from chorale.metrics.aggregation.segmentation import segmentation_em, segmentation_majority, segmentation_rasa
from chorale.metrics.aggregation.segmentation_estimators import masks_of
from chorale.metrics.aggregation.text_vectors import gleu, hashed_tfidf
from chorale.metrics.aggregation.vector_answers import Closest, VectorAnswers, closest_to_average, hrrasa, rasa
from chorale.metrics.aggregation.votes import present
from chorale.metrics.judgments import Judgments


@dataclass(frozen=True, slots=True, eq=False)
class TaskOutputs:
    """A text, a mask or a number for every task, with its support."""

    tasks: tuple[str, ...]
    outputs: tuple[Any, ...]
    support_name: str
    support: FloatArray
    """Support of every task; NaN if undefined. Not a probability."""
    workers: tuple[str, ...]
    quality: Mapping[str, FloatArray]
    iterations: int | None = None
    converged: bool = True
    notes: tuple[str, ...] = ()
    worst_is_highest: bool = False
    """Whether support and quality are distances, which are 0 at best."""


OutputMethod = Callable[[Judgments, MethodOptions, Progress | None], TaskOutputs]


def _by_vectors(
    judgments: Judgments, method: Callable[[VectorAnswers], Closest], *, with_reliability: bool = True
) -> TaskOutputs:
    texts = judgments.label_names
    labels = judgments.labels.astype(np.intp)
    vectors = hashed_tfidf(texts)[labels]
    given = VectorAnswers.of(judgments.tasks.astype(np.intp), judgments.workers.astype(np.intp), labels, vectors)
    closest = method(given)
    chosen = [texts[code] for code in labels[closest.chosen].tolist()]
    far = closest.distances[closest.chosen]
    closeness = np.where(np.isfinite(far), 1 - far, np.nan)
    quality = {"likeness": _likeness(judgments, chosen)}
    if with_reliability and closest.reliability is not None:
        quality = {"reliability": closest.reliability, **quality}
    return _outputs(judgments, chosen, "closeness", closeness, quality, closest.iterations, converged=closest.converged)


def _rover(judgments: Judgments, _: MethodOptions, progress: Progress | None) -> TaskOutputs:
    words: list[list[Sequence[str]]] = [[] for _ in judgments.task_names]
    for place in np.lexsort((judgments.workers, judgments.tasks)).tolist():
        words[judgments.tasks[place]].append(judgments.label_names[judgments.labels[place]].split())
    joined, shares = [], []
    for done, each in enumerate(words, 1):
        best, share = rover(each)
        joined.append(" ".join(best))
        shares.append(share)
        if progress:
            progress(done, len(words))
    return _outputs(judgments, joined, "agreement", np.array(shares), {"likeness": _likeness(judgments, joined)})


def _masks(judgments: Judgments, method: Callable[[Any], Any], progress: Progress | None) -> TaskOutputs:
    """Parses labels that are JSON masks: a list of rows of 0 and 1."""
    parsed = [_parsed(text) for text in judgments.label_names]
    order = np.lexsort((judgments.workers, judgments.tasks))
    edges = np.searchsorted(judgments.tasks[order], np.arange(len(judgments.task_names) + 1))
    joined, overlap = [], np.empty(len(judgments))
    for task, name in enumerate(judgments.task_names):
        rows = order[edges[task] : edges[task + 1]]
        masks = masks_of([parsed[code] for code in judgments.labels[rows].tolist()], name)
        joint = method(masks)
        union = (masks | joint).sum(axis=(1, 2))
        overlap[rows] = np.divide((masks & joint).sum(axis=(1, 2)), union, out=np.ones(len(rows)), where=union > 0)
        joined.append(joint.astype(int).tolist())
        if progress:
            progress(task + 1, len(judgments.task_names))
    mean = np.bincount(judgments.tasks, overlap) / np.bincount(judgments.tasks)
    return _outputs(judgments, joined, "IoU", mean, {"IoU": _mean_by_worker(judgments, overlap)})


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        shown = text if len(text) < 40 else f"{text[:40]}…"
        raise ValueError(f"{shown!r} is not a mask. Write a JSON list of rows of 0 and 1") from None


def _numbers(judgments: Judgments, middle: Callable[[FloatArray], np.floating[Any]]) -> TaskOutputs:
    values = _parsed_numbers(judgments.label_names)[judgments.labels]
    order = np.lexsort((values, judgments.tasks))
    edges = np.searchsorted(judgments.tasks[order], np.arange(1, len(judgments.task_names)))
    results = np.array([middle(of_task) for of_task in np.split(values[order], edges)])
    apart = np.abs(values - results[judgments.tasks])
    # Sums in another order differ in the last digit, so the order is fixed.
    deviation = np.bincount(judgments.tasks[order], apart[order]) / np.bincount(judgments.tasks)
    quality = {"deviation": _mean_by_worker(judgments, apart)}
    outputs = _outputs(judgments, results.tolist(), "deviation", deviation, quality)
    return replace(outputs, worst_is_highest=True)


def _parsed_numbers(labels: Sequence[str]) -> FloatArray:
    numbers = np.array([_number(label) for label in labels])
    wrong = [label for label, number in zip(labels, numbers.tolist(), strict=True) if not np.isfinite(number)]
    if wrong:
        raise ValueError(
            f"mean and median require numbers, but {len(wrong):,} of the {len(labels):,} different labels are not "
            f"numbers, such as {wrong[0][:40]!r}. Correct them, leave them empty, or use --method majority"
        )
    return numbers


def _number(label: str) -> float:
    try:
        return float(label)
    except ValueError:
        return np.nan


def _likeness(judgments: Judgments, joined: Sequence[str]) -> FloatArray:
    """Mean GLEU of each worker's texts with the answers to the tasks."""
    said = (judgments.label_names[code] for code in judgments.labels.tolist())
    each = np.array([gleu(text, joined[task]) for text, task in zip(said, judgments.tasks.tolist(), strict=True)])
    return _mean_by_worker(judgments, each)


def _mean_by_worker(judgments: Judgments, each: FloatArray) -> FloatArray:
    # Sums in another order differ in the last digit, so the order is fixed.
    order = np.lexsort((each, judgments.tasks, judgments.workers))
    sums = np.bincount(judgments.workers[order], each[order], minlength=len(judgments.worker_names))
    return np.asarray(sums / judgments_of(judgments))


def _outputs(
    judgments: Judgments,
    outputs: Sequence[Any],
    support_name: str,
    support: FloatArray,
    quality: Mapping[str, FloatArray],
    iterations: int | None = None,
    *,
    converged: bool = True,
) -> TaskOutputs:
    return TaskOutputs(
        judgments.task_names,
        tuple(outputs),
        support_name,
        support,
        judgments.worker_names,
        {**quality, "judgments": judgments_of(judgments)},
        iterations,
        converged,
        judgments.notes,
    )


def _rasa(judgments: Judgments, options: MethodOptions, progress: Progress | None) -> TaskOutputs:
    return _by_vectors(judgments, lambda given: rasa(given, **options.limits(), progress=progress))  # type: ignore[arg-type]


def _hrrasa(judgments: Judgments, options: MethodOptions, progress: Progress | None) -> TaskOutputs:
    texts, limits = judgments.label_names, options.limits()
    return _by_vectors(judgments, lambda given: hrrasa(given, texts, gleu, **limits, progress=progress))  # type: ignore[arg-type]


_BY_VECTORS: dict[str, OutputMethod] = {
    "closest-to-average": lambda each, _, __: _by_vectors(each, closest_to_average),
    "rasa": _rasa,
    "hrrasa": _hrrasa,
}
_OF_MASKS: dict[str, OutputMethod] = {
    "segmentation-majority": lambda each, _, progress: _masks(each, segmentation_majority, progress),
    "segmentation-em": lambda each, options, progress: _masks(
        each,
        lambda masks: segmentation_em(masks, **options.limits())[0],  # type: ignore[arg-type]
        progress,
    ),
    "segmentation-rasa": lambda each, options, progress: _masks(
        each,
        lambda masks: segmentation_rasa(masks, **options.limits())[0],  # type: ignore[arg-type]
        progress,
    ),
}
_OF_NUMBERS: dict[str, OutputMethod] = {
    "mean": lambda each, _, __: _numbers(each, np.mean),
    "median": lambda each, _, __: _numbers(each, np.median),
}
OUTPUT_METHODS: dict[str, OutputMethod] = {"rover": _rover, **_BY_VECTORS, **_OF_MASKS, **_OF_NUMBERS}


def task_outputs(
    judgments: Judgments, method: str, options: MethodOptions | None = None, *, progress: Progress | None = None
) -> TaskOutputs:
    """The text, mask or number of every task, by one of `OUTPUT_METHODS`. Masks are written as JSON."""
    if not len(judgments):
        raise ValueError("there are no judgments to aggregate")
    if judgments.sets is not None:
        raise ValueError(f"{method} requires one text, mask or number per judgment, not a set of labels")
    return OUTPUT_METHODS[method](present(judgments), options or MethodOptions(), progress)
