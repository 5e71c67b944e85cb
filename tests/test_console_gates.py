"""Gates on pages: the console closes them, experts read messages and grade, workers read how they did."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from chorale.cli import app as commands
from chorale.engine import gates as gating
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.monitor.next_steps import next_steps
from chorale.monitor.overview import Overview, overview
from chorale.store import gates, items, messages, requesters
from chorale.store.arms import arms_by_worker
from chorale.web.app import create_app
from chorale.web.links import OWNER, staff_link_path, study_sessions
from chorale.web.sessions import STAFF_COOKIE, WORKER_COOKIE
from cookies import staff_cookie, worker_cookie
from crowd import Person, do, look, people, work_through
from protocol_study import write_protocol_study
from test_protocols import train
from writing_study import write_graded_study

WHY = {"reason": "all are graded"}
GATE = "top_share = 0.5\nbonus = 500\nreview = true"
MESSAGE = "Your score is {{ '%.2f' % score }}. [A link](javascript:alert(1)) <script>alert(2)</script>\n"


@pytest.fixture
def study(tmp_path: Path) -> Iterator[Study]:
    write_protocol_study(tmp_path / "study", gate=GATE, message=MESSAGE)
    opened = open_study(tmp_path / "study")
    yield opened
    opened.close()


def client(study: Study) -> TestClient:
    return TestClient(create_app(study), base_url="http://study.test", follow_redirects=False)


def as_owner(study: Study) -> TestClient:
    study.store.write(lambda tx: requesters.add_requester(tx, "maya", OWNER)).result()
    browser = client(study)
    browser.cookies.set(STAFF_COOKIE, staff_cookie(study, "maya"))
    return browser


def as_expert(study: Study) -> TestClient:
    browser = client(study)
    assert browser.get(staff_link_path(study_sessions(study), "expert", "ada")).status_code in (200, 303)
    return browser


def as_worker(study: Study, person: Person) -> TestClient:
    browser = client(study)
    browser.cookies.set(WORKER_COOKIE, worker_cookie(study, person))
    return browser


def test_the_owner_sees_who_would_pass_and_closes_the_gate(study: Study) -> None:
    good, bad = Person(study, "good"), Person(study, "bad")
    train(good, 4)
    train(bad, 1)
    owner = as_owner(study)
    page = owner.get("/console/gates").text
    assert "1 of 2 would pass" in page
    assert good.pseudonym in page
    assert 'aria-label="Pages of people at trained"' in page  # other gates have their own
    assert owner.post("/console/gates/trained/close").status_code == 422
    assert look(study, gates.closed_gates) == set()
    closed = owner.post("/console/gates/trained/close", data=WHY)
    assert (closed.status_code, closed.headers["location"]) == (303, "/console/gates?done=gate-closed")
    assert look(study, gates.closed_gates) == {"trained"}
    assert good.next("work-a").status == "item"
    assert "closed" in owner.get("/console/gates").text
    # A second click changes nothing.
    owner.post("/console/gates/trained/close", data=WHY)
    assert len(look(study, lambda tx: gates.verdicts(tx, "trained"))) == 2


def test_a_gate_that_is_not_there_is_told_on_a_page(study: Study) -> None:
    answer = as_owner(study).post("/console/gates/nothing/close")
    assert answer.status_code == 404
    assert "no gate of this name" in answer.text


def test_grades_are_no_labels_to_decide(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before, the next steps of a finished trial asked for hundreds of decisions about grades that gates had used."""
    write_graded_study(tmp_path / "trial")
    with closing(open_study(tmp_path / "trial")) as trial:
        monkeypatch.setattr(Overview, "phase", "finished")
        now = look(trial, lambda tx: overview(tx, trial))

        def steps(*, of_grades: bool) -> list[str]:
            """The next steps if labels of the grading stages, or of all others, are not accepted."""
            views = [
                replace(one, counts=replace(one.counts, complete=5, released=1))
                for one in now.stages
                if trial.stage(one.counts.name).settings.grades is of_grades
            ]
            return [step.kind for step in look(trial, lambda tx: next_steps(tx, trial, replace(now, stages=views)))]

        assert "adjudicate" in steps(of_grades=False)
        assert "adjudicate" not in steps(of_grades=True)


def test_decisions_of_a_closed_gate_are_folded_among_others(tmp_path: Path) -> None:
    write_graded_study(tmp_path / "trial")
    trial = open_study(tmp_path / "trial")
    try:
        everybody = people(trial, 8)
        arms = look(trial, arms_by_worker)
        for number, writer in enumerate(everybody):
            question = f"What happened on day {number}?"
            writer.judge({"question": question, "kind": "what", "length": "one"}, f"{arms[writer.pseudonym]}-practice")
        for arm in ("careful", "quick"):
            work_through(everybody, lambda *_: {"clear": 4, "hard": 3}, f"{arm}-grades")
            do(trial, gating.close_gate, trial.gates[f"{arm}-trained"], "the test")
        owner = as_owner(trial)
        assert owner.get("/console/gates").text.count("<details><summary>Decisions") == 2
        asked = owner.get("/console/gates?gate=quick-trained").text
        assert asked.count("<details><summary>Decisions") == asked.count("<details open><summary>Decisions") == 1
    finally:
        trial.close()


def test_experts_send_messages_and_do_not_close_gates(study: Study) -> None:
    person = Person(study, "a")
    train(person, 3)
    owner = as_owner(study)
    owner.post("/console/gates/trained/close", data=WHY)
    expert = as_expert(study)
    assert expert.get("/console/gates").status_code == 403
    assert expert.post("/console/gates/trained/close").status_code == 403
    page = expert.get("/console/queue").text
    assert "Your score is 0.75." in page
    assert "<script>alert(2)" not in page
    assert 'href="javascript' not in page
    waiting = as_worker(study, person).get("/").text
    assert "a message about your result is being checked" in waiting and "Your score is" not in waiting
    [draft] = look(study, messages.drafts)
    assert expert.post(f"/console/messages/{draft.id}/send", data={"body": "  "}).status_code == 422
    assert expert.post(f"/console/messages/{draft.id}/send", data={"body": "Well *done*."}).headers["location"] == (
        "/console/queue?done=message-sent"
    )
    shown = as_worker(study, person).get("/").text
    assert "Your messages" in shown and "being checked" not in shown
    assert "Well <em>done</em>." in shown
    assert "New" in shown
    # Having been shown, it is no longer new.
    assert '<span class="badge badge-info">New</span>' not in as_worker(study, person).get("/").text


@pytest.mark.parametrize(
    ("judgments", "told"),
    [
        (
            "{ min = 1, max = 1, sample = { items = 2, judgments = 3 } }",
            {"Randomly sampled to get 3 judgments.": 2, "": 6},
        ),
        (
            "{ min = 1, max = 2, until = 0.8 }",
            {
                "No more judgments are needed: the confidence has reached 0.8.": 7,
                "At least 1 judgment, then one at a time until the confidence reaches 0.8; 2 at most.": 1,
            },
        ),
    ],
)
def test_an_items_page_tells_why_it_gets_as_many_judgments(
    tmp_path: Path, judgments: str, told: dict[str, int]
) -> None:
    write_protocol_study(tmp_path / "study", gate="threshold = 0.0", judgments=judgments)
    study = open_study(tmp_path / "study")
    person, other = Person(study, "a"), Person(study, "b")
    for one in (person, other):
        train(one, 4)
    # Nobody gets both phrases of a pair, and one is left for somebody else.
    for one, most in ((person, 4), (other, 3)):
        for _ in range(most):
            one.submit(one.next("work-a"))
    look_ahead = other.next("work-a")
    owner = as_owner(study)
    pages = [
        owner.get("/console/items/one", params={"stage": "work-a", "key": item.key}).text
        for item in look(study, lambda tx: list(items.all_items(tx, "work-a")))
    ]
    study.close()
    assert look_ahead.lease is not None
    notes = [re.findall(r'id="asking">([^<]*)', page) for page in pages]
    assert Counter(note[0] if note else "" for note in notes) == told


def test_nobody_reads_anothers_messages(study: Study) -> None:
    first, second = Person(study, "a"), Person(study, "b")
    train(first, 4)
    as_owner(study).post("/console/gates/trained/close", data=WHY)
    [draft] = look(study, messages.drafts)
    as_expert(study).post(f"/console/messages/{draft.id}/send", data={"body": "For the first alone."})
    assert "For the first alone." not in as_worker(study, second).get("/").text


def test_experts_work_as_workers_of_their_own(study: Study) -> None:
    expert = as_expert(study)
    assert "No stage of this study needs experts" in expert.get("/console/queue").text
    refused = expert.post("/console/queue/work", data={"stage": "work-a"})
    assert refused.status_code == 422 and "is not for experts" in refused.text


def chorale_json(*arguments: object, code: int = 0) -> dict[str, Any]:
    result = CliRunner().invoke(commands, [*map(str, arguments), "--json"])
    assert result.exit_code == code, (result.output, result.exception)
    found: dict[str, Any] = json.loads(result.stdout) if code == 0 else {}
    return found


def test_a_gate_stays_open_until_somebody_is_scored(tmp_path: Path, study: Study) -> None:
    refused = CliRunner().invoke(commands, ["close", str(tmp_path / "study"), "trained"])
    assert refused.exit_code == 2 and "nobody has been scored yet" in refused.output
    owner = as_owner(study)
    assert "because nobody has been scored." in owner.get("/console/gates").text
    assert "nobody has been scored yet" in owner.post("/console/gates/trained/close", data=WHY).text
    assert not look(study, gates.closed_gates)
    train(Person(study, "a"), 4)
    assert chorale_json("close", tmp_path / "study", "trained")["verdicts"]


def test_the_command_line_closes_a_gate(tmp_path: Path, study: Study) -> None:
    person = Person(study, "a")
    train(person, 4)
    told = chorale_json("close", tmp_path / "study", "trained")
    assert [verdict["passed"] for verdict in told["verdicts"]] == [True]
    assert chorale_json("close", tmp_path / "study", "trained")["verdicts"] == []
    wrong = CliRunner().invoke(commands, ["close", str(tmp_path / "study"), "traned"])
    assert wrong.exit_code == 2
    assert "Did you mean `trained`?" in wrong.output
