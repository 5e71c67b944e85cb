"""Aggregated labels as a Polars table with their certainty and signature."""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import polars as pl

from chorale.model.extras import need

if TYPE_CHECKING:
    from chorale.metrics import Interval
    from chorale.metrics.score import Score

Source = Callable[[], "Score"]


class WithScore:
    """Labels with a lazily computed score, because intervals of a million tasks take time."""

    _source: Source
    _confidence: Any

    @property
    def score(self) -> "Score":
        """The mean certainty over tasks, with its interval, notes and signature."""
        return self._source()

    @property
    def interval(self) -> "Interval | None":
        """Interval of the mean certainty."""
        return self.score.interval

    @property
    def signature(self) -> str:
        """The signature for reproducing the labels."""
        return self.score.signature

    def _repr_html_(self, **_options: Any) -> str:
        return self.score._repr_html_()


class LabelTable(WithScore, pl.DataFrame):
    """A Polars table of tasks and their labels."""

    def __init__(self, labels: pl.DataFrame, confidence: Any, source: Source) -> None:
        pl.DataFrame.__init__(self, labels)
        self._confidence, self._source = confidence, source

    def to_polars(self) -> pl.DataFrame:
        """A plain table with the confidence of every label."""
        return pl.DataFrame(dict(zip(self.columns, self.get_columns(), strict=True))).with_columns(
            confidence=pl.Series(self._confidence)
        )

    def to_pandas(self, *_arguments: Any, **_options: Any) -> Any:
        """A pandas table, with the confidence of every label."""
        need("pandas")
        import pandas  # noqa: PLC0415 - not installed with Chorale

        return pandas.DataFrame(self.to_polars().to_dict(as_series=False))
