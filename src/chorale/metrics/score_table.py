"""Result tables as data, for terminals, papers and pages."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from chorale.metrics.adjustment import benjamini_hochberg, holm

if TYPE_CHECKING:
    # Not needed for tables, and it would import NumPy.
    from chorale.metrics import Interval
    from chorale.metrics.comparison import Difference

Cell = str | int | float | None
TOO_FEW_TEXT = "too few to tell"
"""Text for an interval or p-value with too few units."""


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """A result table. Floats are shown with `digits` decimals, None as empty."""

    title: str
    columns: tuple[str, ...]
    """A name that ends in # marks a numeric column."""
    rows: Sequence[Sequence[Cell]]
    digits: int = 4


def comparison_table(
    title: str,
    names: tuple[str, str],
    compared: "Mapping[str, Difference]",
    *,
    counts: bool = False,
) -> ScoreTable:
    """Comparison of two systems or two sets of items, score by score. Counts have no decimals."""
    columns, cells = test_columns(list(compared.values()), 0 if counts else 4)
    rows: list[tuple[Cell, ...]] = []
    for (name, comparison), tests in zip(compared.items(), cells, strict=True):
        values: list[float] = [comparison.first, comparison.second, comparison.difference]
        rows.append((name, *([round(value) for value in values] if counts else values), *tests))
    family = tests_adjusted_for(list(compared.values()))
    if family > 1:
        title += f" (Holm, BH: adjusted for the {family} different tests in this table)"
    return ScoreTable(title, ("score", f"{names[0]}#", f"{names[1]}#", "difference#", *columns), rows)


def test_columns(compared: "Sequence[Difference]", digits: int = 4) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    """Columns and cells of comparisons: interval, p-values and, for several comparisons, adjusted p-values."""
    kind = "permutation" if any(hasattr(one, "p_permutation") for one in compared) else "randomisation"
    columns = ["95% interval#", "p bootstrap#", f"p {kind}#"]
    columns += [f"p {kind}, Holm#", f"p {kind}, BH#"] if len(compared) > 1 else []
    cells: list[tuple[Cell, ...]] = []
    for difference, adjusted in zip(compared, adjusted_p_values(compared), strict=True):
        bootstrap = TOO_FEW_TEXT if isnan(difference.p_bootstrap) else difference.p_bootstrap
        cells.append((shown_interval(difference.interval, digits), bootstrap, difference.p_value, *adjusted.values()))
    return tuple(columns), cells


def adjusted_p_values(compared: "Sequence[Difference]") -> list[dict[str, float]]:
    """Adjusted p-values of several comparisons shown together; empty for a single one.

    These comparisons form the family. The same comparison (the same object) under two names counts once.
    """
    if len(compared) < 2:
        return [{} for _ in compared]
    family = {id(one): one.p_value for one in compared}
    values = list(family.values())
    adjusted = zip(family, holm(values), benjamini_hochberg(values), strict=True)
    by_test = {test: {"p_holm": one, "p_bh": other} for test, one, other in adjusted}
    return [by_test[id(one)] for one in compared]


def tests_adjusted_for(compared: "Sequence[Difference]") -> int:
    """The number of tests that adjusted p-values take into account: every different test with a known p-value."""
    return len({id(one) for one in compared if not isnan(one.p_value)})


def shown_interval(interval: "Interval | None", digits: int = 4) -> str:
    """An interval with “to” between its ends, because a dash could be confused with a minus sign."""
    if interval is None:
        return ""
    if not interval.is_known:
        return TOO_FEW_TEXT
    return f"{shown_number(interval.low, digits)} to {shown_number(interval.high, digits)}"


def shown_ends(ends: Sequence[float] | None, digits: int = 4) -> str:
    """The ends of an interval with “to” between them, or a text if they are unknown."""
    return TOO_FEW_TEXT if ends is None else f"{shown_number(ends[0], digits)} to {shown_number(ends[1], digits)}"


def shown_number(value: float, digits: int) -> str:
    """Formats a number with a real minus sign. Zero has no sign."""
    return f"{value:z,.{digits}f}".replace("-", "−")


def jsonable(values: "Mapping[str, Interval] | Mapping[str, Difference]") -> dict[str, Any]:
    """Intervals and comparisons for `--json`, with adjusted p-values for several comparisons."""
    compared: dict[str, Any] = {name: one for name, one in values.items() if hasattr(one, "p_value")}
    adjusted = adjusted_p_values(list(compared.values()))
    tests: dict[str, Any] = {
        name: {**one.as_dict(), **more} for (name, one), more in zip(compared.items(), adjusted, strict=True)
    }
    return tests or {name: one.as_list() for name, one in values.items() if not hasattr(one, "p_value")}


def cell_text(value: Cell, digits: int) -> str:
    """Text of a cell."""
    if value is None:
        return ""
    if isinstance(value, float):
        return shown_number(value, digits)
    return f"{value:,}".replace("-", "−") if isinstance(value, int) and not isinstance(value, bool) else str(value)
