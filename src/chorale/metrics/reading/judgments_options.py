"""Common parameters of functions and commands on judgments: the file and its columns."""

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
TaskColumn = Annotated[
    str | None,
    Option(
        metavar="COLUMN",
        help="Column with the task (item). Default: task; in a batch file, the column that MTurk or Appen uses.",
    ),
]
WorkerColumn = Annotated[
    str | None,
    Option(
        metavar="COLUMN",
        help="Column with the worker. Default: worker; in a batch file, the column that MTurk or Appen uses.",
    ),
]
LabelColumn = Annotated[
    str | None,
    Option(
        metavar="COLUMN", help="Column with the label. Default: label; in a batch file, the column with the answers."
    ),
]
Separator = Annotated[
    str | None,
    Option(metavar="TEXT", help="Separator of labels in cells with several labels; json if cells are JSON lists."),
]
EmptyLabel = Annotated[
    str | None, Option(metavar="LABEL", help="Label for empty cells. Default: empty cells are ignored.")
]
MissingValues = Annotated[
    Sequence[str],
    Option(
        metavar="VALUE",
        help="A value that means that there is no label, such as NA. It is treated as an empty cell. Repeatable.",
    ),
]
WhichRepeat = Annotated[
    Literal["last", "first", "all"],
    Option(metavar="last|first|all", help="Which judgments count if a worker judged a task more than once."),
]
KeepRejected = Annotated[bool, Option(help="Keep answers that a batch file marks as rejected or tainted.")]
ReaderName = Annotated[
    str | None,
    Option(
        metavar="NAME",
        help="Reader for the file's format, from an installed kit."
        + (f" Formats: {', '.join(readers())}." if readers() else " No installed kit has one."),
        choices=readers,
    ),
]
