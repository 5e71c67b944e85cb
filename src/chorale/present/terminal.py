"""Tables for terminals, which adapt to narrow ones."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from rich import box
from rich.cells import cell_len
from rich.console import Console, ConsoleOptions, RenderResult
from rich.table import Table
from rich.text import Text

_BETWEEN = 2
"""Characters between two columns."""
_WORD_MAY_HAVE = 16
"""Maximum width reserved for a word: longer words are broken."""
_NAME_MAY_HAVE = 32
"""Width up to which a text counts as a name rather than a sentence."""
_NARROWEST = 4
"""Minimum width of texts if a number would not fit otherwise."""
_WORD = re.compile(r"\S+")
# After a hyphen of a name, never inside a date or between numbers.
_HYPHEN = re.compile(r"(?<=[^\W\d]-)(?=\w)|(?<=\w-)(?=[^\W\d])")
_BEFORE_BRACKET = re.compile(r" (?=\()")


class FittingTable(Table):
    """A table that fits a terminal without breaking a number, or an interval, over two lines.

    Headers are wrapped first, then names and other texts, then text in brackets after numbers. If that is not enough,
    the remaining columns follow in a second table below, which repeats the first column.
    """

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        columns = [
            _Column(str(column.header), tuple(map(str, column.cells)), column.justify == "right")
            for column in self.columns
        ]
        for number, (block, widths) in enumerate(_blocks(columns, options.max_width) if columns else ()):
            if number:
                yield Text()
            shown = _empty_table()
            if not number:
                shown.title, shown.title_justify = self.title, self.title_justify
            for column, width in zip(block, widths, strict=True):
                # If not even one number fits, it continues on the next line: half of it would be another number.
                justify: Literal["right", "left"] = "right" if column.is_of_numbers else "left"
                shown.add_column(Text(column.header_lines(width)), justify=justify, overflow="fold", width=width)
            cells = [column.cell_lines(width) for column, width in zip(block, widths, strict=True)]
            for row in zip(*cells, strict=True):
                shown.add_row(*map(Text, row))
            yield from shown.__rich_console__(console, options)


@dataclass(frozen=True, slots=True)
class _Column:
    header: str
    cells: tuple[str, ...]
    is_of_numbers: bool

    def floors(self, room: int) -> tuple[int, ...]:
        """The widths of the column: unwrapped; with the header wrapped; with long texts wrapped; with all texts
        wrapped; with brackets after numbers wrapped; and with only numbers intact.
        """
        cells = min(_widest(self.cells), room)
        words = _widest_word([self.header])
        whole, under_header = max(cells, min(cell_len(self.header), room)), max(cells, words)
        if self.is_of_numbers:
            pieces = _widest(piece for cell in self.cells for piece in _BEFORE_BRACKET.split(cell))
            bare = min(under_header, max(words, pieces))
            return whole, *[under_header] * 3, bare, min(under_header, pieces)
        texts = min(under_header, max(words, _widest_word(self.cells)))
        return whole, under_header, min(under_header, max(texts, _NAME_MAY_HAVE)), texts, texts, min(texts, _NARROWEST)

    def header_lines(self, width: int | None) -> str:
        """The header, wrapped for a column of this width."""
        return self.header if width is None else _broken(self.header, width)

    def cell_lines(self, width: int | None) -> list[str]:
        """The cells, wrapped for a column of this width."""
        if width is None:
            return list(self.cells)
        if self.is_of_numbers:
            return [_BEFORE_BRACKET.sub("\n", cell) if cell_len(cell) > width else cell for cell in self.cells]
        return [_broken(cell, width) for cell in self.cells]


def _blocks(columns: Sequence[_Column], room: int) -> list[tuple[list[_Column], Sequence[int | None]]]:
    """Columns grouped into tables, with their widths; without widths if not even two columns fit."""
    floors = [column.floors(room) for column in columns]
    widths = _fitting([each[:5] for each in floors], room)
    if widths is not None:
        return [(list(columns), widths)]
    blocks = [[0]]
    for place in range(1, len(columns)):
        # The next table has room, so numbers and names need not be wrapped.
        if len(blocks[-1]) > 1 and _fitting([floors[each][:3] for each in (*blocks[-1], place)], room) is None:
            blocks.append([0])
        blocks[-1].append(place)
    return [
        ([columns[place] for place in block], _fitting([floors[place] for place in block], room) or [None] * len(block))
        for block in blocks
    ]


def _fitting(floors: Sequence[tuple[int, ...]], room: int) -> list[int] | None:
    """The widths with which all columns fit; None if they can't."""
    left = room - _BETWEEN * (len(floors) - 1)
    widths, *further = ([*each] for each in zip(*floors, strict=True))
    for least in further:
        _narrow(widths, least, left)
        if sum(widths) <= left:
            return widths
    return None


def _narrow(widths: list[int], least: Sequence[int], left: int) -> None:
    """Narrow the widest columns that can shrink until all fit."""
    for _ in range(sum(widths) - left):
        widest = max(range(len(widths)), key=lambda place: (widths[place] > least[place], widths[place]))
        if widths[widest] <= least[widest]:
            return
        widths[widest] -= 1


def _broken(text: str, width: int) -> str:
    """The text, with long words broken after their hyphens."""

    def packed(word: re.Match[str]) -> str:
        if cell_len(word[0]) <= width:
            return word[0]
        lines = [""]
        for piece in _HYPHEN.split(word[0]):
            if lines[-1] and cell_len(lines[-1] + piece) > width:
                lines.append("")
            lines[-1] += piece
        return "\n".join(lines)

    return _WORD.sub(packed, text)


def _widest(texts: Iterable[str]) -> int:
    return max(map(cell_len, texts), default=0)


def _widest_word(texts: Iterable[str]) -> int:
    return min(
        _widest(piece for text in texts for word in text.split() for piece in _HYPHEN.split(word)), _WORD_MAY_HAVE
    )


def _empty_table(kind: type[Table] = Table) -> Table:
    return kind(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)


def table_of(*columns: str) -> Table:
    """A table with these columns; a name that ends in # is a column of numbers."""
    table = _empty_table(FittingTable)
    for name in columns:
        # A column may be named after a file.
        header = printable(name.removesuffix("#"))
        table.add_column(header, justify="right" if name.endswith("#") else "left")
    return table


def filled_table(*columns: str, rows: Iterable[Iterable[Any]]) -> Table:
    """A table with these columns and rows."""
    table = table_of(*columns)
    for row in rows:
        add_row(table, *row)
    return table


def add_row(table: Table, *cells: Any) -> None:
    """Add a row, without control characters."""
    # As text and not as markup: a cell may come from an item and contain anything.
    table.add_row(*(Text(printable(str(cell))) for cell in cells))


def printable(text: str) -> str:
    """The text without control characters."""
    return "".join(character if character.isprintable() else " " for character in text)
