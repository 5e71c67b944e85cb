"""Tables for terminals: what all of them are made of."""

from typing import Any

from rich import box
from rich.table import Table
from rich.text import Text


def table_of(*columns: str) -> Table:
    """A table with these columns; a name that ends in # is one of numbers."""
    table = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)
    for name in columns:
        # A role of a file, or a file's name, may be a column.
        header = printable(name.removesuffix("#"))
        # Where a terminal is too narrow, a number goes on in the next line: half of it would be another number.
        table.add_column(header, justify="right" if name.endswith("#") else "left", overflow="fold")
    return table


def add_row(table: Table, *cells: Any) -> None:
    """Cells as they are, but for what would move a terminal's cursor."""
    # As text and not as markup: a cell may come from an item and hold anything.
    table.add_row(*(Text(printable(str(cell))) for cell in cells))


def printable(text: str) -> str:
    """The text without what would move a terminal's cursor."""
    return "".join(character if character.isprintable() else " " for character in text)
