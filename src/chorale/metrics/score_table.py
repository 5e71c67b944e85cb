"""Tables of results, as data: what a terminal, a paper and a page show of a score."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from chorale.metrics.adjustment import benjamini_hochberg, holm

if TYPE_CHECKING:
    # Tables need nothing of it, and it brings NumPy along.
    from chorale.metrics import Interval
    from chorale.metrics.comparison import Difference

Cell = str | int | float | None
TOO_FEW_TEXT = "too few to tell"
"""What stands in place of an interval or a p-value that too few units carry."""


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """A table of results. A float is shown with `digits` behind the point, None as nothing."""

    title: str
    columns: tuple[str, ...]
    """A name that ends in # is one of numbers."""
    rows: Sequence[Sequence[Cell]]
    digits: int = 4


def comparison_table(
    title: str,
    names: tuple[str, str],
    compared: "Mapping[str, Difference]",
    *,
    counts: bool = False,
) -> ScoreTable:
    """Two systems, or two sets of items, score by score. Counts have nothing behind the point."""
    columns, cells = test_columns(list(compared.values()), 0 if counts else 4)
    rows: list[tuple[Cell, ...]] = []
    for (name, comparison), tests in zip(compared.items(), cells, strict=True):
        values: list[float] = [comparison.first, comparison.second, comparison.difference]
        rows.append((name, *([round(value) for value in values] if counts else values), *tests))
    return ScoreTable(title, ("score", f"{names[0]}#", f"{names[1]}#", "difference#", *columns), rows)


def test_columns(compared: "Sequence[Difference]", digits: int = 4) -> tuple[tuple[str, ...], list[tuple[Cell, ...]]]:
    """Columns and cells of a table's comparisons: interval, p-values, and where there are several the adjusted ones."""
    kind = "permutation" if any(hasattr(one, "p_permutation") for one in compared) else "randomisation"
    columns = ["95% interval#", "p bootstrap#", f"p {kind}#"]
    columns += [f"p {kind}, Holm#", f"p {kind}, BH#"] if len(compared) > 1 else []
    cells: list[tuple[Cell, ...]] = []
    for difference, adjusted in zip(compared, adjusted_p_values(compared), strict=True):
        bootstrap = TOO_FEW_TEXT if isnan(difference.p_bootstrap) else difference.p_bootstrap
        cells.append((shown_interval(difference.interval, digits), bootstrap, difference.p_value, *adjusted.values()))
    return tuple(columns), cells


def adjusted_p_values(compared: "Sequence[Difference]") -> list[dict[str, float]]:
    """Of each of several comparisons that are shown together; nothing of a single one."""
    if len(compared) < 2:
        return [{} for _ in compared]
    values = [one.p_value for one in compared]
    return [{"p_holm": one, "p_bh": other} for one, other in zip(holm(values), benjamini_hochberg(values), strict=True)]


def shown_interval(interval: "Interval | None", digits: int = 4) -> str:
    """With “to” between the ends: a dash would be hard to tell from a minus."""
    if interval is None:
        return ""
    if not interval.is_known:
        return TOO_FEW_TEXT
    return f"{shown_number(interval.low, digits)} to {shown_number(interval.high, digits)}"


def shown_ends(ends: Sequence[float] | None, digits: int = 4) -> str:
    """An interval as `--json` has it."""
    return TOO_FEW_TEXT if ends is None else f"{shown_number(ends[0], digits)} to {shown_number(ends[1], digits)}"


def shown_number(value: float, digits: int) -> str:
    """With a minus that is one, and none before a zero."""
    return f"{value:z,.{digits}f}".replace("-", "−")


def jsonable(values: "Mapping[str, Interval] | Mapping[str, Difference]") -> dict[str, Any]:
    """Intervals and comparisons as `--json` prints them; of several comparisons with adjusted p-values."""
    compared: dict[str, Any] = {name: one for name, one in values.items() if hasattr(one, "p_value")}
    adjusted = adjusted_p_values(list(compared.values()))
    tests: dict[str, Any] = {
        name: {**one.as_dict(), **more} for (name, one), more in zip(compared.items(), adjusted, strict=True)
    }
    return tests or {name: one.as_list() for name, one in values.items() if not hasattr(one, "p_value")}


def cell_text(value: Cell, digits: int) -> str:
    """What stands in a cell."""
    if value is None:
        return ""
    if isinstance(value, float):
        return shown_number(value, digits)
    return f"{value:,}".replace("-", "−") if isinstance(value, int) and not isinstance(value, bool) else str(value)
