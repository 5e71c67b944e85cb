"""A database in memory, for studies that are only rehearsed: no threads, no disk, and gone when it is closed."""

from collections.abc import Callable

from sqlalchemy import Connection

from chorale.store.direct import DirectStore, direct_engine

FOR_LOOKING_UP = (
    "ix_entry_bonus",
    "ix_entry_worker",
    "ix_event_item",
    "ix_event_kind",
    "ix_event_worker",
    "ix_item_confidence",
    "ix_item_state",
    "ix_response_stage",
)
"""Indexes that are for people who look at a study in the console, or for answers that are not among the newest.

Here nobody looks, and only the newest are asked for, which are found by their numbers. Keeping them takes time.
"""

FOR_PAPERS = "CREATE INDEX ix_participation_dropped ON participation (worker_id) WHERE standing = 'dropped'"
"""Where somebody was dropped is asked with every item. Of most people it is nowhere, and this index says so at once."""


class MemoryStore(DirectStore):
    """A store that is gone when it is closed."""

    def __init__(self, prepare: Callable[[Connection], None] | None = None) -> None:
        engine = direct_engine("sqlite://", _PRAGMAS)
        if prepare is not None:
            with engine.begin() as connection:
                prepare(connection)
                for index in FOR_LOOKING_UP:
                    connection.exec_driver_sql(f"DROP INDEX {index}")
                connection.exec_driver_sql(FOR_PAPERS)
        super().__init__(engine)

    def copy(self) -> "MemoryStore":
        """Another store with the same content."""
        twin = MemoryStore()
        drivers = self._connection.driver, twin._connection.driver
        for driver in drivers:
            driver.execute("COMMIT")
        drivers[0].backup(drivers[1])
        for driver in drivers:
            driver.execute("BEGIN")
        return twin


_PRAGMAS = (
    # With larger pages, what is looked for is found in fewer of them.
    "page_size = 16384",
    # Nothing is ever taken back (see `DirectStore`), or read by anybody else.
    "journal_mode = OFF",
    "synchronous = OFF",
    "secure_delete = OFF",
    # What refers to what is checked wherever a study is served. The same statements need not be checked here.
    "foreign_keys = OFF",
)
