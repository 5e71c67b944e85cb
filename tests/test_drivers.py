"""Prepared statements tell the same, whichever way they go to a database."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Thread

import apsw
import pytest
from sqlalchemy import Connection, bindparam, insert, select, text, update
from sqlalchemy.exc import IntegrityError

from chorale.store import MemoryStore, Store, open_loading_store, open_memory_store, open_store, store_url
from chorale.store.participations import attendance
from chorale.store.prepared import ONE, InsertIfNew, NumberingInsert, Prepared, PreparedInsert
from chorale.store.schema import participation, setting, worker
from chorale.store.sqlite import SqliteDriver

ADD = PreparedInsert(setting, "key", "value")
ADD_NEW = InsertIfNew(setting, "key", "value")
NUMBER = NumberingInsert(worker, "pseudonym", "arrived_at")
CHANGE = Prepared(
    update(setting).where(setting.c.key >= bindparam("first")).values(value=setting.c.value + bindparam("more"))
)
ENTERING = [column.name for column in participation.c]
ENTER = PreparedInsert(participation, *ENTERING)
VALUES = Prepared(select(setting.c.key, setting.c.value).where(setting.c.key >= bindparam("first")).order_by("key"))
ONE_VALUE = Prepared(select(setting.c.value).where(setting.c.key == bindparam("key")).limit(ONE))

OPENERS: dict[str, Callable[[Path], Store]] = {
    "sqlite": lambda folder: open_store(store_url(None, folder / "study.db")),
    "loading": lambda folder: open_loading_store(folder / "study.db"),
    "memory": lambda _: open_memory_store(),
    "copied": lambda _: open_memory_store().copy(),
}


@pytest.fixture(params=[*OPENERS, "postgresql"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    if request.param == "postgresql":
        opened = open_store(store_url(request.getfixturevalue("postgres_url"), tmp_path / "study.db"))
    else:
        opened = OPENERS[request.param](tmp_path)
    yield opened
    opened.close()


@pytest.fixture
def memory() -> Iterator[MemoryStore]:
    opened = open_memory_store()
    yield opened
    opened.close()


def test_what_statements_tell(store: Store) -> None:
    def work(tx: Connection) -> None:
        for key in ("x1", "x2"):
            ADD(tx, key=key, value="ä")
        assert ADD_NEW.changed(tx, key="x3", value="’") == 1
        assert ADD_NEW.changed(tx, key="x3", value="again") == 0
        first = NUMBER.number(tx, pseudonym="w-1", arrived_at=1)
        assert NUMBER.number(tx, pseudonym="w-2", arrived_at=2**40) == first + 1
        assert CHANGE.changed(tx, first="x2", more="!") == 2
        assert CHANGE.changed(tx, first="y", more="!") == 0
        assert list(map(tuple, VALUES.all(tx, first="x1"))) == [("x1", "ä"), ("x2", "ä!"), ("x3", "’!")]
        assert VALUES.column(tx, first="x2") == ["x2", "x3"]
        assert tuple(VALUES.first(tx, first="x2")) == ("x2", "ä!")
        assert VALUES.first(tx, first="y") is None
        assert VALUES.all(tx, first="y") == []
        assert (ONE_VALUE.value(tx, key="x2"), ONE_VALUE.value(tx, key="y")) == ("ä!", None)
        ADD.many(tx, [{"key": f"z{number}", "value": "many"} for number in range(3)])
        ADD.rows(tx, [("z3", "rows"), ("z4", "rows")])
        ADD.rows(tx, [])
        ADD.many(tx, [])
        assert VALUES.column(tx, first="z") == ["z0", "z1", "z2", "z3", "z4"]

    store.write(work).result()


def test_a_row_that_was_only_begun_to_be_read_does_not_stay_in_the_way(store: Store) -> None:
    def work(tx: Connection) -> None:
        ADD.rows(tx, [(f"x{number}", "") for number in range(9)])
        for number in range(9):
            assert VALUES.first(tx, first="x") is not None
            CHANGE(tx, first=f"x{number}", more="+")
        assert [len(value) for _, value in VALUES.all(tx, first="x")] == [1, 2, 3, 4, 5, 6, 7, 8, 9]

    store.write(work).result()


@pytest.mark.parametrize("store", OPENERS, indirect=True)
def test_the_library_finds_its_way_in_sqlite(store: Store) -> None:
    def work(tx: Connection) -> None:
        empty = tx.execute(select(setting.c.key.label("name"), setting.c.value).where(setting.c.key == "there is none"))
        assert (list(empty.keys()), empty.all()) == (["name", "value"], [])
        added = tx.execute(insert(worker).values(pseudonym="w-1", arrived_at=1))
        assert added.inserted_primary_key is not None
        assert tx.execute(insert(worker).values(pseudonym="w-2", arrived_at=1).returning(worker.c.id)).scalar_one() == (
            added.inserted_primary_key[0] + 1
        )
        assert tx.execute(update(worker).values(arm="a")).rowcount == 2
        added_many = tx.execute(insert(setting), [{"key": f"k{number}", "value": str(number)} for number in range(10)])
        assert added_many.rowcount == 10
        changed = update(setting).where(setting.c.key == bindparam("of")).values(value="new")
        assert tx.execute(changed, [{"of": "k1"}, {"of": "k2"}, {"of": "none"}]).rowcount == 2
        streamed = tx.execute(select(setting.c.key), execution_options={"yield_per": 3}).scalars()
        assert sorted(streamed) == [f"k{number}" for number in range(10)]
        assert tx.execute(text("SELECT 'abc' REGEXP :pattern"), {"pattern": "^a"}).scalar_one()
        assert tx.execute(text("SELECT :number"), {"number": True}).scalar_one() == 1

    store.write(work).result()


@pytest.mark.parametrize("store", OPENERS, indirect=True)
def test_what_sqlite_refuses(store: Store) -> None:
    store.do(lambda tx: ADD(tx, key="k", value="v"))
    with pytest.raises(apsw.ConstraintError, match="UNIQUE constraint failed"):
        store.do(lambda tx: ADD(tx, key="k", value="again"))
    with pytest.raises(IntegrityError, match="UNIQUE constraint failed"):
        store.do(lambda tx: tx.execute(insert(setting).values(key="k", value="again")))
    with pytest.raises(apsw.ConstraintError, match="FOREIGN KEY constraint failed"):
        store.do(lambda tx: ENTER(tx, **dict.fromkeys(ENTERING, 0) | {"worker_id": 77, "stage_id": 77}))
    with pytest.raises(KeyError, match="first"):
        store.do(VALUES.all)
    assert store.do(lambda tx: ONE_VALUE.value(tx, key="k")) == "v"


def test_a_database_in_memory_is_for_one_thread(memory: MemoryStore) -> None:
    problems: list[Exception] = []

    def work() -> None:
        try:
            memory.do(lambda tx: ADD(tx, key="k", value="v"))
        except RuntimeError as error:
            problems.append(error)

    thread = Thread(target=work)
    thread.start()
    thread.join()
    assert ["thread that opened it" in str(problem) for problem in problems] == [True]
    assert memory.do(lambda tx: ONE_VALUE.value(tx, key="k")) is None


def test_a_copy_goes_its_own_way(memory: MemoryStore) -> None:
    memory.do(lambda tx: ADD(tx, key="k", value="v"))
    twin = memory.copy()
    twin.do(lambda tx: CHANGE(tx, first="k", more="!"))
    assert [each.do(lambda tx: ONE_VALUE.value(tx, key="k")) for each in (memory, twin)] == ["v", "v!"]
    twin.close()


def test_a_statement_is_planned_once_whatever_is_bound_to_it(memory: MemoryStore) -> None:
    """Otherwise a rehearsal takes twice as long."""

    asked = []

    def permit(*about: object) -> int:
        asked.append(about)
        return apsw.SQLITE_OK

    def work(tx: Connection) -> None:
        driver = tx.connection.driver_connection
        assert isinstance(driver, apsw.Connection)
        # It is asked for permission whenever a statement is planned.
        driver.set_authorizer(permit)
        attendance(tx, 1, 1)
        assert asked
        asked.clear()
        for number in range(20):
            attendance(tx, number, number)
        assert asked == []

    memory.do(work)


@pytest.mark.parametrize("kind", ["ask", "cursor"])
def test_a_connection_is_closed_although_rows_were_left_to_read(kind: str) -> None:
    """Some versions of APSW end the process otherwise, when the cursor is cleared away."""
    driver = SqliteDriver(":memory:")
    execute = driver.ask if kind == "ask" else driver.cursor().execute
    assert execute("SELECT 1 UNION SELECT 2").fetchone() == (1,)
    driver.close()
    with pytest.raises(apsw.ConnectionClosedError):
        driver.execute("SELECT 1")


def test_statements_that_are_kept_leave_room_for_those_that_run(memory: MemoryStore) -> None:
    """Otherwise SQLite asks the C library for every little thing, which takes a twenty-fifth of a rehearsal."""

    def work(tx: Connection) -> None:
        driver = tx.connection.driver_connection
        assert isinstance(driver, SqliteDriver)
        for number in range(120):
            driver.execute(f"SELECT key, value, {number} FROM setting WHERE key > 'a' ORDER BY value").fetchall()
        _, not_found = driver.status(apsw.SQLITE_DBSTATUS_LOOKASIDE_MISS_FULL)
        assert not_found == 0

    memory.do(work)


def test_connections_of_somebody_else_are_left_alone() -> None:
    """Whoever uses APSW beside us may have one open by the time we are loaded."""
    program = (
        "import apsw; theirs = apsw.Connection(':memory:'); theirs.execute('CREATE TABLE t (x)'); "
        "from chorale.store import open_memory_store; open_memory_store().close(); "
        "theirs.execute('INSERT INTO t VALUES (1)'); print(theirs.execute('SELECT x FROM t').get)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (0, "1\n"), done.stderr
