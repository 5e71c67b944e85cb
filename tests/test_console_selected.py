"""Acts on several selected rows of the console's tables: confirmed, logged one by one, done once, all or none."""

import csv
import re
from collections.abc import Iterator
from html import unescape
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from httpx2 import Response
from starlette.testclient import TestClient

from chorale.engine import arrivals, managing, settling
from chorale.engine.asking_experts import questions
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.store import events, gates, ledger, messages, participations
from chorale.store.items import all_items
from chorale.web.console.selecting import MOST_SELECTED
from crowd import people
from protocol_study import write_protocol_study
from small_study import write_small_study
from test_console import arrive, do_work, honest, wrong
from test_console_acts import act, as_owner, change, differences, look, quick_hashing, told

if TYPE_CHECKING:
    from conftest import ManualClock

__all__ = ["quick_hashing"]
KEY = "key-of-the-form"


@pytest.fixture
def busy(tmp_path: Path, clock: "ManualClock") -> Iterator[Study]:
    """One who is always wrong and was removed, and four careful people."""
    write_small_study(tmp_path / "study", share=0.5, fee_percent=20)
    opened = open_study(tmp_path / "study", clock=clock)
    for number, way in enumerate([wrong, *[honest] * 4]):
        do_work(opened, clock, arrive(opened, number), way)
    settling.settle_everything(opened)
    yield opened
    opened.close()


def rows_of(study: Study) -> list[participations.ParticipationSummary]:
    rows = look(study, lambda tx: participations.participation_summaries(tx, stage_name="meaningful"))
    return sorted(rows, key=lambda row: row.worker)


def active(study: Study) -> list[str]:
    return [row.worker for row in rows_of(study) if row.standing == "active"]


def ask(client: TestClient, what: str, chosen: list[str], query: str = "") -> Response:
    form = {"act": what, "stage": "meaningful", "chosen": chosen, "query": query}
    return client.post("/console/workers/selected", data=form)


def confirm(client: TestClient, what: str, chosen: list[str], **more: Any) -> Response:
    form = {"key": KEY, "stage": "meaningful", "chosen": chosen, "reason": "they asked for it", **more}
    return client.post(f"/console/workers/selected/{what}", data=form)


def notice(client: TestClient, answer: Response) -> str:
    assert answer.status_code == 303, answer.text
    [text] = re.findall(
        r'<p class="alert alert-ok" role="status">(.*?)</p>', client.get(answer.headers["location"]).text
    )
    return str(unescape(text))


def test_a_message_to_those_selected_is_confirmed_logged_for_each_and_sent_once(busy: Study) -> None:
    client, chosen = as_owner(busy), active(busy)[:3]
    listed = client.get("/console/workers?stage=meaningful").text
    assert listed.count('name="chosen"') == len(rows_of(busy)) and 'form="workers-selected"' in listed
    asked = ask(client, "message", chosen, "stage=meaningful&status=active&done=bonus&n=1")
    assert "Send a message to 3 workers?" in asked.text and told(busy, "message written") == []
    assert all(f"/console/workers/{name}" in asked.text for name in chosen)
    wanting = confirm(client, "message", chosen, title="News", body="<b>There</b> is more.", reason=" ")
    assert wanting.status_code == 422 and "Enter a reason" in wanting.text and "&lt;b&gt;There" in wanting.text
    for expected in ("Messages sent: 3.", "This was already done."):
        query = "stage=meaningful&status=active&done=bonus&n=1"
        sent = confirm(client, "message", chosen, title="News", body="There is more.", query=query)
        assert sent.headers["location"].startswith("/console/workers?stage=meaningful&status=active&done=")
        assert notice(client, sent) == expected
    logged = look(busy, lambda tx: events.recent(tx, 10, kinds=("message written",)))
    assert sorted(one.worker for one in logged) == sorted(chosen)
    assert {(one.evidence["by"], one.evidence["reason"]) for one in logged} == {("maya", "they asked for it")}
    for name in chosen:
        worker = look(busy, lambda tx, name=name: managing.worker_called(tx, name))
        [only] = look(busy, lambda tx, worker=worker: messages.messages_to(tx, worker.id))
        assert only.title == "News"


def test_bonuses_need_their_total_confirmed_and_are_booked_once_for_each(busy: Study) -> None:
    client, chosen = as_owner(busy), active(busy)[:3]
    assert "Show the total" in ask(client, "bonus", chosen).text
    first = confirm(client, "bonus", chosen, amount="1.50")
    assert "$4.50" in first.text and "20% platform fee" in first.text and told(busy, "bonus given") == []
    changed = confirm(client, "bonus", chosen, amount="2", total=450)
    assert "$6.00" in changed.text and told(busy, "bonus given") == [], "another amount is confirmed again"
    for expected in ("Bonuses in the ledger: 3.", "This was already done."):
        assert notice(client, confirm(client, "bonus", chosen, amount="1.50", total=450)) == expected
    lines = [one for one in look(busy, lambda tx: list(ledger.ledger_lines(tx))) if one.cause.endswith(":bonus")]
    assert sorted((one.worker, one.amount) for one in lines) == [(name, 150) for name in chosen]
    assert len(told(busy, "bonus given")) == 3 and differences(busy) == []


@pytest.mark.parametrize("amount", ["", "-1", "0", "0.001", "much"])
def test_what_is_no_amount_is_refused_with_what_was_typed(busy: Study, amount: str) -> None:
    answer = confirm(as_owner(busy), "bonus", active(busy), amount=amount)
    assert answer.status_code == 422 and f'value="{amount}"' in answer.text and told(busy, "bonus given") == []


def test_bonuses_beyond_the_budget_are_booked_for_nobody(tmp_path: Path, clock: "ManualClock") -> None:
    write_small_study(tmp_path / "study")
    settings = tmp_path / "study" / "study.toml"
    settings.write_text(settings.read_text().replace("[pay]", "[pay]\nbudget = 100"))
    study = open_study(tmp_path / "study", clock=clock)
    for number in range(3):
        do_work(study, clock, arrive(study, number), honest, 2)
    client, chosen = as_owner(study), [row.worker for row in rows_of(study)]
    refused = confirm(client, "bonus", chosen, amount="0.40", total=40 * len(chosen))
    assert len(chosen) == 3 and refused.status_code == 422 and "would exceed the budget" in refused.text
    assert told(study, "bonus given") == [], "the first two were covered, and are not booked either"
    study.close()


def test_removing_leaves_out_those_who_are_removed_and_says_so(busy: Study) -> None:
    client, before = as_owner(busy), active(busy)
    everybody = [row.worker for row in rows_of(busy)]
    assert len(everybody) == len(before) + 1
    asked = ask(client, "remove", everybody)
    assert f"Remove {len(before)} workers from" in asked.text and "1 selected worker is already removed" in asked.text
    hidden = re.findall(r'type="hidden" name="chosen" value="([^"]+)"', asked.text)
    assert hidden == before
    # Somebody else removes one of them before the owner confirms.
    change(busy, managing.end_work, before[0], busy.stage("meaningful"), act(key="another-form"))
    done = confirm(client, "remove", before[:3])
    assert notice(client, done) == "Workers removed: 2. They keep what they earned."
    assert active(busy) == before[3:]
    by_hand = [one for one in told(busy, "dropped") if one.get("rule") == "staff"]
    assert len(by_hand) == 3 and differences(busy) == []
    assert notice(client, confirm(client, "remove", before[:3])) == "This was already done."
    gone = ask(client, "remove", before[:3])
    assert gone.status_code == 422 and "None of the selected workers is active" in gone.text


def test_qualifications_are_granted_to_those_who_lack_them(tmp_path: Path, clock: "ManualClock") -> None:
    write_protocol_study(tmp_path / "study", message=None)
    study = open_study(tmp_path / "study", clock=clock)
    [first_stage, *_] = study.stages.values()
    for one in people(study, 3):
        one.submit(one.next(first_stage.name))
    rows = look(study, lambda tx: participations.participation_summaries(tx, stage_name=first_stage.name))
    chosen, [name, *_] = [row.worker for row in rows], managing.qualifications_known(study)
    change(study, managing.qualify, chosen[0], name, act())
    client = as_owner(study)
    form = {"act": "qualify", "stage": first_stage.name, "chosen": chosen}
    assert f'<option value="{name}"' in client.post("/console/workers/selected", data=form).text
    assert confirm(client, "qualify", chosen, stage=first_stage.name, name="nothing").status_code == 422
    done = confirm(client, "qualify", chosen, stage=first_stage.name, name=name)
    assert notice(client, done) == "Qualifications granted: 2."
    assert {row.worker for row in look(study, gates.qualifications) if row.name == name} == set(chosen)
    study.close()


def test_nothing_selected_too_many_and_strangers_to_the_stage_are_refused(busy: Study) -> None:
    client = as_owner(busy)
    assert "Select at least one worker." in ask(client, "remove", []).text
    assert ask(client, "remove", [f"w-{number}" for number in range(MOST_SELECTED + 1)]).status_code == 422
    assert "None of the selected workers has worked in" in ask(client, "remove", ["w-nobody"]).text
    assert confirm(client, "remove", ["w-nobody", *active(busy)]).status_code in (404, 422)
    assert not [one for one in told(busy, "dropped") if one.get("rule") == "staff"]


def test_selected_rows_are_downloaded_as_shown_and_the_download_is_logged(busy: Study) -> None:
    client = as_owner(busy)
    chosen = [row.worker for row in rows_of(busy)]
    file = ask(client, "download", chosen)
    assert file.headers["content-disposition"] == 'attachment; filename="workers-meaningful.csv"'
    lines = list(csv.DictReader(StringIO(file.text)))
    assert [(one["worker"], one["status"], int(one["earned_minor_units"])) for one in lines] == [
        (row.worker, "removed" if row.standing == "dropped" else "active", row.earned) for row in rows_of(busy)
    ]
    items = [item for item in look(busy, lambda tx: list(all_items(tx, "meaningful"))) if item.answer is not None][:2]
    form = {"act": "download", "chosen": [item.key for item in items]}
    lines = list(csv.DictReader(StringIO(client.post("/console/items/meaningful/selected", data=form).text)))
    assert [(one["item"], one["label"], float(one["confidence"])) for one in lines] == sorted(
        (item.key, item.answer, item.confidence) for item in items
    )
    assert [one["format"] for one in told(busy, "exported")] == ["selected items", "selected workers"]


def test_selected_items_go_to_the_review_queue_once(busy: Study) -> None:
    client = as_owner(busy)
    page = client.get("/console/items?stage=meaningful").text
    keys = [unescape(key) for key in re.findall(r'name="chosen" value="([^"]+)"', page)][:3]
    asked = client.post("/console/items/meaningful/selected", data={"act": "expert", "chosen": keys})
    assert "Send 3 items to the review queue?" in asked.text
    form = {"chosen": keys, "reason": "Is this a phrase?", "query": "stage=meaningful&order=least+confident"}
    path = "/console/items/meaningful/selected/expert"
    wanting = client.post(path, data={**form, "reason": " "})
    assert wanting.status_code == 422 and "Enter a question" in wanting.text
    assert client.post(path, data={**form, "chosen": [*keys, "nothing"]}).status_code == 422
    assert look(busy, lambda tx: questions(tx, 9))[1] == 0, "all or none"
    sent = client.post(path, data=form)
    assert sent.headers["location"].startswith("/console/items?stage=meaningful&order=least+confident&")
    assert notice(client, sent) == "Items sent to the review queue: 3."
    assert notice(client, client.post(path, data=form)) == "The item is already in the review queue."
    asked_for, total = look(busy, lambda tx: questions(tx, 9))
    assert total == 3 and {one.event.evidence["reason"] for one in asked_for} == {"Is this a phrase?"}


def test_selected_gold_is_retired_with_one_reason_and_an_event_each(busy: Study) -> None:
    client = as_owner(busy)
    page = client.get("/console/gold/meaningful").text
    keys = re.findall(r'name="chosen" value="([^"]+)"', page)[:2]
    asked = client.post("/console/gold/meaningful/selected", data={"chosen": keys})
    assert "Retire 2 gold items?" in asked.text and told(busy, "retired gold") == []
    assert client.post("/console/gold/meaningful/retire", data={"chosen": keys}).status_code == 422
    form = {"chosen": [keys[0], "a00000:lhs"], "reason": "unclear"}
    done = client.post("/console/gold/meaningful/retire", data=form)
    assert notice(client, done) == "Gold items retired: 1. Answers so far stay graded."
    done = client.post("/console/gold/meaningful/retire", data={"chosen": keys, "reason": "unclear"})
    assert notice(client, done) == "Gold items retired: 1. Answers so far stay graded."
    assert told(busy, "retired gold") == [{"by": "maya", "reason": "unclear"}] * 2
    assert "Retired gold" in client.get("/console/gold/meaningful").text


def test_selected_links_are_revoked(busy: Study) -> None:
    for _ in range(3):
        change(busy, arrivals.new_invitation, "maya")
    client = as_owner(busy)
    assert client.get("/console/recruiting").text.count('name="chosen"') == 3
    assert "Revoke 2 invitation links?" in client.post("/console/recruiting/selected", data={"chosen": ["1", "3"]}).text
    assert told(busy, "invitation revoked") == []
    for expected in ("Links revoked: 2. People who already joined keep access.", "This was already done."):
        done = client.post("/console/recruiting/revoke", data={"chosen": ["1", "3"], "reason": "They were lost."})
        assert notice(client, done) == expected
    assert sorted(one["invitation"] for one in told(busy, "invitation revoked")) == [1, 3]
    page = client.get("/console/recruiting").text
    assert page.count('name="chosen"') == 1 and page.count(">revoked<") == 2
    assert client.post("/console/recruiting/selected", data={"chosen": ["1; x"]}).status_code == 422
