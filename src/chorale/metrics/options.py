"""Common parameters of scoring functions and their commands."""

from collections.abc import Sequence
from os import PathLike
from typing import Annotated

from chorale.registry.options import Option

File = str | PathLike[str]
Cluster = Annotated[
    Sequence[str],
    Option(
        metavar="COLUMN",
        help="Resample rows with the same value in this column together, e.g. by writer or document. For two "
        "columns, give the option twice.",
    ),
]
WithIntervals = Annotated[
    bool, Option(help="Add 95% bootstrap intervals. Items are resampled or, with --cluster, clusters.")
]
AnyIntervals = Annotated[bool, Option(help="Add 95% intervals.")]
"""For commands without clusters, or with a separate interval for each kind of score."""
Resamples = Annotated[int, Option(min=100, max=1_000_000, help="Number of bootstrap resamples.")]
Seed = Annotated[int, Option(min=0, help="Random seed.")]
Against = Annotated[
    File | None,
    Option(
        help=(
            "Output of another system, to test whether the difference is significant (paired bootstrap and "
            "randomisation)."
        )
    ),
]
Force = Annotated[bool, Option(help="Overwrite an existing file.")]
