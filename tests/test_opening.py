"""Databases are created, migrated as a whole, or refused with what to do."""

import importlib
import json
import pkgutil
import re
import shutil
import socket
import sqlite3
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import create_engine, inspect, text
from starlette.testclient import TestClient

import chorale.store
from chorale.engine.control import set_stage_state
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.kits.mturk.store.schema import metadata as of_mturk
from chorale.kits.mturk.store.work import WORK
from chorale.model import StageState, UserError
from chorale.model.problems import DamagedError
from chorale.store import Tx, open_memory_store, open_store, stages, store_url
from chorale.store.in_use import OtherVersionError
from chorale.store.kit_tables import bring_up_to_date
from chorale.store.memory import FOR_LOOKING_UP
from chorale.store.opening import MIGRATIONS, revisions
from chorale.store.schema import metadata
from chorale.store.settings import set_setting
from chorale.web.app import create_app
from comments_study import write_comments_study
from crowd import Person, do, look
from serving import HOST, PATIENCE_SECONDS, Server
from small_study import write_small_study

LATEST = revisions()[1]
assert WORK.tables is not None
OF_MTURK = WORK.tables
NEXT = """\
from alembic import op
import sqlalchemy as sa

revision = "9001"
down_revision = "{latest}"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("worker", sa.Column("extra", sa.Text()))
    {then}
"""


def migrations_with_next(tmp_path: Path, then: str) -> Path:
    folder = tmp_path / "migrations"
    shutil.copytree(MIGRATIONS, folder)
    (folder / "versions" / "9001_next.py").write_text(NEXT.format(latest=LATEST, then=then))
    return folder


def columns(address: str, table: str) -> set[str]:
    engine = create_engine(address)
    try:
        return {column["name"] for column in inspect(engine).get_columns(table)}
    finally:
        engine.dispose()


def address_of(tmp_path: Path, database: str | None) -> str:
    return database or f"sqlite:///{tmp_path / 'study.db'}"


def test_migrations_make_the_schema_the_code_uses(tmp_path: Path, database: str | None) -> None:
    # Tables are in several modules, and those of all of them belong to the schema.
    for module in pkgutil.iter_modules(chorale.store.__path__, "chorale.store."):
        if module.name.endswith("schema"):
            importlib.import_module(module.name)
    both: Any = [metadata, of_mturk]
    address = address_of(tmp_path, database)
    store = open_store(store_url(address, tmp_path))
    store.do(lambda tx: bring_up_to_date(tx, {"mturk": OF_MTURK}))
    store.close()
    engine = create_engine(address)
    with engine.connect() as connection:
        differences = compare_metadata(MigrationContext.configure(connection), both)
    engine.dispose()
    assert differences == []


def schema(connection: sqlite3.Connection) -> dict[tuple[str, str], Any]:
    """By kind and name: of tables their columns, checks and what they refer to, in any order; of the rest all of it."""
    found: dict[tuple[str, str], Any] = {}
    query = "SELECT type, name, tbl_name, sql FROM sqlite_master"
    for kind, name, table, sql in connection.execute(query).fetchall():
        told = re.sub(r"[\s\"]+", " ", sql or "")
        if kind == "table":
            columns = {tuple(row[1:]) for row in connection.execute(f"PRAGMA table_info({name})")}
            others = {tuple(row[2:]) for row in connection.execute(f"PRAGMA foreign_key_list({name})")}
            found[kind, name] = (
                columns,
                others,
                set(re.findall(r"CONSTRAINT ck_\w+ CHECK .*", told.replace(", CON", "\nCON"))),
            )
        elif sql is None:
            # What is unique or a key: numbered as it comes in the table.
            over = tuple(row[2] for row in connection.execute(f"PRAGMA index_info({name})"))
            found["unique", f"{table} {over}"] = True
        else:
            found[kind, name] = told
    return found


def test_a_store_in_memory_has_the_tables_that_migrations_make(tmp_path: Path) -> None:
    on_disk = open_store(store_url(None, tmp_path / "study.db"))
    on_disk.do(lambda tx: bring_up_to_date(tx, {"mturk": OF_MTURK}))
    on_disk.close()
    with closing(sqlite3.connect(tmp_path / "study.db")) as connection:
        migrated = schema(connection)
    store = open_memory_store()
    store.do(lambda tx: bring_up_to_date(tx, {"mturk": OF_MTURK}))
    driver: Any = store.do(lambda tx: tx.connection.driver_connection)
    made = schema(driver)
    store.close()
    assert all(made[key] == migrated[key] for key in made.keys() & migrated.keys())
    assert {name for _, name in made.keys() - migrated.keys()} == {"ix_participation_dropped"}
    missing = migrated.keys() - made.keys()
    assert {name for kind, name in missing if kind == "index"} == {*FOR_LOOKING_UP}
    # Nobody is paid in a rehearsal.
    assert {name for kind, name in missing if kind == "trigger"} == {
        "payout_no_delete",
        "payment_no_delete",
        "payment_failure_no_delete",
        "payment_failure_no_update",
        "payment_retry_no_delete",
        "payment_retry_no_update",
        "payment_no_change",
    }
    assert {name for kind, name in missing if kind not in ("index", "trigger")} == {
        "alembic_version",
        "alembic_version ('version_num',)",
    }
    assert any("taken <= wanted" in check for check in made["table", "item"][2])


def test_an_older_study_is_brought_up_to_date(tmp_path: Path, database: str | None) -> None:
    address = address_of(tmp_path, database)
    write_small_study(tmp_path / "study")
    study = open_study(tmp_path / "study", address)
    study.close()
    migrations = migrations_with_next(tmp_path, "pass")
    open_store(store_url(address, tmp_path), migrations).close()
    assert "extra" in columns(address, "worker")
    if database is None:
        copy = tmp_path / f"study.db.before-{LATEST}"
        assert "extra" not in columns(f"sqlite:///{copy}", "worker")
        with closing(sqlite3.connect(copy)) as connection:
            assert connection.execute("SELECT count(*) FROM item").fetchone() == (20,)


def test_a_database_that_a_server_of_another_version_uses_is_refused_untouched(
    tmp_path: Path, database: str | None
) -> None:
    """Before, a newer Chorale migrated it under the running server."""
    address = address_of(tmp_path, database)
    write_small_study(tmp_path / "study")

    def schema(tx: Tx) -> object:
        return tx.execute(text("SELECT version_num FROM alembic_version")).scalar()

    with closing(open_study(tmp_path / "study", address)) as study:
        with TestClient(create_app(study)) as client:
            assert client.get("/").status_code == 200
            migrations = migrations_with_next(tmp_path, "pass")
            with pytest.raises(UserError, match="can't share a database"):
                open_store(store_url(address, tmp_path), migrations)
            assert study.store.look(schema) == LATEST
            # Of the same version, any number can open it.
            open_store(store_url(address, tmp_path)).close()
        # A server that has stopped is in nobody's way, and neither is one that was killed a minute ago.
        old = json.dumps({"version": "0.0.1 (schema 0001)", "at": int(time.time()) - 61})
        study.store.do(lambda tx: set_setting(tx, "serving:killed", old))
        open_store(store_url(address, tmp_path), migrations).close()
        assert study.store.look(schema) == "9001"
        with pytest.raises(OtherVersionError, match="Start the server again"), TestClient(create_app(study)):
            pass


@pytest.mark.slow
def test_a_server_stops_whose_database_another_version_has_changed(tmp_path: Path) -> None:
    write_small_study(tmp_path / "study")
    server = Server(tmp_path / "study")
    server.start()
    server.wait()
    with closing(sqlite3.connect(tmp_path / "study" / "study.db", timeout=30)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    deadline = time.monotonic() + PATIENCE_SECONDS
    while "this server stops" not in server.log.read_text("utf-8"):
        assert time.monotonic() < deadline
        time.sleep(0.5)
    with pytest.raises(OSError, match="refused"):
        for _ in range(100):
            socket.create_connection((HOST, server.port), 5).close()
            time.sleep(0.2)
    server.stop()


def test_a_failing_migration_changes_nothing(tmp_path: Path, database: str | None) -> None:
    address = address_of(tmp_path, database)
    open_store(store_url(address, tmp_path)).close()
    migrations = migrations_with_next(tmp_path, 'op.execute("SELECT no_such_function()")')
    with pytest.raises(UserError):
        open_store(store_url(address, tmp_path), migrations)
    assert "extra" not in columns(address, "worker")
    open_store(store_url(address, tmp_path)).close()


def test_a_newer_study_is_refused_untouched(tmp_path: Path, database: str | None) -> None:
    address = address_of(tmp_path, database)
    open_store(store_url(address, tmp_path), migrations_with_next(tmp_path, "pass")).close()
    with pytest.raises(UserError, match="newer Chorale"):
        open_store(store_url(address, tmp_path))


@pytest.mark.parametrize("empty", [None, "postgres_url"])
def test_a_foreign_database_is_refused_untouched(
    tmp_path: Path, empty: str | None, request: pytest.FixtureRequest
) -> None:
    address = address_of(tmp_path, None if empty is None else request.getfixturevalue(empty))
    engine = create_engine(address)
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE somebody_elses (x INTEGER)"))
    engine.dispose()
    files = {path: path.read_bytes() for path in tmp_path.glob("*.db")}
    with pytest.raises(UserError, match="not Chorale's"):
        open_store(store_url(address, tmp_path))
    assert {path: path.read_bytes() for path in tmp_path.glob("*.db")} == files
    assert columns(address, "somebody_elses") == {"x"}


def test_a_file_that_is_no_database(tmp_path: Path) -> None:
    (tmp_path / "study.db").write_text("This is not a database." * 100)
    with pytest.raises(DamagedError, match="not a database"):
        open_store(store_url(None, tmp_path / "study.db"))


@pytest.mark.parametrize(
    ("address", "message"),
    [
        ("nonsense", "not a database address"),
        ("mysql://host/name", "not supported"),
        ("postgresql+psycopg://127.0.0.1:1/none?connect_timeout=1", "can't be opened"),
    ],
)
def test_bad_addresses(tmp_path: Path, address: str, message: str) -> None:
    with pytest.raises(UserError, match=message):
        open_store(store_url(address, tmp_path / "study.db"))


def touch(study: Study) -> None:
    """Let somebody have a look at the first item."""
    Person(study, "first").next()
    study.close()


def test_files_may_change_until_somebody_comes(tmp_path: Path, database: str | None) -> None:
    folder = tmp_path / "study"
    write_small_study(folder, applications=5)
    open_study(folder, database).close()
    write_small_study(folder, applications=2, texts=("another left", "another right"))
    items = (folder / "items.jsonl").read_text().replace('"a0', '"b0')
    (folder / "items.jsonl").write_text(items)
    study = open_study(folder, database)
    assert study.store.read(stages.stage_counts).result()[0].items == 4
    touch(study)
    write_small_study(folder, applications=5)
    with pytest.raises(UserError, match="the files lack"):
        open_study(folder, database)


def test_a_paused_stage_may_change_until_somebody_comes(tmp_path: Path, database: str | None) -> None:
    """Before, a pause counted as work: from then on neither the form nor an item could change."""
    folder = tmp_path / "study"
    write_small_study(folder, applications=2)
    for state in (StageState.PAUSED, StageState.OPEN, StageState.PAUSED):
        study = open_study(folder, database)
        do(study, set_stage_state, study.stage("meaningful"), state, "the owner", "to change the form")
        study.close()
    write_small_study(folder, applications=3, texts=("another left", "another right"))
    text = (folder / "study.toml").read_text()
    first = text.replace('"meaningful"', '"paraphrase"', 1).replace('from = "meaningful"', 'from = "paraphrase"')
    (folder / "study.toml").write_text(first)
    with pytest.raises(UserError, match="no longer match") as refused:
        open_study(folder, database)
    assert "'meaningful' is missing, but work was done in it or it was paused" in str(refused.value.problems)
    (folder / "study.toml").write_text(text)
    study = open_study(folder, database)
    assert look(study, stages.stage_counts)[0].items == 6
    assert look(study, stages.paused_stages), "and stays paused"
    do(study, set_stage_state, study.stage("meaningful"), StageState.OPEN, "the owner", "ready")
    touch(study)
    write_small_study(folder, applications=2)
    with pytest.raises(UserError, match="the files lack"):
        open_study(folder, database)


def test_the_task_of_a_paused_stage_may_change_until_somebody_comes(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_comments_study(folder, count=5)
    study = open_study(folder)
    [stage] = study.stages.values()
    do(study, set_stage_state, stage, StageState.PAUSED, "the owner", "")
    study.close()
    form = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(form.replace('"fine", "rude"', '"fine", "harsh", "rude"'))
    open_study(folder).close()
    write_small_study(folder)
    text = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(text.replace('"meaningful"', f'"{stage.name}"'))
    study = open_study(folder)
    assert [row.task for row in look(study, stages.all_stages)] == ["rules-meaningful", "rules-entailment"]
    assert Person(study, "first").next(stage.name).status == "paused"
    study.close()


def test_changed_files_are_refused_with_what_to_do(tmp_path: Path, database: str | None) -> None:
    folder = tmp_path / "study"
    write_small_study(folder)
    touch(open_study(folder, database))
    items = (folder / "items.jsonl").read_text()
    (folder / "items.jsonl").write_text(items.replace("hull 2", "deck 2"))
    (folder / "gold1.jsonl").write_text(
        (folder / "gold1.jsonl").read_text().replace('"answer": "no"', '"answer": "yes"')
    )
    with pytest.raises(UserError, match="no longer match") as refused:
        open_study(folder, database)
    assert {problem.file for problem in refused.value.problems} == {"items.jsonl", "gold1.jsonl"}


def test_added_items_come_in(tmp_path: Path, database: str | None) -> None:
    folder = tmp_path / "study"
    write_small_study(folder, applications=2)
    open_study(folder, database).close()
    write_small_study(folder, applications=5)
    study = open_study(folder, database)
    assert study.store.read(stages.stage_counts).result()[0].items == 10
    study.close()


def test_another_studys_database_is_refused(tmp_path: Path, database: str | None) -> None:
    address = address_of(tmp_path, database)
    write_small_study(tmp_path / "one", applications=3)
    touch(open_study(tmp_path / "one", address))
    write_small_study(tmp_path / "two", applications=2)
    items = tmp_path / "two" / "items.jsonl"
    items.write_text(items.read_text().replace('"a0', '"b0'))
    with pytest.raises(UserError, match="database that belongs to this study") as refused:
        open_study(tmp_path / "two", address)
    assert "6 items of stage 'meaningful'" in str(refused.value)
    study = open_study(tmp_path / "one", address)
    assert study.store.read(stages.stage_counts).result()[0].items == 6
    study.close()


def test_a_second_server_does_not_pull_the_stages_from_under_the_first(tmp_path: Path, postgres_url: str) -> None:
    folder = tmp_path / "study"
    write_small_study(folder, applications=2)
    first = open_study(folder, postgres_url)
    open_study(folder, postgres_url).close()
    write_small_study(folder, applications=3, texts=("changed left", "changed right"))
    open_study(folder, postgres_url).close()
    touch(first)
