"""Tables and text for papers, as LaTeX. All text is escaped."""

import re
from collections.abc import Iterable

from chorale.metrics.score_table import ScoreTable, cell_text

_LONG = 40
"""A column with a longer cell is set as paragraphs."""
_CHARACTERS = str.maketrans(
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
        "<": r"\textless{}",
        ">": r"\textgreater{}",
        "|": r"\textbar{}",
        '"': r"\char34{}",
        # At the start of a row, both would be read as arguments of the row above.
        "[": "{[}",
        "]": "{]}",
        "*": "{*}",
        "–": "--",
        "—": "---",
        "“": "``",
        "”": "''",
        "’": "'",
        "…": r"\ldots{}",
        "×": r"$\times$",
        "≠": r"$\neq$",
        "α": r"$\alpha$",
        "κ": r"$\kappa$",
    }
)
_INTERVAL = re.compile(r"(−?\d[\d,]*\.\d+) to (−?\d[\d,]*\.\d+)")
_NEGATIVE = re.compile(r"(?<!\$)−(\d[\d,.]*\d|\d)")


def latex_text(text: str) -> str:
    """Escape text for LaTeX. Negative numbers and intervals are set in math mode."""
    plain = "".join(character if character.isprintable() else " " for character in text)
    text = _INTERVAL.sub(r"$\1$ to $\2$", plain.translate(_CHARACTERS))
    return _NEGATIVE.sub(r"$−\1$", text).replace("$−", "$-").replace("−", "$-$")


def latex_table(table: ScoreTable) -> str:
    """A tabular with booktabs' rules, to be pasted between \\begin{table} and \\end{table}."""
    lines = [f"% {latex_text(table.title)}", rf"\begin{{tabular}}{{{_alignment(table)}}}", r"\toprule"]
    lines += [" & ".join(latex_text(name.removesuffix("#")) for name in table.columns) + r" \\", r"\midrule"]
    lines += [" & ".join(_cell(cell_text(value, table.digits)) for value in row) + r" \\" for row in table.rows]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _cell(text: str) -> str:
    return r"\quad " * ((len(text) - len(text.lstrip(" "))) // 2) + latex_text(text.strip(" "))


def _alignment(table: ScoreTable) -> str:
    """The column types: numbers right-aligned, long texts as paragraphs."""
    kinds = []
    for place, name in enumerate(table.columns):
        longest = max((len(cell_text(row[place], table.digits)) for row in table.rows), default=0)
        kinds.append("r" if name.endswith("#") else r"p{0.35\linewidth}" if longest > _LONG else "l")
    return "".join(kinds)


def latex_float(table: ScoreTable, label: str) -> str:
    """A complete table environment with caption and label."""
    return "\n".join(
        [
            r"\begin{table}[t]",
            r"\centering\small",
            rf"\caption{{{latex_text(table.title)}.}}",
            rf"\label{{tab:{label}}}",
            latex_table(table),
            r"\end{table}",
        ]
    )


def latex_document(tables: Iterable[ScoreTable], signature: str) -> str:
    """Several tables, and the signature for reproducing them."""
    return "\n\n".join([*(latex_table(table) for table in tables), f"% {' '.join(signature.split())}"])
