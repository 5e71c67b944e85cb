"""The result of a scorer for semantic roles."""

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
    """Scores of one system on one metric. Items are sentences."""

    name: str
    columns: tuple[str, ...]
    """Names of the columns of the statistics."""
    statistics: Statistics
    metric: Metric
    wrong: NDArray[np.int64]
    """Number of errors per sentence."""
    names: Mapping[str, Names] = field(default_factory=dict, repr=False)
    """Correct, predicted and gold names by role, part of speech, …"""
    errors: Statistics | None = field(default=None, repr=False)
    """Number of arguments of each error type per sentence, for `ERROR_COUNTS`."""
    confusion: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """Number of arguments by gold and predicted role; `-NONE-` for no role."""

    def __repr__(self) -> str:
        shown = [f"{name} {value:.4f}" for name, value in self.scores().items() if name.endswith("f1")]
        return brief_repr("MetricOutcome", self.name, plural(len(self.wrong), "sentence", "sentences"), *shown)

    @cached_property
    def tables(self) -> dict[str, dict[str, Counts]]:
        """Counts per role, part of speech, …"""
        return {table: names.counts() for table, names in self.names.items()}

    @property
    def tallies(self) -> dict[str, dict[str, int]]:
        """Number of errors of each type, per group of arguments."""
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
        """Sums of the columns of the statistics."""
        return dict(zip(self.columns, self.statistics.rows.sum(axis=0).tolist(), strict=True))


def grouped(values: Mapping[str, _Value]) -> dict[str, dict[str, _Value]]:
    """Nests counts by the part of their name before the dot.

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
"""Computes a score from a part and its whole: their ratio, or the whole itself."""


def whole_alone(_part: FloatArray, whole: FloatArray) -> FloatArray:
    return whole


def fractions(
    name: str, correct: FloatArray, system: FloatArray, gold: FloatArray, of: Of = ratio
) -> dict[str, FloatArray]:
    """Precision, recall and F1 from the number of correct, predicted and gold names."""
    prefix = f"{name}." if name else ""
    return {
        f"{prefix}precision": of(correct, system),
        f"{prefix}recall": of(correct, gold),
        f"{prefix}f1": of(2 * correct, system + gold),
    }


def fractions_metric(formula: Callable[[FloatArray, Of], Mapping[str, FloatArray]]) -> Metric:
    """Scores that are all fractions. Their intervals stay valid if few sentences contribute to them."""
    return Metric(lambda sums: formula(sums, ratio), wholes=lambda sums: formula(sums, whole_alone))


def sentence_pairs(system: Sequence[Sentence], gold: Sequence[Sentence]) -> Iterator[tuple[Sentence, Sentence]]:
    """Pairs the sentences of system and gold."""
    if len(system) != len(gold):
        raise ValueError(f"system and gold must have the same number of sentences, not {len(system)} and {len(gold)}")
    if not gold:
        raise ValueError("there are no sentences to score")
    return zip(system, gold, strict=True)


def only_common(system: Sequence[Sentence], gold: Sequence[Sentence]) -> tuple[list[Sentence], list[Sentence]]:
    """The sentences of system and gold, without predicates that only one side has."""
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
