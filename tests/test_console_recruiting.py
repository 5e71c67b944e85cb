"""The console's pages about finding people, paying them, and the tasks of scripts."""

from functools import partial
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from fastapi import FastAPI
from starlette.testclient import TestClient

from chorale.engine import arrivals, publishing, recruiting
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.exchange import payout_files
from chorale.kits.mturk.market.access import make_key
from chorale.kits.mturk.market.operations import Call, perform
from chorale.platforms.prolific import Prolific
from chorale.web.app import create_app
from chorale.web.links import invitation_path, new_staff_link, setup_link_path, study_sessions
from crowd import Person
from prolific_stand_in import TOKEN, stand_in
from prolific_study import come, participant, write_prolific_study
from small_study import write_small_study
from turk import HTML_QUESTION, PROPERTIES, write_market

HOSTILE = "</td><script>alert(1)</script>"


@pytest.fixture(autouse=True)
def quick_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorale.web.staff.PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=64))


def owner_of(study: Study, app: FastAPI) -> TestClient:
    client = TestClient(app)
    form = {"name": "maya", "password": "a brass band at dawn", "again": "a brass band at dawn"}
    assert client.post(setup_link_path(study) or "", data=form).status_code == 200
    return client


def test_links_who_came_and_what_is_owed_are_shown_and_a_link_is_revoked_with_a_reason(tmp_path: Path) -> None:
    write_small_study(tmp_path / "study")
    study = open_study(tmp_path / "study")
    make = partial(arrivals.new_invitation, study=study, by=HOSTILE)
    nonces = [study.store.write(lambda tx: make(tx, stage="entailment")).result() for _ in range(2)]
    app = create_app(study)
    owner, visitor = owner_of(study, app), TestClient(app)
    assert "Nobody has joined yet" in owner.get("/console/recruiting").text
    link = invitation_path(study_sessions(study), nonces[0])
    assert visitor.get(link).status_code == 200
    page = owner.get("/console/recruiting").text
    assert "invitation" in page and "one person" in page and "/join?" in page
    assert "<script>alert" not in page and not any(nonce in page for nonce in nonces)
    assert owner.post("/console/recruiting/revoke", data={"chosen": "1", "reason": " "}).status_code == 422
    done = owner.post("/console/recruiting/revoke", data={"chosen": "1", "reason": "It was lost."})
    assert "Links revoked: 1." in done.text and "revoked" in done.text
    again = owner.post("/console/recruiting/revoke", data={"chosen": "1", "reason": "Again."})
    assert "This was already done." in again.text
    assert TestClient(app).get(link).status_code == 403
    assert visitor.post("/console/recruiting/revoke", data={"chosen": "2", "reason": "Mine."}).status_code == 401
    sessions = study_sessions(study)
    look = study.store.write(lambda tx: new_staff_link(tx, study, sessions, "viewer", "Vi", "maya")).result()
    visitor.get(look)
    shown = visitor.get("/console/recruiting").text
    assert "Participants" in shown and "Revoke" not in shown
    assert visitor.post("/console/recruiting/revoke", data={"chosen": "2", "reason": "Mine."}).status_code == 403
    assert owner.get("/console/recruiting/hits").status_code == 404
    _look_at_payouts(study, owner)
    study.close()


@pytest.mark.parametrize(
    ("arrival", "warned"),
    [
        ('panel = "prolific"', True),
        ('panel = "prolific"\ncompletion_code = "C1"', False),
        ('panel = "sona"\ncompletion_code = "C1"', True),
        ('panel = "sona"\ncompletion_url = "https://school.example/credit?survey_code={worker}"', False),
        ('panel = "our-panel"\nworker_parameter = "pid"\ncompletion_code = "C1"', False),
    ],
)
def test_a_missing_way_back_to_the_platform_is_pointed_out(tmp_path: Path, arrival: str, warned: bool) -> None:
    write_small_study(tmp_path / "study")
    file = tmp_path / "study" / "study.toml"
    before, _, rest = file.read_text().partition("[arrival]\n")
    file.write_text(f"{before}[arrival]\n{arrival}\nby_url = true\n\n{rest[rest.index('[pay]') :]}")
    study = open_study(tmp_path / "study")
    page = owner_of(study, create_app(study)).get("/console/recruiting").text
    assert ("neither a link nor a code" in page) == warned
    study.close()


def test_settings_and_recruiting_agree_on_the_platform(tmp_path: Path) -> None:
    shown = {}
    for name, arrival in (("without", ""), ("with", '[arrival]\npanel = "sona"\n\n')):
        write_small_study(tmp_path / name)
        file = tmp_path / name / "study.toml"
        before, _, rest = file.read_text().partition("[arrival]\n")
        file.write_text(f"{before}{arrival}{rest[rest.index('[pay]') :]}")
        study = open_study(tmp_path / name)
        owner = owner_of(study, create_app(study))
        shown[name] = owner.get("/console/study").text, owner.get("/console/recruiting").text
        study.close()
    settings, recruiting = shown["without"]
    assert "<dt>Recruitment platform</dt><dd>not set</dd>" in settings and "This study names no platform" in recruiting
    settings, recruiting = shown["with"]
    assert "<dt>Recruitment platform</dt><dd>sona</dd>" in settings and "This study names no platform" not in recruiting


def test_codes_of_studies_made_on_prolific_are_not_asked_for(tmp_path: Path) -> None:
    write_prolific_study(tmp_path)
    study = open_study(tmp_path)
    page = owner_of(study, create_app(study)).get("/console/recruiting").text
    assert "created with this address and their completion codes" in page and "neither a link nor a code" not in page
    study.close()


def _look_at_payouts(study: Study, owner: TestClient) -> None:
    """What is owed and what was paid, before and after."""
    ada = Person(study, "person-a")
    ada.judge()
    number = study.store.write(lambda tx: payout_files.plan_file(tx, study)).result()
    page = owner.get("/console/payments").text
    assert "planned" in page and "Nobody is owed anything" in page and "person-a" not in page
    assert number is not None
    study.store.write(lambda tx: payout_files.file_written(tx, study, number)).result()
    ada.judge()
    page = owner.get("/console/payments").text
    assert "sent" in page and "file or PayPal" in page


@pytest.mark.slow
def test_studies_on_prolific_and_what_is_owed_are_shown_without_ids(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "study"
    write_prolific_study(folder)
    study = open_study(folder)
    with stand_in() as world, Prolific(TOKEN, world.address) as client:
        wanted = publishing.asked_for(study, None)
        drafted = publishing.draft(study, client, wanted, "https://study.example.org")
        remote = publishing.publish(study, client, wanted, drafted)
        app = create_app(study)
        visitor = TestClient(app)
        submission = come(visitor, world, remote.id, 1, 2)
        world.finish(submission, "made up")
        study.store.write(lambda tx: tx.exec_driver_sql("UPDATE participation SET answered = 0")).result()
        recruiting.sync(study, client)
    owner = owner_of(study, app)
    page, paying = owner.get("/console/recruiting").text, owner.get("/console/payments").text
    assert "1 awaiting review" in page and "1 submission needs a decision" in page
    assert "not approved yet" in paying and "No payouts yet" in paying
    assert not any(name in page + paying for name in (participant(1), submission, remote.id, "made up"))
    study.close()


def test_tasks_of_scripts_are_listed_page_by_page(tmp_path: Path) -> None:
    write_market(tmp_path / "study")
    study = open_study(tmp_path / "study")
    given = {**PROPERTIES, "Title": HOSTILE, "LifetimeInSeconds": 3600, "Question": HTML_QUESTION}
    for number in range(51):
        call = Call("CreateHIT", {**given, "RequesterAnnotation": str(number)}, f"signature-{number}")
        study.store.write(lambda tx, call=call: perform(tx, study, call)).result()  # type: ignore[misc]
    key = study.store.write(lambda tx: make_key(tx, study, "laptop", "maya")).result()
    owner = owner_of(study, create_app(study))
    page = owner.get("/console/recruiting/hits").text
    assert page.count("Assignable") == 50 and "HITs" in owner.get("/console/recruiting").text
    assert "<script>alert" not in page and key.access_key in page and key.secret not in page
    older = owner.get("/console/recruiting/hits?before=2").text
    assert older.count("Assignable") == 1
    study.close()
