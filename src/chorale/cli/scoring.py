"""Printing for the scoring commands."""

from typing import TYPE_CHECKING, Annotated

from chorale.cli.output import print_json, print_line, print_notes
from chorale.cli.parameters import Option
from chorale.cli.terminal import show
from chorale.present.latex import latex_document
from chorale.present.scoring import score_table

if TYPE_CHECKING:
    from chorale.metrics.score import Result

AsLatex = Annotated[bool, Option("--latex", help="Print LaTeX tables.")]


def print_scored(scored: "Result", *, as_json: bool, as_latex: bool) -> None:
    """Print a result in the requested format. Notes go to standard error, so that a pipe gets only results."""
    if as_json:
        print_json(scored.as_json())
        return
    if as_latex:
        print_line(latex_document(scored.tables, scored.signature))
    else:
        show(*(score_table(table) for table in scored.tables))
        print_line(scored.signature)
    print_notes(scored.notes)
    if scored.written and not as_latex:
        print_line(scored.written)
