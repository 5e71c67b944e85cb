"""Tables on a terminal or in a file."""

import sys

from rich.console import Console, RenderableType

# Without a terminal, tables are not cut to its width.
_WIDTH_OF_A_FILE = 140


def show(*tables: RenderableType) -> None:
    """Print tables, separated by blank lines."""
    width = None if sys.stdout.isatty() else _WIDTH_OF_A_FILE
    console = Console(highlight=False, markup=False, width=width, soft_wrap=False)
    console.print()
    for table in tables:
        console.print(table)
        console.print()
