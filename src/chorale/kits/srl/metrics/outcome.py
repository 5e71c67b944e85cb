"""What a scorer of semantic roles found, whichever scorer it was."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from chorale.kits.srl.files import Sentence
from chorale.kits.srl.metrics.errors import ERROR_COUNTS
from chorale.kits.srl.metrics.names import Names
from chorale.metrics import Counts, FloatArray, Metric, Statistics, ratio
from chorale.model.plural import plural
from chorale.model.reprs import brief_repr

_Value = TypeVar("_Value")


@dataclass(frozen=True)
class MetricOutcome:
    """One system under one metric: an item is a sentence."""

    name: str
    columns: tuple[str, ...]
    """What the columns of the statistics are."""
    statistics: Statistics
    metric: Metric
    wrong: NDArray[np.int64]
    """Of every sentence how many mistakes the metric saw."""
    names: Mapping[str, Names] = field(default_factory=dict, repr=False)
    """What was right, returned and wanted by role, by tag, …"""
    errors: Statistics | None = field(default=None, repr=False)
    """Of every sentence how many arguments went wrong in which way, for `ERROR_COUNTS`."""
    confusion: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Arguments by their gold and their predicted role; `-NONE-` where there is none."""

    def __repr__(self) -> str:
        shown = [f"{name} {value:.4f}" for name, value in self.scores().items() if name.endswith("f1")]
        return brief_repr("MetricOutcome", self.name, plural(len(self.wrong), "sentence", "sentences"), *shown)

    @cached_property
    def tables(self) -> dict[str, dict[str, Counts]]:
        """Counts per role, per tag, …"""
        return {table: names.counts() for table, names in self.names.items()}

    @property
    def tallies(self) -> dict[str, dict[str, int]]:
        """How often each kind of error occurred, per group of arguments."""
        if self.errors is None:
            return {}
        counts = {name: int(value) for name, value in ERROR_COUNTS.scores(self.errors).items()}
        return grouped(counts)

    def scores(self) -> dict[str, float]:
        return dict(self._scores)

    @cached_property
    def _scores(self) -> dict[str, float]:
        return self.metric.scores(self.statistics)

    def totals(self) -> dict[str, float]:
        """The sums of the statistics' columns."""
        return dict(zip(self.columns, self.statistics.rows.sum(axis=0).tolist(), strict=True))


def grouped(values: Mapping[str, _Value]) -> dict[str, dict[str, _Value]]:
    """By what stands before the point, and behind it.

    >>> grouped({"core.missing": 1, "core.spurious": 2})
    {'core': {'missing': 1, 'spurious': 2}}
    """
    groups: dict[str, dict[str, _Value]] = {}
    for name, value in values.items():
        group, _, last = name.partition(".")
        groups.setdefault(group, {})[last] = value
    return groups


def statistics_of(rows: Sequence[Sequence[float]]) -> Statistics:
    """One row per sentence, named by its number."""
    table = np.asarray(rows, dtype=np.float64).reshape(len(rows), -1)
    return Statistics(tuple(map(str, range(1, len(rows) + 1))), table)


Of = Callable[[FloatArray, FloatArray], FloatArray]
"""What is made of a part and its whole: the fraction, or the whole alone."""


def whole_alone(_part: FloatArray, whole: FloatArray) -> FloatArray:
    return whole


def fractions(
    name: str, correct: FloatArray, system: FloatArray, gold: FloatArray, of: Of = ratio
) -> dict[str, FloatArray]:
    """Precision, recall and F1 from how many were right, returned and wanted."""
    prefix = f"{name}." if name else ""
    return {
        f"{prefix}precision": of(correct, system),
        f"{prefix}recall": of(correct, gold),
        f"{prefix}f1": of(2 * correct, system + gold),
    }


def fractions_metric(formula: Callable[[FloatArray, Of], Mapping[str, FloatArray]]) -> Metric:
    """Scores that are all fractions: their intervals hold where few sentences have what they are of."""
    return Metric(lambda sums: formula(sums, ratio), wholes=lambda sums: formula(sums, whole_alone))


def sentence_pairs(system: Sequence[Sentence], gold: Sequence[Sentence]) -> Iterator[tuple[Sentence, Sentence]]:
    """The sentences of both, side by side."""
    if len(system) != len(gold):
        raise ValueError(f"{len(system)} sentences can't be scored against {len(gold)}")
    if not gold:
        raise ValueError("there are no sentences to score")
    return zip(system, gold, strict=True)


def only_common(system: Sequence[Sentence], gold: Sequence[Sentence]) -> tuple[list[Sentence], list[Sentence]]:
    """Both without the predicates that only one of them has."""
    of_system, of_gold = [], []
    for theirs, ours in zip(system, gold, strict=True):
        shared = {each.position for each in theirs.predicates} & {each.position for each in ours.predicates}
        of_system.append(_only(theirs, shared))
        of_gold.append(_only(ours, shared))
    return of_system, of_gold


def _only(sentence: Sentence, positions: set[int]) -> Sentence:
    if len(positions) == len(sentence.predicates):
        return sentence
    return sentence._replace(predicates=tuple(each for each in sentence.predicates if each.position in positions))
