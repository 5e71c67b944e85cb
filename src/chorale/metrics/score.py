"""What computing a metric gives: the numbers, their intervals and tests, and the line that lets anybody repeat it.

Commands print it, Python returns it, and a notebook shows it.
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
    # Printing needs none of them, and they take time to import.
    import pandas as pd
    import polars as pl

    from chorale.metrics import Comparison, Interval


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Result:
    """What a command prints, in every form it can be asked for."""

    json: Mapping[str, Any]
    """What `--json` prints, without signature and notes: they are added to it."""
    tables: Sequence[ScoreTable]
    signature: str
    notes: Sequence[str] = ()
    written: str = ""
    """What was written beside, and where; a table is followed by it."""

    def as_json(self) -> dict[str, Any]:
        return {**self.json, "notes": list(self.notes), "signature": self.signature}

    def extended(
        self, json: Mapping[str, Any], tables: Sequence[ScoreTable] = (), notes: Sequence[str] = (), **rest: Any
    ) -> Self:
        """With more behind what there is. Fields in `rest` are replaced."""
        tables, notes = [*self.tables, *tables], [*self.notes, *notes]
        return replace(self, json={**self.json, **json}, tables=tables, notes=notes, **rest)

    def __repr__(self) -> str:
        return brief_repr(type(self).__name__, plural(len(self.tables), "table", "tables"), self.signature)

    def _repr_html_(self) -> str:
        return html_result(self.tables, self.notes, self.signature)


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class Score(Result):
    """Numbers by their names, with intervals and tests where they were asked for.

    `value`, `interval` and `test` are those of the main number, which is the first unless `main` names another.
    """

    values: Mapping[str, float | None] = field(default_factory=dict)
    """None where a number is undefined; a note says why."""
    intervals: "Mapping[str, Interval]" = field(default_factory=dict)
    """Of 95%, by the bootstrap. Not known (`is_known`) where too few units carry the number."""
    tests: "Mapping[str, Comparison]" = field(default_factory=dict)
    """The comparison with another system, where there was one."""
    main: str = ""

    @property
    def name(self) -> str:
        """Of the main number."""
        return self.main or next(iter(self.values), "")

    @property
    def value(self) -> float | None:
        return self.values.get(self.name)

    @property
    def interval(self) -> "Interval | None":
        return self.intervals.get(self.name)

    @property
    def test(self) -> "Comparison | None":
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
        """A row per number: its name, value, interval, and the test if there was one."""
        import polars  # noqa: PLC0415 - only tables need it

        return polars.DataFrame(self._columns(), schema_overrides=dict.fromkeys(_NUMBERS, polars.Float64))

    def to_pandas(self) -> "pd.DataFrame":
        """A row per number: its name, value, interval, and the test if there was one."""
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
