"""Tables of results for a terminal and for a paper."""

import re
from collections.abc import Iterable

from rich.table import Table

from chorale.metrics.score_table import ScoreTable, cell_text
from chorale.present.terminal import add_row, printable, table_of


def score_table(table: ScoreTable) -> Table:
    """For a terminal."""
    shown = table_of(*table.columns)
    shown.title, shown.title_justify = printable(table.title), "left"
    for row in table.rows:
        add_row(shown, *(cell_text(value, table.digits) for value in row))
    return shown


def latex_table(table: ScoreTable) -> str:
    """For a paper: a tabular in booktabs' manner, to be pasted between \\begin{table} and \\end{table}."""
    alignment = "".join("r" if name.endswith("#") else "l" for name in table.columns)
    lines = [f"% {_latex(table.title)}", rf"\begin{{tabular}}{{{alignment}}}", r"\toprule"]
    lines += [" & ".join(_latex(name.removesuffix("#")) for name in table.columns) + r" \\", r"\midrule"]
    lines += [" & ".join(_latex(cell_text(value, table.digits)) for value in row) + r" \\" for row in table.rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def latex_document(tables: Iterable[ScoreTable], signature: str) -> str:
    return "\n\n".join([*(latex_table(table) for table in tables), f"% {_latex(signature)}"])


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
