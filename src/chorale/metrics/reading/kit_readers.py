"""Judgments from files whose format a kit reads."""

from collections.abc import Callable, Iterable
from pathlib import Path

from chorale.files.judgment_columns import label_column
from chorale.files.source import digest_of, read_bytes, refused
from chorale.metrics.judgments import Judgments, Repeats
from chorale.metrics.reading.judgment_files import JudgmentFile, filled_labels
from chorale.model import UserError
from chorale.model.problems import did_you_mean
from chorale.registry import blaming, readers

JudgmentsReader = Callable[[Path], Iterable[tuple[str, str, str]]]
"""From a path to rows of task, worker and label. UserError says what is wrong with a file, and where."""


def read_with(
    name: str, path: Path, *, sep: str | None, empty: str | None, repeats: Repeats, counted: bool
) -> JudgmentFile:
    """Judgments as the reader of this name finds them in a file."""
    there = readers()
    if name not in there:
        listed = f"There are {', '.join(there)}." if there else "No installed kit brings one."
        raise UserError(f"There is no reader {name!r}. {listed}{did_you_mean(name, there)}")
    read: JudgmentsReader = there[name]
    digest = digest_of(read_bytes(path))
    try:
        with blaming(f"reader `{name}` of the kit `{there.kit_of(name)}`", f"failed on {path}", but=ValueError):
            rows = list(read(path))
        tasks, workers, labels = zip(*rows, strict=True) if rows else ((), (), ())
        said = filled_labels(label_column(list(labels), sep), empty)
        judgments = Judgments.from_columns(tasks, workers, said, repeats=repeats, counted=counted)
    except ValueError as error:
        fix = "Correct the file, or leave out --reader"
        raise refused(path, None, f"can't be read by the reader {name!r}", fix, str(error)) from error
    if not len(judgments):
        why = "; ".join(judgments.notes) or None
        raise refused(path, None, "has no judgments with a label", "Check that the right file was named", why)
    return JudgmentFile(judgments, digest)
