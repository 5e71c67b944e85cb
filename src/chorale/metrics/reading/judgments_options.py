"""What functions and commands over tables of judgments share: the file and the columns that hold them."""

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Literal

from chorale.registry import readers
from chorale.registry.options import Argument, Option

FILE = Argument(
    metavar="FILE",
    help="Judgments: CSV, TSV, JSONL or Parquet with task, worker and label, or a batch file of MTurk or Appen.",
)
JudgmentsFile = Annotated[Path, FILE]
TaskColumn = Annotated[str | None, Option(metavar="COLUMN", help="The column that says what was judged.")]
WorkerColumn = Annotated[str | None, Option(metavar="COLUMN", help="The column that says who judged it.")]
LabelColumn = Annotated[str | None, Option(metavar="COLUMN", help="The column that says what they said.")]
Separator = Annotated[
    str | None,
    Option(metavar="TEXT", help="Labels are sets of options, with this between them; json if cells are JSON lists."),
]
EmptyLabel = Annotated[
    str | None, Option(metavar="LABEL", help="What an empty label stands for. Left out if not given.")
]
MissingValues = Annotated[
    Sequence[str],
    Option(metavar="VALUE", help="A label that stands for no label, such as NA: read like an empty cell. Repeatable."),
]
WhichRepeat = Annotated[
    Literal["last", "first", "all"],
    Option(metavar="last|first|all", help="Which of a worker's judgments of the same task counts."),
]
KeepRejected = Annotated[bool, Option(help="Keep the work that a batch file marks as rejected or tainted.")]
ReaderName = Annotated[
    str | None,
    Option(
        metavar="NAME",
        help="The file has a format of an installed kit."
        + (f" Formats: {', '.join(readers())}." if readers() else " No kit brings one yet."),
        choices=readers,
    ),
]
