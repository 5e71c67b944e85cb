"""What people hear of a protocol: messages, what comes of practice, why there is nothing to do, and of which parts."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from chorale.cli import app as cli
from chorale.contract import installed_tasks
from chorale.engine import entering, work
from chorale.engine.gates import close_gate
from chorale.engine.opening import open_study
from chorale.engine.planning import noted_forecast
from chorale.engine.running import Study
from chorale.engine.visit import visit
from chorale.monitor.overview import overview
from chorale.monitor.status import status
from chorale.protocol import Reason
from chorale.protocol.situation_words import MESSAGES, RESULT_FOLLOWS
from chorale.store import arms, messages, workers
from chorale.web.app import create_app
from crowd import Person, do, look, tamper
from protocol_study import write_protocol_study
from writing_study import write_graded_study

FORM = """
[[stage.options.shows]]
item = "photo"
[[stage.options.shows]]
item = "caption"
label = "The caption"
[[stage.options.fields]]
name = "fits"
kind = "choice"
ask = "Does it fit?"
options = [{ value = "y", label = "Yes, well" }, { value = "n", label = "No" }]
[[stage.options.fields]]
name = "where"
kind = "spans"
ask = "Mark what does not"
item = "caption"
min = 0
"""
MESSAGE = """\
{% for answer in answers %}
{{ answer.item }} | {{ answer.answer }} | {{ answer.expert }} | {{ answer.reasons | join(" + ") }}
{% endfor %}
{% if bonus %}bonus {{ bonus }}{% else %}no bonus{% endif %}
"""
WRONG = {"fits": "y", "where": []}
RIGHT = {"fits": "n", "where": [{"start": 1, "end": 2}]}


@pytest.fixture
def captions(tmp_path: Path) -> Iterator[Study]:
    study = captions_study(tmp_path)
    yield study
    study.close()


def captions_study(tmp_path: Path, language: str = "en") -> Study:
    (tmp_path / "consent.md").write_text("You agree to take part.\n")
    (tmp_path / "guidelines.md").write_text("Look well.\n")
    (tmp_path / "message.md").write_text(MESSAGE)
    row = {"id": "r", "source": "KEPT", "photo": "A bus", "caption": "A yellow car", "answer": RIGHT}
    (tmp_path / "round.jsonl").write_text(json.dumps({**row, "explanation": "It is a bus."}))
    stages = "".join(
        f'[[stage]]\nname = "{name}"\ntitle = "{name}"\ntask = "form"\nguidelines = "guidelines.md"\n'
        f'round = {{ file = "round.jsonl", feedback = "{feedback}" }}\n{FORM}'
        for name, feedback in (("practice", "at once"), ("quiz", "later"))
    )
    (tmp_path / "study.toml").write_text(
        '[study]\ntitle = "Captions"\ncontact = "us@example.org"\nconsent = "consent.md"\n'
        f'language = "{language}"\n{stages}'
        '[[gate]]\nname = "good"\nstage = "quiz"\nthreshold = 0.9\nbonus = 150\nmessage = "message.md"\n'
    )
    return open_study(tmp_path)


def message_to(study: Study, person: Person) -> str:
    [message] = look(study, lambda tx: messages.messages_to(tx, person.id))
    return message.body.replace("\\", "")


def test_a_form_is_told_in_the_words_of_its_page_and_nothing_else_of_it(captions: Study) -> None:
    able, other = Person(captions, "able"), Person(captions, "other")
    able.judge(RIGHT, "quiz")
    other.judge(WRONG, "quiz")
    right = "Does it fit? No · Mark what does not: “yellow”"
    assert f"A bus · A yellow car | {right} | {right} | \nbonus $1.50" in message_to(captions, able)
    wrong = "Does it fit? Yes, well · Mark what does not: nothing"
    reasons = (
        "Does it fit? You answered “Yes, well”; the correct answer is “No” + "
        "Mark what does not: You answered “nothing”; the correct answer is “yellow”"
    )
    assert f"A bus · A yellow car | {wrong} | {right} | {reasons}\nno bonus" in message_to(captions, other)


def test_mistakes_are_explained_in_the_language_of_the_study(tmp_path: Path) -> None:
    study = captions_study(tmp_path, "de")
    other = Person(study, "other")
    other.judge(WRONG, "quiz")
    wrong = "Does it fit? Yes, well · Mark what does not: nichts"
    assert f"| {wrong} | Does it fit? No" in message_to(study, other)
    reasons = (
        "Does it fit? Sie haben „Yes, well“ geantwortet; die richtige Antwort ist „No“ + "
        "Mark what does not: Sie haben „nichts“ geantwortet; die richtige Antwort ist „yellow“"
    )
    assert reasons in message_to(study, other)
    study.close()


def test_practice_says_what_was_right_and_a_quiz_nothing(captions: Study) -> None:
    able, other = Person(captions, "able"), Person(captions, "other")
    offer = able.next("practice")
    assert [able.submit(offer, RIGHT).right for _ in range(2)] == [True, True]
    offer = other.next("practice")
    for outcome in (other.submit(offer, WRONG), other.submit(offer, WRONG)):
        assert outcome.right is False
        assert outcome.details == {
            "shown": [{"label": "", "text": "A bus"}, {"label": "The caption", "text": "A yellow car"}],
            "wrong": [
                {"ask": "Does it fit?", "own": "Yes, well", "right": "No"},
                {"ask": "Mark what does not", "own": "", "right": "“yellow”"},
            ],
        }
    assert [each.judge(answer, "quiz")[1].right for each, answer in ((able, RIGHT), (other, WRONG))] == [None, None]


def test_every_kind_of_field_is_told_as_the_page_has_it() -> None:
    form = installed_tasks()["form"]
    assert form.explaining.quote is not None
    first, second = form.examples
    told = form.explaining.quote(first.row, first.answer)
    assert "What is it about? garden" in told
    assert "How urgent is it? 3 · Which words tell you? “Could you”, “? Thank”" in told
    assert "What would you reply? “Of course” · Which reply is kinder? “With pleasure.”" in told
    assert form.explaining.reasons is not None
    gold = {"better": "first_reply", "about": [], "tone": "neutral"}
    assert form.explaining.reasons(first.row, first.answer, gold) == (
        "How does it sound? You answered “friendly”; the correct answer is “neutral”",
        "What is it about? You answered “garden”; the correct answer is “None of these”",
    )
    told = form.explaining.quote(second.row, second.answer)
    assert "What is it about? None of these · How urgent is it? 5 (Very)" in told
    assert "Which reply is kinder? About the same · What makes it rude? “It gives" in told


def test_whoever_waits_for_a_gate_is_told_so_and_nobody_else(tmp_path: Path) -> None:
    write_protocol_study(tmp_path, gate="top_share = 1.0", round_extra="size = 1")
    study = open_study(tmp_path)
    person = Person(study, "a")
    person.judge(stage="training")
    assert person.next("training").message.endswith(RESULT_FOLLOWS)
    assert part(study, person.pseudonym, "training")[1] == f"{MESSAGES[Reason.ROUND_FINISHED]} {RESULT_FOLLOWS}"
    do(study, close_gate, study.gates["trained"], "the test")
    assert part(study, person.pseudonym, "training")[1] == MESSAGES[Reason.ROUND_FINISHED]
    study.close()


def test_practice_that_no_gate_looks_at_promises_nothing(captions: Study) -> None:
    person = Person(captions, "a")
    person.judge(RIGHT, "practice")
    assert person.next("practice").message == MESSAGES[Reason.ROUND_FINISHED]
    assert part(captions, person.pseudonym, "practice") == ("finished", MESSAGES[Reason.ROUND_FINISHED])


def test_writing_that_is_graded_later_is_waited_for_and_then_over(tmp_path: Path) -> None:
    write_graded_study(tmp_path, 4)(study := open_study(tmp_path))
    [(name, arm)] = look(study, arms.arms_by_worker).items()
    assert part(study, name, f"{arm}-practice") == ("waiting", f"{MESSAGES[Reason.MORE_MAY_COME]} {RESULT_FOLLOWS}")
    do(study, close_gate, study.gates[f"{arm}-trained"], "the test")
    assert part(study, name, f"{arm}-practice") == ("finished", MESSAGES[Reason.ENDED])
    study.close()


def test_other_arms_and_what_is_for_experts_look_like_nothing(tmp_path: Path) -> None:
    write_graded_study(tmp_path)
    study = open_study(tmp_path)
    with TestClient(create_app(study), follow_redirects=False) as client:
        client.get("/join", params={"PROLIFIC_PID": "somebody"})
        client.post("/consent", data={"agree": "yes"})
        [(_, arm)] = look(study, arms.arms_by_worker).items()
        [other] = {"careful", "quick"} - {arm}
        nothing = client.get("/stages/nothing"), client.post("/api/stages/nothing/next", json={})
        assert [answer.status_code for answer in nothing] == [404, 404]
        for name in (f"{other}-practice", f"{other}-final", f"{arm}-grades"):
            page, item = client.get(f"/stages/{name}"), client.post(f"/api/stages/{name}/next", json={})
            assert (page.text, item.text) == tuple(answer.text for answer in nothing)
        # What they may know of and not enter yet is told to be locked.
        assert client.get(f"/stages/{arm}-final").status_code == 200
        assert client.post(f"/api/stages/{arm}-final/next", json={}).json()["status"] == "locked"
    study.close()


def test_a_spent_budget_is_told_to_everybody(tmp_path: Path) -> None:
    write_protocol_study(tmp_path, pay="budget = 40\nfee_percent = 0", items=2, gate="threshold = 0.0")
    study = open_study(tmp_path)
    first, second, third = (Person(study, name) for name in "abc")
    for person in (first, second, third):
        while (offer := person.next("training")).lease is not None:
            person.submit(offer)
    assert look(study, lambda tx: status(tx, study)).stopped == ()
    for stage in ("work-a", "work-b"):
        while (offer := first.next(stage)).lease is not None:
            first.submit(offer)
    while (offer := second.next("work-a")).lease is not None:
        second.submit(offer)
    assert look(study, lambda tx: status(tx, study)).stopped == ("training", "work-a", "work-b")
    assert part(study, second.pseudonym, "work-b") == ("paused", MESSAGES[Reason.BUDGET])
    assert "budget" in [alarm.kind for alarm in look(study, lambda tx: overview(tx, study)).alarms]
    study.close()
    told = CliRunner().invoke(cli, ["status", str(tmp_path)])
    assert "No more items are assigned in training, work-a, work-b: the budget of $0.40" in " ".join(
        told.output.split()
    )


def test_what_experts_do_for_nothing_is_no_low_wage(tmp_path: Path) -> None:
    write_graded_study(tmp_path)(study := open_study(tmp_path))
    [(_, arm)] = look(study, arms.arms_by_worker).items()
    expert = do(study, entering.arrive_as_expert, "ada")
    settings = tmp_path / "study.toml"
    settings.write_text(settings.read_text().replace("per_judgment = 5\n", ""))
    study.close()
    study = open_study(tmp_path)
    stage = study.stage(f"{arm}-grades")
    offer = do(study, work.next_item, stage, expert.id)
    assert offer.lease is not None
    do(study, work.submit, expert.id, offer.lease.token, {"clear": 5, "hard": 5}, "key-00000001", 60_000)
    # An answer takes at most the time since it was assigned: here often no millisecond, so no wage.
    tamper(study, "UPDATE participation SET worked_ms = 60000 WHERE answered > 0")
    now = look(study, lambda tx: status(tx, study))
    assert now.wage.workers == 1
    assert stage.name not in now.wages
    assert look(study, lambda tx: overview(tx, study)).wage == now.wage
    study.close()


def test_a_forecast_made_afterwards_is_no_plan(tmp_path: Path) -> None:
    write_protocol_study(tmp_path, gate="threshold = 0.0")
    open_study(tmp_path).close()
    # The site may be open already.
    told = CliRunner().invoke(cli, ["rehearse", str(tmp_path), "--seeds", "1", "--processes", "1", "--save"])
    assert told.exit_code == 0, told.output
    study = open_study(tmp_path)
    Person(study, "a").judge(stage="training")
    planned = look(study, lambda tx: noted_forecast(tx, tmp_path))
    assert planned is not None
    assert planned.is_plan
    forecast = tmp_path / "forecast.json"
    forecast.write_text(forecast.read_text().replace('"mean": ', '"mean": 1'))
    assert look(study, lambda tx: noted_forecast(tx, tmp_path)) is None
    study.close()
    open_study(tmp_path).close()
    page = tmp_path / "report.html"
    CliRunner().invoke(cli, ["report", str(tmp_path), "--out", str(page), "--no-charts", "--resamples", "100"])
    assert "so it was not made before the study" in page.read_text("utf-8")
    assert "after 1 answer," in page.read_text("utf-8")


def part(study: Study, pseudonym: str, stage: str) -> tuple[str, str]:
    """How a worker finds a stage, and why."""
    worker = look(study, lambda tx: workers.find_by_pseudonym(tx, pseudonym))
    assert worker is not None
    found = look(study, lambda tx: visit(tx, study, worker.id))
    assert found is not None
    [one] = [each for each in found.stages if each.stage.name == stage]
    return one.state, one.message
