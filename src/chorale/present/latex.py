"""Tables and text for papers, as LaTeX. All text is escaped."""

import re
from collections.abc import Iterable, Sequence
from textwrap import wrap

from chorale.metrics.score_table import ScoreTable, cell_text

_LONG = 40
"""A column with a longer cell is set as paragraphs."""
_HEADING = 12
"""Characters in a line of a heading, in a table that would be wider than a page."""
_TEXT_WIDTH, _GAP = 345, 4
"""Points in a line of an article, and between two columns of a table that would be wider than a page."""
_THIN, _THIN_POINTS, _CAPITAL_POINTS, _POINTS = " .,:;'()[]ijlt", 2.9, 6.6, 4.4
"""The widths of characters in a table that would be wider than a page, rounded up."""
_WIDEST, _NARROWEST = 0.35, 0.15
"""Maximum and minimum width of a column of paragraphs, as a share of a line."""
_LARGER, _LARGER_GAP = 1.15, 12
"""For all other tables: factor by which their characters are wider, and points between two columns."""
_BRACKET = re.compile(r" (?=\()")
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
        kinds.append("r" if name.endswith("#") else rf"p{{{_WIDEST}\linewidth}}" if longest > _LONG else "l")
    return "".join(kinds)


def _is_wide(table: ScoreTable) -> bool:
    """Whether a table with one line in each cell would be wider than a page."""
    columns = zip(*_texts(table), strict=True)
    widths = (_LARGER * max(map(_points, texts)) for texts in columns)
    return sum(min(width, _WIDEST * _TEXT_WIDTH) + _LARGER_GAP for width in widths) > _TEXT_WIDTH


def _texts(table: ScoreTable) -> list[list[str]]:
    """The headings and rows of a table as texts."""
    headings = [name.removesuffix("#") for name in table.columns]
    return [headings, *([cell_text(value, table.digits) for value in row] for row in table.rows)]


def _narrow_table(table: ScoreTable) -> str:
    """A tabular whose headings have several lines, and whose intervals are below their values."""
    sides = ["r" if name.endswith("#") else "l" for name in table.columns]
    headings, *rows = _texts(table)
    wrapped = [_heading_lines(name) for name in headings]
    stacked = [[_BRACKET.split(text) for text in row] for row in rows]
    kinds = _kinds([wrapped, *stacked], sides)
    lines = [f"% {latex_text(table.title)}", rf"\begin{{tabular}}{{@{{}}{''.join(kinds)}@{{}}}}", r"\toprule"]
    lines += [" & ".join(_stacked(cell, side, "b") for cell, side in zip(wrapped, sides, strict=True)) + r" \\"]
    lines += [r"\midrule"]
    for row, parts in zip(rows, stacked, strict=True):
        cells = [
            (_ragged(text) if place < len(kinds) - 1 else _cell(text))
            if kind.startswith("p")
            else _stacked(cell, kind, "t")
            for place, (text, cell, kind) in enumerate(zip(row, parts, kinds, strict=True))
        ]
        lines += [" & ".join(cells) + r" \\"]
    return "\n".join([*lines, r"\bottomrule", r"\end{tabular}"])


def _kinds(rows: Sequence[Sequence[Sequence[str]]], sides: Sequence[str]) -> list[str]:
    """The column types, given the lines of each cell. Paragraphs get the width that the other columns leave."""
    widths = [max(_points(line) for row in rows for line in row[place]) + _GAP for place in range(len(sides))]
    longest = [max(len(" ".join(row[place])) for row in rows) for place in range(len(sides))]
    texts = [place for place, side in enumerate(sides) if side == "l"]
    paragraphs = {place for place in texts if longest[place] > _LONG}
    if not paragraphs and texts and sum(widths) > _TEXT_WIDTH:
        paragraphs = {max(texts, key=lambda place: widths[place])}
    others = sum(width for place, width in enumerate(widths) if place not in paragraphs)
    left = (1 - (others + _GAP * len(paragraphs)) / _TEXT_WIDTH) / max(1, len(paragraphs))
    share = max(_NARROWEST, min(_WIDEST, left))
    return [rf"p{{{share:.2f}\linewidth}}" if place in paragraphs else side for place, side in enumerate(sides)]


def _points(line: str) -> float:
    """The approximate width of a line."""
    capitals = sum(character.isupper() or character == "−" for character in line)
    thin = sum(map(_THIN.count, line))
    return capitals * _CAPITAL_POINTS + thin * _THIN_POINTS + (len(line) - capitals - thin) * _POINTS


def _ragged(text: str) -> str:
    """An unjustified paragraph. In the last column, `\\raggedright` would change the command that ends the row."""
    return rf"\raggedright {_cell(text)}" if text else ""


def _heading_lines(name: str) -> list[str]:
    """The lines of a heading. Text in brackets has a line of its own."""
    parts = _BRACKET.split(name)
    wrapped = (
        [part] if part.startswith("(") else wrap(part, _HEADING, break_long_words=False, break_on_hyphens=False)
        for part in parts
    )
    return [line for lines in wrapped for line in lines]


def _stacked(lines: Sequence[str], side: str, place: str) -> str:
    """A cell with its lines below each other."""
    texts = [_cell(line) for line in lines]
    if len(texts) < 2:
        return "".join(texts)
    return rf"\begin{{tabular}}[{place}]{{@{{}}{side}@{{}}}}" + r" \\ ".join(texts) + r"\end{tabular}"


def latex_float(table: ScoreTable, label: str) -> str:
    """A complete table environment with caption and label."""
    wide = _is_wide(table)
    return "\n".join(
        [
            r"\begin{table}[t]",
            r"\centering\footnotesize\setlength{\tabcolsep}{2pt}" if wide else r"\centering\small",
            rf"\caption{{{latex_text(table.title)}.}}",
            rf"\label{{tab:{label}}}",
            _narrow_table(table) if wide else latex_table(table),
            r"\end{table}",
        ]
    )


def latex_document(tables: Iterable[ScoreTable], signature: str) -> str:
    """Several tables, and the signature for reproducing them."""
    return "\n\n".join([*(latex_table(table) for table in tables), f"% {' '.join(signature.split())}"])
