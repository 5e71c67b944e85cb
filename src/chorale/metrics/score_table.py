"""Tables of results, as data: what a terminal, a paper and a page show of a score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    # Tables need nothing of it, and it brings NumPy along.
    from chorale.metrics import Comparison, Interval
    from chorale.metrics.comparison import UnpairedComparison

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """A table of results. A float is shown with `digits` behind the point, None as nothing."""

    title: str
    columns: tuple[str, ...]
    """A name that ends in # is one of numbers."""
    rows: Sequence[Sequence[Cell]]
    digits: int = 4


def comparison_table(
    title: str, names: tuple[str, str], compared: "Mapping[str, Comparison]", *, counts: bool = False
) -> ScoreTable:
    """Two systems, score by score. Counts have nothing behind the point."""
    rows: list[tuple[Cell, ...]] = []
    for name, comparison in compared.items():
        values: list[float] = [comparison.first, comparison.second, comparison.difference]
        values = [round(value) for value in values] if counts else values
        around = shown_interval(comparison.interval, 0 if counts else 4)
        rows.append((name, *values, around, comparison.p_bootstrap, comparison.p_randomisation))
    tests = ("difference#", "95% interval#", "p bootstrap#", "p randomisation#")
    return ScoreTable(title, ("score", f"{names[0]}#", f"{names[1]}#", *tests), rows)


def shown_interval(interval: "Interval | None", digits: int = 4) -> str:
    """With “to” between the ends: a dash would be hard to tell from a minus."""
    return "" if interval is None else f"{shown_number(interval.low, digits)} to {shown_number(interval.high, digits)}"


def shown_number(value: float, digits: int) -> str:
    """With a minus that is one, and none before a zero."""
    return f"{value:z,.{digits}f}".replace("-", "−")


def jsonable(values: "Mapping[str, Interval | Comparison | UnpairedComparison]") -> dict[str, Any]:
    """Intervals and comparisons as `--json` prints them."""
    return {name: one.as_dict() if hasattr(one, "as_dict") else one.as_list() for name, one in values.items()}


def cell_text(value: Cell, digits: int) -> str:
    """What stands in a cell."""
    if value is None:
        return ""
    if isinstance(value, float):
        return shown_number(value, digits)
    return f"{value:,}".replace("-", "−") if isinstance(value, int) and not isinstance(value, bool) else str(value)
