"""What the scoring commands share: their options, how they read, wait and print."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from chorale.cli.output import print_json, print_line, print_notes
from chorale.cli.parameters import Option
from chorale.cli.terminal import show
from chorale.present.scoring import latex_document, score_table

if TYPE_CHECKING:
    from chorale.metrics.score import Result

WithIntervals = Annotated[bool, Option("--ci", help="Give 95% bootstrap intervals, over items.")]
Resamples = Annotated[
    int, Option("--resamples", metavar="N", min=100, max=1_000_000, help="How many resamples to draw.")
]
Seed = Annotated[int, Option("--seed", metavar="N", min=0, help="Where resampling starts.")]
AsLatex = Annotated[bool, Option("--latex", help="Print LaTeX tables.")]
Against = Annotated[
    Path | None,
    Option(
        "--against",
        metavar="FILE",
        help="Another system's output: is the difference more than luck? Paired bootstrap and randomisation.",
    ),
]


def print_scored(scored: "Result", *, as_json: bool, as_latex: bool) -> None:
    """Print a result in the shape that was asked for. Notes go to standard error, so that a pipe gets results alone."""
    if as_json:
        print_json(scored.as_json())
        return
    if as_latex:
        print_line(latex_document(scored.tables, scored.signature))
    else:
        show(*(score_table(table) for table in scored.tables))
        print_line(scored.signature)
    print_notes(scored.notes)
