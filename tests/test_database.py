"""Transactions: what is grouped, what is retried, and what a failure leaves behind."""

import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, insert, literal_column, select, text
from sqlalchemy.exc import IntegrityError, OperationalError

from chorale.model import Refusal
from chorale.store import (
    Store,
    open_loading_store,
    open_memory_store,
    open_store,
    requesters,
    stages,
    store_url,
    workers,
)
from chorale.store.codec import SHORT_ANSWER, answer_as_text, answer_from_text, as_text
from chorale.store.database import GroupCommitWriter
from chorale.store.prepared import ONE, Prepared, PreparedInsert
from chorale.store.schema import item_source, setting, stage
from chorale.store.sqlite import sqlite_engine
from conftest import StudyMaker
from crowd import people


def put(key: str) -> Callable[[Connection], str]:
    def work(tx: Connection) -> str:
        tx.execute(text("INSERT INTO setting (key, value) VALUES (:key, 'x')"), {"key": key})
        return key

    return work


def keys(store: Store) -> set[str]:
    return set(store.read(lambda tx: tx.execute(text("SELECT key FROM setting")).scalars().all()).result())


@pytest.fixture
def store(tmp_path: Path, database: str | None) -> Iterator[Store]:
    opened = open_store(store_url(database, tmp_path / "study.db"))
    yield opened
    opened.close()


def queue_together(store: Store, *works: Callable[[Connection], Any]) -> list[Any]:
    """Futures of works that are all waiting when the writer gets to them."""
    go = threading.Event()
    store.write(lambda _: go.wait(5))
    futures = [store.write(work) for work in works]
    go.set()
    return futures


def test_one_failure_in_a_group_is_nobody_elses(store: Store) -> None:
    def fail_after_writing(tx: Connection) -> None:
        put("half")(tx)
        raise ValueError("no")

    first, failing, last = queue_together(store, put("first"), fail_after_writing, put("last"))
    assert (first.result(5), last.result(5)) == ("first", "last")
    with pytest.raises(ValueError, match="no"):
        failing.result(5)
    assert keys(store) == {"first", "last"}


def test_a_refusal_undoes_nothing_of_the_others_and_runs_nothing_twice(store: Store) -> None:
    runs: list[str] = []

    def counted(key: str) -> Callable[[Connection], str]:
        def work(tx: Connection) -> str:
            runs.append(key)
            return put(key)(tx)

        return work

    def refuse(_: Connection) -> None:
        raise Refusal("no", "Not now.")

    first, refused, last = queue_together(store, counted("first"), refuse, counted("last"))
    assert (first.result(5), last.result(5)) == ("first", "last")
    with pytest.raises(Refusal):
        refused.result(5)
    assert runs == ["first", "last"] and keys(store) == {"first", "last"}


def test_later_work_of_a_group_sees_the_earlier(store: Store) -> None:
    def count(tx: Connection) -> int:
        return int(tx.execute(text("SELECT count(*) FROM setting")).scalar_one())

    assert [future.result(5) for future in queue_together(store, put("a"), count, put("b"), count)] == ["a", 1, "b", 2]


def test_a_failed_commit_fails_the_group_and_the_next_goes_on(tmp_path: Path) -> None:
    engine = sqlite_engine(tmp_path / "x.db")
    with engine.begin() as connection:
        connection.exec_driver_sql("CREATE TABLE parent (id INTEGER PRIMARY KEY)")
        connection.exec_driver_sql(
            "CREATE TABLE child (id INTEGER REFERENCES parent(id) DEFERRABLE INITIALLY DEFERRED)"
        )
    writer = GroupCommitWriter(engine)
    # A deferred foreign key is only looked at when the group commits.
    failing = writer.submit(lambda tx: tx.exec_driver_sql("INSERT INTO child VALUES (7)"))
    with pytest.raises(Exception, match="FOREIGN KEY"):
        failing.result(5)
    assert writer.submit(lambda tx: tx.exec_driver_sql("SELECT count(*) FROM child").scalar()).result(5) == 0
    writer.close()
    engine.dispose()


def test_the_writer_outlives_a_database_that_is_away(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    engine = sqlite_engine(tmp_path / "x.db")
    away = OperationalError("connect", {}, Exception("unable to open database file"))
    real = type(engine).raw_connection
    # Work is tried twice.
    tries = iter([True] * 4)

    def connect(self: Any) -> Any:
        if next(tries, False):
            raise away
        return real(self)

    monkeypatch.setattr(type(engine), "raw_connection", connect)
    writer = GroupCommitWriter(engine)
    for _ in range(2):
        with pytest.raises(OperationalError):
            writer.submit(lambda tx: tx.exec_driver_sql("SELECT 1").scalar()).result(5)
    assert writer.submit(lambda tx: tx.exec_driver_sql("SELECT 1").scalar()).result(5) == 1
    writer.close()
    engine.dispose()


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_a_group_that_fails_while_the_next_one_runs_is_nobody_elses(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On PostgreSQL, a group begins before the commit of the one before it is confirmed."""
    monkeypatch.setattr("chorale.store.database.MOST_PER_COMMIT", 1)
    add = PreparedInsert(setting, "key", "value")
    store.do(
        lambda tx: tx.exec_driver_sql("CREATE TABLE later (key text REFERENCES setting DEFERRABLE INITIALLY DEFERRED)")
    )

    def added(key: str) -> Callable[[Connection], str]:
        def work(tx: Connection) -> str:
            add(tx, key=key, value="x")
            return key

        return work

    def refer_to_nothing(tx: Connection) -> None:
        tx.exec_driver_sql("INSERT INTO later VALUES ('nothing')")

    first, twice, second, dangling, third = queue_together(
        store, added("first"), added("first"), added("second"), refer_to_nothing, added("third")
    )
    assert [future.result(5) for future in (first, second, third)] == ["first", "second", "third"]
    with pytest.raises(IntegrityError, match="23505"):
        twice.result(5)
    with pytest.raises(IntegrityError, match="23503"):
        dangling.result(5)
    assert keys(store) == {"first", "second", "third"}


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_nothing_is_answered_before_its_commit_is_confirmed(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorale.store.database.MOST_PER_COMMIT", 1)
    answered: list[bool] = []
    go = threading.Event()
    store.write(lambda _: go.wait(5))
    first = store.write(put("first"))

    def look(_: Connection) -> bool:
        # PostgreSQL has been sent the commit of the first; nobody has read yet whether it succeeded.
        answered.append(first.done())
        return True

    second = store.write(look)
    go.set()
    assert second.result(5) and first.result(5) == "first"
    assert answered == [False]


def test_an_insert_that_meets_a_row_has_changed_nothing(store: Store) -> None:
    """Or a signed link would let people in again and again."""
    assert [store.do(lambda tx: workers.use_token(tx, "digest", 10, 1)) for _ in range(2)] == [True, False]
    assert [store.do(lambda tx: requesters.add_requester(tx, "ada", "expert")) for _ in range(2)] == [True, False]


def test_what_is_queued_is_done_before_closing(tmp_path: Path, database: str | None) -> None:
    store = open_store(store_url(database, tmp_path / "study.db"))
    futures = queue_together(store, *(put(f"k{number}") for number in range(200)))
    store.close()
    assert [future.result(0) for future in futures] == [f"k{number}" for number in range(200)]


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_another_process_may_write_in_between(store: Store, tmp_path: Path) -> None:
    # With the standard library's SQLite, as the command line's or a notebook's would.
    program = (
        "import sqlite3, sys\n"
        f"other = sqlite3.connect({str(tmp_path / 'study.db')!r}, timeout=30)\n"
        "for number, _ in enumerate(sys.stdin):\n"
        "    with other:\n"
        "        other.execute(f\"INSERT INTO setting (key, value) VALUES ('other{number}', 'x')\")\n"
        "    print('done', flush=True)\n"
    )
    command = [sys.executable, "-c", program]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1) as other:
        assert other.stdin is not None
        assert other.stdout is not None
        for number in range(20):
            other.stdin.write("next\n")
            assert other.stdout.readline() == "done\n"
            store.write(put(f"mine{number}")).result(5)
            assert len(keys(store)) == 2 * (number + 1)
        other.stdin.close()
    assert other.returncode == 0


@pytest.mark.parametrize("database", ["postgresql"], indirect=True)
def test_both_sides_finished_at_once_do_not_wait_for_each_other(make_study: StudyMaker) -> None:
    """Inserting a response shares a lock on its item; settling must not wait for that lock to end."""
    study = make_study(applications=40, judgments="1")
    everyone = people(study, 8)
    problems: list[Exception] = []

    def work(number: int) -> None:
        try:
            while (offer := everyone[number].next()).lease:
                everyone[number].submit(offer)
        except Exception as error:
            problems.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert problems == []
    deadlocks = study.store.read(
        lambda tx: tx.execute(
            text("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()")
        ).scalar_one()
    ).result()
    assert deadlocks == 0
    meaningful, entailment = study.store.read(stages.stage_counts).result()
    assert (meaningful.complete, entailment.items) == (80, 40)


def test_a_statement_that_is_prepared_once_has_its_limit_written_out() -> None:
    store = open_memory_store()
    with pytest.raises(ValueError, match="must be a literal"):
        store.do(lambda tx: Prepared(select(stage.c.id).limit(1)).first(tx))
    assert store.do(lambda tx: Prepared(select(stage.c.id).limit(ONE)).first(tx)) is None
    store.close()


@pytest.mark.parametrize("kind", ["memory", "loading"])
def test_nobody_sees_what_work_that_failed_half_way_has_done(tmp_path: Path, kind: str) -> None:
    def write_and_fail(tx: Connection) -> None:
        put("half")(tx)
        raise ValueError("a mistake")

    def fail_first(_tx: Connection) -> None:
        raise ValueError("refused")

    store: Store = open_memory_store() if kind == "memory" else open_loading_store(tmp_path / "study.db")
    store.do(put("before"))
    with pytest.raises(ValueError, match="refused"):
        store.write(fail_first).result()
    store.write(put("after")).result()
    assert keys(store) == {"before", "after"}
    with pytest.raises(ValueError, match="a mistake"):
        store.do(write_and_fail)
    for work in (put("more"), write_and_fail):
        with pytest.raises(RuntimeError, match="half-way in this store: a mistake"):
            store.write(work).result()
    store.close()


@pytest.mark.parametrize("kind", ["memory", "loading", "site"])
def test_every_store_refuses_rows_that_refer_to_none(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "study.db"
    store: Store = (
        open_memory_store()
        if kind == "memory"
        else open_loading_store(path)
        if kind == "loading"
        else open_store(store_url(None, path))
    )
    with pytest.raises(IntegrityError):
        store.write(lambda tx: tx.execute(insert(item_source).values(item_id=1, source_id=2))).result()
    store.close()


def test_a_row_left_to_read_does_not_keep_readers_in_the_past(store: Store) -> None:
    """The first of several rows is all some statements want; the rest must not hold the moment they were read in."""
    first = Prepared(select(setting.c.key).order_by(setting.c.key).limit(literal_column("9")))
    for key in ("k3", "k2", "k1"):
        store.write(put(key)).result(5)
        assert [store.read(first.value).result(5) for _ in range(8)] == [key] * 8


def test_answers_are_read_as_they_were_written_whatever_was_read_before() -> None:
    """The last long one is remembered, and short ones are."""
    long = [{"text": letter * SHORT_ANSWER} for letter in "ab"]
    given = [*long, long[0], None, "", 0, {}, *long, long[1]]
    for answer in given:
        text = as_text(answer)
        read = answer_from_text(text)
        assert read == answer
        assert answer_as_text(read) == text
        # Another answer that was not read is not taken for the one that was.
        assert all(answer_as_text(other) == as_text(other) for other in given)
