"""Bradley–Terry models as classes, with the interface of crowd-kit."""

from dataclasses import dataclass, field
from typing import Any, Self

from chorale.files.judgment_columns import columns_of
from chorale.metrics.aggregation.limits import check_limits
from chorale.metrics.aggregation.pairwise import Comparisons, ItemScores, bradley_terry, noisy_bradley_terry
from chorale.metrics.aggregation.tables_by_name import series_by_name


@dataclass(eq=False)
class _Ranking:
    """Scores items from a table with the columns worker, left, right and label (the preferred item)."""

    scores_: Any = field(init=False, repr=False)
    """The score of each item: a pandas Series for a pandas table, otherwise a Polars table."""
    result_: ItemScores = field(init=False, repr=False)
    """The scores with the number of iterations, notes and estimates about workers."""

    def fit(self, data: Any) -> Self:
        """Fits a pandas or Polars table, or a dict of columns."""
        columns = columns_of(data, ("worker", "left", "right", "label"))
        self.result_ = self._ranked(Comparisons.of(*(columns[name] for name in ("worker", "left", "right", "label"))))
        self.scores_ = series_by_name(data, "label", self.result_.items, "score", self.result_.scores)
        self._learnt(data)
        return self

    def _ranked(self, comparisons: Comparisons) -> ItemScores:
        raise NotImplementedError

    def _learnt(self, data: Any) -> None:
        """Other estimates of the model."""

    def fit_predict(self, data: Any) -> Any:
        """The score of each item."""
        return self.fit(data).scores_


@dataclass(eq=False)
class BradleyTerry(_Ranking):
    """Scores of items from pairwise comparisons (Bradley and Terry 1952). They sum to 1.

    It iterates until convergence; crowd-kit stops after two iterations.
    """

    n_iter: int = 10_000
    tol: float = 1e-9

    def __post_init__(self) -> None:
        check_limits(self.n_iter, self.tol)

    def _ranked(self, comparisons: Comparisons) -> ItemScores:
        return bradley_terry(comparisons, iterations=self.n_iter, tolerance=self.tol)


@dataclass(eq=False)
class NoisyBradleyTerry(_Ranking):
    """Scores of items from pairwise comparisons by workers who may be inattentive.

    `random_state` exists for compatibility with crowd-kit and has no effect.
    """

    n_iter: int = 1000
    tol: float = 1e-9
    regularization_ratio: float = 1e-5
    random_state: int = 0
    skills_: Any = field(init=False, repr=False)
    """Probability that each worker is attentive."""
    biases_: Any = field(init=False, repr=False)
    """Probability that an inattentive worker takes the left item."""

    def __post_init__(self) -> None:
        check_limits(self.n_iter, self.tol)

    def _ranked(self, comparisons: Comparisons) -> ItemScores:
        return noisy_bradley_terry(
            comparisons, iterations=self.n_iter, tolerance=self.tol, regularisation=self.regularization_ratio
        )

    def _learnt(self, data: Any) -> None:
        workers, quality = self.result_.workers, self.result_.quality
        self.skills_ = series_by_name(data, "worker", workers, "skill", quality["skill"])
        self.biases_ = series_by_name(data, "worker", workers, "bias", quality["bias"])
