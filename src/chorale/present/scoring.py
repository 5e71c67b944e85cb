"""Tables of results for a terminal."""

from rich.table import Table

from chorale.metrics.score_table import ScoreTable, cell_text
from chorale.present.terminal import add_row, printable, table_of


def score_table(table: ScoreTable) -> Table:
    """A table of scores for a terminal."""
    shown = table_of(*table.columns)
    shown.title, shown.title_justify = printable(table.title), "left"
    for row in table.rows:
        add_row(shown, *(cell_text(value, table.digits) for value in row))
    return shown
