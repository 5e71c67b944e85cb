"""The progress of a command in a file, for a program that runs it."""

import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

VARIABLE = "CHORALE_PROGRESS_FILE"
"""The environment variable that names the file."""
_SECONDS_BETWEEN = 0.2


class JobProgress(NamedTuple):
    done: int
    total: int
    """0 if it is not known."""
    activity: str


def progress_writer(path: Path, activity: str) -> Callable[..., None]:
    """A callback for `done, total`, or `done, total, activity`, that writes the latest state to a file."""
    written = 0.0

    def write(done: float, total: float | None, of: str = activity) -> None:
        nonlocal written
        now = time.monotonic()
        if now - written >= _SECONDS_BETWEEN:
            written = now
            draft = path.with_name(f"{path.name}.part")
            draft.write_text(f"{int(done)} {int(total or 0)} {of}", "utf-8")
            draft.replace(path)

    return write


def read_progress(path: Path) -> JobProgress | None:
    """The state that was last written; None if there is none."""
    try:
        done, total, activity = path.read_text("utf-8").split(" ", 2)
        return JobProgress(int(done), int(total), activity)
    except (OSError, ValueError):
        return None
