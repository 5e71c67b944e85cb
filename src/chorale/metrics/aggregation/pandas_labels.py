"""Aggregated labels as a pandas Series with their certainty. Imported only if pandas is installed."""

from typing import Any

import pandas as pd
import polars as pl

from chorale.metrics.aggregation.scored_labels import Source, WithScore


class LabelSeries(WithScore, pd.Series):  # type: ignore[misc]
    """A Series of labels by task, as in crowd-kit."""

    _metadata = ("_confidence", "_source")

    @classmethod
    def of(cls, labels: Any, confidence: Any, source: Source) -> "LabelSeries":
        series = cls(labels)
        series._confidence, series._source = confidence, source
        return series

    @property
    def _constructor(self) -> Any:
        """Derived objects are plain Series."""
        return pd.Series

    def to_pandas(self) -> Any:
        """A table of tasks and labels, with the confidence of every label."""
        return pd.Series(self).reset_index().assign(confidence=self._confidence)

    def to_polars(self) -> pl.DataFrame:
        """A table of tasks and labels, with the confidence of every label."""
        return pl.DataFrame({name: column.tolist() for name, column in self.to_pandas().items()})
