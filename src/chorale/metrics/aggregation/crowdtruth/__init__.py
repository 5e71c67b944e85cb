"""CrowdTruth 2.0: the quality of units, workers and annotations, each computed from the other two.

Workers who agree with good workers are good, units on which good workers agree are clear, and an annotation is good if
workers who choose it are likely to agree (Dumitrache, Inel, Aroyo, Timmermans and Welty, 2018). With v(w,u) the
annotation vector of worker w for unit u, V(u) = Σ_w WQS_w·v(w,u), and cos weighted by annotation quality:

    UQS(u) = Σ_ij cos(v_i, v_j)·WQS_i·WQS_j / Σ_ij WQS_i·WQS_j
    WWA(w) = Σ_u Σ_o cos(v_w, v_o)·WQS_o·UQS(u) / Σ_u Σ_o WQS_o·UQS(u)
    WUA(w) = Σ_u UQS(u)·cos(WQS_w·v_w, V(u) − WQS_w·v_w) / Σ_u UQS(u)
    WQS(w) = WUA(w)·WWA(w)
    UAS(u, a) = Σ_w WQS_w·v(w,u)(a) / Σ_w WQS_w

The formula of AQS is in the module `annotations`. All qualities start at 1. Each iteration computes all of them from
the previous values, until none changes by 0.001 or more. A denominator below 1e-8 is taken as 1e-8.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from chorale.metrics.aggregation.crowdtruth.agreement import Qualities, agreements, annotation_scores, ones
from chorale.metrics.aggregation.crowdtruth.annotations import AnnotationQuality, annotation_quality
from chorale.metrics.aggregation.crowdtruth.resampling import CrowdTruthResampling, LastIteration
from chorale.metrics.aggregation.crowdtruth.vectors import Index, Values, Vectors, vectors_of
from chorale.metrics.aggregation.result import Aggregation
from chorale.metrics.judgments import Judgments
from chorale.model.plural import plural
from chorale.model.reprs import brief_repr

__all__ = ["CrowdTruth", "CrowdTruthResampling", "Iteration", "LastIteration", "as_aggregation", "crowdtruth"]


@dataclass(frozen=True, slots=True)
class Iteration:
    """Changes of an iteration: the largest change of any value, and the mean change per kind."""

    largest: float
    wqs: float
    uqs: float
    aqs: float


@dataclass(frozen=True, slots=True, eq=False)
class CrowdTruth:
    """The CrowdTruth result. Arrays correspond to the sorted names.

    Initial values are those after the first iteration, without weighting.
    """

    units: tuple[str, ...]
    uqs: Values
    uqs_initial: Values
    cell_unit: Index
    """Unit of each cell. A cell is a unit with an annotation chosen there."""
    cell_annotation: Index
    uas: Values
    """Score of each cell. Other annotations of the unit have 0."""
    uas_initial: Values
    workers: tuple[str, ...]
    wqs: Values
    wqs_initial: Values
    wwa: Values
    wwa_initial: Values
    wua: Values
    wua_initial: Values
    annotations: tuple[str, ...]
    aqs: Values
    aqs_initial: Values
    open_task: bool
    iterations: int
    log: tuple[Iteration, ...]
    notes: tuple[str, ...]
    converged: bool = True
    """Whether the iteration converged before the maximum number of iterations."""
    evidence: LastIteration | None = field(default=None, repr=False)
    """Data of the last iteration, for intervals."""

    def __repr__(self) -> str:
        return brief_repr(
            "CrowdTruth",
            f"{plural(len(self.units), 'unit', 'units')} of mean quality {self.uqs.mean():.3f}",
            f"{plural(len(self.workers), 'worker', 'workers')} of {self.wqs.mean():.3f}",
            f"{plural(len(self.annotations), 'annotation', 'annotations')} of {self.aqs.mean():.3f}",
            plural(self.iterations, "iteration", "iterations"),
        )

    def unit_annotation_scores(self, *, initial: bool = False) -> Iterator[tuple[str, dict[str, float]]]:
        """UAS by unit: for all annotations in a closed task, for chosen annotations in an open task."""
        scores = self.uas_initial if initial else self.uas
        edges = np.searchsorted(self.cell_unit, np.arange(len(self.units) + 1)).tolist()
        places, values = self.cell_annotation.tolist(), scores.tolist()
        nothing = {} if self.open_task else dict.fromkeys(self.annotations, 0.0)
        for unit, low, high in zip(self.units, edges, edges[1:], strict=False):
            chosen = zip(places[low:high], values[low:high], strict=True)
            yield unit, {**nothing, **{self.annotations[place]: value for place, value in chosen}}


def crowdtruth(
    judgments: Judgments,
    *,
    options: Sequence[str] | None = None,
    open_task: bool = False,
    max_iterations: int = 100,
    tolerance: float = 0.001,
    progress: Callable[[int, int], None] | None = None,
) -> CrowdTruth:
    """Computes the CrowdTruth 2.0 quality of units, workers and annotations.

    A closed task has one list of options for all units: `options`, or all labels in the data. In an open task, the
    annotations of a unit are those given for it, and AQS stays 1. Units with a single judgment are left out.

    >>> said = Judgments.from_columns(["u", "u", "u"], ["ann", "bob", "cy"], ["cat", "cat", "dog"])
    >>> result = crowdtruth(said)
    >>> [round(float(quality), 3) for quality in result.wqs]
    [1.0, 1.0, 0.0]
    """
    if max_iterations < 1 or not tolerance > 0:
        raise ValueError(
            f"iterations must be at least 1 and the tolerance above 0, not {max_iterations} and {tolerance}"
        )
    if open_task and options is not None:
        raise ValueError("an open task has no list of options. Omit options or open_task")
    vectors, notes = vectors_of(judgments, options)
    quality_of = None if open_task else annotation_quality(vectors)
    before = first = now = ones(vectors)
    log: list[Iteration] = []
    while not log or (log[-1].largest >= tolerance and len(log) < max_iterations):
        before, now = now, _next(vectors, now, quality_of)
        log.append(_change(before, now))
        first = now if len(log) == 1 else first
        if progress:
            progress(len(log), max_iterations)
    converged = log[-1].largest < tolerance
    if not converged:
        notes += (
            f"Stopped after {len(log):,} iterations without convergence: the last iteration changed a value by "
            f"{log[-1].largest:.2g}, above the tolerance of {tolerance:g}.",
        )
    result = _result(vectors, first, now, tuple(log), notes, open_task=open_task, converged=converged)
    return replace(result, evidence=LastIteration(vectors, before, open_task))


def as_aggregation(result: CrowdTruth, *, multiple: bool) -> Aggregation:
    """CrowdTruth's unit-annotation scores instead of probabilities. They do not sum to 1."""
    scores = np.zeros((len(result.units), len(result.annotations)))
    scores[result.cell_unit, result.cell_annotation] = result.uas
    return Aggregation(
        result.units,
        result.annotations,
        scores,
        result.workers,
        {"wqs": result.wqs, "wwa": result.wwa, "wua": result.wua},
        multiple=multiple,
        iterations=result.iterations,
        converged=result.converged,
        notes=result.notes,
    )


def _next(vectors: Vectors, before: Qualities, quality_of: AnnotationQuality | None) -> Qualities:
    uqs, wwa, wua = agreements(vectors, before)
    aqs = before.aqs if quality_of is None else quality_of(before.uqs, before.wqs)
    return Qualities(uqs, wwa * wua, aqs, wwa, wua)


def _change(before: Qualities, after: Qualities) -> Iteration:
    changes = [np.abs(getattr(after, name) - getattr(before, name)) for name in ("wqs", "uqs", "aqs")]
    largest = max(float(change.max()) for change in changes)
    return Iteration(largest, *(float(change.mean()) for change in changes))


def _result(
    vectors: Vectors,
    first: Qualities,
    last: Qualities,
    log: tuple[Iteration, ...],
    notes: tuple[str, ...],
    *,
    open_task: bool,
    converged: bool,
) -> CrowdTruth:
    return CrowdTruth(
        units=vectors.units,
        uqs=last.uqs,
        uqs_initial=first.uqs,
        cell_unit=vectors.cell_unit,
        cell_annotation=vectors.cell_annotation,
        uas=annotation_scores(vectors, last.wqs),
        uas_initial=annotation_scores(vectors, np.ones(len(vectors.workers))),
        workers=vectors.workers,
        wqs=last.wqs,
        wqs_initial=first.wqs,
        wwa=last.wwa,
        wwa_initial=first.wwa,
        wua=last.wua,
        wua_initial=first.wua,
        annotations=vectors.annotations,
        aqs=last.aqs,
        aqs_initial=first.aqs,
        open_task=open_task,
        iterations=len(log),
        log=log,
        notes=notes,
        converged=converged,
    )
