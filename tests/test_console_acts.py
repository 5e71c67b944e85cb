"""What owners and experts do in the console: to workers, to items, to gold; and that all of it can be recomputed."""

import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from functools import partial
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from argon2 import PasswordHasher
from starlette.testclient import TestClient

from chorale.audit.verify import verify
from chorale.engine import correcting, managing, settling
from chorale.engine.advancing import advance
from chorale.engine.correcting import GoldCorrection
from chorale.engine.managing import Act
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.folder.templates import create_study
from chorale.model import UserError
from chorale.model.item_settings import ItemSettings
from chorale.monitor.overview import gold_alarms, overview, wage_alarms
from chorale.store import (
    Tx,
    console,
    events,
    gates,
    gold,
    grades,
    labels,
    ledger,
    participations,
    responses,
    stages,
)
from chorale.store.arms import arms_by_worker
from chorale.store.console import GoldMet
from chorale.store.items import ITEM_ORDERS, ItemsWanted, all_items, find_item, item_ids, items_by_id
from chorale.web.app import create_app
from chorale.web.console import flow, frame
from chorale.web.console.queue import kind_of
from chorale.web.links import setup_link_path, staff_link_path, study_sessions
from chorale.web.staff import UNUSED_DAYS
from crowd import Person, gold_answer, is_gold, people, work_through
from protocol_study import write_protocol_study
from small_study import write_small_study
from suggesting_study import write_suggesting_study
from svg_pictures import boxes, links_behind_boxes, overlapping_texts, texts_outside
from test_console import PASSWORD, PLATFORM_ID, arrive, do_work, doubtful, honest, wrong
from writing_study import write_graded_study

if TYPE_CHECKING:
    from conftest import ManualClock


@pytest.fixture(autouse=True)
def quick_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorale.web.staff.PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=64))


@pytest.fixture
def study(tmp_path: Path, clock: "ManualClock") -> Iterator[Study]:
    write_small_study(tmp_path / "study", share=0.5, fee_percent=20)
    opened = open_study(tmp_path / "study", clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def busy(study: Study, clock: "ManualClock") -> Study:
    """Two who are always wrong, one who guesses and seven careful people have worked, in that order."""
    for number, way in enumerate([wrong, wrong, doubtful, *[honest] * 7]):
        do_work(study, clock, arrive(study, number), way)
    settling.settle_everything(study)
    return study


def look(study: Study, query: Any) -> Any:
    return study.store.read(query).result()


def change(study: Study, work: Any, *args: Any) -> Any:
    return study.store.write(lambda tx: work(tx, study, *args)).result()


def differences(study: Study) -> list[str]:
    settling.settle_everything(study)
    found: list[str] = look(study, lambda tx: verify(tx, study)).differences
    return found


def told(study: Study, kind: str) -> list[dict[str, Any]]:
    return [event.evidence for event in look(study, lambda tx: events.recent(tx, 1000, kinds=(kind,)))]


def as_owner(study: Study) -> TestClient:
    client = TestClient(create_app(study), follow_redirects=False)
    client.post(setup_link_path(study) or "", data={"name": "maya", "password": PASSWORD, "again": PASSWORD})
    return client


def act(reason: str = "it is due", key: str = "key-number-1") -> Act:
    return Act("maya", reason, key)


def some_worker(study: Study, place: int = 0) -> str:
    name: str = look(study, participations.participation_summaries)[place].worker
    return name


# Workers


def test_a_message_a_bonus_and_a_disqualification_are_logged_and_can_be_recomputed(busy: Study) -> None:
    client, who = as_owner(busy), some_worker(busy, 4)
    page = client.get(f"/console/workers/{who}").text
    key = re.findall(r'name="key" value="([\w-]+)"', page)[0]
    assert "Quality over time" in page and "Mean time per answer, other workers" in page
    form = {"key": key, "title": "Thank you", "body": "Well **done**.", "reason": "careful work"}
    for _ in range(2):  # pressed twice is once
        assert client.post(f"/console/workers/{who}/message", data=form).status_code == 303
        paid = client.post(
            f"/console/workers/{who}/bonus",
            data={"key": key, "amount": "1.50", "stage": "meaningful", "reason": "careful work"},
        )
        assert paid.headers["location"] == f"/console/workers/{who}?done=bonus", paid.text
    ended = client.post(
        f"/console/workers/{who}/disqualify", data={"key": key, "what": "stage:meaningful", "reason": "asked to stop"}
    )
    assert ended.status_code == 303
    assert "The worker is removed from the stage." in client.get(ended.headers["location"]).text
    [bonus] = told(busy, "bonus given")
    assert (bonus["by"], bonus["reason"], bonus["amount"]) == ("maya", "careful work", 150)
    [line] = [one for one in look(busy, lambda tx: list(ledger.ledger_lines(tx))) if one.cause == f"staff:{key}:bonus"]
    assert (line.amount, line.worker, line.reason) == (150, who, "careful work")
    assert [one["reason"] for one in told(busy, "message written")] == ["careful work"]
    assert {"rule": "staff", "by": "maya", "reason": "asked to stop"} in told(busy, "dropped")
    shown = unescape(client.get(f"/console/workers/{who}").text)
    assert "Thank you" in shown and "asked to stop" in shown and "$1.50" in shown
    assert ("Remove or disqualify" in page, "Remove or disqualify" in shown) == (True, False), (
        "nothing is left to remove"
    )
    assert "by maya: asked to stop" in unescape(client.get("/console").text)
    assert differences(busy) == []


SENSELESS: list[tuple[str, dict[str, str], str]] = [
    ("bonus", {"amount": "1.50", "stage": "meaningful"}, "Enter a reason"),
    ("bonus", {"amount": "-1", "stage": "meaningful", "reason": "so"}, "is not an amount"),
    ("bonus", {"amount": "0.001", "stage": "meaningful", "reason": "so"}, "is not an amount"),
    ("bonus", {"amount": "0", "stage": "meaningful", "reason": "so"}, "more than 0"),
    ("bonus", {"amount": "1", "stage": "entailment", "reason": "so"}, "has not worked in"),
    ("message", {"title": "x", "body": "y"}, "Enter a reason"),
    ("message", {"title": " ", "body": "y", "reason": "so"}, "needs a title"),
    ("qualify", {"name": "trained", "reason": "so"}, "No stage of this study needs"),
    ("disqualify", {"what": "everything", "reason": "so"}, "Choose a stage or a qualification"),
    ("identity", {}, "Enter a reason"),
]


def test_acts_without_a_reason_or_a_sense_are_refused(study: Study, clock: "ManualClock") -> None:
    do_work(study, clock, arrive(study), honest, most=3)
    client, who = as_owner(study), some_worker(study)
    for what, form, message in SENSELESS:
        answer = client.post(f"/console/workers/{who}/{what}", data={"key": "key-number-1", **form})
        assert answer.status_code == 422 and message in unescape(answer.text), (what, form)
    assert not told(study, "bonus given") + told(study, "message written") + told(study, "identity shown")


def test_looking_behind_a_pseudonym_is_an_act_of_its_own(busy: Study) -> None:
    client, who = as_owner(busy), some_worker(busy)
    assert PLATFORM_ID not in client.get(f"/console/workers/{who}").text
    shown = client.post(f"/console/workers/{who}/identity", data={"key": "key-number-1", "reason": "pay is stuck"})
    assert PLATFORM_ID in shown.text
    assert told(busy, "identity shown") == [{"by": "maya", "reason": "pay is stuck"}]
    assert PLATFORM_ID not in client.get(f"/console/workers/{who}").text
    assert PLATFORM_ID not in client.get("/console/activity").text


def test_workers_are_found_by_their_name_and_by_their_panels_id(busy: Study) -> None:
    client, who = as_owner(busy), some_worker(busy)
    assert client.get(f"/console/workers?called={who.upper()}").headers["location"] == f"/console/workers/{who}"
    assert client.get(f"/console/workers?find={who}").headers["location"] == f"/console/workers/{who}"
    assert "No workers match these filters" in client.get("/console/workers?find=w-nobody").text
    assert f'id="worker-{who}"' in client.get(f"/console/workers?find={who[:-1]}").text, "a part of an ID is enough"
    form = {"key": "key-number-1", "panel_id": f" {PLATFORM_ID}0 ", "reason": "they wrote to us"}
    for wrong_form in ({**form, "reason": ""}, {**form, "panel_id": "somebody else"}):
        assert client.post("/console/workers/find", data=wrong_form).status_code == 422
    assert told(busy, "identity shown") == []
    found = client.post("/console/workers/find", data=form).headers["location"]
    assert found == f"/console/workers/{some_worker(busy)}" and PLATFORM_ID not in client.get(found).text
    [written] = told(busy, "identity shown")
    assert written == {"by": "maya", "reason": "they wrote to us", "asked": "by platform ID"}


def test_a_message_goes_to_everybody_who_works_in_a_stage_once(busy: Study) -> None:
    client = as_owner(busy)
    rows = look(busy, lambda tx: participations.participation_summaries(tx, stage_name="meaningful"))
    working = [row.worker for row in rows if row.standing == "active"]
    form = {
        "key": "key-number-1",
        "stage": "meaningful",
        "title": "New items",
        "body": "There are more.",
        "reason": "x",
    }
    assert client.post("/console/workers/message", data={**form, "reason": ""}).status_code == 422
    for _ in range(2):
        sent = client.post("/console/workers/message", data=form).headers["location"]
    assert f"Messages sent: {len(working)}." in client.get(sent).text
    assert 0 < len(working) < len(rows) and len(told(busy, "message written")) == len(working)
    dropped = next(row.worker for row in rows if row.standing == "dropped")
    assert "New items" in client.get(f"/console/workers/{working[0]}").text
    assert "New items" not in client.get(f"/console/workers/{dropped}").text
    assert differences(busy) == []


def test_a_bonus_beyond_the_budget_is_refused(tmp_path: Path, clock: "ManualClock") -> None:
    write_small_study(tmp_path / "study")
    settings = tmp_path / "study" / "study.toml"
    settings.write_text(settings.read_text().replace("[pay]\n", "[pay]\nbudget = 100\n"))
    study = open_study(tmp_path / "study", clock=clock)
    try:
        do_work(study, clock, arrive(study), honest, most=2)
        who, stage = some_worker(study), study.stage("meaningful")
        with pytest.raises(UserError, match="exceed the budget"):
            change(study, managing.give_bonus, who, stage, 5_000, act())
        assert change(study, managing.give_bonus, who, stage, 5, act())
        assert not change(study, managing.give_bonus, who, stage, 5, act())
        assert differences(study) == []
    finally:
        study.close()


def test_qualifications_are_given_and_taken_by_hand(tmp_path: Path, clock: "ManualClock") -> None:
    write_protocol_study(tmp_path / "study", message=None)
    study = open_study(tmp_path / "study", clock=clock)
    try:
        who = arrive(study).pseudonym
        assert change(study, managing.qualify, who, "trained", act("knows the work"))
        assert not change(study, managing.qualify, who, "trained", act("again"))
        assert differences(study) == []
        clock.pass_minutes(1)
        assert change(study, managing.take_qualification, who, "trained", act("was a mistake"))
        assert not change(study, managing.take_qualification, who, "trained", act("again"))
        assert look(study, gates.qualifications) == [] == differences(study)
        clock.pass_minutes(1)
        assert change(study, managing.qualify, who, "trained", act("knows it after all"))
        assert differences(study) == []
        [taken] = told(study, "disqualified")
        assert (taken["qualification"], taken["by"], taken["reason"]) == ("trained", "maya", "was a mistake")
        study.store.write(lambda tx: gates.grant(tx, arrive_id(tx, who), "promoted", 0)).result()
        assert differences(study) == [f"worker {who}: has the qualification promoted, but nothing granted it"]
    finally:
        study.close()


def arrive_id(tx: Tx, pseudonym: str) -> int:
    return managing.worker_called(tx, pseudonym).id


# Gold that was wrong


def test_corrected_gold_changes_grades_trust_standings_and_labels_and_pay_stays(
    busy: Study, clock: "ManualClock", tmp_path: Path
) -> None:
    assert differences(busy) == []
    clock.pass_minutes(1)
    before = {row.worker: row for row in look(busy, participations.participation_summaries)}
    assert [row.standing for row in before.values()].count("dropped") >= 1
    met = next(row for row in look(busy, lambda tx: gold.gold_items(tx, "meaningful", 1.0)) if row.answered >= 5)
    flipped = "no" if met.answer == "yes" else "yes"
    client = as_owner(busy)
    form = {"key": met.key, "answer": f'"{flipped}"', "explanation": "It is the other way round.", "reason": "a slip"}
    assert client.post("/console/items/meaningful/correct", data={**form, "reason": ""}).status_code == 422
    answer = client.post("/console/items/meaningful/correct", data=form)
    assert answer.status_code == 303, answer.text
    after = {row.worker: row for row in look(busy, participations.participation_summaries)}
    again = next(row for row in look(busy, lambda tx: gold.gold_items(tx, "meaningful", 1.0)) if row.key == met.key)
    assert (again.answered, again.right) == (met.answered, met.answered - met.right)
    assert sum(row.gold_right for row in after.values()) == sum(row.gold_right for row in before.values()) + (
        again.right - met.right
    )
    assert all(after[name].earned >= before[name].earned for name in before)
    assert differences(busy) == []
    [event] = told(busy, "corrected gold")
    assert (event["by"], event["reason"], event["graded again"]) == ("maya", "a slip", met.answered)
    shown = unescape(client.get(f"/console/items/one?stage=meaningful&key={met.key}").text)
    assert "a slip" in shown and "gold:2" in shown and "It is the other way round." in shown
    busy.close()
    opened = open_study(tmp_path / "study", clock=clock)  # the file has the old answer, and that is no mistake
    assert look(opened, lambda tx: gold.gold_items(tx, "meaningful", 1.0)) != []
    opened.close()


def test_correcting_gold_back_and_forth_reinstates_and_drops(busy: Study, clock: "ManualClock") -> None:
    stage = busy.stage("meaningful")
    standing = {row.worker: row.standing for row in look(busy, participations.participation_summaries)}
    golds = look(busy, lambda tx: gold.gold_items(tx, "meaningful", 1.0))
    for times in (1, 2):
        for row in golds:
            clock.pass_minutes(1)
            flipped = {"yes": "no", "no": "yes"}[row.answer] if times == 1 else row.answer
            correcting.correct_gold(busy, GoldCorrection(stage, row.key, flipped, "", "maya", "trying"))
        assert differences(busy) == []
        now = {row.worker: row.standing for row in look(busy, participations.participation_summaries)}
        if times == 1:
            turned = [name for name in now if now[name] != standing[name]]
            assert {now[name] for name in turned} == {"active", "dropped"}
            assert told(busy, "reinstated")
        seen = look(busy, lambda tx: overview(tx, busy))
        out = {name for name in now if now[name] == "dropped"}
        assert {one.worker for one, _ in seen.dropped} == out and len(seen.dropped) == seen.dropped_total
        [alarm] = [alarm for alarm in seen.alarms if "removed within the last day" in alarm.title]
        assert set(alarm.workers) <= out and alarm.advice.endswith("Check that the gold is correct.")
    assert now == standing
    do_work(busy, clock, arrive(busy, 77), honest)
    assert differences(busy) == []


def test_whoever_was_right_all_along_is_paid_what_the_wrong_gold_withheld(tmp_path: Path, clock: "ManualClock") -> None:
    write_small_study(tmp_path / "study", share=0.5, gold=4, floor=0.0)
    settings = tmp_path / "study" / "study.toml"
    settings.write_text(
        settings.read_text().replace(
            'file = "gold1.jsonl"\n', 'file = "gold1.jsonl"\nbonus = { of = 2, right = 2, amount = 7 }\n'
        )
    )
    study = open_study(tmp_path / "study", clock=clock)
    try:
        do_work(study, clock, arrive(study), wrong)
        do_work(study, clock, arrive(study, 1), honest)
        clock.pass_minutes(1)
        paid = {row.worker: row.earned for row in look(study, participations.participation_summaries)}
        for row in look(study, lambda tx: gold.gold_items(tx, "meaningful", 1.0)):
            clock.pass_minutes(1)
            flipped = {"yes": "no", "no": "yes"}[row.answer]
            new = GoldCorrection(study.stage("meaningful"), row.key, flipped, "", "maya", "all wrong")
            correcting.correct_gold(study, new)
        settling.settle_everything(study)
        now = {row.worker: row.earned for row in look(study, participations.participation_summaries)}
        withheld, kept = look(study, participations.participation_summaries)[:2]
        assert now[withheld.worker] == paid[withheld.worker] + 14
        assert now[kept.worker] == paid[kept.worker]
        assert differences(study) == []
    finally:
        study.close()


def test_a_correction_that_was_interrupted_is_finished_by_the_next_one_who_looks(
    busy: Study, clock: "ManualClock", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(correcting, "WORKERS_AT_ONCE", 2)
    clock.pass_minutes(1)
    met = next(row for row in look(busy, lambda tx: gold.gold_items(tx, "meaningful", 1.0)) if row.answered >= 5)
    flipped = "no" if met.answer == "yes" else "yes"
    correcting.correct_gold(busy, GoldCorrection(busy.stage("meaningful"), met.key, flipped, "", "maya", "a slip"))
    again = grades.add_grade
    graded: list[int] = []

    def dies(tx: Tx, response_id: int, *rest: Any) -> None:
        if len(graded) == 3:
            raise RuntimeError("killed")
        graded.append(response_id)
        again(tx, response_id, *rest)

    monkeypatch.setattr(grades, "add_grade", dies)
    with pytest.raises(RuntimeError, match="killed"):
        correcting.finish_corrections(busy)
    monkeypatch.undo()

    def change_in_right(tx: Tx) -> int:
        right: int = next(row.right for row in gold.gold_items(tx, "meaningful", 1.0) if row.key == met.key)
        return right - int(met.right)

    assert told(busy, "gold graded again") == []
    assert differences(busy) == []
    assert len(told(busy, "gold graded again")) == 1
    assert look(busy, change_in_right) == met.answered - 2 * met.right
    assert differences(busy) == [] and len(told(busy, "gold graded again")) == 1


def test_places_are_counted_where_a_sample_is_drawn_before_a_correction_is_settled(
    tmp_path: Path, clock: "ManualClock", database: str | None
) -> None:
    """Another process may be between the two: whoever counts again by then has not answered anything."""
    write_small_study(tmp_path / "study", share=0.0, gold=8, judgments="1", applications=4)
    settings = tmp_path / "study" / "study.toml"
    first, second = settings.read_text().split('name = "entailment"')
    second = second.replace("share = 0.0", "share = 0.5").replace(
        "judgments = 1", "judgments = { min = 2, max = 2, sample = { items = 99, judgments = 3 } }"
    )
    settings.write_text(f'{first}name = "entailment"{second}')
    study = open_study(tmp_path / "study", database, clock)
    try:
        one, other, mistaken = Person(study, "one"), Person(study, "other"), Person(study, "mistaken")
        for person, answers in ((one, 4), (other, 3)):
            for _ in range(answers):
                person.judge("yes", "meaningful")
        while (offer := mistaken.next("entailment")).status == "item":
            right = gold_answer(offer) if is_gold(offer) else "no"
            mistaken.submit(offer, "no" if right == "yes" else "yes")
            clock.pass_minutes(1)
        assert offer.status == "dropped"
        settling.settle_everything(study)
        for row in look(study, lambda tx: gold.gold_items(tx, "entailment", 1.0)):
            if row.answered:
                clock.pass_minutes(1)
                flipped = {"yes": "no", "no": "yes"}[row.answer]
                correcting.correct_gold(
                    study, GoldCorrection(study.stage("entailment"), row.key, flipped, "", "maya", "slip")
                )
        correcting.finish_corrections(study)
        assert look(study, labels.unsettled)
        while other.next("meaningful").lease:
            other.judge("yes", "meaningful")
        assert any("sampled" in done for done in study.store.write(lambda tx: advance(tx, study)).result())
        settling.settle_everything(study)
        assert differences(study) == []
    finally:
        study.close()


# Items, experts, viewers


def test_an_order_that_leaves_out_all_items_does_not_hide_that_there_are_some(tmp_path: Path) -> None:
    write_small_study(tmp_path / "study")
    study = open_study(tmp_path / "study")
    try:
        client = as_owner(study)
        for order, empty in (
            ("least confident", "No item of this stage has a label yet."),
            ("most divided", "No item of this stage has different answers."),
        ):
            page = client.get("/console/items", params={"stage": "meaningful", "order": order}).text
            assert empty in page and "Sort by item ID" in page and "has no items yet" not in page
    finally:
        study.close()


def test_items_are_found_by_what_is_special_about_them(busy: Study) -> None:
    client = as_owner(busy)

    def keys(query: str) -> list[str]:
        page = unescape(client.get(f"/console/items?stage=meaningful&{query}").text)
        return re.findall(
            r'<td class="nowrap"><input [^>]+><span class="id[^"]*"><a class="mono" href="[^"]+">([^<]+)</a>', page
        )

    everything = keys("")
    assert everything == sorted(everything) and len(everything) == len(set(everything)) > 3
    split, unanimous = keys("disagreement=split"), keys("disagreement=unanimous")
    assert split and unanimous and not set(split) & set(unanimous)
    rows = {row.key: row for row in look(busy, lambda tx: list(all_items(tx, "meaningful")))}
    for order, falling in (("least confident", False), ("most confident", True)):
        shown = [rows[key].confidence for key in keys(f"order={order}")]
        assert shown == sorted(shown, reverse=falling)
    divided = keys("order=most divided")
    assert set(divided) == set(split)
    assert [rows[key].confidence for key in divided] == sorted(rows[key].confidence for key in split)
    assert all(rows[key].confidence <= 0.7 for key in keys("below=0.7"))
    who = some_worker(busy, 3)
    given = {one.item for one in look(busy, lambda tx: list(responses.all_responses(tx, pseudonym=who)))}
    assert set(keys(f"worker={who}")) == given & set(everything)
    assert keys("worker=w-nobody") == []
    assert client.get("/console/items?below=0.7.7").status_code == 422


def test_paging_through_items_shows_each_once(busy: Study) -> None:
    def read(tx: Tx, order: str) -> tuple[list[int], list[int]]:
        stage_id = busy.stage("meaningful").id
        whole = [number for number, _ in item_ids(tx, ItemsWanted(stage_id, order=order), 1000)]
        paged: list[int] = []
        after = None
        while found := item_ids(tx, ItemsWanted(stage_id, order=order, after=after), 3):
            paged += [number for number, _ in found]
            after = (found[-1][1], items_by_id(tx, [found[-1][0]])[0].key)
        return whole, paged

    for order in ITEM_ORDERS:
        whole, paged = look(busy, partial(read, order=order))
        few = 1 if order == "most divided" else 3
        assert paged == whole and len(whole) == len(set(whole)) > few, order


def test_an_item_goes_to_an_expert_and_comes_back_as_gold(busy: Study) -> None:
    owner, expert = as_owner(busy), TestClient(create_app(busy), follow_redirects=False)
    assert expert.get(staff_link_path(study_sessions(busy), "expert", "ada")).headers["location"] == "/console/queue"
    rows = look(busy, lambda tx: list(all_items(tx, "meaningful")))
    key = next(row.key for row in rows if row.label() is not None)
    sent = [
        owner.post("/console/items/meaningful/expert", data={"key": key, "reason": "is it a <hull>?"}) for _ in range(2)
    ]
    assert [answer.headers["location"].rpartition("=")[2] for answer in sent] == ["sent", "was-sent"]
    desk = expert.get("/console/queue").text
    assert "is it a &lt;hull&gt;?" in desk
    [number] = re.findall(r'action="/console/queue/(\d+)"', desk)
    form = {"stage": "meaningful", "answer": '"no"', "reason": "A crew does not.", "gold": "yes"}
    assert expert.post(f"/console/queue/{number}", data={**form, "answer": '"maybe"'}).status_code == 422
    assert (
        expert.post(f"/console/queue/{number}", data=form).headers["location"] == "/console/queue?done=expert-answered"
    )
    assert expert.post(f"/console/queue/{number}", data=form).status_code == 422
    assert "No questions." in expert.get("/console/queue").text
    assert look(busy, lambda tx: find_item(tx, "meaningful", key)).is_gold
    assert [one["by"] for one in told(busy, "expert answered")] == ["ada"]
    assert differences(busy) == []


def test_viewers_see_and_change_nothing_until_their_link_is_revoked(busy: Study) -> None:
    owner, viewer = as_owner(busy), TestClient(create_app(busy), follow_redirects=False)
    made = owner.post("/console/team", data={"name": "Ed", "role": "viewer"})
    [link] = re.findall(r"http://testserver(/viewer/[\w.-]+)", made.text)
    assert viewer.get(link).headers["location"] == "/console"
    who = some_worker(busy)
    pages = ("/console", "/console?part=live", "/console/workers", f"/console/workers/{who}", "/console/items")
    for path in (*pages, "/console/ledger", "/console/activity", "/console/items/one?stage=meaningful&key=g0"):
        page = viewer.get(path)
        assert page.status_code == 200, path
        assert 'method="post" action="/console' not in re.sub(r"<form class=\"actions\"[^>]*>", "", page.text), path
        assert "acts-title" not in page.text and PLATFORM_ID not in page.text
    for path in ("gold/meaningful", "desk", "arms", "export", "account", "colleagues", "gates"):
        assert viewer.get(f"/console/{path}").status_code == 403, path
    for path in (
        "stages/meaningful/state",
        f"workers/{who}/identity",
        f"workers/{who}/bonus",
        "items/meaningful/correct",
    ):
        data = {"state": "paused", "key": "key-number-1", "reason": "x", "amount": "1", "stage": "meaningful"}
        assert viewer.post(f"/console/{path}", data=data).status_code == 403, path
    assert owner.post("/console/team/revoke", data={"name": "Ed", "role": "viewer"}).status_code == 422
    gone = owner.post("/console/team/revoke", data={"name": "Ed", "role": "viewer", "reason": "has left"})
    assert gone.status_code == 303
    assert viewer.get("/console?part=live").status_code == 401
    assert viewer.get(link).status_code == 403
    again = owner.post("/console/team", data={"name": "Ed", "role": "viewer"})
    assert again.status_code == 422 and "was revoked" in again.text
    assert told(busy, "link revoked") == [{"by": "maya", "name": "Ed", "role": "viewer", "reason": "has left"}]
    assert "viewer came" in owner.get("/console/activity").text


def test_a_link_that_nobody_opened_can_be_revoked_too(study: Study) -> None:
    owner, late = as_owner(study), TestClient(create_app(study), follow_redirects=False)
    link = staff_link_path(study_sessions(study), "expert", "ada")
    owner.post("/console/team", data={"name": "ada", "role": "expert"})
    owner.post("/console/team/revoke", data={"name": "ada", "role": "expert", "reason": "sent to the wrong person"})
    assert late.get(link).status_code == 403
    assert late.get(staff_link_path(study_sessions(study), "viewer", "maya")).status_code == 403
    assert owner.post("/console/team/revoke", data={"name": "maya", "role": "owner", "reason": "x"}).status_code == 404


def test_only_a_link_that_nobody_opens_expires(study: Study, clock: "ManualClock") -> None:
    """Before, the page said that a link expires when it is not opened for 30 days, also after it was opened."""
    owner, ed, ada = as_owner(study), *(TestClient(create_app(study), follow_redirects=False) for _ in range(2))
    for name in ("Ed", "Ada"):
        owner.post("/console/team", data={"name": name, "role": "viewer"})
    link = staff_link_path(study_sessions(study), "viewer", "Ed")
    assert ada.get(staff_link_path(study_sessions(study), "viewer", "Ada")).status_code == 303
    clock.pass_minutes(31 * 24 * 60)
    refused = ed.get(link)
    assert refused.status_code == 403 and "nobody opened it within 30 days" in refused.text
    page = owner.get("/console/team").text
    assert "expired, never opened" in page
    assert f"expires if nobody opens it within {UNUSED_DAYS} days; once opened, it works until you revoke it" in page
    assert ada.get(staff_link_path(study_sessions(study), "viewer", "Ada")).status_code == 303
    owner.post("/console/team", data={"name": "Ed", "role": "viewer"})
    assert ed.get(link).status_code == 303


# The overview


def test_the_overview_counts_as_the_whole_database_does(busy: Study) -> None:
    def both(tx: Tx) -> tuple[Any, Any]:
        return stages.stage_tallies(tx, ()), stages.stage_counts(tx)

    quick, slow = look(busy, both)
    assert quick == slow
    now = look(busy, lambda tx: overview(tx, busy))
    totals = look(busy, ledger.ledger_totals)
    assert (now.spent, now.bonuses, now.fees) == (sum(totals.values()), totals["bonus"], totals["fee"])
    assert now.agreement and all(0 <= part.agreement <= 1 for part in now.agreement)
    assert now.judgments == sum(one.judgments for one in slow) <= now.planned
    drawn = flow.flow(busy, now.stages, now.passed)
    assert drawn is not None and drawn.picture.count("<path ") == 1 and not drawn.has_gates
    assert f">from {slow[0].released} accepted</text>" in drawn.picture
    assert f"{slow[0].released} accepted, {slow[1].items} items created from them in " in drawn.picture


def test_a_single_stage_has_no_flow_diagram(tmp_path: Path) -> None:
    write_suggesting_study(tmp_path / "study", arms=False)
    with closing(open_study(tmp_path / "study")) as single:
        assert 'id="flow"' not in as_owner(single).get("/console").text


@pytest.mark.slow
def test_no_line_of_the_flow_runs_behind_a_stage(tmp_path: Path) -> None:
    create_study(tmp_path / "trial", "mcq-trial")
    trial = open_study(tmp_path / "trial")
    try:
        now = look(trial, lambda tx: overview(tx, trial))
    finally:
        trial.close()
    drawn = flow.flow(trial, now.stages, now.passed)
    assert drawn is not None
    assert len(boxes(drawn.picture)) == len(trial.stages) + len(trial.gates) > 25
    assert links_behind_boxes(drawn.picture) == []
    assert texts_outside(drawn.picture) == []
    assert overlapping_texts(drawn.picture) == []


def test_alarms_say_what_is_wrong_and_what_to_do(tmp_path: Path, clock: "ManualClock") -> None:
    write_small_study(tmp_path / "study", share=0.5, gold=6, floor=0.1, after=6)
    settings = tmp_path / "study" / "study.toml"
    settings.write_text(settings.read_text().replace("[pay]\n", "[pay]\nminimum_hourly = 4000\n"))
    study = open_study(tmp_path / "study", clock=clock)
    try:
        for number in range(12):
            do_work(study, clock, arrive(study, number), wrong)
        clock.pass_minutes(100)
        found = {alarm.kind: alarm for alarm in look(study, lambda tx: overview(tx, study)).alarms}
        assert {"wage", "gold-wrong", "worker"} <= found.keys()
        assert "Raise the pay" in found["wage"].advice and found["gold-wrong"].items
        page = unescape(as_owner(study).get("/console").text)
        assert "The median wage is below your minimum of $40.00 an hour<" in page
        assert "Most workers answered" in page and "wrong</strong>" in page
        assert 'href="/console/workers?order=wage&direction=up&stage=meaningful"' in page
        assert 'href="/console/gold/meaningful">Gold of meaningful</a>' in page
    finally:
        study.close()


def test_a_worker_below_the_minimum_is_removed_automatically_only_if_more_gold_follows(
    tmp_path: Path, clock: "ManualClock"
) -> None:
    write_small_study(tmp_path / "study", share=0.5, gold=12, floor=0.9, after=6)
    study = open_study(tmp_path / "study", clock=clock)

    def advice() -> str:
        alarms = look(study, lambda tx: overview(tx, study)).alarms
        [found] = [alarm for alarm in alarms if "below the minimum gold accuracy" in alarm.title]
        return str(found.advice)

    try:
        do_work(study, clock, arrive(study, 0), wrong, most=6)
        assert "`gold.after` gold answers are removed automatically" in advice()
        for number in range(1, 12):
            do_work(study, clock, arrive(study, number), honest)
        settling.settle_everything(study)
        assert look(study, lambda tx: overview(tx, study)).stages[0].is_done
        assert advice().startswith("They get no more gold, so they are not removed automatically.")
    finally:
        study.close()


def test_a_stage_that_nobody_works_on_is_told(study: Study, clock: "ManualClock") -> None:
    def starved() -> list[str]:
        alarms = look(study, lambda tx: overview(tx, study)).alarms
        return [stage for alarm in alarms if alarm.kind == "starved" for stage in alarm.stages]

    clock.pass_minutes(100)
    assert starved() == [], "nobody has come at all"
    for number in range(2):
        do_work(study, clock, arrive(study, number), honest, most=6)
    settling.settle_everything(study)
    assert starved() == []
    clock.pass_minutes(61)
    assert starved() == ["meaningful"]
    for number in range(2, 10):
        do_work(study, clock, arrive(study, number), honest)
    settling.settle_everything(study)
    assert starved() == [], "what was just made from others has not waited for long"
    clock.pass_minutes(61)
    assert starved() == ["entailment"]
    page = as_owner(study).get("/console").text
    assert "Nobody is working on “" in page and '<a class="nowrap" href="/console/recruiting#invite">' in page


def test_a_study_nobody_has_come_to_and_one_that_is_finished_say_what_comes_next(study: Study) -> None:
    client = as_owner(study)
    assert "Nobody has joined yet." in client.get("/console").text
    everyone = people(study, 9)
    for stage in ("meaningful", "entailment"):
        work_through(everyone, lambda _, offer: gold_answer(offer) if is_gold(offer) else "yes", stage)
        settling.settle_everything(study)
    page = client.get("/console").text
    assert 'id="step-results"' in page and 'href="/console/export"' in page and "step-recruit" not in page
    assert "Balance due for 9 people" in page


def test_a_budget_that_covers_no_other_item_is_told(tmp_path: Path, clock: "ManualClock") -> None:
    write_small_study(tmp_path / "study", share=0.5, floor=0.0)
    settings = tmp_path / "study" / "study.toml"
    settings.write_text(settings.read_text().replace("[pay]\n", "[pay]\nbudget = 90\n"))
    study = open_study(tmp_path / "study", clock=clock)
    try:
        assert look(study, lambda tx: overview(tx, study)).alarms == []
        for number in range(6):
            do_work(study, clock, arrive(study, number), honest)
        clock.pass_minutes(100)
        [alarm] = look(study, lambda tx: overview(tx, study)).alarms
        assert (alarm.kind, alarm.stages, alarm.serious) == ("budget", ("meaningful",), True)
        page = unescape(as_owner(study).get("/console").text)
        assert "The budget does not cover another item" in page and '<a class="nowrap" href="/console/ledger">' in page
    finally:
        study.close()


def test_gold_that_nobody_gets_wrong_is_too_easy(study: Study) -> None:
    stage_id = study.stage("meaningful").id
    easy = [GoldMet(stage_id, f"g{number}", 10, 10) for number in range(5)]
    [alarm] = gold_alarms(study, easy)
    assert alarm.kind == "gold-easy" and "Add harder gold items" in alarm.advice
    assert list(gold_alarms(study, easy[:4])) == []
    assert list(gold_alarms(study, [*easy, GoldMet(stage_id, "g9", 10, 8)])) == []


# Arms


def test_arms_are_hidden_until_somebody_asks_and_asking_is_logged(tmp_path: Path, clock: "ManualClock") -> None:
    write_protocol_study(
        tmp_path / "study", message=None, arms='[arms]\nnames = ["plain", "rich"]\n', arms_of=('"plain"', '"rich"')
    )
    study = open_study(tmp_path / "study", clock=clock)
    try:
        for number in range(6):
            arrive(study, number)
        client = as_owner(study)
        hidden = client.get("/console/arms").text
        assert "plain" not in hidden and told(study, "arms shown") == []
        assert "filter-arm" not in client.get("/console/items?arm=plain").text
        asked = client.post("/console/arms", data={"reason": " "})
        assert asked.status_code == 422 and "plain" not in asked.text and told(study, "arms shown") == []
        shown = client.post("/console/arms", data={"reason": "recruiting is over"}).text
        assert "plain" in shown and "Attrition" in shown and "3.0" in shown
        assert told(study, "arms shown") == [{"by": "maya", "reason": "recruiting is over"}]
        assert "filter-arm" in client.get("/console/items?arm=plain").text
        page = client.get("/console").text
        assert "passed" in page and "4 items each" in page and ">training round</span>" in page
    finally:
        study.close()


def test_the_wage_alarm_names_the_minimum_before_the_stages_and_each_title_once() -> None:
    pay = SimpleNamespace(minimum_hourly=1500, currency="USD")
    study: Any = SimpleNamespace(settings=SimpleNamespace(pay=pay))
    stages: list[Any] = [
        SimpleNamespace(title=title, wage=SimpleNamespace(median=1400), counts=SimpleNamespace(name=name))
        for name, title in (("writing-a", "Writing"), ("writing-b", "Writing"), ("quiz", "Quiz"))
    ]
    wage: Any = SimpleNamespace(median=1600, tenth_percentile=1600)
    [alarm] = wage_alarms(study, stages, wage)
    assert alarm.title == "The median wage is below your minimum of $15.00 an hour in “Writing”, “Quiz”"
    assert (alarm.advice, alarm.stages) == ("Raise the pay of these stages.", ("writing-a", "writing-b", "quiz"))
    [alone] = wage_alarms(study, stages[:1], wage)
    assert alone.advice == "Raise the pay of this stage."


def test_a_study_without_arms_has_none_to_show(study: Study) -> None:
    assert as_owner(study).get("/console/arms").status_code == 404


# The experts' desk


def test_experts_grade_from_their_desk_and_come_back_to_it(tmp_path: Path, clock: "ManualClock") -> None:
    fill = write_graded_study(tmp_path / "study")
    study = open_study(tmp_path / "study", clock=clock)
    try:
        fill(study)
        [stage] = [name for name in study.stages if name.endswith("-grades") and waits(study, name)]
        owner, expert = as_owner(study), TestClient(create_app(study), follow_redirects=False)
        expert.get(staff_link_path(study_sessions(study), "expert", "ada"))
        desk = expert.get("/console/queue").text
        assert "<strong>3</strong> items to do" in desk
        assert ">Grading guidelines<" in desk and "Write with care." in desk
        begun = expert.post("/console/queue/work", data={"stage": stage})
        assert begun.headers["location"] == f"/stages/{stage}"
        # Grades are for answers, not for released results.
        assert ">from 3 answers</text>" in owner.get("/console").text
        page = expert.get(f"/stages/{stage}").text
        assert 'id="rubric-title"' in page and 'data-first-visit="no"' in page and "Stop for now" not in page
        assert expert.get("/").headers["location"] == "/console/queue"
        first = expert.post(f"/api/stages/{stage}/next").json()["assignment"]["id"]
        graded = {"key": "grade-0001", "answer": {"clear": 4, "hard": 2}}
        assert expert.post(f"/api/assignments/{first}/submit", json=graded).status_code == 200
        desk = expert.get("/console/queue").text
        assert (
            "<strong>2</strong> items to do" in desk
            and "1 item that you answered still needs answers from others" in desk
        )
        held = expert.post(f"/api/stages/{stage}/next").json()["assignment"]["id"]
        gone = {"name": "ada", "role": "expert", "reason": "has left"}
        assert owner.post("/console/team/revoke", data=gone).status_code == 303
        assert expert.post(f"/api/assignments/{held}/submit", json={**graded, "key": "grade-0002"}).status_code == 403
        assert expert.post(f"/api/stages/{stage}/next").json().get("assignment") is None
        assert differences(study) == []
    finally:
        study.close()


def test_stages_where_an_expert_can_work_come_first(
    tmp_path: Path, clock: "ManualClock", monkeypatch: pytest.MonkeyPatch
) -> None:
    write_graded_study(tmp_path / "study")
    study = open_study(tmp_path / "study", clock=clock)
    try:
        assert [name for name in study.stages if name.endswith("-grades")] == ["careful-grades", "quick-grades"]
        everybody = people(study, 8)
        arms = look(study, arms_by_worker)
        writer = next(person for person in everybody if arms[person.pseudonym] == "quick")
        writer.judge({"question": "What happened?", "kind": "what", "length": "one"}, "quick-practice")
        expert = TestClient(create_app(study), follow_redirects=False)
        expert.get(staff_link_path(study_sessions(study), "expert", "ada"))
        desk = expert.get("/console/queue").text
        assert desk.index('id="queue-quick-grades"') < desk.index('id="queue-careful-grades"')
        # Stages with the same title show their names.
        assert '<span class="mono muted small">quick-grades</span>' in desk
        owner = as_owner(study)
        tabs = owner.get("/console/items").text
        assert '<span class="mono small">quick-grades</span>' in tabs and "stage-menu" not in tabs
        monkeypatch.setattr(frame, "MOST_TABS", 1)
        menu = owner.get("/console/items").text
        assert menu.index('class="stage-menu"') < menu.index('<span class="mono small">quick-grades</span>')
        # Adjudication opens the first stage with a disagreement, and has the same menu.
        reviewed = owner.get("/console/review").text
        assert 'class="stage-menu"' in reviewed and "/console/review/quick-grades?queue=disagreeing" in reviewed
        # A card with nothing to do has no button.
        busy, idle = desk.split('id="queue-careful-grades"')
        assert '/console/queue/work"' in busy and '/console/queue/work"' not in idle and "Nothing to do." in idle
    finally:
        study.close()


@pytest.mark.parametrize(
    ("of", "sample", "kind"),
    [
        ("answers", 0.01, "review"),
        ("answers", 1, "review"),
        ("together", 1, "consolidation"),
        ("together", 0.5, "review"),
    ],
)
def test_the_desk_says_what_experts_do_there(study: Study, of: str, sample: float, kind: str) -> None:
    stage = study.stage("meaningful")
    items = ItemSettings.model_validate({"from": "writing", "of": of, "sample": sample})
    assert kind_of(replace(stage, settings=stage.settings.model_copy(update={"items": items}))) == kind
    assert kind_of(stage) == "work"


def waits(study: Study, stage: str) -> bool:
    return bool(look(study, console.open_items).get(study.stage(stage).id))


def test_signing_out_of_the_console_ends_expert_sessions_in_stages(tmp_path: Path, clock: "ManualClock") -> None:
    write_graded_study(tmp_path / "study")
    study = open_study(tmp_path / "study", clock=clock)
    try:
        expert = TestClient(create_app(study), follow_redirects=False)
        expert.get(staff_link_path(study_sessions(study), "expert", "ada"))
        expert.post("/console/queue/work", data={"stage": "careful-grades"})
        assert set(expert.cookies) == {"chorale_staff", "chorale_worker"}
        expert.post("/logout")
        assert not expert.cookies
    finally:
        study.close()
