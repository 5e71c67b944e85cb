"""The effect of a model's suggestions on workers: their speed, and how often they follow correct and wrong ones."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from chorale.engine.running import RunningStage, Study
from chorale.metrics import Metric, Statistics, UnpairedComparison, ratio
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import ScoreTable, shown_interval
from chorale.monitor.suggested_answers import SuggestionMeasure, suggestion_measures
from chorale.store import Tx
from chorale.store.suggestions import SuggestedRow

_MEAN = Metric(lambda sums: {"mean": ratio(sums[..., 0], sums[..., 1])}, wholes=lambda sums: {"mean": sums[..., 1]})


@dataclass(frozen=True, slots=True)
class SuggestionEffect:
    """A measure with and without suggestions."""

    measure: str
    with_suggestion: float | None
    answers_with: int
    without: float | None
    answers_without: int
    compared: UnpairedComparison | None
    """The difference, resampled by workers; None if a side has fewer than two."""

    def as_json(self) -> dict[str, Any]:
        kept = {name: getattr(self, name) for name in self.__slots__ if name != "compared"}
        return {**kept, "compared": None if self.compared is None else self.compared.as_dict()}


def measured_suggestions(tx: Tx, study: Study, stage: RunningStage, resampling: Resampling) -> list[SuggestionEffect]:
    """The measures of a stage in which a model suggests answers, compared by workers; empty if none does."""
    return [_compared(measure, resampling) for measure in suggestion_measures(tx, study, stage)]


def _compared(measure: SuggestionMeasure, resampling: Resampling) -> SuggestionEffect:
    sides = (measure.with_suggestion, measure.without)
    compared = None
    if all(len({row.worker for row in side}) > 1 for side in sides):
        first, second = (_by_worker(side, measure.value) for side in sides)
        compared = resampling.compare_apart((first, _MEAN), (second, _MEAN))["mean"]
    with_suggestion, without = measure.means
    return SuggestionEffect(measure.measure, with_suggestion, len(sides[0]), without, len(sides[1]), compared)


def _by_worker(rows: Iterable[SuggestedRow], value: Callable[[SuggestedRow], float]) -> Statistics:
    sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in rows:
        sums[row.worker][0] += value(row)
        sums[row.worker][1] += 1
    names = tuple(sorted(sums))
    return Statistics(names, np.array([sums[name] for name in names]))


def suggestions_table(stage: str, measured: Sequence[SuggestionEffect]) -> ScoreTable:
    """The table for a terminal and a report."""
    columns = ("measure", "with suggestion#", "answers#", "without#", "answers#", "difference#", "95% interval#", "p#")
    rows = []
    for effect in measured:
        by = effect.compared
        apart = (None, "", None) if by is None else (by.difference, shown_interval(by.interval), by.p_permutation)
        rows.append(
            (
                effect.measure,
                effect.with_suggestion,
                effect.answers_with,
                effect.without,
                effect.answers_without,
                *apart,
            )
        )
    return ScoreTable(f"Suggestions in {stage}", columns, rows)
