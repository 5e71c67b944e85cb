"""Locks on a database that a process holds until it ends, valid across folders and machines."""

import fcntl
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from sqlalchemy import text
from sqlalchemy.engine import URL

from chorale.model import UserError
from chorale.store.database import Store, connection_of, engine_of
from chorale.store.locks import Alone

_SUFFIXES = {Alone.RUNS_MODELS: "annotating"}


@contextmanager
def held(store: Store, purpose: Alone) -> Iterator[bool]:
    """Take a lock; False if another process holds it. It ends with the process, even after a crash."""
    url = store.address
    hold = _held_file if url.get_backend_name() == "sqlite" else _held_on_server
    with hold(url, purpose) as is_held:
        yield is_held


@contextmanager
def _held_file(url: URL, purpose: Alone) -> Iterator[bool]:
    file = Path(f"{Path(str(url.database)).resolve()}.{_SUFFIXES[purpose]}")
    try:
        lock = file.open("a")
    except OSError as error:
        raise UserError(
            f"{file} can't be written: {error.strerror}. Give Chorale write access to that folder."
        ) from None
    with lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield True


@contextmanager
def _held_on_server(url: URL, lock: Alone) -> Iterator[bool]:
    """Uses a separate connection: the server releases the lock when it ends."""
    engine = engine_of(url)
    try:
        with closing(connection_of(engine)) as connection:
            asked = text("SELECT pg_try_advisory_lock(:n)").bindparams(n=int(lock))
            is_held = bool(connection.execute(asked).scalar_one())
            try:
                yield is_held
            finally:
                # The connection is closed below, so that the pool does not reuse it with the lock.
                connection.invalidate()
    finally:
        engine.dispose()
