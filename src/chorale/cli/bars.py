"""Progress bars for long work of unknown length."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn

LINES = 10


def progress_bar(console: Console, *, transient: bool = False) -> Progress:
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, console=console, transient=transient)


def standard_error() -> Console:
    return Console(stderr=True, highlight=False)


@contextmanager
def counting(counted: str, expected: int, *, on_stderr: bool = False) -> Iterator[Callable[[], None]]:
    """Count calls and show progress towards an estimated total: a bar, or occasional lines if output goes to a file."""
    console = Console(stderr=on_stderr, highlight=False)
    if console.is_terminal:
        yield from _with_bar(console, counted, expected)
    else:
        yield from _with_lines(console, counted, expected)


def _with_bar(console: Console, counted: str, expected: int) -> Iterator[Callable[[], None]]:
    with progress_bar(console) as progress:
        task = progress.add_task(counted, total=expected)

        def count() -> None:
            progress.advance(task)
            if progress.tasks[0].completed > expected:
                # The total was an estimate. Without a total, the bar does not claim that the work is done.
                progress.update(task, total=None)

        yield count
        # The calls made so far were all of them.
        progress.update(task, total=progress.tasks[0].completed)


def _with_lines(console: Console, counted: str, expected: int) -> Iterator[Callable[[], None]]:
    step = max(1, expected // LINES)
    done = 0

    def count() -> None:
        nonlocal done
        done += 1
        if done % step == 0:
            beyond = f"{done:,} {counted} so far, more than the estimated {expected:,}"
            console.print(beyond if done > expected else f"{done:,} of about {expected:,} {counted}")

    yield count
    console.print(f"{done:,} {counted} in total")
