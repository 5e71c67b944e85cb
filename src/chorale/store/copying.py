"""Consistent copies of whole databases while others write, their checks, and loading them into PostgreSQL.

A copy is always an SQLite file with the tables of a study, also if it comes from PostgreSQL. So there is one way to
check it, it can be restored to either, and only Chorale is needed.
"""

import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import apsw
from sqlalchemy import Boolean, Connection, Engine, inspect, text
from sqlalchemy.engine import URL
from sqlalchemy.exc import OperationalError

# Importing these modules adds their tables to the schema.
import chorale.store.identity_schema
import chorale.store.model_schema
import chorale.store.recruiting_schema  # noqa: F401
from chorale.model import UserError
from chorale.model.extras import need
from chorale.model.problems import DamagedError
from chorale.store.database import connection_of, engine_of
from chorale.store.failing import damaged, explained
from chorale.store.kit_tables import KitTables, create_tables
from chorale.store.opening import MIGRATIONS, migrate, refuse_cut_file, revision_of, revisions
from chorale.store.schema import metadata
from chorale.store.settings import setting_value
from chorale.store.sqlite import SqliteConnection, SqliteDriver, keep_private, sqlite_engine

_ROWS_AT_ONCE = 5_000
_NAMES = "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
_VERSION = "alembic_version"
_REFERENCES = (
    "SELECT conrelid::regclass::text, conname, pg_get_constraintdef(oid) FROM pg_constraint "
    "WHERE contype = 'f' AND connamespace = current_schema()::regnamespace ORDER BY 1, 2"
)

RowCounts = dict[str, int]
KitsOf = Callable[[str], Mapping[str, KitTables]]
"""The tables of the kits that a study uses, by its settings as text."""


def copy_database(url: URL, file: Path, kits: KitsOf) -> RowCounts:
    """Make a consistent copy of a database in a new SQLite file; returns the number of rows by table.

    UserError if it can't be copied, DamagedError if it is damaged.
    """
    try:
        if url.get_backend_name() == "sqlite":
            refuse_cut_file(url)
            rows = _copy_sqlite(Path(str(url.database)), file)
        else:
            with _engine(url) as engine:
                rows = _copy_postgresql(engine, url, file, kits)
    except apsw.Error as error:
        failure = explained(error, url)
        if isinstance(failure, DamagedError):
            raise failure from None
        raise UserError(
            f"The database {url.render_as_string()} can't be copied: {error}. Nothing was written."
        ) from None
    if problems := problems_of_copy(file, rows):
        raise damaged(url, "; ".join(problems))
    return rows


@contextmanager
def _engine(url: URL) -> Iterator[Engine]:
    """A temporary engine on PostgreSQL."""
    need("greenlet", "psycopg")
    engine = engine_of(url)
    try:
        yield engine
    except OperationalError as error:
        raise UserError(f"The database {url.render_as_string()} can't be used: {error.orig}") from None
    finally:
        engine.dispose()


def _copy_sqlite(source: Path, file: Path) -> RowCounts:
    keep_private(file)
    with closing(SqliteDriver(str(source))) as driver, closing(apsw.Connection(str(file))) as copy:
        # Counts and copy come from the same transaction, whatever others write in the meantime.
        driver.ask("BEGIN")
        rows = _counted(driver)
        with copy.backup("main", driver, "main") as backup:
            backup.step()
        driver.rollback()
        # A single file, without a write-ahead log next to it.
        copy.execute("PRAGMA journal_mode = DELETE").fetchall()
    return rows


def _copy_postgresql(engine: Engine, url: URL, file: Path, kits: KitsOf) -> RowCounts:
    with closing(connection_of(engine)) as source, source.reading():
        revision, (_, head) = revision_of(source), revisions(MIGRATIONS)
        if revision is None:
            raise UserError(f"There is no study in {url.render_as_string()} yet. Start it with `chorale serve` first.")
        if revision != head:
            raise UserError(
                f"{url.render_as_string()} was last opened by another version of Chorale (schema {revision!r}, this "
                f"one has {head!r}). Open it once with `chorale serve`, then back it up."
            )
        columns = _columns(source)
        target = sqlite_engine(file, ("journal_mode = DELETE", "synchronous = OFF"))
        try:
            with closing(SqliteConnection(target)) as copy:
                copy.ask("PRAGMA foreign_keys = OFF")
                with copy.writing():
                    _make_tables(copy, kits(setting_value(source, "study") or ""), columns)
                    rows = {table: _copy_rows(source, table, names, copy) for table, names in columns.items()}
        finally:
            target.dispose()
    return {**rows, _VERSION: 1}


def _columns(connection: Connection) -> dict[str, list[str]]:
    """The columns of all tables, except that of the schema's version."""
    inspector = inspect(connection)
    tables = sorted(set(inspector.get_table_names()) - {_VERSION})
    return {table: [str(column["name"]) for column in inspector.get_columns(table)] for table in tables}


def _make_tables(connection: Connection, kits: Mapping[str, KitTables], wanted: Collection[str]) -> None:
    """Create the tables of a study and its kits in an empty database."""
    migrate(MIGRATIONS, connection)
    there = set(inspect(connection).get_table_names())
    for tables in kits.values():
        if there.isdisjoint(tables.metadata.tables):
            create_tables(connection, tables.metadata)
            there |= set(tables.metadata.tables)
    if missing := sorted(set(wanted) - there):
        raise UserError(
            f"The study has tables of a kit that is not installed ({', '.join(missing[:5])}). Install the package it "
            "comes from, and try again."
        )


def _copy_rows(source: Connection, table: str, names: Sequence[str], copy: SqliteConnection) -> int:
    listed = _listed(names)
    insert = f'INSERT INTO "{table}" ({listed}) VALUES ({", ".join("?" for _ in names)})'  # noqa: S608 - names of ours
    query = text(f'SELECT {listed} FROM "{table}"')  # noqa: S608
    count = 0
    for rows in source.execute(query, execution_options={"yield_per": _ROWS_AT_ONCE}).partitions():
        copy.driver.change_many(insert, [tuple(row) for row in rows])
        count += len(rows)
    return count


def _listed(names: Sequence[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def problems_of_copy(file: Path, rows: RowCounts) -> list[str]:
    """The problems of an SQLite copy: damaged pages, broken references, wrong numbers of rows."""
    try:
        with closing(SqliteDriver(str(file))) as driver:
            problems = [str(row[0]) for row in driver.execute("PRAGMA integrity_check(5)") if row[0] != "ok"]
            problems += [f"a row of {row[0]} refers to no row of {row[2]}" for row in _few_orphans(driver)]
            counts = _counted(driver)
            if "setting" in counts and _title(_settings(driver)) is None:
                problems.append("the settings of the study can't be read")
    except apsw.Error as error:
        return [str(error)]
    for name in sorted({*rows, *counts}):
        if rows.get(name) != counts.get(name):
            problems.append(f"{name} has {counts.get(name, 'no')} rows, but should have {rows.get(name, 'none')}")
    return problems


def _few_orphans(driver: SqliteDriver) -> Sequence[Any]:
    return list(driver.execute("PRAGMA foreign_key_check"))[:5]


def _counted(driver: SqliteDriver) -> RowCounts:
    names = [str(row[0]) for row in driver.ask(_NAMES).fetchall()]
    return {name: _rows_in(driver, name) for name in names}


def _rows_in(driver: SqliteDriver, table: str) -> int:
    [[count]] = driver.ask(f'SELECT count(*) FROM "{table}"').fetchall()  # noqa: S608 - our own names
    return int(str(count))


class CopyFacts(NamedTuple):
    """The study of a copy, and its progress."""

    study: str
    """The mark of its first epoch; empty in databases from before epochs."""
    epoch: int
    title: str
    responses: int
    payouts: frozenset[tuple[Any, ...]]
    """Number and time of each payout: after a restore, numbers are used again."""
    settings: Mapping[str, str]


def facts_of_copy(file: Path) -> CopyFacts:
    with closing(SqliteDriver(str(file))) as driver:
        tables = {str(row[0]) for row in driver.ask(_NAMES).fetchall()}

        def first(query: str, table: str) -> Any:
            row = driver.ask(query).fetchone() if table in tables else None
            return None if row is None else row[0]

        settings = _settings(driver) if "setting" in tables else {}
        payouts = driver.ask("SELECT id, made_at FROM payout").fetchall() if "payout" in tables else []
        return CopyFacts(
            first("SELECT mark FROM epoch WHERE number = 1", "epoch") or "",
            first("SELECT max(number) FROM epoch", "epoch") or 0,
            _title(settings) or "",
            first("SELECT count(*) FROM response", "response") or 0,
            frozenset(tuple(row) for row in payouts),
            settings,
        )


def _settings(driver: SqliteDriver) -> dict[str, str]:
    return {str(key): str(value) for key, value in driver.ask("SELECT key, value FROM setting").fetchall()}


def _title(settings: Mapping[str, str]) -> str | None:
    """The title in the stored study file, empty without one; None if the file can't be read."""
    try:
        study = tomllib.loads(settings.get("study", "")).get("study", {})
    except (tomllib.TOMLDecodeError, RecursionError):
        return None
    return str(study.get("title", "")) if isinstance(study, dict) else None


def in_one_file(file: Path) -> None:
    """Merge an SQLite file's write-ahead log into the file."""
    with closing(SqliteDriver(str(file))) as driver:
        driver.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        driver.execute("PRAGMA journal_mode = DELETE").fetchall()


def others_connected(url: URL) -> int:
    """The number of other connections to a PostgreSQL database."""
    with _engine(url) as engine, closing(connection_of(engine)) as connection, connection.reading():
        return _others(connection)


def _others(connection: Connection) -> int:
    # PostgreSQL's own processes, such as autovacuum, also appear here; they give way.
    others = (
        "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid() "
        "AND backend_type = 'client backend'"
    )
    return int(connection.execute(text(others)).scalar_one())


def load_into_postgresql(file: Path, url: URL, kits: KitsOf) -> None:
    """Replace the content of a PostgreSQL database with that of an SQLite file, in one transaction.

    The file has the current schema. A database with tables of other programs, or in use by others, is refused.
    """
    settings = facts_of_copy(file).settings
    with (
        _engine(url) as engine,
        closing(connection_of(engine)) as connection,
        closing(SqliteDriver(str(file))) as driver,
        connection.writing(),
    ):
        if others := _others(connection):
            raise in_use(url, others)
        tables = sorted(set(_counted(driver)) - {_VERSION})
        revision_of(connection)  # refuses tables of other programs
        for name in {*tables, *metadata.tables, _VERSION}:
            connection.execute(text(f'DROP TABLE IF EXISTS "{name}" CASCADE'))
        connection.execute(text("DROP FUNCTION IF EXISTS refuse_change() CASCADE"))
        connection.execute(text("DROP FUNCTION IF EXISTS refuse_change_unless_erasing() CASCADE"))
        _make_tables(connection, kits(settings.get("study", "")), tables)
        # Some tables refer to each other: constraints are recreated and checked after all rows are loaded.
        references = [tuple(row) for row in connection.execute(text(_REFERENCES))]
        for table, name, _ in references:
            connection.execute(text(f'ALTER TABLE {table} DROP CONSTRAINT "{name}"'))
        for table in tables:
            _load_rows(connection, table, driver)
        for table, name, definition in references:
            connection.execute(text(f'ALTER TABLE {table} ADD CONSTRAINT "{name}" {definition}'))
        for table in tables:
            loaded = connection.execute(text(f'SELECT count(*) FROM "{table}"')).scalar_one()  # noqa: S608 - ours
            if loaded != _rows_in(driver, table):
                raise RuntimeError(f"{loaded} of {_rows_in(driver, table)} rows of {table} were loaded")


def in_use(url: URL, others: int) -> UserError:
    return UserError(
        f"{url.render_as_string()} is in use: {others} other {'connection is' if others == 1 else 'connections are'} "
        "open. Close the site and all other programs that use the database, then restore."
    )


def _load_rows(connection: Connection, table: str, driver: SqliteDriver) -> None:
    columns = inspect(connection).get_columns(table)
    listed = _listed([str(column["name"]) for column in columns])
    truths = [place for place, column in enumerate(columns) if isinstance(column["type"], Boolean)]
    cursor: Any = connection.connection.cursor()
    with cursor.copy(f'COPY "{table}" ({listed}) FROM STDIN') as into:
        for row in driver.execute(f'SELECT {listed} FROM "{table}"'):  # noqa: S608 - names of ours
            values = list(row)
            for place in truths:
                values[place] = None if values[place] is None else bool(values[place])
            into.write_row(values)
    for column in columns:
        if str(column["default"] or "").startswith("nextval"):
            name = column["name"]
            newest = f'SELECT setval(pg_get_serial_sequence(:table, :column), max("{name}")) FROM "{table}"'  # noqa: S608
            connection.execute(text(f'{newest} HAVING max("{name}") IS NOT NULL'), {"table": table, "column": name})
