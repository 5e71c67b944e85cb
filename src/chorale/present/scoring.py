"""Scores as people want them: tables for a terminal, tables for a paper, one object for a script."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from rich.table import Table

from chorale.present.terminal import add_row, printable, table_of

if TYPE_CHECKING:
    # Tables need nothing of it, and it brings NumPy along.
    from chorale.metrics import Comparison, Interval

Cell = str | int | float | None


@dataclass(frozen=True, slots=True)
class ScoreTable:
    """A table of results. A float is shown with `digits` behind the point, None as nothing."""

    title: str
    columns: tuple[str, ...]
    """A name that ends in # is one of numbers."""
    rows: Sequence[Sequence[Cell]]
    digits: int = 4


@dataclass(frozen=True, slots=True)
class Scored:
    """What a scoring command found, in every shape it may be asked for."""

    json: Mapping[str, Any]
    """What `--json` prints, without signature and notes: they are added to it."""
    tables: Sequence[ScoreTable]
    signature: str
    notes: Sequence[str] = field(default=())

    def as_json(self) -> dict[str, Any]:
        return {**self.json, "notes": list(self.notes), "signature": self.signature}


def score_table(table: ScoreTable) -> Table:
    """For a terminal."""
    shown = table_of(*table.columns)
    shown.title, shown.title_justify = printable(table.title), "left"
    for row in table.rows:
        add_row(shown, *(_cell(value, table.digits) for value in row))
    return shown


def latex_table(table: ScoreTable) -> str:
    """For a paper: a tabular in booktabs' manner, to be pasted between \\begin{table} and \\end{table}."""
    alignment = "".join("r" if name.endswith("#") else "l" for name in table.columns)
    lines = [f"% {_latex(table.title)}", rf"\begin{{tabular}}{{{alignment}}}", r"\toprule"]
    lines += [" & ".join(_latex(name.removesuffix("#")) for name in table.columns) + r" \\", r"\midrule"]
    lines += [" & ".join(_latex(_cell(value, table.digits)) for value in row) + r" \\" for row in table.rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def comparison_table(
    title: str, names: tuple[str, str], compared: "Mapping[str, Comparison]", *, counts: bool = False
) -> ScoreTable:
    """Two systems, score by score. Counts have nothing behind the point."""
    rows: list[tuple[Cell, ...]] = []
    for name, one in compared.items():
        values: list[float] = [one.first, one.second, one.difference]
        around = shown_interval(one.interval, 0 if counts else 4)
        shown: list[float] = [round(value) for value in values] if counts else values
        rows.append((name, *shown, around, one.p_bootstrap, one.p_randomisation))
    columns = (
        "score",
        f"{names[0]}#",
        f"{names[1]}#",
        "difference#",
        "95% interval#",
        "p bootstrap#",
        "p randomisation#",
    )
    return ScoreTable(title, columns, rows)


def shown_interval(interval: "Interval | None", digits: int = 4) -> str:
    """With “to” between the ends: a dash would be hard to tell from a minus."""
    return "" if interval is None else f"{shown_number(interval.low, digits)} to {shown_number(interval.high, digits)}"


def shown_number(value: float, digits: int) -> str:
    """With a minus that is one, and none before a zero."""
    return f"{value:z,.{digits}f}".replace("-", "−")


def jsonable(values: "Mapping[str, Interval] | Mapping[str, Comparison]") -> dict[str, Any]:
    """Intervals and comparisons as `--json` prints them."""
    return {name: one.as_dict() if hasattr(one, "as_dict") else one.as_list() for name, one in values.items()}


def latex_document(tables: Iterable[ScoreTable], signature: str) -> str:
    return "\n\n".join([*(latex_table(table) for table in tables), f"% {_latex(signature)}"])


def _cell(value: Cell, digits: int) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return shown_number(value, digits)
    return f"{value:,}".replace("-", "−") if isinstance(value, int) and not isinstance(value, bool) else str(value)


_LATEX = str.maketrans(
    {
        "\\": r"\textbackslash{}",
        "&": r"\&",
        "%": r"\%",
        "$": r"\$",
        "#": r"\#",
        "_": r"\_",
        "{": r"\{",
        "}": r"\}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        "\n": " ",
        "–": "--",
        "≠": r"$\neq$",
    }
)


_INTERVAL = re.compile(r"(−?\d[\d,]*\.\d+) to (−?\d[\d,]*\.\d+)")
_NEGATIVE = re.compile(r"(?<!\$)−(\d[\d,.]*\d|\d)")


def _latex(text: str) -> str:
    """Numbers below 0 and the ends of intervals are set as mathematics, where a minus is no hyphen."""
    text = _INTERVAL.sub(r"$\1$ to $\2$", text.translate(_LATEX))
    return _NEGATIVE.sub(r"$−\1$", text).replace("$−", "$-").replace("−", "$-$")
