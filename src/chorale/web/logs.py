"""The log of a site.

By construction, it never contains identifiers or secrets, at any level and in any failure. A line contains only what is
in the code: a message's template, numbers, types of errors, places in files. Strings are logged only if the code marks
them as its own (`CodeName`). Messages of errors and of other packages are never logged.
"""

import logging
import re
import sys
import threading
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from errno import errorcode
from http import HTTPStatus
from pathlib import Path
from types import TracebackType
from typing import Any

from starlette.types import ASGIApp, Message, Receive, Scope, Send

OWN = "chorale"
SAME_AGAIN_SECONDS = 60
MOST_FRAMES = 25
MOST_REMEMBERED = 1_000
_REPEATS = "chorale_repeats"
_SQLSTATE = re.compile(r"[0-9A-Z]{5}")
_SERVER_MESSAGES = frozenset(
    {
        "Invalid HTTP request received.",
        "Exception in ASGI application\n",
        "Exception in 'lifespan' protocol\n",
        "Application startup failed. Exiting.",
        "Application shutdown failed. Exiting.",
        "Waiting for connections to close. (CTRL+C to force quit)",
        "Started server process [%d]",
        "Finished server process [%d]",
        "Exceeded concurrency limit.",
    }
)
"""Constant messages of the HTTP server, which contain no request data."""

access = logging.getLogger("chorale.access")


class CodeName(str):
    """A name from the code, which may be logged because no person chose it."""

    __slots__ = ()


_study: ContextVar[str] = ContextVar("study", default="")


@contextmanager
def logged_study(name: str) -> Iterator[None]:
    """Add a study's name to log lines in this context and in tasks started in it, on a server with several studies."""
    before = _study.set(name)
    try:
        yield
    finally:
        _study.reset(before)


class RedactingFormatter(logging.Formatter):
    """Formats log records without values that could come from a person."""

    def format(self, record: logging.LogRecord) -> str:
        own = record.name == OWN or record.name.startswith(f"{OWN}.")
        known = own or (isinstance(record.msg, str) and record.msg in _SERVER_MESSAGES)
        text = _filled(record) if known else f"{Path(record.pathname).name}:{record.lineno} {record.funcName}"
        if repeats := getattr(record, _REPEATS, 0):
            text += f" (and {repeats:,} more like this in the last {SAME_AGAIN_SECONDS} s)"
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(record.created))
        study = f"[{name}] " if (name := _study.get()) else ""
        error = record.exc_info[1] if record.exc_info else None
        return "\n".join([f"{at} {record.levelname} {record.name}: {study}{text}", *outline(error)])


def _filled(record: logging.LogRecord) -> str:
    template = str(record.msg).strip()
    args = record.args if isinstance(record.args, tuple) else ()
    try:
        return template % tuple(map(_shown, args))
    except (TypeError, ValueError):  # the template expects a number, but the value is something else
        return template


def _shown(value: object) -> object:
    if isinstance(value, bool | int | float | CodeName):
        return value
    return value.__name__ if isinstance(value, type) else "…"


def outline(error: BaseException | None) -> Iterator[str]:
    """The types of an error and its causes, latest first, with the places where they were raised."""
    seen: set[int] = set()
    waiting = [] if error is None else [error]
    while waiting and len(seen) < MOST_FRAMES:
        error = waiting.pop(0)
        if id(error) in seen:
            continue
        seen.add(id(error))
        yield f"  {type(error).__name__}{_details(error)}"
        yield from _places(error.__traceback__)
        if isinstance(error, BaseExceptionGroup):
            waiting += error.exceptions
        before = error.__cause__ or (None if error.__suppress_context__ else error.__context__)
        original = getattr(error, "orig", None)
        waiting += [one for one in (original, before) if isinstance(one, BaseException)]


def _details(error: BaseException) -> str:
    """Safe details of an error: numbers, and names of our own tables."""
    state = getattr(error, "sqlstate", None)
    details = [state] if isinstance(state, str) and _SQLSTATE.fullmatch(state) else []
    constraint = getattr(getattr(error, "diag", None), "constraint_name", None)
    details += [constraint] if isinstance(constraint, str) else []
    code = getattr(error, "extendedresult", None)
    details += [f"SQLite {code}"] if isinstance(code, int) else []
    if isinstance(error, OSError) and error.errno is not None:
        details.append(errorcode.get(error.errno, str(error.errno)))
    return f" ({', '.join(details)})" if details else ""


def _places(traceback: TracebackType | None) -> list[str]:
    places: list[str] = []
    while traceback is not None:
        code = traceback.tb_frame.f_code
        places.append(f"    {'/'.join(Path(code.co_filename).parts[-3:])}:{traceback.tb_lineno} {code.co_name}")
        traceback = traceback.tb_next
    return places[-MOST_FRAMES:]


class OneLineAMinute(logging.Filter):
    """A filter that passes the same warning or error once a minute, with the number of repetitions."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._clock = clock
        self._lock = threading.Lock()
        self._written: dict[tuple[object, ...], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        if record.levelno < logging.WARNING:
            return True
        error = record.exc_info[1] if record.exc_info else None
        key = (_study.get(), record.name, record.pathname, record.lineno, str(record.msg), *outline(error))
        with self._lock:
            return self._is_due(key, record)

    def _is_due(self, key: tuple[object, ...], record: logging.LogRecord) -> bool:
        written_at, repeats = self._written.get(key, (None, 0))
        now = self._clock()
        if written_at is not None and now - written_at < SAME_AGAIN_SECONDS:
            self._written[key] = (written_at, repeats + 1)
            return False
        if len(self._written) >= MOST_REMEMBERED:
            self._written.clear()
        self._written[key] = (now, 0)
        setattr(record, _REPEATS, repeats)
        return True


def set_up_logs(*, access_log: bool) -> None:
    """Write all log records and uncaught errors of this process to standard error."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(RedactingFormatter())
    handler.addFilter(OneLineAMinute())
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    access.setLevel(logging.INFO if access_log else logging.WARNING)
    # Otherwise, a record that can't be written is printed with all its values.
    logging.raiseExceptions = False
    logging.captureWarnings(True)
    warnings.simplefilter("default")
    uncaught = logging.getLogger(OWN)

    def caught(kind: type[BaseException], error: BaseException | None, at: TracebackType | None) -> None:
        if error is not None and not issubclass(kind, KeyboardInterrupt | SystemExit):
            uncaught.critical("unexpected error", exc_info=(kind, error, at))

    sys.excepthook = caught
    threading.excepthook = lambda given: caught(given.exc_type, given.exc_value, given.exc_traceback)
    sys.unraisablehook = lambda given: caught(given.exc_type, given.exc_value, given.exc_traceback)


class AccessLog:
    """Logs every request with its page, but never its address, values or user."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started, status = time.perf_counter(), int(HTTPStatus.INTERNAL_SERVER_ERROR)

        async def noting(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, noting)
        finally:
            took = (time.perf_counter() - started) * 1000
            access.info("%s %s %d %.1f ms", CodeName(_method(scope)), CodeName(_template(scope)), status, took)


def _method(scope: Scope) -> str:
    method: str = scope["method"]
    return method if method in ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS") else "(other)"


def _template(scope: Scope) -> str:
    """The route of a request as in the code: `/join/{token}`."""
    route: Any = scope.get("route")
    path = getattr(route, "path", None)
    if isinstance(path, str):
        return path
    return "/static/{file}" if scope["path"].startswith("/static/") else "(no such page)"
