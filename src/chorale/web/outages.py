"""Outages of the database: log lines, and messages to people."""

import logging
import time
from collections.abc import Callable
from threading import Lock

from chorale.model.problems import DamagedError, UnavailableError
from chorale.model.wording import joined, worded

EVERY_SECONDS = 60
RETRY_AFTER_SECONDS = 5
log = logging.getLogger("chorale.web")


class Outages:
    """Logs the start of an outage, one line per minute, and its end."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._lock = Lock()
        self._since: float | None = None
        self._written_at = 0.0
        self._failed = self._failed_in_all = 0

    def failed(self, error: UnavailableError) -> None:
        with self._lock:
            now = self._clock()
            self._failed += 1
            self._failed_in_all += 1
            if self._since is None:
                self._since = self._written_at = now
                damaged = isinstance(error, DamagedError)
                log.error(_DAMAGED if damaged else _UNAVAILABLE, exc_info=error)
                self._failed = 0
            elif now - self._written_at >= EVERY_SECONDS:
                log.error(
                    "no database for %d s: %d requests failed since the last line", now - self._since, self._failed
                )
                self._written_at, self._failed = now, 0

    def worked(self) -> None:
        with self._lock:
            if self._since is not None:
                lasted = self._clock() - self._since
                log.warning("the database is back after %d s: %d requests failed", lasted, self._failed_in_all)
                self._since, self._failed, self._failed_in_all = None, 0, 0


_UNAVAILABLE = "the database can't be used; requests are answered with 503 until it can"
_DAMAGED = "the database file is damaged: stop the site, restore a backup, and run `chorale verify`"

_NOT_SAVED = worded("What you sent may not have been saved.")
_TRY_AGAIN = worded("Nothing was changed. Please try again in a minute.")
# The work page keeps answers and sends them again, and informs the worker itself: only it knows whether the browser
# supports that.
_SEND_AGAIN = worded("Please send it again. An answer that is sent twice counts once.")
_CHECK = worded("Go back in a minute and check. If it was not saved, send it again.")


def server_problem(method: str, path: str) -> tuple[str, str]:
    """The message for a request that failed on the server: what is known about it, and what to do."""
    if _sends_nothing(method, path):
        return worded("The server had a problem and could not show this page."), _TRY_AGAIN
    return joined(worded("The server had a problem."), _NOT_SAVED), _SEND_AGAIN if path.startswith("/api/") else _CHECK


def unavailable(method: str, path: str) -> tuple[str, str]:
    """The message while the database is unavailable."""
    if _sends_nothing(method, path):
        return worded("The study is not available at the moment."), _TRY_AGAIN
    return joined(worded("The study can't save anything at the moment."), _NOT_SAVED), (
        _SEND_AGAIN if path.startswith("/api/") else _CHECK
    )


def _sends_nothing(method: str, path: str) -> bool:
    """Whether a request only asks for a page or for the next item, so that nothing a person wrote can be lost."""
    return method in ("GET", "HEAD") or (path.startswith("/api/stages/") and path.endswith("/next"))
