"""Result of a metric: scores, intervals, tests, and the signature for reproduction.

Commands print it, Python functions return it, and notebooks show it.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

from chorale.metrics.score_html import html_result
from chorale.metrics.score_table import ScoreTable, shown_interval, shown_number
from chorale.model.extras import need
from chorale.model.plural import plural
from chorale.model.reprs import brief_repr

if TYPE_CHECKING:
    # Not needed for printing, and slow to import.
    import pandas as pd
    import polars as pl

    from chorale.metrics import Comparison, Interval


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Result:
    """Output of a command in all its formats."""

    json: Mapping[str, Any]
    """Output of `--json`, without signature and notes, which are added."""
    tables: Sequence[ScoreTable]
    signature: str
    notes: Sequence[str] = ()
    written: str = ""
    """Messages about written files, shown after the tables."""

    def as_json(self) -> dict[str, Any]:
        return {**self.json, "notes": list(self.notes), "signature": self.signature}

    def extended(
        self, json: Mapping[str, Any], tables: Sequence[ScoreTable] = (), notes: Sequence[str] = (), **rest: Any
    ) -> Self:
        """Appends to the fields. Fields in `rest` are replaced."""
        tables, notes = [*self.tables, *tables], [*self.notes, *notes]
        return replace(self, json={**self.json, **json}, tables=tables, notes=notes, **rest)

    def __repr__(self) -> str:
        return brief_repr(type(self).__name__, plural(len(self.tables), "table", "tables"), self.signature)

    def _repr_html_(self) -> str:
        return html_result(self.tables, self.notes, self.signature)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Score(Result):
    """Scores by name, with requested intervals and tests.

    `value`, `interval` and `test` refer to the main score, which is the first unless `main` is set.
    """

    values: Mapping[str, float | None] = field(default_factory=dict)
    """None if a score is undefined; a note gives the reason."""
    intervals: "Mapping[str, Interval]" = field(default_factory=dict)
    """95% intervals. `is_known` is false if too few units determine the score."""
    tests: "Mapping[str, Comparison]" = field(default_factory=dict)
    """Comparisons with another system, if any."""
    main: str = ""

    @property
    def name(self) -> str:
        """Name of the main score."""
        return self.main or next(iter(self.values), "")

    @property
    def value(self) -> float | None:
        """Value of the main score; None if it is undefined."""
        return self.values.get(self.name)

    @property
    def interval(self) -> "Interval | None":
        """95% interval of the main score; None if it was not requested or the score has none."""
        return self.intervals.get(self.name)

    @property
    def test(self) -> "Comparison | None":
        """Comparison of the main score with another system; None without one."""
        return self.tests.get(self.name)

    def __repr__(self) -> str:
        number = "undefined" if self.value is None else shown_number(self.value, 4)
        around = f" ({shown_interval(self.interval)})" if self.interval is not None else ""
        more = len(self.values) - 1
        parts = [f"{self.name} {number}{around}"]
        parts += [plural(more, "more number", "more numbers")] if more > 0 else []
        parts += [plural(len(self.notes), "note", "notes")] if self.notes else []
        return brief_repr(type(self).__name__, *parts)

    def to_polars(self) -> "pl.DataFrame":
        """One row per score: name, value, interval, and test if any."""
        import polars  # noqa: PLC0415 - only tables need it

        return polars.DataFrame(self._columns(), schema_overrides=dict.fromkeys(_NUMBERS, polars.Float64))

    def to_pandas(self) -> "pd.DataFrame":
        """One row per score: name, value, interval, and test if any."""
        need("pandas")
        import pandas  # noqa: PLC0415 - not installed with Chorale

        columns = self._columns()
        return pandas.DataFrame(
            {"score": columns.pop("score")}
            | {name: pandas.Series(values, dtype="float64") for name, values in columns.items()}
        )

    def _columns(self) -> dict[str, list[Any]]:
        around = [self.intervals.get(name) for name in self.values]
        columns: dict[str, list[Any]] = {
            "score": list(self.values),
            "value": list(self.values.values()),
            "low": [None if one is None or not one.is_known else one.low for one in around],
            "high": [None if one is None or not one.is_known else one.high for one in around],
        }
        if self.tests:
            tests = [self.tests.get(name) for name in self.values]
            for column, attribute in _OF_TESTS.items():
                columns[column] = [None if one is None else getattr(one, attribute) for one in tests]
        return columns


_OF_TESTS = {
    "other": "second",
    "difference": "difference",
    "p_bootstrap": "p_bootstrap",
    "p_randomisation": "p_randomisation",
}
_NUMBERS = ("value", "low", "high", *_OF_TESTS)
