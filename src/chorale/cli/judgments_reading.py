"""How commands read tables of judgments."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from chorale.metrics.reading.judgment_files import JudgmentFile, line_of_label, read_judgments
from chorale.metrics.signature import Setting


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

    def read(self, path: Path, *, counted: bool = False) -> JudgmentFile:
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
        return line_of_label(path, option, task=self.task, worker=self.worker, label=self.label, sep=self.sep)

    def settings(self) -> dict[str, Setting]:
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
