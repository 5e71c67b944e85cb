"""The console: who gets in, what they see, what their buttons do."""

import asyncio
import json
import re
import secrets
from collections import Counter
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator
from contextlib import asynccontextmanager
from functools import partial, wraps
from html import unescape
from pathlib import Path
from threading import Thread
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any, TypeVar
from urllib.parse import quote

import httpx2 as httpx
import pytest
import uvicorn
from argon2 import PasswordHasher
from axe_playwright_python.sync_playwright import Axe
from fastapi import FastAPI
from sqlalchemy import select

from browsing import CHROMIUM, open_chromium
from chorale.engine import entering, settling, work
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.folder.templates import create_study
from chorale.kits.rules.tasks.meaningful import RULES_MEANINGFUL
from chorale.model import Answer, Standing, Worker
from chorale.store import Tx, events, participations, requesters, responses
from chorale.store.items import all_items, find_item
from chorale.store.schema import sign_in_attempt
from chorale.web.app import create_app
from chorale.web.console.answers import read_answer
from chorale.web.console.signing_in import local_path
from chorale.web.console.texts import span
from chorale.web.links import invitation_path, setup_link_path, staff_link_path, study_sessions
from chorale.web.sessions import STAFF_COOKIE, Sessions, StaffSession
from cookies import staff_cookie, staff_session, worker_cookie
from serving import free_port, wait_until_up
from small_study import write_small_study

if TYPE_CHECKING:
    from playwright.sync_api import Page

    from conftest import ManualClock

T = TypeVar("T")
PASSWORD = "a brass band at dawn"
HOSTILE = "</td><script>alert(1)</script><img src=x onerror=alert(2)>{{ 7*7 }}"
PLATFORM_ID = "PID0SECRET0PERSON"
SESSION_ID = "SESSION0SECRET0VISIT"
OWNER_PAGES = (
    "/console",
    "/console?part=live",
    "/console/workers",
    "/console/workers?stage=entailment&order=wage&direction=down",
    "/console/workers?part=live",
    "/console/items",
    "/console/items?stage=entailment&state=complete&released=yes&order=least+confident",
    "/console/items/one?stage=meaningful&key=a00000%3Alhs",
    "/console/ledger",
    "/console/ledger?part=live",
    "/console/activity",
    "/console/export",
    "/console/team",
    "/console/account",
    "/console/recruiting",
    "/console/payments",
)
STAFF_PAGES = (
    "/console/queue",
    "/console/gold/meaningful",
    "/console/gold/entailment",
    "/console/guidelines/meaningful",
)


@pytest.fixture(autouse=True)
def quick_hashing(monkeypatch: pytest.MonkeyPatch) -> None:
    """Passwords that are hashed in a blink: what they are worth is argon2's matter, not ours."""
    monkeypatch.setattr("chorale.web.staff.PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=64))


@pytest.fixture
def study(tmp_path: Path, clock: "ManualClock") -> Iterator[Study]:
    write_small_study(tmp_path / "study", texts=(HOSTILE, "the crew cover the hull"), share=0.5, fee_percent=20)
    opened = open_study(tmp_path / "study", clock=clock)
    yield opened
    opened.close()


@pytest.fixture
def app(study: Study) -> FastAPI:
    return create_app(study)


@asynccontextmanager
async def browser(app: FastAPI, address: str = "192.0.2.1") -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app, client=(address, 40000))
    async with httpx.AsyncClient(transport=transport, base_url="http://study.test") as client:
        yield client


def runs(scene: Callable[..., Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Run an async test on an event loop of its own."""

    @wraps(scene)
    def test(**fixtures: Any) -> None:
        asyncio.run(scene(**fixtures))

    return test


def read(study: Study, query: Callable[[Tx], T]) -> T:
    return study.store.read(query).result()


def events_of(study: Study, kind: str) -> list[dict[str, Any]]:
    return [event.evidence for event in read(study, lambda tx: events.recent(tx, 1000, kinds=(kind,)))]


async def set_up(client: httpx.AsyncClient, study: Study) -> None:
    link = setup_link_path(study)
    assert link is not None
    answer = await client.post(link, data={"name": "maya", "password": PASSWORD, "again": PASSWORD})
    assert (answer.status_code, answer.headers["location"]) == (303, "/console"), answer.text


def arrive(study: Study, number: int = 0) -> Worker:
    via = {"study": "some study", "session": SESSION_ID}

    def come(tx: Tx) -> Worker:
        worker = entering.arrive(tx, study, "prolific", f"{PLATFORM_ID}{number}", via)
        entering.consent(tx, study, worker.id)
        return worker

    return study.store.write(come).result()


def do_work(
    study: Study, clock: "ManualClock", worker: Worker, answer: Callable[[dict[str, Any]], Answer], most: int = 100
) -> None:
    """Answer what a worker is offered in stage 1."""
    stage = study.stage("meaningful")
    for _ in range(most):
        offer = study.store.write(lambda tx: work.next_item(tx, study, stage, worker.id)).result()
        if offer.lease is None or offer.view is None:
            break
        clock.pass_minutes(0.2)
        submit = partial(
            work.submit,
            study=study,
            worker_id=worker.id,
            token=offer.lease.token,
            raw_answer=answer(offer.view),
            idempotency_key=secrets.token_urlsafe(9),
            duration_ms=9000,
        )
        study.store.write(submit).result()
    settling.settle_everything(study)


def honest(view: dict[str, Any]) -> str:
    """Right on gold, whose odd numbers are "no"; everything else means something."""
    number = re.fullmatch(r"a gold phrase (\d+)", view["phrase"])
    return "no" if number and int(number[1]) % 2 else "yes"


def wrong(view: dict[str, Any]) -> str:
    return {"yes": "no", "no": "yes"}[honest(view)]


def doubtful(view: dict[str, Any]) -> str:
    """Honest, but alone in finding the right-hand sides meaningless."""
    return "no" if "cover the hull" in view["phrase"] else honest(view)


def finish_stage_one(study: Study, clock: "ManualClock") -> None:
    """Left sides come out unanimous, right sides confusing; somebody is dropped on the way."""
    do_work(study, clock, arrive(study, 99), wrong)
    for number in range(12):
        do_work(study, clock, arrive(study, number), doubtful if number % 2 else honest)


# Setting up


@runs
async def test_set_up_makes_the_owner_once(study: Study, app: FastAPI) -> None:
    link = setup_link_path(study)
    assert link is not None and setup_link_path(study) == link
    async with browser(app) as client:
        assert (await client.get(link)).status_code == 200
        await set_up(client, study)
        assert (await client.get("/console")).status_code == 200
        assert setup_link_path(study) is None
        assert (await client.get(link)).status_code == 410
        again = await client.post(link, data={"name": "eve", "password": PASSWORD, "again": PASSWORD})
        assert again.status_code == 410
        assert read(study, lambda tx: requesters.find_requester(tx, "eve")) is None
        page = (await client.get("/console/activity")).text
        assert "owner account created" in page and ">set up<" not in page
    assert events_of(study, "set up") == [{"by": "maya"}]


@runs
async def test_two_who_set_up_at_once_make_one_owner(study: Study, app: FastAPI) -> None:
    link = setup_link_path(study)
    assert link is not None
    async with browser(app) as client:
        form = {"password": PASSWORD, "again": PASSWORD}
        answers = await asyncio.gather(*(client.post(link, data={"name": f"owner{n}", **form}) for n in range(6)))
    assert sorted(answer.status_code for answer in answers) == [303, 410, 410, 410, 410, 410]
    made = [read(study, lambda tx, n=n: requesters.find_requester(tx, f"owner{n}")) for n in range(6)]  # type: ignore[misc]
    assert len([row for row in made if row]) == 1


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"name": "maya", "password": "short", "again": "short"}, "at least 10 characters. Yours has 5"),
        ({"name": "maya", "password": PASSWORD, "again": PASSWORD + "x"}, "The two passwords differ"),
        ({"name": "maya-maya-maya", "password": "Maya-Maya-Maya", "again": "Maya-Maya-Maya"}, "must not be the name"),
        ({"name": "no spaces", "password": PASSWORD, "again": PASSWORD}, "letters, digits and . _ @ + - (no spaces)"),
        ({"name": "maya", "password": "x" * 201, "again": "x" * 201}, "at most 200"),
        ({"name": "maya"}, "“password” must be filled in."),
    ],
)
@runs
async def test_set_up_says_what_is_wrong(study: Study, app: FastAPI, form: dict[str, str], message: str) -> None:
    link = setup_link_path(study)
    assert link is not None
    async with browser(app) as client:
        answer = await client.post(link, data=form)
    assert answer.status_code == 422 and message in answer.text
    assert form.get("password", "nothing") not in answer.text
    assert not read(study, requesters.has_owner)


@runs
async def test_set_up_links_cannot_be_made_up(study: Study, app: FastAPI) -> None:
    foreign = Sessions("another study's secret").link_token("setup", "x")
    ours, other = study_sessions(study).link_token("setup", "x"), study_sessions(study).link_token("expert", "x")
    async with browser(app) as client:
        for token in (foreign, ours, other, "x", "%00", "é" * 80):
            answer = await client.post(f"/setup/{token}", data={"name": "e", "password": PASSWORD, "again": PASSWORD})
            assert answer.status_code == 403
    assert not read(study, requesters.has_owner)


@runs
async def test_an_experts_name_cannot_be_taken_at_set_up(study: Study, app: FastAPI) -> None:
    async with browser(app) as client:
        await client.get(staff_link_path(study_sessions(study), "expert", "maya"))
        answer = await client.post(
            setup_link_path(study) or "", data={"name": "maya", "password": PASSWORD, "again": PASSWORD}
        )
    assert answer.status_code == 422 and "is the name of an expert" in answer.text


# Signing in


@runs
async def test_signing_in_and_out(study: Study, app: FastAPI) -> None:
    async with browser(app) as first:
        await set_up(first, study)
    async with browser(app) as client:
        turned_away = await client.get("/console/items?stage=entailment")
        assert turned_away.status_code == 303
        assert turned_away.headers["location"] == f"/login?next={quote('/console/items?stage=entailment', safe='')}"
        assert "Sign in" in (await client.get(turned_away.headers["location"])).text
        form = {"name": "maya", "password": PASSWORD, "next": "/console/items?stage=entailment"}
        answer = await client.post("/login", data=form)
        assert (answer.status_code, answer.headers["location"]) == (303, "/console/items?stage=entailment")
        cookie = answer.headers["set-cookie"].lower()
        assert "httponly" in cookie and "samesite=lax" in cookie and "secure" not in cookie
        assert (await client.get("/console")).status_code == 200
        assert (await client.get("/login?next=/console/ledger")).headers["location"] == "/console/ledger"
        assert (await client.get("/logout")).status_code == 405
        assert (await client.post("/logout")).headers["location"] == "/login"
        assert (await client.get("/console")).status_code == 303


@runs
async def test_cookies_stay_on_https_where_the_site_is(study: Study) -> None:
    async with browser(create_app(study, public_url="https://study.example.org")) as client:
        link = setup_link_path(study) or ""
        answer = await client.post(link, data={"name": "maya", "password": PASSWORD, "again": PASSWORD})
    assert "secure" in answer.headers["set-cookie"].lower()


@runs
async def test_passwords_are_stored_as_argon2id_hashes(study: Study, app: FastAPI) -> None:
    async with browser(app) as client:
        await set_up(client, study)
    owner = read(study, lambda tx: requesters.find_requester(tx, "maya"))
    assert owner is not None and (owner.password_hash or "").startswith("$argon2id$")


@runs
async def test_wrong_names_and_passwords_look_the_same(study: Study, app: FastAPI) -> None:
    async with browser(app) as client:
        await set_up(client, study)
        client.cookies.clear()
        wrong_password = await client.post("/login", data={"name": "maya", "password": "guess guess guess"})
        wrong_name = await client.post("/login", data={"name": "eve", "password": PASSWORD})
        empty = await client.post("/login", data={})
    assert wrong_password.status_code == wrong_name.status_code == empty.status_code == 401
    assert wrong_password.text.replace("maya", "") == wrong_name.text.replace("eve", "")
    assert "set-cookie" not in wrong_password.headers


@runs
async def test_guessing_is_slowed_down(study: Study, app: FastAPI) -> None:
    async with browser(app) as client:
        await set_up(client, study)
    async with browser(app, "198.51.100.7") as guesser:
        guesses = [guesser.post("/login", data={"name": "maya", "password": f"guess {n}"}) for n in range(12)]
        found = await asyncio.gather(*guesses)
        assert sorted(answer.status_code for answer in found) == [401] * 5 + [429] * 7
        late = next(answer for answer in found if answer.status_code == 429)
        assert 0 < int(late.headers["retry-after"]) <= 10
        assert "Too many attempts" in late.text
    async with browser(app, "203.0.113.9") as owner:
        answer = await owner.post("/login", data={"name": "maya", "password": PASSWORD})
        assert answer.status_code == 303, "one guesser must not keep the owner out"


@pytest.fixture
def delays(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The seconds by which answers to passwords would be delayed; nobody waits for them."""
    waited: list[float] = []

    async def sleep(seconds: float) -> None:
        waited.append(seconds)

    monkeypatch.setattr("chorale.web.doorkeeper.asyncio", SimpleNamespace(sleep=sleep, wrap_future=asyncio.wrap_future))
    return waited


@runs
async def test_wrong_passwords_keep_nobody_out_who_shares_the_address(
    study: Study, app: FastAPI, delays: list[float]
) -> None:
    """A university or a proxy has one address for everybody."""
    async with browser(app) as client:
        await set_up(client, study)
    async with browser(app, "198.51.100.7") as stranger:
        guesses = [await stranger.post("/login", data={"name": "maya", "password": f"no {n}"}) for n in range(10)]
    assert {guess.status_code for guess in guesses} == {401}
    assert delays == [1, 2, 4, 8, 10]
    async with browser(app, "198.51.100.7") as owner:
        answer = await owner.post("/login", data={"name": "maya", "password": PASSWORD})
    assert answer.status_code == 303 and delays[-1] == 10
    delays.clear()
    async with browser(app, "198.51.100.7") as stranger:
        for number in range(40):
            await stranger.post("/login", data={"name": f"somebody {number}", "password": "no"})
    assert len(delays) == 20, "also many names are tried ever more slowly: the first ten count as well"
    async with browser(app, "198.51.100.7") as owner:
        assert (await owner.post("/login", data={"name": "maya", "password": PASSWORD})).status_code == 303


@runs
async def test_a_flood_of_guesses_leaves_a_known_device_alone(study: Study, app: FastAPI) -> None:
    async with browser(app, "198.51.100.7") as owner:
        await set_up(owner, study)
        async with browser(app, "198.51.100.7") as flood:
            guesses = [flood.post("/login", data={"name": "maya", "password": f"no {n}"}) for n in range(30)]
            started = asyncio.gather(*guesses)
            right = await owner.post("/login", data={"name": "maya", "password": PASSWORD})
            codes = Counter(answer.status_code for answer in await started)
    assert right.status_code == 303
    assert codes[429] >= 20, "few are looked at at once"


@runs
async def test_guessing_from_everywhere_is_slowed_down_and_keeps_nobody_out(
    study: Study, app: FastAPI, delays: list[float]
) -> None:
    async with browser(app) as client:
        await set_up(client, study)
        device = client.cookies["chorale_device"]
    for number in range(30):
        async with browser(app, f"198.51.100.{number}") as guesser:
            for n in range(4):
                guess = await guesser.post("/login", data={"name": "maya", "password": f"no {n}"})
                assert guess.status_code == 401
    assert delays[:2] == pytest.approx([0.2, 0.4])
    assert delays == sorted(delays)
    assert delays[-1] == 10
    right = {"name": "maya", "password": PASSWORD}
    delays.clear()
    async with browser(app, "198.51.100.1") as owner:
        owner.cookies.set("chorale_device", device)
        assert (await owner.post("/login", data={**right, "password": "no"})).status_code == 401
    assert not delays, "the owner's own device does not wait"
    async with browser(app, "203.0.113.9") as elsewhere:
        assert (await elsewhere.post("/login", data=right)).status_code == 303
    assert delays == [10]


@runs
async def test_wrong_passwords_delay_nobody_whose_address_a_server_writes_as_ipv6(
    study: Study, app: FastAPI, delays: list[float]
) -> None:
    """A server that listens on `::` gets IPv4 addresses in IPv6 form. Before, they all counted as one."""
    async with browser(app) as client:
        await set_up(client, study)
    async with browser(app, "::ffff:198.51.100.7") as stranger:
        for number in range(40):
            await stranger.post("/login", data={"name": f"somebody {number}", "password": "no"})
    assert delays
    delays.clear()
    async with browser(app, "::ffff:203.0.113.9") as owner:
        assert (await owner.post("/login", data={"name": "maya", "password": PASSWORD})).status_code == 303
    assert not delays


@runs
async def test_a_known_device_has_five_tries(study: Study, app: FastAPI) -> None:
    async with browser(app) as client:
        await set_up(client, study)
        guesses = [(await client.post("/login", data={"name": "maya", "password": "no"})) for _ in range(6)]
    assert [guess.status_code for guess in guesses] == [401] * 5 + [429]


@runs
async def test_tries_are_counted_by_all_processes_and_forgotten_in_time(
    study: Study, clock: "ManualClock", delays: list[float]
) -> None:
    apps = [create_app(study), create_app(study)]
    for number in range(8):
        async with browser(apps[number % 2], "198.51.100.7") as guesser:
            assert (await guesser.post("/login", data={"name": "maya", "password": "no"})).status_code == 401
    assert delays == [1, 2, 4]
    clock.pass_minutes(5.1)
    async with browser(apps[0], "198.51.100.7") as guesser:
        assert (await guesser.post("/login", data={"name": "maya", "password": "no"})).status_code == 401
    assert delays == [1, 2, 4]
    rows = study.store.look(lambda tx: tx.execute(select(sign_in_attempt.c.key)).scalars().all())
    assert len(rows) == 3, "what is older than the window is gone"
    assert not any("198" in key or "maya" in key for key in rows)


@runs
async def test_addresses_of_one_ipv6_subscriber_are_one(app: FastAPI, delays: list[float]) -> None:
    for number in range(6):
        async with browser(app, f"2001:db8::{number + 1}") as guesser:
            await guesser.post("/login", data={"name": "maya", "password": "x"})
    assert delays == [1]


@runs
async def test_a_new_password_ends_all_other_sessions(study: Study, app: FastAPI) -> None:
    new = "another brass band"
    async with browser(app) as here, browser(app) as elsewhere:
        await set_up(here, study)
        await elsewhere.post("/login", data={"name": "maya", "password": PASSWORD})
        assert (await elsewhere.get("/console")).status_code == 200
        refused = await here.post("/console/account", data={"current": "wrong one", "password": new, "again": new})
        assert refused.status_code == 422 and "current password is wrong" in refused.text
        changed = await here.post("/console/account", data={"current": PASSWORD, "password": new, "again": new})
        assert changed.status_code == 303
        assert "The password is changed" in (await here.get(changed.headers["location"])).text
        assert (await elsewhere.get("/console")).status_code == 303
        assert (await elsewhere.get("/console?part=live")).status_code == 401
        assert (await elsewhere.post("/login", data={"name": "maya", "password": PASSWORD})).status_code == 401
        assert (await elsewhere.post("/login", data={"name": "maya", "password": new})).status_code == 303
    assert events_of(study, "password changed") == [{"by": "maya"}]


@runs
async def test_forged_and_old_cookies_are_refused(study: Study, app: FastAPI) -> None:
    ours = study_sessions(study)
    async with browser(app) as client:
        await set_up(client, study)
        good = client.cookies[STAFF_COOKIE]
    forged = [
        Sessions("guess").staff_cookie(staff_session(study, "maya")),
        staff_cookie(study, "maya", 2),
        ours.staff_cookie(StaffSession("maya", 1, "another epoch")),
        staff_cookie(study, "nobody"),
        worker_cookie(study, arrive(study)),
        ours.link_token("expert", "maya"),
        # Not the last character: some of its bits mean nothing.
        good[:-3] + ("A" if good[-3] != "A" else "B") + good[-2:],
        "[]",
        "x" * 3000,
    ]
    for cookie in forged:
        async with browser(app) as client:
            client.cookies.set(STAFF_COOKIE, cookie)
            assert (await client.get("/console")).status_code == 303
            posted = await client.post("/console/stages/meaningful/state", data={"state": "paused"})
            assert posted.status_code == 401 and "not signed in" in posted.text
    assert events_of(study, "paused") == []


def test_sessions_end_after_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    sessions = Sessions("secret")
    cookie = sessions.staff_cookie(StaffSession("maya", 1, "epoch"))
    assert sessions.staff(cookie) == StaffSession("maya", 1, "epoch")
    monkeypatch.setattr("chorale.web.sessions.STAFF_SECONDS", -1)
    assert sessions.staff(cookie) is None


@pytest.mark.parametrize(
    ("wanted", "allowed"),
    [
        ("/console/items?stage=x", True),
        ("/console?part=live", True),
        ("/console", True),
        ("//evil.example/console", False),
        ("/\\evil.example", False),
        ("https://evil.example/console", False),
        ("/console.evil.example", False),
        ("/console@evil.example", False),
        ("/\t/evil.example", False),
        ("javascript:alert(1)", False),
        ("", False),
    ],
)
def test_signing_in_leads_nowhere_else(wanted: str, allowed: bool) -> None:
    assert local_path(wanted) == (wanted if allowed else "/console")


@runs
async def test_changes_asked_for_by_other_sites_are_refused(study: Study, app: FastAPI) -> None:
    async with browser(app) as client:
        await set_up(client, study)
        from_elsewhere = ({"origin": "https://evil.example"}, {"origin": "http://["}, {"sec-fetch-site": "cross-site"})
        for headers in from_elsewhere:
            answer = await client.post("/console/stages/meaningful/state", data={"state": "paused"}, headers=headers)
            assert answer.status_code == 403
    assert events_of(study, "paused") == []


# Experts


@runs
async def test_experts_see_their_desks_only(study: Study, app: FastAPI) -> None:
    async with browser(app) as client:
        came = await client.get(staff_link_path(study_sessions(study), "expert", "Dr. Ño"))
        assert (came.status_code, came.headers["location"]) == (303, "/console/queue")
        for path in STAFF_PAGES:
            assert (await client.get(path)).status_code == 200, path
        for path in OWNER_PAGES:
            answer = await client.get(path)
            assert answer.status_code == 403 and "owner" in answer.text, path
        assert (await client.get("/console/export/csv")).status_code == 403
        for path in ("invitations", "team", "account", "stages/meaningful/state"):
            data = {"n": "1", "name": "x", "state": "paused", "current": "x", "password": PASSWORD, "again": PASSWORD}
            assert (await client.post(f"/console/{path}", data=data)).status_code == 403
        desk = (await client.get("/console/gold/meaningful")).text
        assert "/console/workers" not in desk and "/console/items" not in desk
        assert (await client.post("/login", data={"name": "Dr. Ño", "password": "!"})).status_code == 401
    assert events_of(study, "expert came") == [{"by": "Dr. Ño"}]


@runs
async def test_expert_links_cannot_be_made_up_nor_make_owners(study: Study, app: FastAPI) -> None:
    sessions = study_sessions(study)
    async with browser(app) as client:
        await set_up(client, study)
        client.cookies.clear()
        for token in ("x", Sessions("guess").link_token("expert", "ada"), sessions.link_token("invitation", "ada")):
            assert (await client.get(f"/expert/{token}")).status_code == 403
        as_owner = await client.get(staff_link_path(sessions, "expert", "maya"))
        assert as_owner.status_code == 403 and not client.cookies


@runs
async def test_the_owner_makes_links_for_people(study: Study, app: FastAPI) -> None:
    async with browser(app) as client:
        await set_up(client, study)
        made = await client.post("/console/invitations", data={"n": "3"})
        links = set(re.findall(r"http://study\.test(/join/[\w.-]+)", made.text))
        assert made.status_code == 200 and len(links) == 3
        expert = await client.post("/console/team", data={"name": " Ada Lovelace ", "role": "expert"})
        [expert_link] = re.findall(r"http://study\.test(/expert/[\w.-]+)", expert.text)
        page = unescape((await client.get("/console/recruiting")).text)
        assert (
            "http://study.test/join?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}"
            "&SESSION_ID={{%SESSION_ID%}}" in page
        )
    async with browser(app) as client:
        for link in links:
            assert (await client.get(link)).headers["location"] == "/"
        assert (await client.get(expert_link)).status_code == 303
        assert "Ada Lovelace" in (await client.get("/console/gold/meaningful")).text
    assert len(events_of(study, "arrived")) == 3
    assert events_of(study, "invited") == [{"by": "maya", "invitations": 3}]
    assert events_of(study, "expert invited") == [{"by": "maya", "expert": "Ada Lovelace"}]
    assert invitation_path(study_sessions(study), "x").startswith("/join/")


@pytest.mark.parametrize(
    ("path", "data", "message"),
    [
        ("invitations", {"n": "0"}, "is not a number from 1 to 500"),
        ("invitations", {"n": "501"}, "is not a number from 1 to 500"),
        ("invitations", {"n": "three"}, "is not a number from 1 to 500"),
        ("invitations", {"n": "٣"}, "is not a number from 1 to 500"),
        ("invitations", {}, "is not a number from 1 to 500"),
        ("team", {"name": "maya", "role": "expert"}, "is already in use (owner)"),
        ("team", {"name": "<b>", "role": "expert"}, "cannot be an expert's name"),
        ("team", {"name": "", "role": "expert"}, "cannot be an expert's name"),
        ("team", {"name": "x" * 61, "role": "expert"}, "at most 60"),
        ("stages/meaningful/state", {"state": "closed"}, "“state” must be"),
        ("gold/meaningful/promote", {"key": "no such item", "answer": '"yes"', "explanation": "so"}, "has no item"),
        ("gold/meaningful/promote", {"key": "a00000:lhs", "explanation": "so"}, "Choose an answer"),
        ("gold/meaningful/promote", {"key": "a00000:lhs", "answer": "yes", "explanation": "so"}, "is not valid JSON"),
        ("gold/meaningful/promote", {"key": "a00000:lhs", "answer": '"maybe"', "explanation": "so"}, "not an answer"),
        (
            "gold/meaningful/promote",
            {"key": "a00000:lhs", "answer": "[" * 3000, "explanation": "so"},
            "is not valid JSON",
        ),
        (
            "gold/meaningful/promote",
            {"key": "a00000:lhs", "answer": '"\\ud800"', "explanation": "so"},
            "is not valid JSON",
        ),
        ("gold/meaningful/promote", {"key": "a00000:lhs", "answer": '"yes"'}, "needs an explanation"),
        ("gold/meaningful/promote", {"key": "a\0", "answer": '"yes"', "explanation": "so"}, "“key” has characters"),
        ("gold/meaningful/promote", {"key": "g1", "answer": '"yes"', "explanation": "so"}, "is already gold"),
        ("gold/meaningful/retire", {"chosen": "g1"}, "Enter a reason"),
        ("gold/meaningful/retire", {"reason": "so"}, "Select at least one gold item"),
    ],
)
@runs
async def test_mistakes_are_told_on_the_page(
    study: Study, app: FastAPI, path: str, data: dict[str, str], message: str
) -> None:
    async with browser(app) as client:
        await set_up(client, study)
        answer = await client.post(f"/console/{path}", data=data)
    assert answer.status_code == 422, answer.text
    assert message in unescape(answer.text)
    assert "<b>" not in answer.text


@pytest.mark.parametrize(
    "path",
    [
        "/console/workers/w-nobody",
        "/console/workers?stage=nosuch",
        "/console/items?stage=nosuch",
        "/console/items/one?stage=meaningful&key=nosuch",
        "/console/gold/nosuch",
        "/console/guidelines/nosuch",
        "/console/export/nosuch",
    ],
)
@runs
async def test_what_is_not_there_is_not_found(study: Study, app: FastAPI, path: str) -> None:
    async with browser(app) as client:
        await set_up(client, study)
        assert (await client.get(path)).status_code == 404


@pytest.mark.parametrize(
    "path",
    [
        "/console/workers?order=platform",
        "/console/workers?page=0",
        "/console/items?order=platform",
        "/console/items?state=secret",
        "/console/items/one?stage=meaningful&key=%00",
        "/console/items/one?stage=meaningful",
        "/console/activity?before=-1",
        "/console/activity?before=99999999999999999999999",
        "/console/activity?kind='%20OR%201=1",
        "/console/workers/w-%3Cscript%3E",
    ],
)
@runs
async def test_odd_addresses_are_refused(study: Study, app: FastAPI, path: str) -> None:
    async with browser(app) as client:
        await set_up(client, study)
        answer = await client.get(path)
    assert answer.status_code == 422 and "Invalid input" in answer.text


# Steering and seeing


@runs
async def test_pausing_stops_new_work_and_resuming_brings_it_back(study: Study, app: FastAPI) -> None:
    worker = arrive(study)
    async with browser(app) as owner, browser(app) as client:
        await set_up(owner, study)
        client.cookies.set("chorale_worker", worker_cookie(study, worker))

        async def ask() -> str:
            return str((await client.post("/api/stages/meaningful/next")).json()["status"])

        paused = await owner.post("/console/stages/meaningful/state", data={"state": "paused", "reason": "lunch"})
        assert (paused.status_code, paused.headers["location"]) == (303, "/console?done=paused")
        assert "The stage is paused" in (await owner.get("/console?done=paused")).text
        assert await ask() == "paused"
        live = (await owner.get("/console?part=live")).text
        assert "Resume" in live and "<html" not in live
        for_nothing = await owner.post("/console/stages/meaningful/state", data={"state": "open", "reason": " "})
        assert for_nothing.status_code == 422 and "Enter a reason" in for_nothing.text and await ask() == "paused"
        await owner.post("/console/stages/meaningful/state", data={"state": "open", "reason": " back "})
        assert await ask() == "item"
        # In a hurry nobody is asked why.
        await owner.post("/console/stages/meaningful/state", data={"state": "paused", "reason": ""})
    # The newest first.
    assert events_of(study, "paused") == [{"by": "maya"}, {"by": "maya", "reason": "lunch"}]
    assert events_of(study, "resumed") == [{"by": "maya", "reason": "back"}]


@runs
async def test_pages_show_the_study_and_escape_it(study: Study, app: FastAPI, clock: "ManualClock") -> None:
    finish_stage_one(study, clock)
    standings = read(study, participations.participation_summaries)
    dropped = next(row for row in standings if row.standing == Standing.DROPPED)
    first = read(study, lambda tx: next(iter(all_items(tx, "meaningful"))))
    pages = [*OWNER_PAGES, *STAFF_PAGES, f"/console/workers/{dropped.worker}"]
    pages += [f"/console/activity?kind={kind}" for kind in ("arrived", "settings", "labelled", "dropped")]
    given = read(study, lambda tx: list(responses.all_responses(tx, pseudonym=dropped.worker)))
    discarded = next(response.item for response in given if response.kind == "production")
    pages.append(f"/console/items/one?stage=meaningful&key={quote(discarded)}")
    async with browser(app) as client:
        await set_up(client, study)
        shown = {path: (await client.get(path)).text for path in pages}
        nothing = {
            path: text
            for path, text in shown.items()
            if "<script>alert" in text or "<img src=x" in text or "49" in text
        }
        assert not [path for path, text in shown.items() if "<script>alert" in text or "<img src=x" in text], nothing
        for path, text in shown.items():
            assert PLATFORM_ID not in text and SESSION_ID not in text, path
            assert not re.search(r"<style|\sstyle=|\son\w+=\"|<script(?! type=\"module\" src=\"/static/)", text), path
            assert not re.search(r"(?:src|href)=\"(?:https?:)?//", text), path
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in shown["/console/items"]
    assert dropped.worker in shown["/console"] and "gold accuracy" in shown["/console"]
    assert "Removed" in shown[f"/console/workers/{dropped.worker}"]
    assert first.key in shown["/console/items"]
    assert "does not count" in shown[pages[-1]]
    assert re.search(r"response:\d+:base", shown["/console/ledger"])
    assert "<time datetime=" in shown["/console/activity"]


@runs
async def test_lists_are_ordered_and_paged(study: Study, app: FastAPI, clock: "ManualClock") -> None:
    finish_stage_one(study, clock)
    async with browser(app) as client:
        await set_up(client, study)
        up = (await client.get("/console/workers?order=trust&direction=up")).text
        down = (await client.get("/console/workers?order=trust&direction=down")).text
        found_up, found_down = (re.findall(r"id=\"worker-(w-\w+)\"", text) for text in (up, down))
        assert sorted(found_up) == sorted(found_down) and found_up != found_down
        assert 'aria-sort="descending"' in down
        past = await client.get("/console/workers?page=7")
        assert past.status_code == 200 and "page=1" in past.text
        for number in range(120):
            study.store.write(partial(events.record, at=number, kind="odd", evidence={})).result()
        newest = (await client.get("/console/activity")).text
        older = re.search(r"before=(\d+)", newest)
        assert older
        page = (await client.get(f"/console/activity?before={older[1]}")).text
        ids = [int(number) for number in re.findall(r"id=\"event-(\d+)\"", page)]
        assert ids and max(ids) < int(older[1])


@runs
async def test_lineage_leads_back_to_where_an_item_came_from(study: Study, app: FastAPI, clock: "ManualClock") -> None:
    for number in range(12):
        do_work(study, clock, arrive(study, number), honest)
    async with browser(app) as client:
        await set_up(client, study)
        page = unescape((await client.get("/console/items/one?stage=entailment&key=a00000")).text)
    assert "Created from" in page and "stage=meaningful&key=a00000%3Alhs" in page


# The gold desk


@runs
async def test_unanimous_items_become_gold(study: Study, app: FastAPI, clock: "ManualClock") -> None:
    finish_stage_one(study, clock)
    async with browser(app) as client:
        await client.get(staff_link_path(study_sessions(study), "expert", "ada"))
        desk = (await client.get("/console/gold/meaningful")).text
        total = re.search(r"Make all (\d+) gold", desk)
        assert total and int(total[1]) > 0
        made = await client.post("/console/gold/meaningful/promote-unanimous")
        assert made.headers["location"] == f"/console/gold/meaningful?done=all-gold&n={total[1]}"
        after = (await client.get(made.headers["location"])).text
        assert f"{total[1]} items are gold now" in after and "Make all" not in after
    events_made = events_of(study, "made gold")
    assert len(events_made) == int(total[1]) and all(event["by"] == "ada" for event in events_made)


@runs
async def test_a_confusing_item_becomes_gold_and_is_retired(study: Study, app: FastAPI, clock: "ManualClock") -> None:
    finish_stage_one(study, clock)
    items = read(study, lambda tx: list(all_items(tx, "meaningful")))
    least = min((item for item in items if item.state == "complete"), key=lambda item: item.confidence or 0)
    key = least.key
    assert least.confidence is not None and least.confidence < 0.7
    form = {"key": key, "answer": '"no"', "explanation": "A hull is <not> covered."}
    async with browser(app) as client:
        await set_up(client, study)
        kept = await client.post("/console/gold/meaningful/promote", data={**form, "answer": '"maybe"'})
        assert kept.status_code == 422 and "A hull is &lt;not&gt; covered." in kept.text
        made = await client.post("/console/gold/meaningful/promote", data=form)
        assert made.headers["location"] == "/console/gold/meaningful?done=gold"
        assert read(study, lambda tx: find_item(tx, "meaningful", key)).is_gold  # type: ignore[union-attr]
        twice = await client.post("/console/gold/meaningful/promote", data=form)
        assert twice.status_code == 422 and "is already gold" in twice.text
        retired = await client.post(
            "/console/gold/meaningful/retire", data={"chosen": key, "reason": " people disagree "}
        )
        assert retired.headers["location"] == "/console/gold/meaningful?done=all-retired&n=1"
        assert "Retired gold" in (await client.get("/console/gold/meaningful")).text
    assert events_of(study, "made gold")[0]["by"] == "maya"
    assert events_of(study, "retired gold") == [{"by": "maya", "reason": "people disagree"}]


@runs
async def test_gold_that_most_get_wrong_is_flagged(study: Study, app: FastAPI, clock: "ManualClock") -> None:
    async with browser(app) as client:
        await set_up(client, study)
        assert 'badge-danger">check' not in (await client.get("/console/gold/meaningful")).text
        for number in range(12):
            do_work(study, clock, arrive(study, number), wrong)
        assert 'badge-danger">check' in (await client.get("/console/gold/meaningful")).text


def test_answers_are_chosen_where_they_can_be_listed() -> None:
    assert RULES_MEANINGFUL.shape.choices == ["yes", "no"]
    assert read_answer(RULES_MEANINGFUL, {"answer": '"yes"'}) == "yes"


# Export


@pytest.mark.parametrize(
    "name", ["crowdkit", "csv", "huggingface", "jsonl", "labels", "ledger", "parquet", "workers", "zeichner"]
)
def test_exports_are_downloaded_and_leave_nothing_behind(
    study: Study, app: FastAPI, clock: "ManualClock", name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(scratch))
    for number in range(3):
        do_work(study, clock, arrive(study, number), honest)

    async def scene() -> None:
        async with browser(app) as client:
            await set_up(client, study)
            assert f"/console/export/{name}" in (await client.get("/console/export")).text
            answer = await client.get(f"/console/export/{name}")
        assert answer.status_code == 200 and answer.content
        assert answer.headers["content-disposition"].startswith("attachment; filename=")
        assert PLATFORM_ID.encode() not in answer.content and SESSION_ID.encode() not in answer.content

    asyncio.run(scene())
    assert list(scratch.iterdir()) == []
    assert events_of(study, "exported") == [{"by": "maya", "format": name}]


# The rest


def test_the_template_study_has_a_console(tmp_path: Path) -> None:
    create_study(tmp_path / "rules", "rules")
    study = open_study(tmp_path / "rules")

    async def scene() -> None:
        async with browser(create_app(study)) as client:
            await set_up(client, study)
            for path in (*OWNER_PAGES[:7], *OWNER_PAGES[8:], *STAFF_PAGES):
                assert (await client.get(path)).status_code == 200, path

    try:
        asyncio.run(scene())
    finally:
        study.close()


def test_the_gold_desk_of_a_study_without_gold_says_where_it_is_set(tmp_path: Path) -> None:
    create_study(tmp_path / "frames", "frames")
    study = open_study(tmp_path / "frames")

    async def scene() -> None:
        async with browser(create_app(study)) as client:
            await set_up(client, study)
            desk = await client.get("/console/gold")
            assert desk.status_code == 200 and "[stage.gold]" in desk.text

    try:
        asyncio.run(scene())
    finally:
        study.close()


def test_set_up_and_pages_on_every_database(database: str | None, tmp_path: Path, clock: "ManualClock") -> None:
    write_small_study(tmp_path / "study", share=0.5)
    study = open_study(tmp_path / "study", database, clock)

    async def scene() -> None:
        async with browser(create_app(study)) as client:
            link = setup_link_path(study) or ""
            form = {"password": PASSWORD, "again": PASSWORD}
            answers = await asyncio.gather(*(client.post(link, data={"name": f"o{n}", **form}) for n in range(4)))
            assert sorted(answer.status_code for answer in answers) == [303, 410, 410, 410]
            expert = staff_link_path(study_sessions(study), "expert", "ada")
            came = await asyncio.gather(*(client.get(expert) for _ in range(4)))
            assert {answer.status_code for answer in came} == {303}
            client.cookies.clear()
            name = next(f"o{n}" for n, answer in enumerate(answers) if answer.status_code == 303)
            await client.post("/login", data={"name": name, "password": PASSWORD})
            for path in (*OWNER_PAGES, *STAFF_PAGES):
                assert (await client.get(path)).status_code == 200, path

    try:
        finish_stage_one(study, clock)
        asyncio.run(scene())
    finally:
        study.close()


@pytest.mark.parametrize(
    ("milliseconds", "text"),
    [(0, "0.0 s"), (8_400, "8.4 s"), (59_990, "60.0 s"), (192_000, "3 min 12 s"), (7_380_000, "2 h 3 min")],
)
def test_spans(milliseconds: int, text: str) -> None:
    assert span(milliseconds) == text


def test_json_in_evidence_is_plain_text(study: Study, app: FastAPI) -> None:
    evidence = {"nested": [{"a": 1, "b": [HOSTILE]}], "nothing": None, "empty": []}
    study.store.write(lambda tx: events.record(tx, 0, "odd", evidence)).result()

    async def scene() -> None:
        async with browser(app) as client:
            await set_up(client, study)
            text = (await client.get("/console/activity?kind=odd")).text
        assert "<script>alert" not in text and json.dumps(HOSTILE)[1:9] not in text.replace("&lt;", "")

    asyncio.run(scene())


# In a browser

needs_chromium = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium")


@pytest.fixture
def address(app: FastAPI) -> Iterator[str]:
    """The site on a port of its own."""
    server = uvicorn.Server(uvicorn.Config(app, port=free_port(), log_level="warning"))
    thread = Thread(target=server.run)
    thread.start()
    wait_until_up(server.config.port)
    yield f"http://127.0.0.1:{server.config.port}"
    server.should_exit = True
    thread.join()


@pytest.fixture
def page(address: str, study: Study, clock: "ManualClock") -> Iterator["Page"]:
    """A browser with the owner signed in, on a study with something to see."""
    finish_stage_one(study, clock)
    with open_chromium() as chromium:
        opened = chromium.new_page(viewport={"width": 390, "height": 844})
        opened.goto(address + (setup_link_path(study) or ""))
        opened.fill("#password", PASSWORD)
        opened.fill("#again", PASSWORD)
        opened.click("text=Set up and sign in")
        opened.wait_for_url("**/console")
        yield opened


@pytest.mark.browser
@needs_chromium
def test_the_console_is_accessible_and_fits_a_phone(page: "Page", address: str) -> None:
    complaints: list[str] = []
    page.on("console", lambda message: complaints.append(message.text))
    for path in ("/console", "/console/workers", "/console/items", "/console/ledger", "/console/gold/meaningful"):
        page.goto(address + path)
        found = Axe().run(page)
        assert found.violations_count == 0, found.generate_report()
        wider = "document.documentElement.scrollWidth - document.documentElement.clientWidth"
        assert page.evaluate(wider) <= 0, path
        for text in page.locator("td.reading, td.reading-line").all()[:20]:
            assert text.evaluate("cell => cell.clientWidth") > 200, path
        if path == "/console/ledger":
            assert page.locator("[id^=entry-]").first.evaluate("row => row.clientHeight") < 100
    assert complaints == []


@pytest.mark.browser
@needs_chromium
@pytest.mark.slow
def test_the_live_part_changes_without_taking_the_focus(page: "Page", address: str) -> None:
    page.focus("#state-meaningful")
    page.evaluate("window.focused = document.activeElement")
    page.request.post(f"{address}/console/stages/entailment/state", form={"state": "paused", "reason": "lunch"})
    page.wait_for_selector("#stage-entailment >> text=Resume")
    assert page.evaluate("document.activeElement === window.focused")
    page.route("**/*part=live*", lambda route: route.abort())
    page.wait_for_selector("text=Connection lost. This page shows the state at")
    page.unroute("**/*part=live*")
    page.wait_for_selector("#live-status", state="hidden")
    page.context.clear_cookies()
    page.wait_for_selector("text=Your session has ended")
