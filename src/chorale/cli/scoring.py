"""What the scoring commands share: their options, how they read, wait and print."""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from chorale.cli.output import print_json, say, show, tell_notes

if TYPE_CHECKING:
    from chorale.present.scoring import Scored

WithIntervals = Annotated[bool, typer.Option("--ci", help="Give 95% bootstrap intervals, over items.")]
Resamples = Annotated[
    int, typer.Option("--resamples", metavar="N", min=100, max=1_000_000, help="How many resamples to draw.")
]
Seed = Annotated[int, typer.Option("--seed", metavar="N", min=0, help="Where drawing starts.")]
AsLatex = Annotated[bool, typer.Option("--latex", help="Print LaTeX tables.")]
Against = Annotated[
    Path | None,
    typer.Option(
        "--against",
        metavar="FILE",
        help="Another system's output: is the difference more than luck? Paired bootstrap and randomisation.",
        show_default=False,
    ),
]


def tell(scored: "Scored", *, as_json: bool, as_latex: bool) -> None:
    """Print a result in the shape that was asked for. Notes go to standard error, so that a pipe gets results alone."""
    from chorale.present.scoring import latex_document, score_table

    if as_json:
        print_json(scored.as_json())
        return
    if as_latex:
        say(latex_document(scored.tables, scored.signature))
    else:
        show(*(score_table(table) for table in scored.tables))
        say(scored.signature)
    tell_notes(scored.notes)
