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
        help="Resample together what has the same value in this column: a writer, a document. Twice for two columns.",
    ),
]
WithIntervals = Annotated[bool, Option(help="Give 95% bootstrap intervals, over items or --cluster.")]
Resamples = Annotated[int, Option(min=100, max=1_000_000, help="How many resamples to draw.")]
Seed = Annotated[int, Option(min=0, help="Where resampling starts.")]
Against = Annotated[
    File | None,
    Option(help="Another system's output: is the difference more than luck? Paired bootstrap and randomisation."),
]
Force = Annotated[bool, Option(help="Overwrite the file that is written if it is there.")]
