"""Tables on a terminal, or in a file where there is none."""

import sys

from rich.console import Console, RenderableType

# Tables are not cut to the width of a terminal that is not there.
_WIDTH_OF_A_FILE = 140


def show(*tables: RenderableType) -> None:
    """Print tables, each with room around it."""
    width = None if sys.stdout.isatty() else _WIDTH_OF_A_FILE
    console = Console(highlight=False, markup=False, width=width, soft_wrap=False)
    console.print()
    for table in tables:
        console.print(table)
        console.print()
