"""Bootstrap intervals of CrowdTruth's qualities.

Each value is bootstrapped conditionally: the qualities used as weights are fixed, and only the averaged values are
resampled. These are

    for a unit        its workers (the same worker sampled twice does not form a pair),
    for a worker      the units they judged,
    for an annotation all units.

Intervals are central percentiles of the resamples. The quality of an annotation requires all pairs of workers in every
resample. So its standard deviation is estimated from 200 resamples, and its interval assumes a normal distribution.

Refitting everything for a thousand resamples would take a thousand fits; this takes as long as about thirty.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from statistics import NormalDist

import numpy as np

from chorale.metrics import ratio
from chorale.metrics.aggregation.crowdtruth.agreement import Qualities, with_others
from chorale.metrics.aggregation.crowdtruth.annotations import annotation_quality
from chorale.metrics.aggregation.crowdtruth.vectors import Values, Vectors
from chorale.metrics.sampling import LEVEL, Narrowness, Progress, ends_of, times_each_placed, times_each_taken
from chorale.metrics.support import FEWEST

ANNOTATION_DRAWS = 200
_MOST_KEPT = 2**24
"""Maximum size of cached samples."""


@dataclass(frozen=True, slots=True, eq=False)
class LastIteration:
    """Data behind the qualities: the vectors, and the values of the second-to-last iteration."""

    vectors: Vectors
    before: Qualities
    open_task: bool


class CrowdTruthResampling:
    """Resamples one result. Intervals are arrays of two rows: lower and upper ends."""

    def __init__(self, evidence: LastIteration, *, resamples: int = 1000, seed: int = 1) -> None:
        self._vectors, self._before, self._open = evidence.vectors, evidence.before, evidence.open_task
        self._resamples, self._seed = resamples, seed
        self._drawn: dict[int, Values] = {}

    def of_units(self, places: Iterable[int]) -> dict[int, tuple[Values, Values]]:
        """Intervals of UQS for these units, and of UAS for each of their cells."""
        vectors = self._vectors
        quality = self._before.aqs[vectors.annotation]
        squared = vectors.by_judgment(quality * vectors.value**2)
        scaled = np.sqrt(quality) * vectors.value / np.sqrt(squared)[vectors.judgment]
        cells = np.searchsorted(vectors.cell_unit, np.arange(len(vectors.units) + 1))
        entries = np.searchsorted(vectors.judgment, vectors.first)
        ends = {}
        for unit in places:
            own, part = slice(entries[unit], entries[unit + 1]), slice(vectors.first[unit], vectors.first[unit + 1])
            weight = self._before.wqs[vectors.worker[part]]
            row, column = vectors.judgment[own] - part.start, vectors.cell[own] - cells[unit]
            choices = np.zeros((2, len(weight), int(cells[unit + 1] - cells[unit])))
            choices[0, row, column], choices[1, row, column] = scaled[own], vectors.value[own]
            ends[unit] = self._of_unit(weight, choices)
        return ends

    def _of_unit(self, weight: Values, choices: Values) -> tuple[Values, Values]:
        weighted = self._draws(len(weight)) * weight
        total = weighted.sum(axis=1)
        alone = (weighted**2).sum(axis=1)
        pairs = total**2 - alone
        agreed = ((weighted @ choices[0]) ** 2).sum(axis=1) - alone
        there = pairs > 1e-12 * total**2
        # A resample with only one distinct worker contains no pairs.
        uqs = np.divide(agreed, pairs, out=np.zeros(len(pairs)), where=there)[there] if there.any() else np.zeros(1)
        uas = ratio(weighted @ choices[1], total[:, None])
        return _ends(np.clip(uqs, 0.0, None), len(weight)), _ends(uas, len(weight))

    def of_workers(self, places: Iterable[int], progress: Progress | None = None) -> dict[int, dict[str, Values]]:
        """Intervals of WQS, WWA and WUA for these workers."""
        vectors = self._vectors
        uqs = self._before.uqs[vectors.unit]
        agreed, of_others, cosine = with_others(vectors, self._before)
        rows = np.column_stack([uqs * agreed, uqs * of_others, uqs * cosine, uqs])
        order = np.argsort(vectors.worker, kind="stable")
        edges = np.searchsorted(vectors.worker[order], np.arange(len(vectors.workers) + 1))
        intervals = {}
        wanted = list(places)
        for number, worker in enumerate(wanted, 1):
            own = rows[order[edges[worker] : edges[worker + 1]]]
            sums = self._draws(len(own)) @ own
            wwa, wua = (ratio(sums[:, part], sums[:, part + 1]) for part in (0, 2))
            ends = {"wqs": wwa * wua, "wwa": wwa, "wua": wua}
            intervals[worker] = {name: _ends(values, len(own)) for name, values in ends.items()}
            if progress:
                progress(number, len(wanted))
        return intervals

    def of_annotations(self, progress: Progress | None = None) -> Values:
        """Intervals of AQS for every annotation; all 1 for an open task."""
        if self._open:
            return np.ones((2, len(self._vectors.annotations)))
        quality_of = annotation_quality(self._vectors)
        aqs = quality_of(self._before.uqs, self._before.wqs)
        rng = np.random.default_rng([self._seed, 1])
        units = len(self._vectors.units)
        draws = min(self._resamples, ANNOTATION_DRAWS)
        drawn = np.empty((draws, len(aqs)))
        for number, times in enumerate(chain.from_iterable(times_each_placed(units, draws, rng))):
            drawn[number] = quality_of(self._before.uqs * times, self._before.wqs)
            if progress:
                progress(number + 1, draws)
        half = NormalDist().inv_cdf((1 + LEVEL) / 2) * drawn.std(axis=0, ddof=1)
        return np.asarray(np.clip(np.stack([aqs - half, aqs + half]), 0.0, 1.0))

    def _draws(self, size: int) -> Values:
        """Sampling counts, one row per resample. Units or workers of the same size share them, because each has
        its own interval and intervals are not compared.
        """
        if size in self._drawn:
            return self._drawn[size]
        drawn = times_each_taken(size, self._resamples, np.random.default_rng([self._seed, 0, size]))
        if drawn.size + sum(each.size for each in self._drawn.values()) <= _MOST_KEPT:
            self._drawn[size] = drawn
        return drawn


def _ends(drawn: Values, units: int) -> Values:
    """Interval over a number of workers or units; NaN if there are too few."""
    if units < FEWEST:
        return np.full((2, *drawn.shape[1:]), np.nan)
    return ends_of(drawn, tail=Narrowness.of_units(units).tail)
