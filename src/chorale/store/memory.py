"""A database in memory, for studies that are only rehearsed: no threads, no disk, and gone when it is closed."""

from sqlalchemy import Connection
from sqlalchemy.pool import StaticPool

# Tables are in four modules, and those of all of them belong to the schema.
import chorale.store.identity_schema
import chorale.store.model_schema
import chorale.store.recruiting_schema  # noqa: F401
from chorale.store.append_only import sqlite_triggers
from chorale.store.inline import InlineStore
from chorale.store.kit_tables import create_tables
from chorale.store.schema import metadata
from chorale.store.sqlite import sqlite_engine

FOR_LOOKING_UP = (
    "ix_entry_bonus",
    "ix_entry_worker",
    "ix_event_item",
    "ix_event_worker",
    "ix_item_confidence",
    "ix_item_state",
    "ix_response_stage",
)
"""Indexes that are for people who look at a study in the console, or for answers that are not among the newest.

Here nobody looks, and only the newest are asked for, which are found by their numbers. Keeping them takes time.
"""

FOR_CREDENTIALS = "CREATE INDEX ix_participation_dropped ON participation (worker_id) WHERE standing = 'dropped'"
"""Where somebody was dropped is asked with every item. Of most people it is nowhere, and this index says so at once."""


class MemoryStore(InlineStore):
    """A store that is gone when it is closed."""

    def __init__(self) -> None:
        super().__init__(sqlite_engine(None, _PRAGMAS, StaticPool))

    def copy(self) -> "MemoryStore":
        """Another store with the same content."""
        twin = MemoryStore()
        with self._inline.committed(), twin._inline.committed():
            with twin._connection.driver.backup("main", self._connection.driver, "main") as backup:
                backup.step()
        return twin


def open_memory_store() -> MemoryStore:
    """A database of its own in memory, with the current schema and nothing in it."""
    store = MemoryStore()
    store.do(_create)
    return store


def _create(tx: Connection) -> None:
    """The tables that migrations make, at once: going through all there ever were takes several times as long."""
    create_tables(tx, metadata, FOR_LOOKING_UP)
    # What is paid out is kept as well; nobody is paid here.
    for trigger in sqlite_triggers():
        tx.exec_driver_sql(trigger)
    tx.exec_driver_sql(FOR_CREDENTIALS)


_PRAGMAS = (
    # With larger pages, what is looked for is found in fewer of them.
    "page_size = 16384",
    # Nothing is ever undone (see `InlineWriter`), or read by anybody else.
    "journal_mode = OFF",
    "synchronous = OFF",
    "secure_delete = OFF",
)
