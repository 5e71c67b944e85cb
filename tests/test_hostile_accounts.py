"""Attacks on annotator accounts: guessing through an account of one's own, and coming back without a password."""

import asyncio
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from chorale.engine import team
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.exchange.backing_up import make_backup
from chorale.exchange.restoring import restore_backup
from chorale.store import workers
from chorale.web import doorkeeper
from chorale.web.links import study_sessions, team_link_path
from chorale.web.sessions import WORKER_COOKIE
from crowd import do, look
from small_study import write_small_study
from test_team import OTHER, PASSWORD, browser, choose, member, quick_hashing, sign_in, study

__all__ = ["quick_hashing", "study"]


def test_signing_in_to_ones_own_account_buys_no_more_guesses_at_others(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(doorkeeper, "asyncio", SimpleNamespace(sleep=sleep, wrap_future=asyncio.wrap_future))
    member(study, "Anna")
    member(study, "Mallory")
    for _ in range(3):
        mallory = browser(study)
        assert {sign_in(mallory, "Anna", f"{OTHER} {number}").status_code for number in range(3)} == {401}
        assert sign_in(mallory, "Mallory").status_code == 303
    assert waited == [1, 2, 4, 8]


def test_people_behind_one_address_sign_in_one_after_another(study: Study) -> None:
    names = [f"Person {number}" for number in range(doorkeeper.TRIES + 3)]
    for name in names:
        member(study, name)
    assert {sign_in(browser(study), name).status_code for name in names} == {303}


def test_a_restore_brings_back_neither_an_old_password_nor_a_deactivated_person(tmp_path: Path) -> None:
    folder, backup = tmp_path / "study", tmp_path / "backup.zip"
    write_small_study(folder, applications=20)
    settings = folder / "study.toml"
    settings.write_text(settings.read_text().replace("[arrival]", "[arrival]\nlanding = true"))
    with closing(open_study(folder)) as study:
        bo = member(study, "Bo")
        member(study, "Anna")
        make_backup(folder, None, backup, None, lambda _: None)
        do(study, team.deactivate, "Bo", "maya", "has left")
        made = study.store.do(lambda tx: team.reset(tx, study.clock(), "anna", "maya"))
        choose(browser(study), team_link_path(study_sessions(study), made.token), OTHER)
    restore_backup(folder, None, backup, None, replace=True)
    with closing(open_study(folder)) as study:
        assert sign_in(browser(study), "Anna", PASSWORD).status_code == 401
        assert sign_in(browser(study), "Anna", OTHER).status_code == 303
        again = browser(study)
        again.cookies.set(WORKER_COOKIE, bo.cookies[WORKER_COOKIE])
        again.post("/welcome")
        joined = study_sessions(study).worker(again.cookies.get(WORKER_COOKIE, path="/", domain="testserver.local"))
        known = look(study, lambda tx: workers.find_by_identity(tx, "team", "bo"))
        assert joined is not None and known is not None
        assert joined.worker_id != known.id, "somebody new, as anybody can be in a public study"


@pytest.mark.slow
def test_a_known_browser_gets_no_more_tries_by_writing_its_cookie_otherwise(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr(doorkeeper, "asyncio", SimpleNamespace(sleep=sleep, wrap_future=asyncio.wrap_future))
    member(study, "Anna")
    known = browser(study)
    assert sign_in(known).status_code == 303
    cookie = known.cookies[doorkeeper.TEAM_DEVICE_COOKIE]
    for number in range(doorkeeper.TRIES + 1):
        # Base64 skips what is none of its signs.
        headers = {"cookie": f"{doorkeeper.TEAM_DEVICE_COOKIE}={cookie}{'!' * (number + 1)}"}
        given = {"name": "Anna", "password": OTHER}
        assert browser(study).post("/sign-in", data=given, headers=headers).status_code == 401
    assert waited == [1]
