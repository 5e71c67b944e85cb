"""An in-memory database for simulated studies, without threads or files."""

from sqlalchemy import Connection
from sqlalchemy.pool import StaticPool

# Importing these modules adds their tables to the schema.
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
"""Indexes for the console or for older answers. Simulations need neither: they use only the newest answers, found by
number, and maintaining indexes takes time.
"""

FOR_CREDENTIALS = "CREATE INDEX ix_participation_dropped ON participation (worker_id) WHERE standing = 'dropped'"
"""Removals are looked up for every item. Most workers have none, which this index shows at once."""


class MemoryStore(InlineStore):
    """A store that is discarded when it is closed."""

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
    """A new, empty in-memory database with the current schema."""
    store = MemoryStore()
    store.do(_create)
    return store


def _create(tx: Connection) -> None:
    """Create the current tables directly: running all migrations takes several times as long."""
    create_tables(tx, metadata, FOR_LOOKING_UP)
    # Payout tables exist as well, although nobody is paid here.
    for trigger in sqlite_triggers():
        tx.exec_driver_sql(trigger)
    tx.exec_driver_sql(FOR_CREDENTIALS)


_PRAGMAS = (
    # Larger pages make lookups faster.
    "page_size = 16384",
    # Nothing is ever rolled back (see `InlineWriter`) or read by others.
    "journal_mode = OFF",
    "synchronous = OFF",
    "secure_delete = OFF",
)
