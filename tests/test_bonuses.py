"""What workers read of the bonuses they got: all that is theirs, nobody else's, and nothing of gold."""

import re
from collections.abc import Iterator
from datetime import date
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from chorale.engine import managing
from chorale.engine.bonuses import MOST_BONUSES, Bonus, bonuses_of
from chorale.engine.correcting import GoldCorrection, correct_gold
from chorale.engine.managing import Act
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.engine.settling import settle_everything
from chorale.model import EntryKind
from chorale.store import Tx, ledger
from chorale.web.app import create_app
from conftest import ManualClock
from crowd import Person, do, gold_answer, is_gold, look, people
from protocol_study import ROUND, write_protocol_study
from small_study import write_small_study

HOSTILE = "</p><script>alert(1)</script> {{ 7*7 }} \u202egnp.exe & “well done”"


@pytest.fixture
def study(tmp_path: Path, database: str | None, clock: ManualClock) -> Iterator[Study]:
    write_protocol_study(
        tmp_path / "study", gate="threshold = 0.5\nbonus = 40", round_pay="per_judgment = 2\nfinished = 25"
    )
    opened = open_study(tmp_path / "study", database, clock)
    yield opened
    opened.close()


def paying_for_gold(folder: Path) -> Path:
    """A study in which every answer to gold that is right earns 7 cents on top."""
    write_small_study(folder, applications=10, share=0.5, gold=8, judgments="1", floor=0.1)
    settings = folder / "study.toml"
    rule = "bonus = { right = 1, of = 1, amount = 7 }\n"
    settings.write_text(settings.read_text().replace("after = 2\n", f"after = 2\n{rule}"))
    return folder


def train(person: Person) -> None:
    for _ in range(ROUND):
        offer = person.next("training")
        assert offer.view is not None
        person.submit(offer, "no" if int(offer.view["phrase"].split()[-1]) % 2 else "yes")


def give(study: Study, person: Person, amount: int, reason: str, key: str) -> None:
    assert do(study, managing.give_bonus, person.pseudonym, study.stage("training"), amount, Act("maya", reason, key))


def start_page(study: Study, number: int) -> str:
    with TestClient(create_app(study)) as client:
        client.get("/join", params={"PROLIFIC_PID": f"person-{number}"})
        return client.get("/").text


def listed(page: str) -> list[str]:
    """The list of bonuses as it reads."""
    found = re.search(r'<section [^>]*id="bonuses">(.*?)</section>', page, re.DOTALL)
    rows = re.findall(r"<li[^>]*>(.*?)</li>", found[1], re.DOTALL) if found else []
    return [" ".join(unescape(re.sub(r"<[^>]+>", " ", row)).split()) for row in rows]


def test_a_worker_reads_what_each_bonus_was_for_the_newest_first(study: Study, clock: ManualClock) -> None:
    first, second, third = people(study, 3)
    train(first)
    train(second)
    third.judge("yes", "training")
    clock.pass_minutes(24 * 60)
    give(study, first, 150, HOSTILE, "key-number-1")
    page = start_page(study, 0)
    assert listed(page) == [
        f"$1.50 16 January 2027 “ {' '.join(HOSTILE.split())} ”",
        "$0.40 15 January 2027 For passing “Training”",
        "$0.25 15 January 2027 For finishing “Training”",
    ]
    assert "<script>alert" not in page and "&lt;script&gt;alert(1)" in page
    # Nobody reads of another's, and who got none reads of none.
    other, none = start_page(study, 1), start_page(study, 2)
    assert listed(other) == listed(page)[1:]
    assert "alert(1)" not in other and "$1.50" not in other
    assert 'id="bonuses"' not in none and "latest bonuses" not in none
    for number in range(5):
        give(study, first, 1 + number, f"reason {number}", f"key-again-{number}")
    *rows, rest = listed(start_page(study, 0))
    assert [row.split()[0] for row in rows] == ["$0.05", "$0.04", "$0.03", "$0.02", "$0.01"]
    assert len(rows) == MOST_BONUSES and rest == "and 3 more, included in your earnings"


def test_what_gold_earned_is_told_together_and_never_more_than_the_day(
    tmp_path: Path, database: str | None, clock: ManualClock
) -> None:
    study = open_study(paying_for_gold(tmp_path / "study"), database, clock)
    try:
        [person] = people(study, 1)
        met: list[str] = []
        while (offer := person.next()).lease is not None:
            assert offer.view is not None
            clock.pass_minutes(1)
            answer = "yes"
            if is_gold(offer):
                met.append(offer.view["phrase"])
                # One is answered right where gold is wrong.
                answer = gold_answer(offer) if len(met) != 2 else {"yes": "no", "no": "yes"}[gold_answer(offer)]
            person.submit(offer, answer)
        paid = len(met) - 1
        assert paid > 2
        told = f"${0.07 * paid:.2f} {paid} times, last on 15 January 2027 For good answers in “Is it meaningful?”"
        # While the day goes on, nothing is said: a sum that grows tells which answer it grew by.
        assert listed(start_page(study, 0)) == []
        clock.pass_minutes(24 * 60)
        assert listed(start_page(study, 0)) == [told]
        number = int(met[1].split()[-1])
        corrected = GoldCorrection(
            study.stage("meaningful"), f"g{number}", "yes" if number % 2 else "no", "", "maya", "a slip"
        )
        correct_gold(study, corrected)
        settle_everything(study)
        clock.pass_minutes(24 * 60)
        page = start_page(study, 0)
        assert listed(page) == [
            "$0.07 16 January 2027 For correct answers in “Is it meaningful?” that we had counted as wrong",
            told,
        ]
        shown = page.partition('id="bonuses"')[2].partition("</section>")[0]
        assert re.findall(r'datetime="([^"]*)"', shown) == ["2027-01-16", "2027-01-15"]
        lines = look(study, lambda tx: [one for one in ledger.ledger_lines(tx) if one.kind == "bonus"])
        assert len(lines) == paid + 1
        for untold in (*met, *(line.cause for line in lines), *(line.reason for line in lines), f"g{number}", "a slip"):
            # Their own name is random, and may have anything short in it.
            assert untold not in page.replace(person.pseudonym, "")
    finally:
        study.close()


def test_no_sum_a_worker_reads_grows_by_what_gold_earns(
    tmp_path: Path, database: str | None, clock: ManualClock
) -> None:
    study = open_study(paying_for_gold(tmp_path / "study"), database, clock)
    pay = study.stage("meaningful").settings.pay.per_judgment

    def earned_on(page: str) -> list[tuple[str, str]]:
        return re.findall(r"Earned so far</dt><dd>([^<]*)|<b>([^<]*)</b> earned", page)

    try:
        with TestClient(create_app(study)) as client:
            client.get("/join", params={"PROLIFIC_PID": "person-0"})
            client.post("/consent", data={"agree": "yes"})
            golden = answered = 0
            while assignment := client.post("/api/stages/meaningful/next").json().get("assignment"):
                phrase = assignment["item"]["phrase"]
                golden += "gold" in phrase
                right = "no" if int(phrase.split()[-1]) % 2 else "yes"
                url = f"/api/assignments/{assignment['id']}/submit"
                sent = {"key": f"key-number-{answered}", "answer": right, "duration_ms": 1000}
                answered += 1
                told = [client.post(url, json=sent).json() for _ in range(2)]
                assert [one["status"] for one in told] == ["accepted", "already_submitted"]
                told.append(client.post("/api/stages/meaningful/next").json())
                assert [one["progress"]["earned"] for one in told] == [answered * pay] * 3
            assert golden > 2
            base, all_of_it = f"${answered * pay / 100:.2f}", f"${(answered * pay + golden * 7) / 100:.2f}"
            page = client.get("/").text
            assert earned_on(page)[:2] == [(base, ""), ("", base)]
            assert "added at midnight UTC" in page
            assert sum(look(study, ledger.ledger_totals).values()) >= answered * pay + golden * 7
            clock.pass_minutes(24 * 60)
            assert earned_on(client.get("/").text)[:2] == [(all_of_it, ""), ("", all_of_it)]
            again = client.post("/api/stages/meaningful/next").json()
            assert again["progress"]["earned"] == answered * pay + golden * 7
    finally:
        study.close()


def test_many_small_bonuses_do_not_hide_one_that_somebody_gave(study: Study, clock: ManualClock) -> None:
    [person] = people(study, 1)
    train(person)
    give(study, person, 150, "careful work", "key-number-1")
    clock.pass_minutes(24 * 60)

    def write_much(tx: Tx) -> None:
        stage = study.stage("work-a").id
        for number in range(1000, 1300):
            cause, reason = f"response:{number}:parts", "bonus for 4 parts, 2 of them included in the base pay"
            ledger.add_entry(tx, cause, clock(), person.id, stage, EntryKind.BONUS, 11, reason)

    study.store.write(write_much).result()
    found = look(study, lambda tx: bonuses_of(tx, study, person.id))
    assert found.latest[:2] == (
        Bonus(date(2027, 1, 16), 3300, 300, "For longer answers in “Work a”", False),
        Bonus(date(2027, 1, 15), 150, 1, "careful work", True),
    )
    assert (len(found.latest), found.more) == (4, 0)
    if study.store.read(lambda tx: tx.dialect.name).result() == "sqlite":
        query = ledger._BONUSES.limit(MOST_BONUSES).params(worker_id=person.id, today=clock())
        asked = f"EXPLAIN QUERY PLAN {query.compile(compile_kwargs={'literal_binds': True})}"
        assert "USING INDEX ix_entry_worker" in str(look(study, lambda tx: tx.exec_driver_sql(asked).fetchall()))
