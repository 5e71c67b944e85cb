"""Parameters that most functions for scores take, from Python and as options of their commands."""

from collections.abc import Sequence
from os import PathLike
from typing import Annotated

from chorale.registry.options import Option

File = str | PathLike[str]
Cluster = Annotated[
    Sequence[str],
    Option(
        metavar="COLUMN",
        help="Resample rows with the same value in this column together, e.g. a writer or a document. Give it twice "
        "for two columns.",
    ),
]
WithIntervals = Annotated[bool, Option(help="Add 95% bootstrap intervals, over items or --cluster.")]
AnyIntervals = Annotated[bool, Option(help="Add 95% intervals.")]
"""Where nothing can be clustered, or each kind of score has an interval of its own."""
Resamples = Annotated[int, Option(min=100, max=1_000_000, help="Number of bootstrap resamples.")]
Seed = Annotated[int, Option(min=0, help="Random seed.")]
Against = Annotated[
    File | None,
    Option(
        help=(
            "Another system's output: tests whether the difference is significant (paired bootstrap and randomisation)."
        )
    ),
]
Force = Annotated[bool, Option(help="Overwrite an existing file.")]
