"""Database errors without the values that were sent.

PostgreSQL's messages contain the values of refused rows. They are removed here, so that no log, traceback or message
contains them.
"""

from typing import Any, NoReturn

import apsw
from sqlalchemy.engine import URL, ExceptionContext
from sqlalchemy.exc import DBAPIError, TimeoutError

from chorale.model.problems import DamagedError, UnavailableError
from chorale.store.sqlite import OUT_OF_REACH

_DAMAGED = (apsw.CorruptError, apsw.NotADBError)
# Connection lost, no resources (such as a full disk), shut down, input/output errors, read-only stand-by.
_OUT_OF_REACH_STATES = ("08", "53", "57P", "58", "25006")
# Wrong password, no such database: the server's message helps the user and contains no values.
_ABOUT_CONNECTING = ("08", "28", "3D", "53", "55", "57P")
_BY_TRIGGER = "P0001"
"""The state of errors that Chorale's triggers raise."""


def leave_out_values(error: Any) -> None:
    """Keep the kind and place of a PostgreSQL error, without the values of the row."""
    state = getattr(error, "sqlstate", None)
    if state is None or state.startswith((*_ABOUT_CONNECTING, _BY_TRIGGER)):
        return
    named = [getattr(error.diag, name, None) for name in ("table_name", "column_name", "constraint_name")]
    error.args = (" ".join([f"PostgreSQL refused this ({state})", *filter(None, named)]),)


def leave_out_values_sent(context: ExceptionContext) -> None:
    """The kind of a failure that SQLAlchemy reports."""
    error: Any = context.original_exception
    leave_out_values(error)
    if context.sqlalchemy_exception is not None and getattr(error, "sqlstate", None):
        context.sqlalchemy_exception.args = error.args


def explained(error: Exception, url: URL) -> Exception:
    """Convert an error of an unusable or damaged database to one that says what to do."""
    original = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(original, _DAMAGED):
        return damaged(url, str(original))
    out_of_reach = isinstance(error, TimeoutError) or (isinstance(error, DBAPIError) and is_out_of_reach(error))
    if isinstance(original, OUT_OF_REACH) or out_of_reach:
        hint = (
            " Give this user write permission for the file and its folder."
            if isinstance(original, apsw.ReadOnlyError)
            else ""
        )
        return UnavailableError(f"The database {place_of(url)} can't be used now: {original}.{hint}")
    return error


def damaged(url: URL, message: str) -> DamagedError:
    return DamagedError(
        f"The database {place_of(url)} is damaged or not a database. SQLite reports: {message}. Stop the site, "
        "keep this "
        "file, restore a backup in its place, and run `chorale verify`."
    )


def place_of(url: URL) -> str:
    """The database's file, or its address without the password."""
    return str(url.database) if url.get_backend_name() == "sqlite" else url.render_as_string()


def raise_explained(error: Exception, url: URL) -> NoReturn:
    """Raise the error again, as `explained`."""
    failure = explained(error, url)
    if failure is error:
        raise error
    raise failure from error


def is_out_of_reach(error: DBAPIError) -> bool:
    """Whether PostgreSQL is unavailable now."""
    state = getattr(error.orig, "sqlstate", None)
    no_connection = state is None and type(error.orig).__name__ in ("OperationalError", "ConnectionTimeout")
    return error.connection_invalidated or no_connection or str(state).startswith(_OUT_OF_REACH_STATES)
