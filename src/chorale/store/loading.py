"""A new database for importing finished work.

If anything fails, the file is deleted. So nothing is made durable before the end, and indexes are built once, after all
rows.
"""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
from sqlalchemy import Connection
from sqlalchemy.exc import OperationalError
from sqlalchemy.pool import StaticPool

from chorale.store.inline import InlineStore
from chorale.store.sqlite import sqlite_engine

_PRAGMAS = (
    # Not in memory: the rollback journal may contain all changed pages.
    "journal_mode = DELETE",
    "synchronous = OFF",
    "locking_mode = EXCLUSIVE",
    # Room for the unique keys of judgments, which are inserted in random order.
    "cache_size = -65536",
)
_INDEXES = "SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL ORDER BY rowid"


@contextmanager
def disk_errors() -> Iterator[None]:
    """Convert SQLite's disk errors, such as a full disk, to OSError."""
    try:
        yield
    except (apsw.FullError, apsw.IOError, OperationalError) as error:
        raise OSError(str(getattr(error, "orig", error))) from error


class LoadingStore(InlineStore):
    """A store on a new SQLite file, without indexes until it is finished, unless requested."""

    def __init__(self, file: Path, migrate: Callable[[Connection], None], *, indexed: bool = False) -> None:
        super().__init__(sqlite_engine(file, _PRAGMAS, StaticPool))
        self._driver = self._connection.driver
        self.do(migrate)
        indexes = [] if indexed else self._driver.execute(_INDEXES).fetchall()
        self._indexes = [(str(name), str(sql)) for name, sql in indexes]
        for name, _ in self._indexes:
            self._driver.execute(f"DROP INDEX {name}")

    def finish(self) -> None:
        """Make the file a normal database of a study."""
        # Sorting needs the same amount of space again.
        self._driver.execute("PRAGMA cache_size = -16384")
        for _, sql in self._indexes:
            self._driver.execute(sql)
        with self._inline.committed():
            self._driver.execute("PRAGMA locking_mode = NORMAL").fetchall()
            self._driver.execute("PRAGMA journal_mode = WAL").fetchall()
