"""Accuracy of people and models on the questions that validators agree on, and the gap between them.

Every question contributes the expected values of its statistics over all samples of its gold votes, so the scores need
no random numbers: a score is the ratio of two expected sums. `resampled` estimates how far a single sample can deviate.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from chorale.kits.questions.files.questions import MISSING, McqQuestions
from chorale.kits.questions.metrics.outcomes import DISCARDED, DrawOutcome, Ties, outcomes_of
from chorale.metrics import FloatArray, Interval, Metric, Statistics, ratio
from chorale.metrics.sampling import Progress, interval_of

Section = Literal["all", "resampled", "high", "unanimous"]
SECTIONS: tuple[Section, ...] = ("all", "resampled", "high", "unanimous")
"""All kept questions; those with remaining votes; of these, those where at least 80% of the gold votes agree; and those
where all agree.
"""
HIGH_AGREEMENT = 0.8
_RUN = re.compile(r"(.+?)[-_.]?(\d+)")
_BLOCK = 256


@dataclass(frozen=True, slots=True)
class McqMeasures:
    """Statistics and scores per question.

    Scores are named `kept SECTION`, `human SECTION`, `MODEL SECTION`, `gap MODEL SECTION` and `longest all` (the
    accuracy of always choosing the longest answer).
    """

    statistics: Statistics
    metric: Metric
    models: tuple[str, ...]
    """Names of models and of averages over runs of a model."""
    runs: Mapping[str, tuple[str, ...]]
    """The runs of each average."""
    n_resampled: int
    """Number of questions with remaining votes."""
    _outcomes: tuple[tuple[DrawOutcome, ...], ...]
    _rows: tuple[FloatArray, ...]

    def scores(self) -> dict[str, float]:
        return self.metric.scores(self.statistics)

    def resampled(self, *, draws: int = 1000, seed: int = 1, progress: Progress | None = None) -> dict[str, Interval]:
        """The central 95% of every score over samples of the gold votes."""
        from_all = np.zeros((draws, self.statistics.rows.shape[1]))
        rng = np.random.default_rng(seed)
        for number, (outcomes, rows) in enumerate(zip(self._outcomes, self._rows, strict=True), 1):
            if len(outcomes) == 1:
                from_all += rows[0]
            else:
                from_all += rows[rng.choice(len(rows), size=draws, p=[one.probability for one in outcomes])]
            if progress and (number % _BLOCK == 0 or number == len(self._rows)):
                progress(number, len(self._rows))
        return {name: interval_of(np.asarray(values)) for name, values in self.metric.formula(from_all).items()}


def measure_mcq(questions: McqQuestions, *, drawn: int = 4, ties: Ties = "share") -> McqMeasures:
    """The measures of a file of questions. `drawn` sampled votes and the writer's determine the gold.

    If the remaining votes tie and the gold answer is among the tied, `ties` sets the score: `share` (1 / number of
    tied answers), `wrong` (0) or `right` (1).
    """
    names = tuple(questions.models)
    layout = _Layout(names)
    outcomes, rows = [], []
    for place in range(len(questions)):
        possible = outcomes_of(tuple(questions.votes[place].tolist()), int(questions.writers[place]), drawn, ties)
        outcomes.append(possible)
        rows.append(layout.rows(possible, questions, place))
    expected = np.array(
        [np.array([one.probability for one in possible]) @ row for possible, row in zip(outcomes, rows, strict=True)]
    )
    runs = runs_of_models(names)
    return McqMeasures(
        statistics=Statistics(questions.ids, expected),
        metric=Metric(layout.formula(runs), wholes=layout.wholes),
        models=(*runs, *names),
        runs=runs,
        n_resampled=int((questions.votes.sum(axis=1) > drawn).sum()),
        _outcomes=tuple(outcomes),
        _rows=tuple(rows),
    )


def runs_of_models(names: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Models whose names differ only in a final number are runs of the same model.

    >>> runs_of_models(["bert_1", "bert_2", "t5_11b"])
    {'bert': ('bert_1', 'bert_2')}
    """
    stems: dict[str, list[str]] = {}
    for name in sorted(names):
        if match := _RUN.fullmatch(name):
            stems.setdefault(match[1], []).append(name)
    return {stem: tuple(runs) for stem, runs in stems.items() if len(runs) > 1 and stem not in names}


@dataclass(frozen=True, slots=True)
class _Layout:
    """The columns of the statistics: per section, kept and human correct, and per model, answered and correct."""

    models: tuple[str, ...]

    @property
    def _width(self) -> int:
        return 2 + 2 * len(self.models)

    def rows(self, outcomes: tuple[DrawOutcome, ...], questions: McqQuestions, place: int) -> FloatArray:
        """Contribution of a question in each of its outcomes."""
        table = np.zeros((len(outcomes), len(SECTIONS) * self._width + 1))
        answers = np.array([questions.models[name][place] for name in self.models], dtype=np.int64)
        for row, outcome in zip(table, outcomes, strict=True):
            if outcome.gold == DISCARDED:
                continue
            here = np.zeros(self._width)
            here[0], here[1] = 1, outcome.human or 0.0
            here[2::2], here[3::2] = answers != MISSING, answers == outcome.gold
            for number in _sections(outcome):
                row[number * self._width : (number + 1) * self._width] = here
            row[-1] = _longest(questions.words[place], outcome.gold)
        return table

    def formula(self, runs: Mapping[str, tuple[str, ...]]) -> Callable[[FloatArray], dict[str, FloatArray | float]]:
        def scores(sums: FloatArray) -> dict[str, FloatArray | float]:
            by_name: dict[str, FloatArray | float] = {}
            for number, section in enumerate(SECTIONS):
                part = sums[..., number * self._width : (number + 1) * self._width]
                by_name[f"kept {section}"] = part[..., 0]
                of_models = {
                    name: ratio(part[..., 3 + 2 * place], part[..., 2 + 2 * place])
                    for place, name in enumerate(self.models)
                }
                for stem, names in runs.items():
                    of_models[stem] = np.mean([of_models[name] for name in names], axis=0)
                if section != "all":
                    by_name[f"human {section}"] = ratio(part[..., 1], part[..., 0])
                for name in (*runs, *self.models):
                    by_name[f"{name} {section}"] = of_models[name]
                    if section != "all":
                        by_name[f"gap {name} {section}"] = by_name[f"human {section}"] - of_models[name]
            by_name["longest all"] = ratio(sums[..., -1], sums[..., 0])
            return by_name

        return scores

    def wholes(self, sums: FloatArray) -> dict[str, FloatArray | float]:
        """Denominators of the accuracies."""
        by_name: dict[str, FloatArray | float] = {"longest all": sums[..., 0]}
        for number, section in enumerate(SECTIONS):
            part = sums[..., number * self._width : (number + 1) * self._width]
            by_name[f"human {section}"] = part[..., 0]
            for place, name in enumerate(self.models):
                by_name[f"{name} {section}"] = part[..., 2 + 2 * place]
        return by_name


def _sections(outcome: DrawOutcome) -> list[int]:
    sections = [0]
    if outcome.human is not None:
        sections.append(1)
        if outcome.for_gold >= HIGH_AGREEMENT * outcome.gold_votes - 1e-9:
            sections.append(2)
        if outcome.for_gold == outcome.gold_votes:
            sections.append(3)
    return sections


def _longest(words: NDArray[np.float64], gold: int) -> float:
    """Whether the longest answer is correct; a fraction if several are longest."""
    longest = words == np.nanmax(words)
    return float(longest[gold] / longest.sum())
