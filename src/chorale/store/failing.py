"""Failures of a database, told apart, and without the values that were sent to it.

What PostgreSQL reports names the values of the row it refused. These go no further than here: no log, traceback or
message can have them.
"""

from typing import Any, NoReturn

import apsw
from sqlalchemy import Engine, create_engine, event
from sqlalchemy.engine import URL, ExceptionContext
from sqlalchemy.exc import DBAPIError, TimeoutError

from chorale.store.sqlite import OUT_OF_REACH

CONNECT_SECONDS = 5
"""How long a server that does not answer is waited for."""
_DAMAGED = (apsw.CorruptError, apsw.NotADBError)
# Connection lost, no resources (also a full disk), shut down, failed input or output, a stand-by that takes no writes.
_OUT_OF_REACH_STATES = ("08", "53", "57P", "58", "25006")
# Wrong password, no such database: what the server says then is what the user needs, and has no values in it.
_ABOUT_CONNECTING = ("08", "28", "3D", "53", "55", "57P")


class UnavailableError(Exception):
    """The database can't be used now: not there, full, or not ours to write. Nothing is wrong with what was asked."""


class DamagedError(UnavailableError):
    """What is in the file is not what was written."""


def postgres_engine(url: URL, **options: Any) -> Engine:
    """An engine whose errors have no values in them."""
    engine = create_engine(url, hide_parameters=True, connect_args={"connect_timeout": CONNECT_SECONDS}, **options)
    event.listen(engine, "handle_error", _leave_out_values)
    return engine


def _leave_out_values(context: ExceptionContext) -> None:
    error: Any = context.original_exception
    state = getattr(error, "sqlstate", None)
    if state is None or state.startswith(_ABOUT_CONNECTING):
        return
    named = [getattr(error.diag, name, None) for name in ("table_name", "column_name", "constraint_name")]
    error.args = (" ".join([f"PostgreSQL refused this ({state})", *filter(None, named)]),)
    if context.sqlalchemy_exception is not None:
        context.sqlalchemy_exception.args = error.args


def explained(error: Exception) -> Exception:
    """The error as one of the kinds above, if it is one."""
    original = error.orig if isinstance(error, DBAPIError) else error
    if isinstance(original, _DAMAGED):
        return DamagedError(str(original))
    if isinstance(original, OUT_OF_REACH) or isinstance(error, TimeoutError):
        return UnavailableError(str(original))
    if isinstance(error, DBAPIError) and is_out_of_reach(error):
        return UnavailableError(str(original))
    return error


def raise_explained(error: Exception) -> NoReturn:
    """Raise the error again, as one of the kinds above if it is one."""
    failure = explained(error)
    if failure is error:
        raise error
    raise failure from error


def is_out_of_reach(error: DBAPIError) -> bool:
    """Whether PostgreSQL can't be used now."""
    state = getattr(error.orig, "sqlstate", None)
    no_connection = state is None and type(error.orig).__name__ in ("OperationalError", "ConnectionTimeout")
    return error.connection_invalidated or no_connection or str(state).startswith(_OUT_OF_REACH_STATES)
