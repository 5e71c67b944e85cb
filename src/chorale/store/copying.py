"""Whole databases: copied as they are at one moment while others write, checked, and loaded into PostgreSQL.

A copy is always an SQLite file with the tables of a study, also where it comes from PostgreSQL. So there is one way to
check it, it can be restored to either, and nothing but Chorale is needed for it.
"""

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import apsw
from sqlalchemy import Boolean, Connection, Engine, Table, create_engine, func, select, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import OperationalError

# Tables are in several modules, and those of all of them belong to the schema.
import chorale.store.identity_schema
import chorale.store.mturk_schema
import chorale.store.recruiting_schema  # noqa: F401
from chorale.model import UserError
from chorale.model.extras import need
from chorale.store.locks import Alone, lock
from chorale.store.opening import MIGRATIONS, migrate, revision_of, revisions
from chorale.store.schema import item, metadata, response
from chorale.store.sqlite import IMMEDIATE, Driver, SqliteConnection, sqlite_engine

_ROWS_AT_ONCE = 5_000
_NAMES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
_CYCLE = "fk_item_response_id_response"
"""Items are made of responses, and responses given to items: one of the two references is made at the end."""

RowCounts = dict[str, int]


def copy_database(url: URL, file: Path) -> RowCounts:
    """Copy a database, as it is at one moment, to a new SQLite file; how many rows each table has.

    UserError if it can't be copied, or is damaged.
    """
    try:
        if url.get_backend_name() == "sqlite":
            rows = _copy_sqlite(Path(str(url.database)), file)
        else:
            with _engine(url) as engine:
                rows = _copy_postgresql(engine, url, file)
    except apsw.Error as error:
        raise UserError(f"The database {url.render_as_string()} can't be copied: {error}. Nothing was made.") from None
    if problems := problems_of_copy(file, rows):
        raise UserError(
            f"The database {url.render_as_string()} is damaged: {'; '.join(problems)}. Restore the latest good backup."
        )
    return rows


@contextmanager
def _engine(url: URL) -> Iterator[Engine]:
    """An engine on PostgreSQL, for as long as it takes."""
    need("psycopg")
    engine = create_engine(url)
    try:
        yield engine
    except OperationalError as error:
        raise UserError(f"The database {url.render_as_string()} can't be used: {error.orig}") from None
    finally:
        engine.dispose()


def _copy_sqlite(source: Path, file: Path) -> RowCounts:
    with closing(Driver(str(source))) as driver, closing(apsw.Connection(str(file))) as copy:
        # The transaction is what both the counts and the copy are of, however much is written meanwhile.
        driver.ask("BEGIN")
        rows = _counted(driver)
        with copy.backup("main", driver, "main") as backup:
            backup.step()
        driver.rollback()
        # One file, without another one beside it.
        copy.execute("PRAGMA journal_mode = DELETE").fetchall()
    return rows


def _copy_postgresql(engine: Engine, url: URL, file: Path) -> RowCounts:
    with engine.connect().execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True) as source:
        revision, (_, head) = revision_of(source), revisions(MIGRATIONS)
        if revision is None:
            raise UserError(f"There is no study in {url.render_as_string()} yet. Start it with `chorale serve` first.")
        if revision != head:
            raise UserError(
                f"{url.render_as_string()} was last opened by another version of Chorale (schema {revision!r}, this "
                f"one has {head!r}). Open it once with `chorale serve`, then back it up."
            )
        target = sqlite_engine(file, ("journal_mode = DELETE", "synchronous = OFF"))
        try:
            with closing(SqliteConnection(target)) as copy:
                copy.ask("PRAGMA foreign_keys = OFF")
                with copy.transaction(IMMEDIATE):
                    migrate(MIGRATIONS, copy)
                    rows = {table.name: _copy_rows(source, table, copy) for table in metadata.sorted_tables}
        finally:
            target.dispose()
    return {**rows, "alembic_version": 1}


def _copy_rows(source: Connection, table: Table, copy: SqliteConnection) -> int:
    names = ", ".join(f'"{column.name}"' for column in table.c)
    insert = f'INSERT INTO "{table.name}" ({names}) VALUES ({", ".join("?" for _ in table.c)})'  # noqa: S608 - our own names
    count = 0
    for rows in source.execute(select(table), execution_options={"yield_per": _ROWS_AT_ONCE}).partitions():
        copy.driver.change_many(insert, [tuple(row) for row in rows])
        count += len(rows)
    return count


def problems_of_copy(file: Path, rows: RowCounts) -> list[str]:
    """What is wrong with an SQLite file that should have so many rows: pages, references, counts."""
    try:
        with closing(Driver(str(file))) as driver:
            found = [str(row[0]) for row in driver.execute("PRAGMA integrity_check(5)") if row[0] != "ok"]
            found += [f"a row of {row[0]} refers to no row of {row[2]}" for row in _few_orphans(driver)]
            counts = _counted(driver)
    except apsw.Error as error:
        return [str(error)]
    for name in sorted({*rows, *counts}):
        if rows.get(name) != counts.get(name):
            found.append(f"{name} has {counts.get(name, 'no')} rows, and should have {rows.get(name, 'none')}")
    return found


def _few_orphans(driver: Driver) -> Sequence[Any]:
    return list(driver.execute("PRAGMA foreign_key_check"))[:5]


def _counted(driver: Driver) -> RowCounts:
    names = [str(row[0]) for row in driver.ask(_NAMES).fetchall()]
    return {name: _rows_in(driver, name) for name in names}


def _rows_in(driver: Driver, table: str) -> int:
    [[count]] = driver.ask(f'SELECT count(*) FROM "{table}"').fetchall()  # noqa: S608 - our own names
    return int(str(count))


class CopyFacts(NamedTuple):
    """Which study a copy is of, and how far it is."""

    study: str
    """The mark of its first epoch; empty in one from before there were epochs."""
    epoch: int
    title: str
    responses: int
    payouts: int
    settings: Mapping[str, str]


def facts_of_copy(file: Path) -> CopyFacts:
    with closing(Driver(str(file))) as driver:
        tables = {str(row[0]) for row in driver.ask(_NAMES).fetchall()}

        def first(query: str, table: str) -> Any:
            row = driver.ask(query).fetchone() if table in tables else None
            return None if row is None else row[0]

        stored = driver.ask("SELECT key, value FROM setting").fetchall() if "setting" in tables else []
        settings = {str(key): str(value) for key, value in stored}
        return CopyFacts(
            first("SELECT mark FROM epoch WHERE number = 1", "epoch") or "",
            first("SELECT max(number) FROM epoch", "epoch") or 0,
            str(tomllib.loads(settings.get("study", "")).get("study", {}).get("title", "")),
            first("SELECT count(*) FROM response", "response") or 0,
            first("SELECT count(*) FROM payout", "payout") or 0,
            settings,
        )


def in_one_file(file: Path) -> None:
    """Have an SQLite file hold everything, with none beside it."""
    with closing(Driver(str(file))) as driver:
        driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        driver.execute("PRAGMA journal_mode = DELETE").fetchall()


def others_connected(url: URL) -> int:
    """How many other connections a PostgreSQL database has."""
    with _engine(url) as engine, engine.connect() as connection:
        return _others(connection)


def _others(connection: Connection) -> int:
    others = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"
    return int(connection.execute(text(others)).scalar_one())


def load_into_postgresql(file: Path, url: URL) -> None:
    """Put what an SQLite file holds in the place of all that a PostgreSQL database holds, in one transaction.

    The file has the current schema. Tables of other programs are refused, as is a database that anybody else uses.
    """
    with _engine(url) as engine, engine.begin() as connection, closing(Driver(str(file))) as driver:
        lock(connection, Alone.CHANGES_SCHEMA)
        if others := _others(connection):
            raise in_use(url, others)
        _make_anew(connection)
        connection.execute(text(f"ALTER TABLE {item.name} DROP CONSTRAINT {_CYCLE}"))
        for table in metadata.sorted_tables:
            _load_rows(connection, table, driver)
        reference = f"FOREIGN KEY (response_id) REFERENCES {response.name} (id)"
        connection.execute(text(f"ALTER TABLE {item.name} ADD CONSTRAINT {_CYCLE} {reference}"))
        _check_counts(connection, driver)


def in_use(url: URL, others: int) -> UserError:
    return UserError(
        f"{url.render_as_string()} is in use: {others} other {'connection is' if others == 1 else 'connections are'} "
        "open. Close the site, and whatever else uses the database, then restore."
    )


def _make_anew(connection: Connection) -> None:
    """The tables of a study, empty; those that are there go."""
    revision_of(connection)  # refuses tables of other programs
    for name in (*(table.name for table in metadata.sorted_tables), "alembic_version"):
        connection.execute(text(f'DROP TABLE IF EXISTS "{name}" CASCADE'))
    connection.execute(text("DROP FUNCTION IF EXISTS refuse_change() CASCADE"))
    migrate(MIGRATIONS, connection)


def _load_rows(connection: Connection, table: Table, driver: Driver) -> None:
    names = ", ".join(f'"{column.name}"' for column in table.c)
    truths = [place for place, column in enumerate(table.c) if isinstance(column.type, Boolean)]
    cursor: Any = connection.connection.cursor()
    with cursor.copy(f'COPY "{table.name}" ({names}) FROM STDIN') as into:
        for row in driver.execute(f'SELECT {names} FROM "{table.name}"'):  # noqa: S608 - our own names
            values = list(row)
            for place in truths:
                values[place] = None if values[place] is None else bool(values[place])
            into.write_row(values)
    for column in table.primary_key.columns:
        sequence = connection.execute(
            text("SELECT pg_get_serial_sequence(:table, :column)"), {"table": table.name, "column": column.name}
        ).scalar_one()
        if sequence is not None:
            newest = connection.execute(select(func.max(column))).scalar()
            connection.execute(text("SELECT setval(:name, :at, :used)"), _from(sequence, newest))


def _from(sequence: str, newest: int | None) -> dict[str, Any]:
    return {"name": sequence, "at": newest or 1, "used": newest is not None}


def _check_counts(connection: Connection, driver: Driver) -> None:
    for table in metadata.sorted_tables:
        loaded = connection.execute(select(func.count()).select_from(table)).scalar_one()
        there = _rows_in(driver, table.name)
        if loaded != there:
            raise RuntimeError(f"{loaded} of {there} rows of {table.name} were loaded")
