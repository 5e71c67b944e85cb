"""Acts of a group on PostgreSQL read together: the outcome is that of one act after the other."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, bindparam, select, text, update
from sqlalchemy.exc import OperationalError

from chorale.audit.verify import verify
from chorale.engine import work
from chorale.engine.running import Study
from chorale.engine.settling import settle_everything
from chorale.engine.work import Offer, SubmitOutcome
from chorale.model import Refusal
from chorale.store import Store, offering, open_store, store_url
from chorale.store.libpq import PostgresDriver
from chorale.store.postgres import PostgresConnection
from chorale.store.prepared import Prepared, PreparedInsert, Scope
from chorale.store.schema import event, setting
from conftest import StudyMaker
from crowd import Person, do, gold_answer, is_gold, look, people
from test_database import queue_together

_VALUE = select(setting.c.value).where(setting.c.key == bindparam("key"))
READ = Prepared(_VALUE, Scope(worker="key"))
READ_ANYTHING = Prepared(_VALUE)
_CHANGED = update(setting).where(setting.c.key == bindparam("of")).values(value=bindparam("new"))
CHANGE = Prepared(_CHANGED, Scope(worker="of"))
CHANGE_ANYTHING = Prepared(_CHANGED)
ADD = PreparedInsert(setting, "key", "value")


@pytest.fixture
def database(postgres_url: str) -> str:
    """All of this is about PostgreSQL: elsewhere nothing is read ahead."""
    return postgres_url


@pytest.fixture
def store(postgres_url: str, tmp_path: Path) -> Iterator[Store]:
    opened = open_store(store_url(postgres_url, tmp_path / "study.db"))
    opened.do(lambda tx: ADD.rows(tx, [("a", ""), ("b", "")]))
    yield opened
    opened.close()


@pytest.fixture
def round_trips(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Grows with every time that the server is to answer."""
    told: list[str] = []
    for name in ("_say", "_sync"):
        usual = getattr(PostgresDriver, name)

        def counted(driver: PostgresDriver, usual: Any = usual, name: str = name) -> Any:
            told.append(name)
            return usual(driver)

        monkeypatch.setattr(PostgresDriver, name, counted)
    return told


def ask_together(everyone: Sequence[Person], stage: str = "meaningful") -> list[Offer]:
    study = everyone[0].study

    def act(person: Person) -> Callable[[Connection], Offer]:
        return lambda tx: work.next_item(tx, study, study.stage(stage), person.id)

    return [future.result(30) for future in queue_together(study.store, *map(act, everyone))]


def submit_together(given: Sequence[tuple[Person, Offer, str]]) -> list[SubmitOutcome]:
    study = given[0][0].study

    def act(person: Person, offer: Offer, answer: str) -> Callable[[Connection], SubmitOutcome]:
        assert offer.lease is not None
        token = offer.lease.token
        return lambda tx: work.submit(tx, study, person.id, token, answer, "key-00000001", 1000)

    return [future.result(30) for future in queue_together(study.store, *(act(*one) for one in given))]


def answer_to(person: Person, offer: Offer) -> str:
    if is_gold(offer):
        return gold_answer(offer)
    return "no" if person.id % 9 == 0 else "yes"


def work_in_groups(everyone: Sequence[Person], stage: str) -> None:
    while True:
        offers = ask_together(everyone, stage)
        given = [
            (person, offer, answer_to(person, offer))
            for person, offer in zip(everyone, offers, strict=True)
            if offer.lease is not None
        ]
        if not given:
            return
        submit_together(given)


def counts(study: Study, column: str, stage: str = "meaningful") -> list[Any]:
    query = text(
        f"SELECT {column} FROM item JOIN stage ON stage.id = item.stage_id "
        "WHERE stage.name = :stage AND wanted > 0 ORDER BY item.id"
    )
    return list(look(study, lambda tx: tx.execute(query, {"stage": stage})).scalars())


def test_a_study_done_in_groups_comes_to_what_its_answers_say(make_study: StudyMaker) -> None:
    study = make_study(applications=8, gold=12, share=0.3, floor=0.0, fee_percent=10)
    everyone = people(study, 9)
    for stage in ("meaningful", "entailment"):
        work_in_groups(everyone, stage)
        assert set(counts(study, "counted", stage)) == {3}
        assert set(counts(study, "taken", stage)) == {3}
        assert set(counts(study, "item.state", stage)) == {"complete"}
    # A worker's gold may have come after items they judged were complete.
    settle_everything(study)
    assert look(study, lambda tx: verify(tx, study)).differences == []


def test_nobody_gets_a_place_that_another_one_of_the_group_has_taken(make_study: StudyMaker) -> None:
    study = make_study(applications=1, judgments="2")
    offers = ask_together(people(study, 7))
    held = Counter(offer.lease.item_key for offer in offers if offer.lease is not None)
    assert sorted(held.values()) == [2, 2]
    assert counts(study, "taken") == [2, 2]


def test_who_finds_nothing_left_in_a_group_has_searched_once(make_study: StudyMaker) -> None:
    study = make_study(applications=1, judgments="1")
    everyone = people(study, 6)
    assert len([offer for offer in ask_together(everyone) if offer.lease is not None]) == 2
    runs = []

    def ask(person: Person) -> Callable[[Connection], Offer]:
        def act(tx: Connection) -> Offer:
            runs.append(person.id)
            return work.next_item(tx, study, study.stage("meaningful"), person.id)

        return act

    offers = [future.result(30) for future in queue_together(study.store, *map(ask, everyone[2:]))]
    assert {offer.status for offer in offers} == {"wait"}
    assert len(runs) == 4


def test_answers_of_one_group_complete_their_item(make_study: StudyMaker) -> None:
    study = make_study(applications=1)
    everyone = people(study, 6)
    offers = ask_together(everyone)
    submit_together([(person, offer, "yes") for person, offer in zip(everyone, offers, strict=True)])
    assert counts(study, "counted") == [3, 3]
    assert counts(study, "item.state") == ["complete", "complete"]


def test_a_worker_who_asks_twice_in_a_group_gets_one_item(make_study: StudyMaker) -> None:
    study = make_study()
    person, other = people(study, 2)
    person.judge()
    first, _, second = ask_together([person, other, person])
    assert first.lease is not None
    assert first.lease == second.lease


def test_a_group_asks_the_server_a_few_times(make_study: StudyMaker, round_trips: list[str]) -> None:
    study = make_study(applications=60, judgments="8", share=0.1, gold=40)
    everyone = people(study, 20)
    given = list(zip(everyone, ask_together(everyone), strict=True))
    submit_together([(person, offer, "yes") for person, offer in given])
    round_trips.clear()
    ask_together(everyone)
    # What everybody is to know, an item for each, commit; and once more for all who wanted a place that another took.
    assert len(round_trips) < 12


def test_those_who_were_overtaken_read_again_together(store: Store, round_trips: list[str]) -> None:
    store.do(lambda tx: ADD.rows(tx, [(f"k{number}", "") for number in range(12)]))
    runs = []

    def change(tx: Connection) -> None:
        CHANGE(tx, of="a", new=READ.value(tx, key="a") + "new")

    def copy_to(key: str) -> Callable[[Connection], None]:
        def act(tx: Connection) -> None:
            runs.append(key)
            CHANGE(tx, of=key, new=READ.value(tx, key="a"))

        return act

    keys = [f"k{number}" for number in range(12)]
    for future in queue_together(store, change, *map(copy_to, keys)):
        future.result(9)
    assert runs == [*keys, *keys]
    assert set(store.look(lambda tx: [READ.value(tx, key=key) for key in keys])) == {"new"}
    round_trips.clear()
    for future in queue_together(store, change, *map(copy_to, keys)):
        future.result(9)
    assert len(round_trips) < 10


def test_an_item_is_offered_while_others_of_the_group_judge_it(make_study: StudyMaker) -> None:
    study = make_study(applications=2, judgments="20")
    everyone = people(study, 12)
    first = list(zip(everyone, ask_together(everyone), strict=True))
    submit_together([(person, offer, "yes") for person, offer in first])
    offers = ask_together(everyone[:4])
    runs = []

    def submit(person: Person, offer: Offer) -> Callable[[Connection], SubmitOutcome]:
        assert offer.lease is not None
        token = offer.lease.token
        return lambda tx: work.submit(tx, study, person.id, token, "yes", "key-00000001", 1000)

    def ask(person: Person) -> Callable[[Connection], Offer]:
        def act(tx: Connection) -> Offer:
            runs.append(person.id)
            return work.next_item(tx, study, study.stage("meaningful"), person.id)

        return act

    acts = [*map(submit, everyone[:4], offers), *map(ask, everyone[4:])]
    done = [future.result(30) for future in queue_together(study.store, *acts)]
    assert {offer.lease.item_key for offer in done[4:]} == {offer.lease.item_key for offer in offers if offer.lease}
    assert len(runs) == 8


def test_everybody_of_a_group_gets_the_first_item_with_a_place_at_once(
    make_study: StudyMaker, round_trips: list[str]
) -> None:
    study = make_study(applications=10)
    everyone = people(study, 14)
    first_keys = [offer.lease.item_key for offer in ask_together(everyone) if offer.lease]
    in_order = text("SELECT key FROM item WHERE wanted > 0 AND stage_id = 1 ORDER BY position")
    order = list(look(study, lambda tx: tx.execute(in_order)).scalars())
    assert first_keys == [order[number // 3] for number in range(14)]
    for person, key in zip(everyone, first_keys, strict=True):
        offer = person.next()
        assert offer.lease is not None
        assert offer.lease.item_key == key
        person.submit(offer)
    runs = []

    def ask(person: Person) -> Callable[[Connection], Offer]:
        def act(tx: Connection) -> Offer:
            runs.append(person.id)
            return work.next_item(tx, study, study.stage("meaningful"), person.id)

        return act

    round_trips.clear()
    offers = [future.result(30) for future in queue_together(study.store, *map(ask, everyone))]
    # The fifth item has one place left; everybody but those who judged it may get that.
    keys = [offer.lease.item_key for offer in offers if offer.lease]
    assert keys == [order[4], *(order[5 + number // 3] for number in range(13))]
    assert len(runs) == 14
    assert len(round_trips) < 8


def test_a_place_that_was_passed_over_for_another_act_is_not_lost(make_study: StudyMaker) -> None:
    study = make_study(applications=3, judgments="1")
    changes_mind, other, third = people(study, 3)
    stage = study.stage("meaningful")
    for person in (changes_mind, other, third):
        person.give_back(person.next())
    runs = []

    def refuse(tx: Connection) -> None:
        assert offering.next_item(tx, stage.id, changes_mind.id, -1) is not None
        raise Refusal("no", "I do not want it.")

    def ask(person: Person) -> Callable[[Connection], Offer]:
        def act(tx: Connection) -> Offer:
            runs.append(person.id)
            return work.next_item(tx, study, stage, person.id)

        return act

    refused, *given = queue_together(study.store, refuse, ask(other), ask(third))
    assert isinstance(refused.exception(30), Refusal)
    in_order = text("SELECT key FROM item WHERE wanted > 0 AND stage_id = 1 ORDER BY position")
    order = list(look(study, lambda tx: tx.execute(in_order)).scalars())
    seen = text("SELECT item.key FROM assignment JOIN item ON item.id = item_id WHERE worker_id = :w ORDER BY 1")
    offers = [future.result(30) for future in given]
    # Both have seen the first item before; the second was only looked at.
    assert [offer.lease.item_key for offer in offers if offer.lease] == [order[1], order[2]]
    assert runs == [other.id, third.id, other.id, third.id]
    assert look(study, lambda tx: tx.execute(seen, {"w": third.id})).scalars().all() == sorted([order[0], order[2]])


def test_answers_that_decide_nothing_yet_do_not_wait_for_each_other(make_study: StudyMaker) -> None:
    study = make_study(applications=2, judgments="4")
    everyone = people(study, 8)
    given = list(zip(everyone, ask_together(everyone), strict=True))
    runs = []

    def submit(person: Person, offer: Offer) -> Callable[[Connection], SubmitOutcome]:
        assert offer.lease is not None
        token = offer.lease.token

        def act(tx: Connection) -> SubmitOutcome:
            runs.append(person.id)
            return work.submit(tx, study, person.id, token, "yes", "key-00000001", 1000)

        return act

    done = [future.result(30) for future in queue_together(study.store, *(submit(*one) for one in given))]
    assert {outcome.status for outcome in done} == {"accepted"}
    # The last answer to each of the two items completes it, and has to know the others.
    assert len(runs) == 8 + 2
    assert sorted(counts(study, "counted")) == [0, 0, 4, 4]
    assert sorted(counts(study, "item.state")) == ["complete", "complete", "open", "open"]
    assert look(study, lambda tx: verify(tx, study)).differences == []


def test_rows_read_for_many_are_those_of_each(store: Store, round_trips: list[str]) -> None:
    keys = ['"', "\\", "a,b", "{}", "NULL", "", " ", "'", "$1", "ß\n", '\\"']
    store.do(lambda tx: ADD.rows(tx, [(key, f"of {key}") for key in keys if key]))

    def read(key: str) -> Callable[[Connection], Any]:
        return lambda tx: READ.value(tx, key=key)

    round_trips.clear()
    futures = queue_together(store, *map(read, [*keys, "nobody's", *keys]))
    expected = [f"of {key}" if key else None for key in keys]
    assert [future.result(9) for future in futures] == [*expected, None, *expected]
    assert len(round_trips) < 5


def test_changes_of_an_act_happen_one_after_the_other(store: Store) -> None:
    add_event = PreparedInsert(event, "at", "kind", "evidence")

    def act(tx: Connection) -> None:
        ADD(tx, key="new", value="1")
        add_event(tx, at=1, kind="first", evidence="{}")
        CHANGE(tx, of="new", new="2")
        CHANGE(tx, of="a", new="!")
        add_event(tx, at=2, kind="second", evidence="{}")
        CHANGE(tx, of="new", new=READ.value(tx, key="new") + "3")

    store.do(act)
    assert store.look(lambda tx: [READ.value(tx, key=key) for key in ("new", "a")]) == ["23", "!"]
    kinds = text("SELECT kind FROM event WHERE kind IN ('first', 'second') ORDER BY id")
    assert store.look(lambda tx: tx.execute(kinds).scalars().all()) == ["first", "second"]


def test_an_answer_is_few_statements(make_study: StudyMaker, monkeypatch: pytest.MonkeyPatch) -> None:
    study = make_study(applications=10, judgments="12")
    everyone = people(study, 10)
    offers = ask_together(everyone)
    sent = []
    usual = PostgresDriver._send

    def counted(driver: PostgresDriver, sql: str, *given: Any) -> None:
        sent.append(sql)
        usual(driver, sql, *given)

    monkeypatch.setattr(PostgresDriver, "_send", counted)
    submit_together([(person, offer, "yes") for person, offer in zip(everyone, offers, strict=True)])
    changing = [sql for sql in sent if "INSERT INTO response" in sql]
    assert len(changing) == 10
    assert all("UPDATE assignment" in sql and "INSERT INTO entry" in sql for sql in changing)
    assert len([sql for sql in sent if "FROM assignment" in sql]) == 1


def test_labels_are_settled_again_with_a_few_questions_to_the_server(
    make_study: StudyMaker, round_trips: list[str]
) -> None:
    study = make_study(applications=20, gold=12, share=0.3, floor=0.0)
    everyone = people(study, 9)
    work_in_groups(everyone, "meaningful")
    settle_everything(study)
    before = counts(study, "confidence")
    trust_less = text(
        "UPDATE participation SET gold_right = 0, gold_answered = 9, gold_recent = '', changes = changes + 1 "
        "WHERE worker_id % 9 = 0"
    )
    do(study, lambda tx, _: tx.execute(trust_less))
    round_trips.clear()
    settle_everything(study)
    after = counts(study, "confidence")
    changed = sum(one != other for one, other in zip(before, after, strict=True))
    assert changed > 5
    # What labels and later items are made of is read for all groups at once; only beginning and ending are apart.
    assert len(round_trips) < 12 + changed


def test_what_several_people_ask_for_is_read_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Counting the items of a large stage for each of twenty people held up their whole group."""
    store.do(lambda tx: CHANGE(tx, of="a", new="1"))
    store.do(lambda tx: CHANGE(tx, of="b", new="2"))
    sent = []
    send = PostgresDriver.send

    def noted(driver: PostgresDriver, sql: str, values: Sequence[Any]) -> None:
        sent.append(list(values))
        send(driver, sql, values)

    monkeypatch.setattr(PostgresDriver, "send", noted)
    futures = queue_together(store, *(partial(READ.value, key=key) for key in "abaabba"))
    assert "".join(future.result(9) for future in futures) == "1211221"
    assert sent == [['{"a","b"}']]


def test_the_few_who_were_overtaken_join_the_next_group(store: Store) -> None:
    """The others of the group do not wait until they have read again."""
    keys = [f"k{number}" for number in range(12)]
    store.do(lambda tx: ADD.rows(tx, [(key, "") for key in keys]))

    def append(key: str) -> Callable[[Connection], Any]:
        def act(tx: Connection) -> Any:
            value = READ.value(tx, key=key) + "+"
            CHANGE(tx, of=key, new=value)
            return tx.exec_driver_sql("SELECT pg_current_xact_id()::text").scalar_one(), value

        return act

    futures = queue_together(store, *map(append, [*keys, "k0", "k0"]))
    ended = [future.result(9) for future in futures]
    assert [value for _, value in ended] == [*["+"] * 12, "++", "+++"]
    transactions = [transaction for transaction, _ in ended]
    assert len(set(transactions[:12])) == 1
    assert set(transactions[12:]).isdisjoint(transactions[:12])


def test_postponed_work_runs_before_the_store_closes(postgres_url: str, tmp_path: Path) -> None:
    opened = open_store(store_url(postgres_url, tmp_path / "study.db"))
    keys = [f"k{number}" for number in range(12)]
    opened.do(lambda tx: ADD.rows(tx, [(key, "") for key in keys]))

    def append(key: str) -> Callable[[Connection], str]:
        def act(tx: Connection) -> str:
            value = str(READ.value(tx, key=key)) + "+"
            CHANGE(tx, of=key, new=value)
            return value

        return act

    futures = queue_together(opened, *map(append, [*keys, "k0", "k0"]))
    opened.close()
    assert [future.result(0) for future in futures[-3:]] == ["+", "++", "+++"]


def test_a_failed_commit_repeats_each_piece_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also pieces that the failed group had postponed."""
    keys = [f"k{number}" for number in range(12)]
    store.do(lambda tx: ADD.rows(tx, [(key, "") for key in keys]))
    send = PostgresConnection.send_commit
    failures = iter([OperationalError("COMMIT", {}, Exception("the connection is lost"))])

    def fail_once(connection: PostgresConnection, committed: Callable[[], None]) -> None:
        if (error := next(failures, None)) is not None:
            raise error
        send(connection, committed)

    def append(key: str) -> Callable[[Connection], Any]:
        def act(tx: Connection) -> Any:
            value = READ.value(tx, key=key) + "+"
            CHANGE(tx, of=key, new=value)
            return value

        return act

    monkeypatch.setattr(PostgresConnection, "send_commit", fail_once)
    futures = queue_together(store, *map(append, [*keys, "k0"]))
    assert [future.result(9) for future in futures] == [*["+"] * 12, "++"]
    assert store.look(lambda tx: READ.value(tx, key="k0")) == "++"


def test_who_has_read_what_another_one_changed_starts_over(store: Store) -> None:
    runs = []

    def append(key: str, change: Prepared) -> Callable[[Connection], Any]:
        def work(tx: Connection) -> Any:
            runs.append(key)
            value = READ.value(tx, key=key) + "+"
            change(tx, of=key, new=value)
            return value

        return work

    acts = [append("a", CHANGE), append("b", CHANGE), append("a", CHANGE)]
    assert [future.result(9) for future in queue_together(store, *acts)] == ["+", "+", "++"]
    assert runs == ["a", "b", "a", "a"]
    runs.clear()
    # What a statement without a scope has changed, nobody knows.
    acts = [append("a", CHANGE_ANYTHING), append("b", CHANGE)]
    assert [future.result(9) for future in queue_together(store, *acts)] == ["+++", "++"]
    assert runs == ["a", "b", "b"]


def test_what_may_be_about_anything_is_read_in_turn(store: Store) -> None:
    runs = []

    def append(tx: Connection) -> Any:
        runs.append("run")
        value = READ_ANYTHING.value(tx, key="a") + "+"
        CHANGE(tx, of="a", new=value)
        return value

    def append_by_library(tx: Connection) -> str:
        runs.append("run")
        value = tx.execute(_VALUE, {"key": "a"}).scalar_one() + "+"
        tx.execute(_CHANGED, {"of": "a", "new": value})
        return str(value)

    futures = queue_together(store, append, append_by_library, append, append_by_library)
    assert [future.result(9) for future in futures] == ["+", "++", "+++", "++++"]
    assert len(runs) == 4


def test_a_refusal_after_reading_ahead_is_that_of_its_own_act(store: Store) -> None:
    def refuse(tx: Connection) -> None:
        raise Refusal("no", f"It is {READ.value(tx, key='a')!r}.")

    def change(tx: Connection) -> None:
        CHANGE(tx, of="a", new=READ.value(tx, key="a") + "!")

    first, changed, last = queue_together(store, refuse, change, refuse)
    assert (first.exception(9).message, last.exception(9).message) == ("It is ''.", "It is '!'.")
    assert changed.exception(9) is None
