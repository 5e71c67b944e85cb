"""Opening a study's database: creating or migrating it, or refusing it with instructions."""

import re
import shutil
from contextlib import closing
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import apsw
from sqlalchemy import Connection, inspect, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DatabaseError, DBAPIError

from chorale.model import UserError
from chorale.model.extras import need
from chorale.model.plural import plural
from chorale.model.problems import DamagedError, UnavailableError
from chorale.store.database import Store, connect, connection_of, engine_of
from chorale.store.failing import explained, place_of
from chorale.store.in_use import refuse_others
from chorale.store.integrity import refuse_damage
from chorale.store.loading import LoadingStore
from chorale.store.sqlite import SqliteConnection, sqlite_engine

if TYPE_CHECKING:
    from alembic.config import Config

MIGRATIONS = Path(__file__).with_name("migrations")
_PASSWORD = re.compile(r"(//[^/@:]*):[^/]*@")
_SHORTEST_FILE = 100
"""Length of the header of an SQLite file. A shorter one has no content."""
_SIGNATURE, _SMALLEST_PAGE = b"SQLite format 3\0", 512


def store_url(address: str | None, default_file: Path) -> URL:
    """The database of a study: the given address, or its own SQLite file."""
    if address is None:
        return URL.create("sqlite", database=str(default_file.absolute()))
    try:
        url = make_url(address)
    except (ArgumentError, ValueError):  # the latter for a port that is not a number
        raise UserError(
            f"{_without_password(address)!r} is not a database address. Write it like "
            "postgresql+psycopg://user@host/name."
        ) from None
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    if url.drivername not in ("postgresql+psycopg", "sqlite"):
        raise UserError(f"{url.drivername!r} databases are not supported. Use postgresql+psycopg:// or sqlite:///.")
    if url.drivername == "sqlite":
        _check_file(address, url.database or ":memory:")
    return url


def _without_password(address: str) -> str:
    return _PASSWORD.sub(r"\1:***@", address)


def _check_file(address: str, file: str) -> None:
    """Refuse an SQLite address without a usable file: only a file is durable."""
    if file == ":memory:" or file.startswith("file:"):
        raise UserError(f"{address!r} names no file, and a study needs one. Write it like sqlite:///folder/study.db.")
    try:
        is_folder, has_folder = Path(file).is_dir(), Path(file).parent.is_dir()
    except OSError as error:  # the name is too long, or the folder is not accessible
        raise UserError(f"{file} can't be opened: {error.strerror}. Name a file elsewhere.") from None
    if is_folder:
        raise UserError(f"{file} is a folder. Name a file in it: {address.rstrip('/')}/study.db.")
    if not has_folder:
        raise UserError(f"There is no folder {Path(file).parent}. Create it first, or name a file elsewhere.")


def open_store(
    url: URL, migrations: Path = MIGRATIONS, *, create: bool = True, check_seconds: float | None = None
) -> Store:
    """Open the database and update its schema in one transaction; an empty database only if it may be created.

    With `check_seconds`, a file is checked first for at most this time, and refused if it is damaged.
    """
    if url.get_backend_name() == "postgresql":
        need("greenlet", "psycopg")
    refuse_cut_file(url)
    try:
        _look_through(url, check_seconds)
        _bring_up_to_date(url, migrations, create=create)
    except (apsw.Error, DBAPIError) as error:
        failure = explained(error, url)
        if isinstance(failure, DamagedError):
            raise failure from None
        if not isinstance(failure, UnavailableError) and not isinstance(error, DatabaseError):
            raise
        said = getattr(error, "orig", error)
        raise UserError(
            f"The database {place_of(url)} can't be opened: {said}. Check its address, and whether its server is "
            "running."
        ) from None
    return connect(url)


def refuse_cut_file(url: URL) -> None:
    """Refuse an empty file, and a file that ends within a page.

    SQLite would turn an empty file into a new database, as if nobody had ever worked. In a cut-off file, it would read
    missing bytes as zeros.
    """
    file = Path(str(url.database))
    if url.get_backend_name() != "sqlite" or not file.is_file():
        return
    try:
        with file.open("rb") as source:
            header, size = source.read(_SHORTEST_FILE), file.stat().st_size
    except OSError:  # SQLite reports why it can't be read
        return
    if size < _SHORTEST_FILE:
        raise DamagedError(
            f"The database {file} has {plural(size, 'byte', 'bytes')}, too few for a database: it is damaged, or the "
            "study was never started. Restore a backup in its place, or delete the file to start a new study."
        )
    page = int.from_bytes(header[16:18])
    log = file.with_name(f"{file.name}-wal")
    # With a log next to it, SQLite completes a page that was being written.
    is_cut = header.startswith(_SIGNATURE) and page >= _SMALLEST_PAGE and size % page
    if is_cut and not (log.is_file() and log.stat().st_size):
        raise DamagedError(
            f"The database {file} is cut off: it has {size:,} bytes, but should consist of pages of {page:,} bytes. "
            "Keep this file, restore a backup in its place, and run `chorale verify`."
        )


def _look_through(url: URL, seconds: float | None) -> None:
    """Refuse a file that is damaged or has another program's tables, before anything is written to it."""
    if url.get_backend_name() != "sqlite" or not Path(str(url.database)).exists():
        return
    # Without the settings of a site's file: they would be written into another program's file.
    engine = sqlite_engine(Path(str(url.database)), ())
    try:
        with closing(SqliteConnection(engine)) as connection, connection.reading():
            if seconds is not None:
                refuse_damage(connection, seconds=seconds)
            revision_of(connection)
    finally:
        engine.dispose()


def open_loading_store(file: Path, *, indexed: bool = False) -> LoadingStore:
    """A new SQLite file with the current schema, to be filled and then finished.

    It needs to be `indexed` if it is queried before it is finished.
    """
    return LoadingStore(file, lambda connection: migrate(MIGRATIONS, connection), indexed=indexed)


def revisions(migrations: Path = MIGRATIONS) -> tuple[frozenset[str], str]:
    """All known schema revisions, and the newest."""
    _, known, head = _scripts(migrations)
    return known, head


def migrate(migrations: Path, connection: Connection) -> None:
    """Migrate an empty database, or one of an earlier version, to the current schema."""
    _upgrade(_scripts(migrations)[0], connection)


def _upgrade(config: "Config", connection: Connection) -> None:
    from alembic import command  # noqa: PLC0415

    config.attributes["connection"] = connection
    command.upgrade(config, "head")


def _bring_up_to_date(url: URL, migrations: Path, *, create: bool) -> None:
    is_sqlite = url.get_backend_name() == "sqlite"
    engine = engine_of(url)
    try:
        # Lock out all other writers while the schema changes.
        with closing(connection_of(engine)) as connection, connection.writing():
            current = revision_of(connection)
            config, known, head = _scripts(migrations)
            if current is not None:
                refuse_others(connection, head)
            if current == head:
                return
            if current is None and not create:
                raise UserError(
                    f"There is no study in {url.render_as_string()} yet. Start it with `chorale serve` first."
                )
            if current is not None and current not in known:
                raise UserError(
                    f"This study was last opened by a newer Chorale (schema {current!r}, this version supports up "
                    f"to {head!r}). Update Chorale and open it again; nothing was changed."
                )
            if current is not None and is_sqlite:
                _keep_copy(Path(str(url.database)), current)
            _upgrade(config, connection)
    finally:
        engine.dispose()


def revision_of(connection: Connection) -> str | None:
    """The schema revision of a database; None if it is empty. A database with tables of other programs is refused."""
    tables = set(inspect(connection).get_table_names())
    if "alembic_version" in tables:
        row = connection.execute(text("SELECT version_num FROM alembic_version")).first()
        return None if row is None else str(row[0])
    if tables:
        raise UserError(
            f"This database has tables that are not Chorale's ({', '.join(sorted(tables)[:5])}). Nothing was "
            "changed. Give Chorale a separate database."
        )
    return None


@cache
def _scripts(migrations: Path) -> tuple["Config", frozenset[str], str]:
    # Imported here: loading takes 0.1 seconds, which simulations do not need.
    from alembic.config import Config  # noqa: PLC0415
    from alembic.script import ScriptDirectory  # noqa: PLC0415

    config = Config()
    config.set_main_option("script_location", str(migrations).replace("%", "%%"))
    scripts = ScriptDirectory.from_config(config)
    head = scripts.get_current_head()
    if head is None:
        raise UserError(f"No migrations found in {migrations}: Chorale is not installed completely.")
    return config, frozenset(script.revision for script in scripts.walk_revisions()), head


def _keep_copy(file: Path, revision: str) -> None:
    """Copy the file before migrating; the write lock is held, so it can't change."""
    copy = file.with_name(f"{file.name}.before-{revision}")
    if not copy.exists():
        for suffix in ("", "-wal"):
            source = file.with_name(file.name + suffix)
            if source.exists():
                shutil.copy2(source, copy.with_name(copy.name + suffix))
