"""Annotators with a password: invited, signed in, reset, deactivated; and everything that must not work."""

import asyncio
from collections.abc import Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from argon2 import PasswordHasher
from sqlalchemy import text
from starlette.testclient import TestClient

from chorale.audit.verify import verify
from chorale.engine import forgetting, team, work
from chorale.engine.keys import replace_key
from chorale.engine.managing import Act, recognise
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.exchange.backing_up import make_backup
from chorale.exchange.restoring import restore_backup
from chorale.model import StudySettings, UserError
from chorale.store import events, workers
from chorale.store import team as store_team
from chorale.web import doorkeeper
from chorale.web.app import create_app
from chorale.web.links import setup_link_path, study_sessions, team_link_path
from chorale.web.sessions import WORKER_COOKIE
from conftest import StudyMaker
from crowd import do, look
from small_study import write_small_study
from test_cli import chorale, chorale_json
from test_sessions import lease, submit

if TYPE_CHECKING:
    from conftest import ManualClock

PASSWORD = "three quiet herons wade"
OTHER = "another long password"


@pytest.fixture(autouse=True)
def quick_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorale.web.staff.PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=64))


@pytest.fixture
def study(tmp_path: Path, clock: "ManualClock") -> Iterator[Study]:
    write_small_study(tmp_path / "study", applications=20)
    with closing(open_study(tmp_path / "study", clock=clock)) as opened:
        yield opened


def browser(study: Study) -> TestClient:
    return TestClient(create_app(study), follow_redirects=False)


def invited(study: Study, name: str = "Anna") -> str:
    """The path of a new invitation."""
    made = study.store.do(lambda tx: team.invite(tx, study.clock(), name, "maya"))
    return team_link_path(study_sessions(study), made.token)


def choose(client: TestClient, path: str, password: str = PASSWORD) -> Any:
    return client.post(path, data={"password": password, "again": password})


def sign_in(client: TestClient, name: str = "Anna", password: str = PASSWORD) -> Any:
    return client.post("/sign-in", data={"name": name, "password": password})


def member(study: Study, name: str = "Anna") -> TestClient:
    """Somebody who has accepted an invitation, and has consented."""
    client = browser(study)
    assert choose(client, invited(study, name)).status_code == 303
    assert client.post("/consent", data={"agree": "yes"}).status_code == 303
    return client


def differences(study: Study) -> list[str]:
    return look(study, lambda tx: verify(tx, study)).differences


def state(study: Study, name: str = "Anna") -> str:
    rows = look(study, lambda tx: team.accounts(tx, study.clock()))
    return next(row.state for row in rows if row.name == name)


def test_an_invited_person_chooses_a_password_works_and_signs_in_again(make_study: StudyMaker) -> None:
    study = make_study(applications=20)
    path = invited(study)
    assert state(study) == "invited"
    client = browser(study)
    assert "Anna" in client.get(path).text
    assert choose(client, path, "short").status_code == 422
    assert client.post(path, data={"password": PASSWORD, "again": OTHER}).status_code == 422
    assert choose(client, path).headers["location"] == "/"
    client.post("/consent", data={"agree": "yes"})
    # Their link has been used: they come back by signing in.
    overview = client.get("/").text
    assert "sign in again later" in overview and "the same link" not in overview
    assert submit(client, lease(client)).json()["status"] == "accepted"
    assert state(study) == "active"
    elsewhere = browser(study)
    assert sign_in(elsewhere, " aNNa ").status_code == 303
    assert "1 answer" in elsewhere.get("/").text or ">1<" in elsewhere.get("/").text
    overview = elsewhere.get("/").text
    assert "stop at any time and sign in again later" in overview and "same link" not in overview
    assert len(look(study, workers.panel_counts)) == 1
    assert differences(study) == []


def test_a_link_works_once_and_only_in_its_time(study: Study, clock: "ManualClock") -> None:
    path = invited(study)
    first, second = browser(study), browser(study)
    assert choose(first, path).status_code == 303
    assert (choose(second, path).status_code, second.get(path).status_code) == (410, 410)
    assert sign_in(second, password=PASSWORD).status_code == 303
    late = invited(study, "Bo")
    clock.pass_minutes(60 * team.INVITATION_HOURS)
    assert browser(study).get(late).status_code == 410
    assert state(study, "Bo") == "link expired"
    again = invited(study, "Bo")
    newest = invited(study, "Bo")
    assert choose(browser(study), again).status_code == 410, "a new link ends the one before"
    assert choose(browser(study), newest).status_code == 303
    for forged in (
        "/team/x",
        newest[:-2],
        f"{newest}x",
        "/team/" + study_sessions(study).link_token("team", "made-up"),
    ):
        assert browser(study).get(forged).status_code == 403


def test_a_reset_ends_the_password_and_every_session_at_once(study: Study, clock: "ManualClock") -> None:
    client = member(study)
    held = lease(client)
    made = study.store.do(lambda tx: team.reset(tx, study.clock(), "anna", "maya"))
    path = team_link_path(study_sessions(study), made.token)
    assert submit(client, held).json()["error"]["code"] == "signed_out"
    assert sign_in(client).status_code == 401
    assert state(study) == "password reset"
    clock.pass_minutes(60 * team.RESET_HOURS)
    assert choose(client, path, OTHER).status_code == 410
    made = study.store.do(lambda tx: team.reset(tx, study.clock(), "Anna", "maya"))
    path = team_link_path(study_sessions(study), made.token)
    assert choose(client, path, OTHER).status_code == 303
    assert submit(client, lease(client)).json()["status"] == "accepted"
    assert sign_in(browser(study)).status_code == 401 and sign_in(browser(study), password=OTHER).status_code == 303


def test_who_is_deactivated_in_the_middle_of_an_item_neither_works_nor_signs_in(make_study: StudyMaker) -> None:
    study = make_study(applications=20)
    client, second_tab = member(study), browser(study)
    assert sign_in(second_tab).status_code == 303
    assert submit(client, lease(client)).json()["status"] == "accepted"
    held = lease(client)
    assert lease(second_tab) == held, "two tabs hold one item"
    assert do(study, team.deactivate, "Anna", "maya", "has left")
    assert not do(study, team.deactivate, "Anna", "maya", "has left")
    for tab in (client, second_tab):
        for answer in (submit(tab, held), tab.post("/api/stages/meaningful/next", json={})):
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "revoked")
    assert sign_in(browser(study)).status_code == 401
    assert (
        look(study, lambda tx: tx.execute(text("SELECT count(*) FROM assignment WHERE state = 'live'")).scalar()) == 0
    )
    assert state(study) == "deactivated"
    with pytest.raises(UserError, match="deactivated"):
        invited(study)
    with pytest.raises(UserError, match="deactivated"):
        study.store.do(lambda tx: team.reset(tx, study.clock(), "Anna", "maya"))
    assert differences(study) == []


def test_a_reactivated_account_continues_with_a_new_password(make_study: StudyMaker) -> None:
    study = make_study(applications=20)
    client = member(study)
    submit(client, lease(client))
    before = look(study, lambda tx: workers.find_by_identity(tx, "team", "anna"))
    with pytest.raises(UserError, match="is not deactivated"):
        study.store.do(lambda tx: team.reactivate(tx, study.clock(), "Anna", "maya"))
    do(study, team.deactivate, "Anna", "maya", "has left")
    with pytest.raises(UserError, match="reactivate it"):
        invited(study)
    with pytest.raises(UserError, match="reactivate it"):
        study.store.do(lambda tx: team.reset(tx, study.clock(), "Anna", "maya"))
    made = study.store.do(lambda tx: team.reactivate(tx, study.clock(), "anna", "maya"))
    assert sign_in(browser(study)).status_code == 401, "the old password does not come back"
    assert client.post("/api/stages/meaningful/next").status_code == 403, "nor do old sessions"
    assert choose(client, team_link_path(study_sessions(study), made.token), OTHER).status_code == 303
    submit(client, lease(client))
    assert look(study, lambda tx: workers.find_by_identity(tx, "team", "anna")) == before
    assert (state(study), differences(study)) == ("active", [])
    do(study, team.deactivate, "Anna", "maya", "has left again")
    assert differences(study) == []


def test_verify_sees_answers_after_a_deactivation(study: Study) -> None:
    member(study)
    worker = look(study, lambda tx: workers.find_by_identity(tx, store_team.PANEL, "anna"))
    assert worker is not None
    do(study, team.deactivate, "Anna", "maya", "has left")
    offer = do(study, work.next_item, study.stage("meaningful"), worker.id)
    assert offer.lease is not None
    do(study, work.submit, worker.id, offer.lease.token, "yes", "key-1", 1000)
    [found] = [found for found in differences(study) if "deactivated" in found]
    made = study.store.do(lambda tx: team.reactivate(tx, study.clock(), "Anna", "maya"))
    client = browser(study)
    choose(client, team_link_path(study_sessions(study), made.token))
    submit(client, lease(client))
    assert [one for one in differences(study) if "deactivated" in one] == [found], "answers since then are theirs"


def test_signing_out_ends_the_sessions_of_all_devices(study: Study) -> None:
    phone, desk = member(study), browser(study)
    sign_in(desk)
    cookie = phone.cookies[WORKER_COOKIE]
    assert phone.post("/leave").status_code == 303
    assert "Your overview" not in desk.get("/").text
    thief = browser(study)
    thief.cookies.set(WORKER_COOKIE, cookie)
    assert thief.post("/api/stages/meaningful/next", json={}).status_code == 401
    page = thief.get("/").text
    assert "/sign-in" in page and "Your session has ended" in page


def test_wrong_passwords_are_slowed_down_and_keep_nobody_out(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    own = member(study)
    own.post("/leave")
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(doorkeeper, "asyncio", SimpleNamespace(sleep=sleep, wrap_future=asyncio.wrap_future))
    guess = browser(study)
    assert {sign_in(guess, password=f"guess {number}").status_code for number in range(12)} == {401}
    assert waited == [1, 2, 4, 8, *3 * [doorkeeper.LONGEST_DELAY]]
    waited.clear()
    assert sign_in(browser(study)).status_code == 303 and waited, "and is let in with the right password"
    assert {sign_in(guess, password="a guess").status_code for _ in range(20)} == {401}
    waited.clear()
    assert sign_in(own).status_code == 303 and not waited, "a known device does not wait"
    assert {sign_in(guess, name=name).status_code for name in ("nobody", "", "Anna\u200b", "' OR 1=1 --")} == {401}


def test_another_site_can_neither_sign_in_nor_choose_a_password(study: Study) -> None:
    path, client = invited(study), browser(study)
    for headers in ({"sec-fetch-site": "cross-site"}, {"origin": "https://elsewhere.example"}):
        for to in (path, "/sign-in", "/leave"):
            assert client.post(to, data={"name": "Anna", "password": PASSWORD}, headers=headers).status_code == 403
    assert state(study) == "invited"


@pytest.mark.parametrize("name", ["", " ", "a" * 61, "<b>", "a\nb", "a\0b", "../x", "a;b", "\u202eanna", '"'])
def test_names_that_are_none_are_refused(study: Study, name: str) -> None:
    with pytest.raises(UserError):
        invited(study, name)


def test_names_that_look_alike_are_one_and_show_as_text(study: Study) -> None:
    member(study, "Zoë O'Neil")
    with pytest.raises(UserError, match="already has an account"):
        invited(study, "ZOE\u0308 o'neil")
    owner = browser(study)
    owner.post(setup_link_path(study) or "", data={"name": "maya", "password": PASSWORD, "again": PASSWORD})
    assert "Zoë O&#39;Neil" in owner.get("/console/annotators").text
    shown = owner.post("/console/annotators", data={"name": "<script>alert(1)</script>"})
    assert shown.status_code == 422 and "<script>alert" not in shown.text


def test_the_console_invites_resets_and_deactivates(study: Study) -> None:
    owner = browser(study)
    owner.post(setup_link_path(study) or "", data={"name": "maya", "password": PASSWORD, "again": PASSWORD})
    page = owner.post("/console/annotators", data={"name": "Anna"}).text
    path = "/team/" + page.split("/team/")[1].split("<")[0]
    annotator = browser(study)
    assert choose(annotator, path).status_code == 303
    page = owner.post("/console/annotators/reset", data={"name": "Anna"}).text
    assert annotator.get("/").text.count("Your overview") == 0
    again = "/team/" + page.split("/team/")[1].split("<")[0]
    assert again != path and choose(annotator, again, OTHER).status_code == 303
    assert owner.post("/console/annotators/deactivate", data={"name": "Anna", "reason": " "}).status_code == 422
    assert owner.post("/console/annotators/deactivate", data={"name": "Bo", "reason": "x"}).status_code == 422
    assert owner.post("/console/annotators/deactivate", data={"name": "Anna", "reason": "left"}).status_code == 303
    assert "deactivated" in owner.get("/console/annotators").text
    page = owner.post("/console/annotators/reactivate", data={"name": "Anna"}).text
    assert owner.post("/console/annotators/reactivate", data={"name": "Anna"}).status_code == 422, "a double click"
    assert choose(annotator, "/team/" + page.split("/team/")[1].split("<")[0]).status_code == 303
    assert owner.post("/console/annotators/deactivate", data={"name": "Anna", "reason": "left"}).status_code == 303
    record = look(study, lambda tx: events.recent(tx, 50))
    kinds = [event.kind for event in record if event.kind.startswith("member")]
    assert (kinds[0], len(kinds), kinds.count("member reactivated")) == ("member deactivated", 9, 1)
    assert not [event for event in record if "Anna" in str(event.evidence)], "the record has no names"


@pytest.mark.slow
def test_a_restore_gives_nobody_back_what_was_taken(tmp_path: Path) -> None:
    """A link that was used after the backup, and an account that was deactivated after it."""
    folder, backup = tmp_path / "study", tmp_path / "backup.zip"
    write_small_study(folder, applications=20)
    with closing(open_study(folder)) as study:
        member(study, "Bo")
        cy = member(study, "Cy")
        path = invited(study)
        make_backup(folder, None, backup, None, lambda _: None)
        choose(browser(study), path)
        do(study, team.deactivate, "Bo", "maya", "has left")
    restore_backup(folder, None, backup, None, replace=True)
    with closing(open_study(folder)) as study:
        assert choose(browser(study), path).status_code == 410
        assert state(study, "Bo") == "deactivated"
        assert sign_in(browser(study), "Bo").status_code == 401
        again = browser(study)
        again.cookies.set(WORKER_COOKIE, cy.cookies[WORKER_COOKIE])
        assert "restored" in again.get("/").text and again.get("/sign-in").status_code == 200
        assert sign_in(again, "Cy").status_code == 303 and "Your overview" in again.get("/").text
        assert differences(study) == []


def test_erasing_a_person_erases_their_account(study: Study) -> None:
    client = member(study)
    submit(client, lease(client))
    worker = look(study, lambda tx: workers.find_by_identity(tx, store_team.PANEL, "anna"))
    assert worker is not None
    forgetting.forget(study, worker.id, forgetting.ErasureRequest("requester", answers=False, even_unpaid=True))
    assert look(study, store_team.members) == []
    assert sign_in(browser(study)).status_code == 401
    assert differences(study) == []


def test_a_name_leads_to_a_worker_only_for_who_asks_with_a_reason(study: Study) -> None:
    client = member(study)
    worker = look(study, lambda tx: workers.find_by_identity(tx, store_team.PANEL, "anna"))
    assert worker is not None and worker.pseudonym in client.get("/").text
    owner = browser(study)
    owner.post(setup_link_path(study) or "", data={"name": "maya", "password": PASSWORD, "again": PASSWORD})
    page = owner.get("/console/annotators").text
    assert "Anna" in page and worker.pseudonym not in page
    before = look(study, events.latest)
    assert do(study, recognise, "Anna", Act("maya", "asked about pay", "k")) == worker.pseudonym
    assert [event.kind for event in look(study, lambda tx: events.recent(tx, 1)) if event.id > before] == [
        "identity shown"
    ]
    assert look(study, lambda tx: forgetting.worker_to_forget(tx, "ANNA")).id == worker.id


def test_an_account_that_was_never_used_is_deleted(study: Study) -> None:
    path = invited(study)
    assert do(study, team.deactivate, "Anna", "maya", "will not come")
    assert look(study, store_team.members) == [] and browser(study).get(path).status_code == 403
    assert differences(study) == []


def test_a_new_signing_key_ends_invitations_and_sessions(study: Study) -> None:
    client, path = member(study), invited(study, "Bo")
    do(study, replace_key, "maya")
    fresh = TestClient(create_app(study), follow_redirects=False)
    fresh.cookies = client.cookies
    assert fresh.get(path).status_code == 403
    assert fresh.post("/api/stages/meaningful/next", json={}).status_code == 401


def test_a_panel_can_not_be_called_like_the_team() -> None:
    """Anybody could write a panel's link, and would be somebody with a password."""
    arrival = StudySettings.model_fields["arrival"].annotation
    with pytest.raises(ValueError, match="team"):
        arrival(panel="team")  # type: ignore[misc]


def test_who_signs_in_while_being_deactivated_is_not_in(study: Study) -> None:
    """Between the check of the password and the session."""
    member(study)
    known = look(study, lambda tx: store_team.find(tx, "anna"))
    assert known is not None
    do(study, team.deactivate, "Anna", "maya", "has left")
    with pytest.raises(Exception, match="signed out"):
        do(study, team.sign_in, "anna", known.session_version)


def test_the_command_invites_resets_deactivates_and_lists(tmp_path: Path) -> None:
    folder = tmp_path / "study"
    write_small_study(folder)
    assert "Nobody has an account" in chorale("team", folder).stdout
    link = chorale("team", folder, "--invite", "Anna", "--public-url", "https://study.example.org").stdout.strip()
    assert link.startswith("https://study.example.org/team/")
    with closing(open_study(folder)) as study:
        assert choose(browser(study), link.removeprefix("https://study.example.org")).status_code == 303
    assert [row["state"] for row in chorale_json("team", folder)["team"]] == ["active"]
    assert chorale_json("team", folder, "--reset", "anna")["hours"] == team.RESET_HOURS
    assert "reason" in chorale("team", folder, "--deactivate", "Anna", code=2).stderr
    assert "Bo" in chorale("team", folder, "--reset", "Bo", code=2).stderr
    assert "one at a time" in chorale("team", folder, "--reset", "Anna", "--invite", "Bo", code=2).stderr
    assert "deactivated" in chorale("team", folder, "--deactivate", "Anna", "--reason", "has left").stdout
    assert "deactivated" in chorale("team", folder).stdout
    link = chorale("team", folder, "--reactivate", "Anna", "--public-url", "https://example.org/study/").stdout.strip()
    assert link.startswith("https://example.org/study/team/")
    assert "is not deactivated" in chorale("team", folder, "--reactivate", "Anna", code=2).stderr
