"""Several studies on one server: paths, one sign-in, and everything that must not reach from one study into another."""

import asyncio
import re
from collections.abc import Iterator
from functools import partial
from html import unescape
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from urllib.parse import urlsplit

import pytest
from argon2 import PasswordHasher
from starlette.testclient import TestClient

from chorale.cli.together import database_of, studies_together
from chorale.engine import team
from chorale.engine.keys import replace_key
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.folder.templates import create_study
from chorale.model import UserError
from chorale.model.problems import UnavailableError
from chorale.store import epochs, events
from chorale.store import team as team_store
from chorale.store.requesters import find_requester
from chorale.web import doorkeeper, several
from chorale.web.accounts import Accounts
from chorale.web.app import create_app
from chorale.web.front import FrontOptions
from chorale.web.links import new_staff_link, setup_link_path, study_sessions, team_link_path
from chorale.web.pages import STATIC, TEMPLATES
from chorale.web.staff import revoke
from conftest import ManualClock
from crowd import do, look
from small_study import write_small_study
from test_mturk_console import make_hit
from turk import write_market

PASSWORD = "three quiet herons wade"
OTHER = "another long password"
KITS = Path(several.__file__).parents[1] / "kits"


@pytest.fixture(autouse=True)
def quick_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("chorale.web.staff.PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=64))


class Together:
    """A server with studies, and one browser."""

    def __init__(self, folder: Path, studies: dict[str, Study], closed: tuple[str, ...] = ()) -> None:
        self.studies = studies
        accounts = Accounts()
        apps = {
            name: create_app(study, root=f"/{name}", other_accounts=accounts, folder=folder / name)
            for name, study in studies.items()
        }
        self.app = several.create_server(apps, closed, accounts, FrontOptions())
        self.client = self.browser()

    def browser(self) -> TestClient:
        # No redirects are followed: where they lead is part of what is tested.
        return TestClient(self.app, follow_redirects=False)

    def invited(self, name: str, who: str = "Anna", make: Any = team.invite) -> str:
        """The path of a link to a password."""
        study = self.studies[name]
        made = study.store.do(lambda tx: make(tx, study.clock(), who, "maya"))
        return f"/{name}{team_link_path(study_sessions(study), made.token)}"

    def member(self, name: str, who: str = "Anna", password: str = PASSWORD) -> None:
        chosen = self.browser().post(self.invited(name, who), data={"password": password, "again": password})
        assert chosen.status_code == 303

    def owner(self, name: str, who: str = "olga", password: str = PASSWORD) -> None:
        given = {"name": who, "password": password, "again": password}
        made = self.browser().post(f"/{name}{setup_link_path(self.studies[name])}", data=given)
        assert (made.status_code, made.headers["location"]) == (303, f"/{name}/console")

    def sign_in(
        self, who: str = "Anna", password: str = PASSWORD, client: TestClient | None = None, **more: str
    ) -> Any:
        return (client or self.client).post("/sign-in", data={"name": who, "password": password, **more})

    def enter(self, name: str, to: str = "work") -> Any:
        return self.client.post("/enter", data={"study": name, "to": to})


@pytest.fixture
def server(tmp_path: Path, clock: ManualClock) -> Iterator[Together]:
    studies = {}
    for name in ("rules", "second"):
        write_small_study(tmp_path / name, applications=20)
        studies[name] = open_study(tmp_path / name, clock=clock)
    yield Together(tmp_path, studies, ("broken",))
    for study in studies.values():
        study.close()


def listed(page: str) -> set[str]:
    """The studies that a front page offers, with what can be done there."""
    forms = re.findall(r'<form class="actions" method="post" action="/enter">(.*?)</form>', page, re.DOTALL)
    return {
        f"{re.findall('name=.study. value=.([^>]*?).>', form)[0]} {to}"
        for form in forms
        for to in re.findall(r'name="to" value="(\w+)"', form)
    }


def test_strangers_see_a_sign_in_form_and_no_study(server: Together) -> None:
    page = server.client.get("/").text
    assert "Sign in" in page
    assert not any(
        word in page
        for word in ("rules", "second", "broken", *(study.settings.study.title for study in server.studies.values()))
    )
    assert server.client.get("/nothing").status_code == 404
    assert server.client.get("/broken/console").status_code == 503


def test_one_sign_in_opens_every_study_where_the_password_is_right(server: Together) -> None:
    server.member("rules")
    server.member("second")
    server.owner("second", "anna")
    assert server.sign_in().headers["location"] == "/"
    assert listed(server.client.get("/").text) == {"rules work", "second work"}, "owners' names are exact"
    for name in server.studies:
        entered = server.enter(name)
        assert entered.headers["location"] == f"/{name}/"
        assert f"Path=/{name};" in entered.headers["set-cookie"]
        assert "consent" in server.client.get(f"/{name}/").text
    assert server.enter("second", "console").headers["location"] == "/"
    assert server.sign_in("anna").status_code == 303
    assert listed(server.client.get("/").text) == {"rules work", "second work", "second console"}
    assert server.enter("second", "console").headers["location"] == "/second/console"
    assert server.client.get("/second/console").status_code == 200
    assert server.client.get("/rules/console").headers["location"].startswith("/rules/login")


def test_another_password_is_another_sign_in(server: Together) -> None:
    server.member("rules")
    server.member("second", password=OTHER)
    server.sign_in()
    assert listed(server.client.get("/").text) == {"rules work"}
    assert server.enter("second").headers["location"] == "/"
    server.sign_in(password=OTHER)
    assert listed(server.client.get("/").text) == {"second work"}


def test_an_invited_person_uses_the_password_they_have(server: Together) -> None:
    server.member("rules")
    path = server.invited("second")
    assert "another study on this server" in server.client.get(path).text
    wrong = server.client.post(path, data={"known": OTHER})
    assert (wrong.status_code, "not the password" in wrong.text) == (401, True)
    assert server.client.post(path, data={"known": PASSWORD}).status_code == 303
    assert server.client.post(path, data={"known": PASSWORD}).status_code == 410, "links work once"
    server.sign_in()
    assert listed(server.client.get("/").text) == {"rules work", "second work"}


def test_an_invitation_does_not_show_who_has_an_account_in_another_study(server: Together, delays: list[float]) -> None:
    """Before, the page offered to use the password of another study to those alone who had one there."""
    server.member("rules")
    paths = {name: server.invited("second", name) for name in ("Anna", "Bo")}
    pages = {name: server.client.get(path).text.replace(name, "") for name, path in paths.items()}
    assert pages["Anna"] == pages["Bo"]
    tried = {name: server.client.post(path, data={"known": OTHER}) for name, path in paths.items()}
    assert tried["Anna"].status_code == tried["Bo"].status_code == 401
    assert tried["Anna"].text.replace("Anna", "") == tried["Bo"].text.replace("Bo", "")
    assert delays == []


@pytest.fixture
def delays(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Seconds by which answers would be delayed."""
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(doorkeeper, "asyncio", SimpleNamespace(sleep=sleep, wrap_future=asyncio.wrap_future))
    return slept


def test_nobody_guesses_a_password_by_an_invitation_to_another_study(server: Together, delays: list[float]) -> None:
    server.member("rules")
    path = server.invited("second")
    tried = [server.client.post(path, data={"known": f"guess number {number}"}).status_code for number in range(5)]
    assert (tried, delays) == ([401] * 5, [])
    server.client.post(path, data={"known": "another guess"})
    assert delays == [1.0, 1.0], "counted in both studies"
    server.sign_in("Anna", OTHER)
    server.client.post("/rules/sign-in", data={"name": "Anna", "password": OTHER})
    assert delays == [1.0, 1.0, 2.0, 2.0, 4.0], "the same tries count at the front, and in the study itself"


def test_a_browser_that_was_signed_in_before_does_not_wait_for_what_others_tried(
    server: Together, delays: list[float]
) -> None:
    server.member("rules")
    assert server.sign_in().status_code == 303
    stranger = server.browser()
    assert [server.sign_in("Anna", OTHER, stranger).status_code for _ in range(6)] == [401] * 6
    assert delays == [1.0, 1.0]
    assert (server.sign_in().status_code, delays) == (303, [1.0, 1.0])
    tried = [server.sign_in(password=OTHER).status_code for _ in range(6)]
    assert tried == [401] * 5 + [429]
    assert "Retry-After" in server.sign_in(password=OTHER).headers


def test_signing_out_of_one_study_signs_out_of_all(server: Together) -> None:
    for name in server.studies:
        server.member(name)
        server.owner(name, "anna")
    server.sign_in("anna")
    for name in server.studies:
        server.enter(name)
        server.enter(name, "console")
    thief = server.browser()
    for cookie in server.client.cookies.jar:
        thief.cookies.jar.set_cookie(cookie)
    refused = server.client.post("/rules/leave", headers={"sec-fetch-site": "cross-site"})
    assert refused.status_code == 403
    assert listed(server.client.get("/").text)
    left = server.client.post("/rules/leave")
    assert left.headers["location"] == "/rules/"
    assert "Sign in" in server.client.get("/").text
    assert not listed(thief.get("/").text)
    assert thief.get("/second/console").status_code == 303
    assert thief.post("/second/api/stages/meaningful/next").status_code == 401


def test_what_ends_an_account_in_one_study_ends_it_there_alone(server: Together) -> None:
    for name in server.studies:
        server.member(name)
    server.sign_in()
    server.enter("rules")
    do(server.studies["rules"], team.deactivate, "Anna", "maya", "has left")
    assert listed(server.client.get("/").text) == {"second work"}
    assert server.client.post("/rules/api/stages/meaningful/next").status_code == 403
    assert server.enter("rules").headers["location"] == "/"
    server.invited("second", make=team.reset)
    assert not listed(server.client.get("/").text)


def test_an_owner_of_several_studies_deactivates_somebody_in_all_of_them(server: Together) -> None:
    for name in server.studies:
        server.member(name)
        server.owner(name)
    server.sign_in("olga")
    server.enter("rules", "console")
    page = server.client.get("/rules/console/annotators").text
    assert server.studies["second"].settings.study.title in page and 'name="everywhere"' in page
    given = {"name": "Anna", "reason": "has left", "everywhere": "yes"}
    done = server.client.post("/rules/console/annotators/deactivate", data=given)
    assert done.headers["location"] == "/rules/console/annotators?done=deactivated-everywhere&n=2"
    for study in server.studies.values():
        member = look(study, lambda tx: team_store.find(tx, "anna"))
        assert member is not None and member.deactivated_at is not None
        [event] = look(study, lambda tx: events.recent(tx, 9, kinds=(team.DEACTIVATED,)))
        assert event.evidence["by"] == "olga"


def test_an_owner_of_one_study_neither_sees_nor_ends_accounts_of_another(server: Together) -> None:
    for name in server.studies:
        server.member(name)
    server.owner("rules")
    server.owner("second", "maya")
    server.sign_in("olga")
    server.enter("rules", "console")
    page = server.client.get("/rules/console/annotators").text
    assert 'name="everywhere"' not in page
    given = {"name": "Anna", "reason": "has left", "everywhere": "yes"}
    done = server.client.post("/rules/console/annotators/deactivate", data=given)
    assert done.headers["location"].endswith("?done=deactivated-everywhere&n=1")
    member = look(server.studies["second"], lambda tx: team_store.find(tx, "anna"))
    assert member is not None and member.deactivated_at is None


def test_links_of_an_expert_open_all_their_studies_from_one_front_page(server: Together) -> None:
    for name, role in (("rules", "expert"), ("second", "viewer")):
        study = server.studies[name]
        link = do(study, new_staff_link, study_sessions(study), role, "Dr. Ada", "maya")
        assert server.client.get(f"/{name}{link}").status_code == 303
    page = server.client.get("/").text
    assert listed(page) == {"rules console", "second console"}
    assert 'href="/password"' not in page, "links have no password"
    assert server.enter("rules", "console").headers["location"] == "/rules/console/queue"
    assert server.enter("second", "console").headers["location"] == "/second/console"
    assert server.client.get("/second/console/team").status_code == 403
    do(server.studies["rules"], revoke, "Dr. Ada", "expert", "maya", "has left")
    assert listed(server.client.get("/").text) == {"second console"}
    assert server.client.get("/rules/console/queue").status_code == 303
    server.client.post("/sign-out")
    assert server.client.get("/second/console").status_code == 303


def test_a_link_does_not_take_over_the_front_page_of_somebody_else(server: Together) -> None:
    server.owner("rules")
    server.sign_in("olga")
    study = server.studies["second"]
    link = do(study, new_staff_link, study_sessions(study), "expert", "Dr. Ada", "maya")
    assert server.client.get(f"/second{link}").headers["location"] == "/second/console/queue"
    page = server.client.get("/").text
    assert listed(page) == {"rules console"} and "olga" in page


def test_links_are_revoked_in_all_studies_of_their_owner(server: Together) -> None:
    for name in server.studies:
        server.owner(name)
        study = server.studies[name]
        do(study, new_staff_link, study_sessions(study), "expert", "Dr. Ada", "olga")
    server.sign_in("olga")
    server.enter("rules", "console")
    given = {"name": "Dr. Ada", "role": "expert", "reason": "has left", "everywhere": "yes"}
    done = server.client.post("/rules/console/team/revoke", data=given)
    assert done.headers["location"] == "/rules/console/team?done=revoked-everywhere&n=2"
    for study in server.studies.values():
        row = look(study, lambda tx: find_requester(tx, "Dr. Ada"))
        assert row is not None and row.revoked_at is not None
    given["name"] = "Nobody"
    assert server.client.post("/rules/console/team/revoke", data=given).headers["location"].endswith("n=1")
    assert look(server.studies["second"], lambda tx: find_requester(tx, "Nobody")) is None


@pytest.mark.parametrize("way", ["key", "epoch"])
def test_a_new_key_or_a_restore_ends_what_one_study_granted(server: Together, way: str) -> None:
    for name in server.studies:
        server.member(name)
    server.sign_in()
    study = server.studies["rules"]
    if way == "key":
        study.store.do(lambda tx: replace_key(tx, study, "maya"))
        accounts: Accounts = server.app._accounts  # type: ignore[attr-defined]
        accounts.sites["rules"].sessions.use("another key")
    else:
        study.store.do(lambda tx: epochs.begin(tx, study.clock(), epochs.RESTORED, {"backup made at": 1}))
    assert listed(server.client.get("/").text) == {"second work"}


def test_sessions_of_one_study_are_worth_nothing_in_another(server: Together) -> None:
    server.member("rules")
    server.owner("rules")
    server.sign_in()
    server.enter("rules")
    server.sign_in("olga")
    server.enter("rules", "console")
    values = {(one.name, one.path): str(one.value) for one in server.client.cookies.jar}
    moved = {name: value for (name, path), value in values.items() if path == "/rules"}
    moved["chorale_front"] = values["chorale_front", "/"].replace("rules~", "second~")
    assert {"chorale_worker", "chorale_staff", "chorale_front"} <= set(moved)
    header = {"cookie": "; ".join(f"{name}={value}" for name, value in moved.items())}
    thief = server.browser()
    assert not listed(thief.get("/", headers=header).text)
    assert thief.get("/second/console", headers=header).status_code == 303
    assert thief.post("/second/api/stages/meaningful/next", headers=header).status_code == 401
    assert thief.get("/rules/console", headers=header).status_code == 200, "the cookies themselves are good"


def test_one_password_is_changed_in_all_studies_at_once(server: Together) -> None:
    for name in server.studies:
        server.member(name)
    server.owner("second", "Anna")
    elsewhere = server.browser()
    server.sign_in(client=elsewhere)
    server.sign_in()
    change = {"current": OTHER, "password": OTHER, "again": OTHER}
    assert server.client.post("/password", data=change).status_code == 422
    assert server.client.post("/password", data={**change, "current": PASSWORD, "again": "x"}).status_code == 422
    assert server.client.post("/password", data={**change, "current": PASSWORD}).headers["location"] == "/"
    assert listed(server.client.get("/").text) == {"rules work", "second work", "second console"}
    assert not listed(elsewhere.get("/").text)
    assert server.sign_in().status_code == 401
    assert server.sign_in(password=OTHER).status_code == 303
    assert server.client.get("/second/console/account").headers["location"] == "/password"


def test_who_is_signed_in_goes_straight_back_to_the_page_they_asked_for(server: Together) -> None:
    server.owner("rules")
    asked = server.client.get("/rules/console/items?stage=meaningful")
    login = server.client.get(asked.headers["location"])
    assert 'name="study" value="rules"' in login.text
    back = server.sign_in("olga", study="rules", to="console", next="/console/items?stage=meaningful")
    assert back.headers["location"] == "/rules/console/items?stage=meaningful"
    fresh = server.browser()
    fresh.cookies.update({"chorale_front": server.client.cookies["chorale_front"]})
    back = fresh.get(asked.headers["location"])
    assert back.headers["location"] == "/rules/console/items?stage=meaningful"
    elsewhere = server.sign_in("olga", study="rules", to="console", next="https://example.org/")
    assert elsewhere.headers["location"] == "/rules/console"


def test_one_sign_in_opens_the_address_of_every_study(server: Together) -> None:
    for name in ("rules", "second"):
        server.member(name)
    server.sign_in()
    for path in ("/rules/", "/second/", "/second/progress"):
        client = TestClient(server.app)
        client.cookies.update(server.client.cookies)
        assert "agree" in client.get(path).text, "the consent of somebody who is signed in"
    # A new password ends the sessions in all studies, and signs this browser in again.
    changed = client.post("/password", data={"current": PASSWORD, "password": OTHER, "again": OTHER})
    assert changed.url.path == "/"
    assert "agree" in client.get("/second/").text
    stranger = server.browser().get("/second/")
    assert (stranger.status_code, "You are not signed in" in stranger.text) == (200, True)
    client.post("/sign-out")
    assert "agree" not in client.get("/second/").text


def test_studies_with_the_same_title_are_told_apart(server: Together) -> None:
    for name in ("rules", "second"):
        server.member(name)
    server.sign_in()
    page = server.client.get("/").text
    title = server.studies["rules"].settings.study.title
    assert f"{title} (rules)" in unescape(page) and f"{title} (second)" in unescape(page)


def test_one_sign_in_opens_no_study_without_an_account(server: Together) -> None:
    server.member("rules")
    server.member("second", "Bella", OTHER)
    server.owner("second", "Anna")
    server.sign_in()
    assert "You are not signed in" in server.client.get("/second/").text, "an owner of it, and no annotator"


def test_owners_sign_in_again_after_twelve_hours(server: Together, monkeypatch: pytest.MonkeyPatch) -> None:
    server.member("rules", "olga")
    server.owner("rules", "olga")
    server.sign_in("olga")
    assert listed(server.client.get("/").text) == {"rules work", "rules console"}
    monkeypatch.setattr("chorale.web.accounts.STAFF_SECONDS", -1)
    assert listed(server.client.get("/").text) == {"rules work"}


def test_a_study_whose_database_is_gone_does_not_keep_people_from_the_others(
    server: Together, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in server.studies:
        server.member(name)

    def fail(_work: object) -> object:
        raise UnavailableError("gone")

    monkeypatch.setattr(server.studies["rules"].store, "read", fail)
    monkeypatch.setattr(server.studies["rules"].store, "write", fail)
    assert server.sign_in().status_code == 303
    assert listed(server.client.get("/").text) == {"second work"}


def test_a_study_that_fails_to_start_is_not_served_and_the_others_are(
    server: Together, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    for name in server.studies:
        server.member(name)

    def fail(_work: object) -> object:
        raise UnavailableError("gone")

    monkeypatch.setattr(server.studies["rules"].store, "write", fail)
    with server.client as client:
        assert client.get("/rules/").status_code == 503
        assert client.get("/second/").status_code == 200
        server.sign_in()
        assert listed(client.get("/").text) == {"second work"}
    assert "could not be started" in caplog.text


# Every address


BARE_IN_SCRIPTS = re.compile(r'(?:fetch|assign|replace|post)\(\s*["`]/[a-z][^"`]*|\.(?:href|src|action) = ["`]/[^"`]*')
ADDRESS = re.compile(r"""(?:href|src|action|data-[a-z-]+)="(/[^"]*)\"""")


def outside(root: str, page: str) -> list[str]:
    """Addresses on a page that leave its study; scripts and styles of the software are shared, and so is the front."""
    found = [unescape(address) for address in ADDRESS.findall(page)]
    return [one for one in found if not one.startswith((f"{root}/", "/static/")) and one not in ("/", root)]


def crawl(client: TestClient, root: str, start: str, most: int = 150) -> set[str]:
    """Every page that can be reached by links; fails where one leads out of the study, or redirects out of it."""
    waiting: list[str] = [start]
    seen: set[str] = set()
    while waiting and len(seen) < most:
        path = waiting.pop(0)
        if path in seen:
            continue
        seen.add(path)
        answer = client.get(path)
        assert answer.status_code < 400, (path, answer.status_code)
        if answer.headers.get("location") == "/password":
            continue  # one password for all studies
        if "location" in answer.headers:
            leads = urlsplit(answer.headers["location"])
            assert leads.path.startswith(root), (path, answer.headers["location"])
            waiting.append(answer.headers["location"])
        if "text/html" not in answer.headers.get("content-type", ""):
            continue
        assert not outside(root, answer.text), path
        links = re.findall(r'(?:<a [^>]*?href|data-src|data-task-module)="(/[^"#]*)', answer.text)
        waiting += [unescape(link) for link in links if link.startswith(f"{root}/") and "download=" not in link]
    return seen


@pytest.fixture
def every_kind(tmp_path: Path, clock: ManualClock) -> Iterator[Together]:
    write_small_study(tmp_path / "rules", applications=20)
    write_market(tmp_path / "hits", pay="budget = 1000\nfee_percent = 20")
    create_study(tmp_path / "pictures", "gallery/image-boxes")
    studies = {name: open_study(tmp_path / name, clock=clock) for name in ("rules", "hits", "pictures")}
    yield Together(tmp_path, studies)
    for study in studies.values():
        study.close()


@pytest.mark.slow
def test_no_page_of_a_study_leads_out_of_it(every_kind: Together) -> None:
    make_hit(every_kind.studies["hits"])
    for name in every_kind.studies:
        root = f"/{name}"
        every_kind.member(name)
        every_kind.owner(name)
        every_kind.sign_in()
        every_kind.enter(name)
        assert every_kind.client.post(f"{root}/consent", data={"agree": "yes"}).headers["location"] == f"{root}/"
        seen = crawl(every_kind.client, root, f"{root}/")
        assert len(seen) > 3, seen
        every_kind.sign_in("olga")
        every_kind.enter(name, "console")
        seen = crawl(every_kind.client, root, f"{root}/console")
        assert len(seen) > 25, seen
        assert every_kind.client.get(f"{root}/console/").headers["location"].endswith(f"{root}/console")


def test_what_scripts_are_sent_stays_in_the_study(every_kind: Together) -> None:
    """Media of items, and where to go next."""
    every_kind.member("pictures")
    every_kind.sign_in()
    every_kind.enter("pictures")
    every_kind.client.post("/pictures/consent", data={"agree": "yes"})
    stage = next(iter(every_kind.studies["pictures"].stages))
    page = every_kind.client.get(f"/pictures/stages/{stage}").text
    assert f'data-next-url="/pictures/api/stages/{stage}/next"' in page
    offer = every_kind.client.post(f"/pictures/api/stages/{stage}/next")
    media = re.findall(r'"(/[^"]*media/[^"]*)"', offer.text)
    assert media
    assert all(address.startswith("/pictures/media/") for address in media)
    assert every_kind.client.get(media[0]).status_code == 200


def test_the_preview_of_a_form_asks_its_own_study_for_items(every_kind: Together) -> None:
    every_kind.owner("pictures")
    every_kind.sign_in("olga")
    every_kind.enter("pictures", "console")
    stage = next(iter(every_kind.studies["pictures"].stages))
    here = f"/pictures/console/design/preview/{stage}"
    page = every_kind.client.get(here).text
    assert re.findall(r'data-(?:next|submit|first|return)-url="([^"]*)"', page) == [
        f"{here}/{act}" for act in ("next", "submit", "first", "return")
    ]
    offer = every_kind.client.post(f"{here}/next")
    assert offer.json()["status"] == "item"
    [media] = set(re.findall(r'"(/[^"]*media/[^"]*)"', offer.text))
    assert every_kind.client.get(media).status_code == 200


def test_templates_and_scripts_have_no_bare_addresses() -> None:
    """`{{ root }}` is before every path in a template; scripts get addresses from pages, and import static files."""
    bare = []
    for folder in (TEMPLATES, *KITS.glob("*/web/templates")):
        for file in folder.rglob("*.html"):
            if file.parent.name == "front":
                continue
            page = file.read_text("utf-8")
            bare += [(file.name, found) for found in re.findall(r'(?:href|src|action|data-\w+)="/(?!")[^"]*', page)]
    for folder in (STATIC, KITS):
        for file in folder.rglob("*.js"):
            script = re.sub(r"/\*.*?\*/|^\s*//.*$", "", file.read_text("utf-8"), flags=re.DOTALL | re.MULTILINE)
            calls = re.findall(BARE_IN_SCRIPTS, script)
            bare += [(file.name, found) for found in calls if "/static/" not in found]
    assert bare == []


@pytest.mark.parametrize(
    ("languages", "accepted", "code", "word"),
    [
        (("de", "de"), "", "de", "Anmelden"),
        (("de", "de"), "fr", "de", "Anmelden"),
        (("de", "fr"), "", "de", "Anmelden"),
        (("de", "fr"), "nl, *", "de", "Anmelden"),
        (("de", "fr"), "fr-CA, en;q=0.9", "fr", "Se connecter"),
        (("de", "fr"), "en-GB,en;q=0.9,fr;q=0.8", "en", "Sign in"),
        (("de", "fr"), "en;q=0.1,he;q=0.3", "he", "התחברות"),
    ],
)
def test_the_front_page_is_in_the_language_of_the_studies_or_of_the_browser(
    tmp_path: Path, clock: ManualClock, languages: tuple[str, str], accepted: str, code: str, word: str
) -> None:
    studies = {}
    for name, language in zip(("rules", "second"), languages, strict=True):
        write_small_study(tmp_path / name, applications=20)
        file = tmp_path / name / "study.toml"
        file.write_text(file.read_text().replace("[study]\n", f'[study]\nlanguage = "{language}"\n', 1))
        studies[name] = open_study(tmp_path / name, clock=clock)
    server = Together(tmp_path, studies)
    for path in ("/", "/rules/sign-in", "/nothing"):
        page = server.client.get(path, headers={"Accept-Language": accepted}).text
        assert f'<html lang="{code}"' in page
        assert word in page or path == "/nothing"
        for script in re.findall(r'src="(/static/sentences[^"]*)"', page):
            sentences = server.client.get(unescape(script), headers={"Accept-Language": accepted})
            assert f'"language": "{code}"' in sentences.text
    wrong = server.client.post("/rules/sign-in", data={"name": "Anna", "password": OTHER})
    assert "Der Name oder das Passwort ist falsch." in wrong.text
    for study in studies.values():
        study.close()


# Names and folders


@pytest.mark.parametrize(
    "names",
    [["static"], ["sign-in"], ["a b"], ["../x"], ["-a"], ["ä"], ["a" * 41], [".hidden"], ["a.b"], ["a", "A"], [""]],
)
def test_names_that_cannot_be_paths_are_refused(names: list[str]) -> None:
    with pytest.raises(UserError):
        several.check_names(names)


def test_twenty_studies_have_room_in_a_cookie() -> None:
    several.check_names([f"study-{number}" for number in range(20)])
    with pytest.raises(UserError, match="20 studies at most"):
        several.check_names([f"study-{number}" for number in range(21)])


def test_which_folders_are_served_together(tmp_path: Path) -> None:
    for name in ("b", "a"):
        write_small_study(tmp_path / name)
    (tmp_path / "notes").mkdir()
    assert studies_together([tmp_path / "a"]) == {}, "one study is served alone"
    assert list(studies_together([tmp_path])) == ["a", "b"]
    assert list(studies_together([tmp_path / "b", tmp_path / "a"])) == ["b", "a"]
    assert studies_together([tmp_path / "missing"]) == {}
    with pytest.raises(UserError, match=r"notes has no study\.toml"):
        studies_together([tmp_path / "a", tmp_path / "notes"])
    assert database_of("a", "postgresql://host/{study}") == "postgresql://host/a"
    with pytest.raises(UserError, match=r"\{study\}"):
        database_of("a", "postgresql://host/one")


def test_a_study_alone_has_the_addresses_it_always_had(tmp_path: Path, clock: ManualClock) -> None:
    write_small_study(tmp_path / "alone", applications=20)
    study = open_study(tmp_path / "alone", clock=clock)
    client = TestClient(create_app(study), follow_redirects=False)
    given = {"name": "olga", "password": PASSWORD, "again": PASSWORD}
    made = client.post(setup_link_path(study) or "", data=given)
    assert (made.headers["location"], "Path=/;" in made.headers["set-cookie"]) == ("/console", True)
    assert 'href="/console/items"' in client.get("/console").text
    assert "data-root" not in client.get("/console").text
    assert look(study, lambda tx: find_requester(tx, "olga")) is not None
    study.close()
