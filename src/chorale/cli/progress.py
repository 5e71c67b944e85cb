"""Progress of long work: a bar on a terminal, a line now and then in a file."""

# ruff: noqa: PLC0415 - where there is no terminal nothing is drawn, and Rich is not needed

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

LINES = 10
PATIENCE = 2.0
"""Seconds of work nobody needs to be told about."""


@contextmanager
def counting(what: str, expected: int, *, on_stderr: bool = False) -> Iterator[Callable[[], None]]:
    """Counts calls, and shows them against about how many there will be."""
    from rich.console import Console

    console = Console(stderr=on_stderr, highlight=False)
    if console.is_terminal:
        yield from _with_bar(console, what, expected)
    else:
        yield from _with_lines(console, what, expected)


@contextmanager
def patiently(what: str) -> Iterator[Callable[..., None]]:
    """A callback for `done, total`: shows a bar on standard error once the work has taken two seconds.

    Work that comes in several steps also tells what is counted: `done, total, what`.

    Work that has told nothing by then, such as reading a large file, gets a bar as well, of unknown length.
    """
    if not sys.stderr.isatty():
        yield lambda *_told: None
        return
    from rich.console import Console

    progress = _bar(Console(stderr=True, highlight=False), transient=True)
    task = progress.add_task(what, total=None)
    timer = threading.Timer(PATIENCE, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda done, total, of=what: progress.update(task, completed=done, total=total, description=of)
    finally:
        timer.cancel()
        timer.join()
        if progress.live.is_started:
            progress.stop()


def _bar(console: "Console", *, transient: bool = False) -> "Progress":
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=transient)


def _with_bar(console: "Console", what: str, expected: int) -> Iterator[Callable[[], None]]:
    with _bar(console) as progress:
        task = progress.add_task(what, total=expected)

        def count() -> None:
            progress.advance(task)
            if progress.tasks[0].completed > expected:
                progress.update(task, total=progress.tasks[0].completed)

        yield count
        # It was an estimate: what is done is all there was.
        progress.update(task, total=progress.tasks[0].completed)


def _with_lines(console: "Console", what: str, expected: int) -> Iterator[Callable[[], None]]:
    step = max(1, expected // LINES)
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        if done % step == 0:
            console.print(f"{done:,} of about {max(done, expected):,} {what}")

    yield count
    console.print(f"{done:,} {what}, all done")
