"""Progress of long work."""

import os
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from chorale import cli
from chorale.files.progress_file import VARIABLE, progress_writer

PATIENCE = 2.0
"""Work shorter than this many seconds shows no bar."""


@contextmanager
def patiently(activity: str) -> Iterator[Callable[..., None]]:
    """A callback for `done, total`: shows a bar on standard error once the work has taken two seconds.

    Work with several steps also passes what it counts: `done, total, what`.

    Work that has not called back after two seconds, such as reading a large file, gets a bar of unknown length. A
    program that runs the command can name a file in the environment, from which it reads the progress.
    """
    if named := os.environ.get(VARIABLE):
        yield progress_writer(Path(named), activity)
        return
    if not sys.stderr.isatty():
        yield lambda *_: None
        return
    # Imported only here: without a terminal nothing is shown, and the library for bars is not loaded.
    progress = cli.progress_bar(cli.standard_error(), transient=True)
    task = progress.add_task(activity, total=None)
    timer = threading.Timer(PATIENCE, progress.start)
    timer.daemon = True
    timer.start()
    try:
        yield lambda done, total, of=activity: progress.update(task, completed=done, total=total, description=of)
    finally:
        timer.cancel()
        timer.join()
        if progress.live.is_started:
            progress.stop()
