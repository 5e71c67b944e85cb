"""What commands over tables of judgments share: the file and the columns that hold them."""
# ruff: noqa: PLC0415 - commands import what they need when they run, so that --help is instant

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from chorale.metrics.reading.judgment_files import JudgmentFile
    from chorale.metrics.signature import Setting

JudgmentsFile = Annotated[
    Path,
    typer.Argument(
        metavar="FILE",
        help="Judgments: CSV, TSV, JSONL or Parquet with task, worker and label, or a batch file of MTurk or Appen.",
        show_default=False,
    ),
]
TaskColumn = Annotated[
    str | None,
    typer.Option("--task", metavar="COLUMN", help="The column that says what was judged.", show_default=False),
]
WorkerColumn = Annotated[
    str | None,
    typer.Option("--worker", metavar="COLUMN", help="The column that says who judged it.", show_default=False),
]
LabelColumn = Annotated[
    str | None,
    typer.Option("--label", metavar="COLUMN", help="The column that says what they said.", show_default=False),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--sep",
        metavar="TEXT",
        help="Labels are sets of options, with this between them; json if cells are JSON lists.",
        show_default=False,
    ),
]
EmptyLabel = Annotated[
    str | None,
    typer.Option(
        "--empty",
        metavar="LABEL",
        help="What an empty label stands for. Left out if not given.",
        show_default=False,
    ),
]
WhichRepeat = Annotated[
    Literal["last", "first", "all"],
    typer.Option(
        "--repeats",
        metavar="last|first|all",
        help="Which of a worker's judgments of the same task counts.",
    ),
]
KeepRejected = Annotated[
    bool, typer.Option("--keep-rejected", help="Keep the work that a batch file marks as rejected or tainted.")
]


@dataclass(frozen=True, slots=True)
class Reading:
    """How a file of judgments is to be read."""

    task: str | None
    worker: str | None
    label: str | None
    sep: str | None
    empty: str | None
    repeats: Literal["last", "first", "all"]
    keep_rejected: bool
    trust: str | None = None

    def read(self, path: Path, *, counted: bool = False) -> "JudgmentFile":
        from chorale.metrics.reading.judgment_files import read_judgments

        return read_judgments(
            path,
            task=self.task,
            worker=self.worker,
            label=self.label,
            trust=self.trust,
            sep=self.sep,
            empty=self.empty,
            repeats=self.repeats,
            keep_rejected=self.keep_rejected,
            counted=counted,
        )

    def line_of(self, path: Path, option: str) -> int | None:
        """Where in a file a label, or an option of one, stands first."""
        from chorale.metrics.reading.judgment_files import line_of_label

        return line_of_label(path, option, task=self.task, worker=self.worker, label=self.label, sep=self.sep)

    def settings(self) -> "dict[str, Setting]":
        """What can change the numbers, for the signature."""
        return {
            "task": self.task,
            "worker": self.worker,
            "label": self.label,
            "trust": self.trust,
            "sep": self.sep,
            "empty": self.empty,
            "repeats": self.repeats,
            "keep-rejected": self.keep_rejected or None,
        }
