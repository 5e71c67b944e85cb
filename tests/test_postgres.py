"""PostgreSQL as sites use it: groups of work, statements nobody waits for, and several servers on one database."""

import gc
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Column, Connection, Integer, MetaData, Table, insert, select, text
from sqlalchemy.exc import DBAPIError, IntegrityError

from chorale.registry.installed import tasks
from chorale.store import Store, open_store, store_url
from chorale.store.database import REWRITTEN, STREAMED
from chorale.store.kit_tables import KitTables, create_tables
from chorale.store.postgres import PostgresConnection, postgres_engine
from chorale.store.prepared import NumberingInsert, Prepared, PreparedInsert, together
from chorale.store.schema import setting, worker
from test_database import keys, put, queue_together
from test_drivers import CHANGE, VALUES

ADD = PreparedInsert(setting, "key", "value")
NUMBER = NumberingInsert(worker, "pseudonym", "arrived_at")

Opener = Callable[[], Store]


@pytest.fixture
def open_another(postgres_url: str, tmp_path: Path) -> Iterator[Opener]:
    """Opens the same database again, as another server does."""
    opened: list[Store] = []

    def once() -> Store:
        opened.append(open_store(store_url(postgres_url, tmp_path / "study.db")))
        return opened[-1]

    yield once
    for store in opened:
        store.close()


@pytest.fixture
def store(open_another: Opener) -> Store:
    return open_another()


def count(store: Store, sql: str) -> int:
    return int(store.look(lambda tx: tx.execute(text(sql)).scalar_one()))


def test_the_server_takes_every_prepared_statement(store: Store, postgres_url: str) -> None:
    tasks()  # those of kits too
    statements = [one for one in gc.get_objects() if isinstance(one, Prepared)]
    assert len(statements) > 60
    engine = postgres_engine(store_url(postgres_url, Path()))
    with closing(PostgresConnection(engine)) as connection:
        for number, statement in enumerate(statements):
            sql, _ = statement.compiled_for(connection)
            result = connection.driver.pgconn.prepare(b"s%d" % number, sql.encode())
            assert not result.error_message, (sql, result.error_message)
    engine.dispose()


def test_a_statement_nobody_waits_for_fails_its_own_work_alone(store: Store) -> None:
    def twice(tx: Connection) -> str:
        ADD(tx, key="same", value="1")
        ADD(tx, key="same", value="2")
        return "this work did not see that it had failed"

    first, failing, last = queue_together(store, put("first"), twice, put("last"))
    assert (first.result(9), last.result(9)) == ("first", "last")
    # The kind of refusal and where, not what stood in the row.
    with pytest.raises(IntegrityError, match=r"refused this \(23505\) setting"):
        failing.result(9)
    assert keys(store) == {"first", "last"}


def test_no_group_is_answered_for_after_a_failure_that_somebody_ignored(store: Store) -> None:
    """PostgreSQL undoes a transaction in which anything failed, and calls its COMMIT a success."""

    def ignore(tx: Connection) -> str:
        put("kept")(tx)
        try:
            tx.execute(text("SELECT 1/0"))
        except DBAPIError:
            return "went on"
        raise AssertionError("not reached")

    for works in ((put("first"), ignore, put("last")), (put("again"), ignore)):
        before, ignoring, *after = queue_together(store, *works)
        assert before.exception(9) is None
        assert ignoring.exception(9) is not None
        assert all(future.exception(9) is None for future in after)
    assert keys(store) == {"first", "last", "again"}


def test_work_is_run_again_when_the_connection_is_lost(store: Store, open_another: Opener) -> None:
    other, runs = open_another(), []

    def lose(tx: Connection) -> str:
        ADD(tx, key="lost", value="x")
        runs.append("run")
        if len(runs) == 1:
            pid = tx.execute(text("SELECT pg_backend_pid()")).scalar_one()
            other.look(lambda reader: reader.execute(text("SELECT pg_terminate_backend(:pid)"), {"pid": pid}).all())
        return "done"

    futures = queue_together(store, put("first"), lose, put("last"))
    assert [future.result(9) for future in futures] == ["first", "done", "last"]
    assert len(runs) == 2
    assert keys(store) == {"first", "lost", "last"}


def test_reading_goes_on_after_the_server_has_ended_all_connections(store: Store, open_another: Opener) -> None:
    put_before = store.do(put("before"))
    others = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()"
    assert keys(store) == {put_before}
    open_another().look(lambda tx: tx.execute(text(f"{others} AND pid != pg_backend_pid()")).all())
    assert keys(store) == {"before"}
    assert store.do(put("after")) == "after"


def test_servers_that_want_the_same_rows_in_other_orders_do_not_wait_in_circles(open_another: Opener) -> None:
    stores = [open_another(), open_another()]
    stores[0].do(lambda tx: ADD.rows(tx, [(f"k{number}", "") for number in range(8)]))

    def add_to(key: str) -> Callable[[Connection], None]:
        return lambda tx: CHANGE(tx, first=key, more="+")

    def work(store: Store, order: int) -> None:
        for future in [store.write(add_to(f"k{number}")) for _ in range(30) for number in range(8)[::order]]:
            future.result(30)

    threads = [threading.Thread(target=work, args=(store, order)) for store, order in zip(stores, (1, -1), strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert [len(value) for _, value in stores[0].look(lambda tx: VALUES.all(tx, first="k"))] == [
        60 * (number + 1) for number in range(8)
    ]
    assert count(stores[0], "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == 0


def test_rows_of_several_servers_are_numbered_one_after_the_other(open_another: Opener) -> None:
    stores, numbers = [open_another(), open_another()], []

    def add(store: Store, name: str) -> None:
        numbers.append(store.do(lambda tx: NUMBER.number(tx, pseudonym=name, arrived_at=1)))

    def fail(tx: Connection) -> None:
        NUMBER.number(tx, pseudonym="not to stay", arrived_at=1)
        raise ValueError("no")

    for turn in range(6):
        add(stores[turn % 2], f"w-{turn}")
        with pytest.raises(ValueError, match="no"):
            stores[turn % 2].do(fail)

    def both_ways(tx: Connection) -> None:
        numbers.append(NUMBER.number(tx, pseudonym="w-6", arrived_at=1))
        added = tx.execute(insert(worker).values(pseudonym="w-7", arrived_at=1).returning(worker.c.id))
        numbers.append(added.scalar_one())
        numbers.append(NUMBER.number(tx, pseudonym="w-8", arrived_at=1))

    stores[0].do(both_ways)
    assert numbers == sorted(set(numbers))
    assert len(numbers) == count(stores[1], "SELECT count(*) FROM worker") == 9


def test_tables_that_say_who_somebody_is_are_written_anew_after_an_erasure(store: Store) -> None:
    of_kit = MetaData()
    person = Table("kit_person", of_kit, Column("id", Integer))
    Table("kit_answer", of_kit, Column("id", Integer))
    store.do(lambda tx: create_tables(tx, of_kit))

    def files(tx: Connection) -> set[Any]:
        query = "SELECT tablename, pg_relation_filenode(tablename::regclass) FROM pg_tables WHERE schemaname = 'public'"
        return {tuple(row) for row in tx.execute(text(query))}

    before = store.look(files)
    store.scrub([KitTables(of_kit, identities=(person,))])
    assert {name for name, _ in store.look(files) - before} == {*REWRITTEN, "kit_person"}
    assert "payout_address" in REWRITTEN


def test_a_value_is_never_cut_short(store: Store) -> None:
    with pytest.raises(DBAPIError, match="NUL"):
        store.do(lambda tx: ADD(tx, key="before\0after", value="x"))
    assert keys(store) == set()


def test_rows_can_be_streamed_while_statements_are_under_way(store: Store) -> None:
    def work(tx: Connection) -> list[str]:
        ADD.rows(tx, [(f"k{number:05}", "") for number in range(12_000)])
        read = []
        for key in tx.execute(select(setting.c.key).order_by(setting.c.key), execution_options=STREAMED).scalars():
            if key.endswith("0000"):
                ADD(tx, key=f"x{key}", value="under way")
                assert VALUES.first(tx, first=key)[0] == key
                ADD(tx, key=f"y{key}", value="under way")
            read.append(key)
        return read

    assert store.do(work) == [f"k{number:05}" for number in range(12_000)]
    assert {"xk00000", "yk10000"} <= keys(store)


def test_statements_asked_together_get_their_own_rows(store: Store) -> None:
    def work(tx: Connection) -> list[Any]:
        ADD.rows(tx, [("a", "1"), ("b", "2")])
        return [[key for key, _ in rows] for rows in together(tx, *((VALUES, {"first": key}) for key in "abc"))]

    assert store.do(work) == [["a", "b"], ["b"], []]
