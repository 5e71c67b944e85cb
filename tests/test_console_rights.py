"""Who may do what in the console: every route there is, as somebody who may not; and what nobody sees by accident."""

import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from argon2 import PasswordHasher
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.exchange.export import export_formats
from chorale.store import events
from chorale.web.app import create_app
from chorale.web.links import new_staff_link, setup_link_path, staff_link_path, study_sessions
from crowd import do, look
from protocol_study import write_protocol_study
from suggesting_study import write_suggesting_study
from test_console import PASSWORD, arrive

if TYPE_CHECKING:
    from conftest import ManualClock

ARMS = '[arms]\nnames = ["plain-arm", "rich-arm"]\n'
FILLED = {"name": "work-a", "pseudonym": "w-nobody", "number": "1", "act": "message"}
EXPERTS_DO = {
    *("/console/queue/work", "/console/queue/{number}", "/console/messages/{number}/send"),
    *("/console/gold/{name}/promote", "/console/gold/{name}/promote-unanimous"),
    *("/console/gold/{name}/selected", "/console/gold/{name}/retire"),
    *("/console/review/{name}", "/console/review/{name}/undo"),
}


@pytest.fixture
def study(tmp_path: Path, clock: "ManualClock", monkeypatch: pytest.MonkeyPatch) -> Iterator[Study]:
    monkeypatch.setattr("chorale.web.staff.PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=64))
    write_protocol_study(tmp_path / "study", message=None, arms=ARMS, arms_of=('"plain-arm"', '"rich-arm"'))
    opened = open_study(tmp_path / "study", clock=clock)
    for number in range(4):
        arrive(opened, number)
    yield opened
    opened.close()


def routes(study: Study, method: str) -> list[str]:
    """The patterns of the console's addresses that take a method."""
    found = [route for route in inner(create_app(study).routes) if method in (route.methods or ())]
    return sorted({route.path for route in found if route.path.startswith("/console")})


def inner(found: Iterable[Any]) -> Iterator[APIRoute]:
    """All routes, also those of routers that were put into others."""
    for route in found:
        if isinstance(route, APIRoute):
            yield route
        elif hasattr(route, "original_router"):
            yield from inner(route.original_router.routes)


def address(pattern: str) -> str:
    return re.sub(r"\{(\w+)\}", lambda part: FILLED[part[1]], pattern)


def visitor(study: Study, link: str = "") -> TestClient:
    client = TestClient(create_app(study), follow_redirects=False)
    if link:
        assert client.get(link).status_code == 303
    return client


def owner(study: Study) -> TestClient:
    client = visitor(study)
    client.post(setup_link_path(study) or "", data={"name": "maya", "password": PASSWORD, "again": PASSWORD})
    return client


def test_every_act_is_refused_to_those_who_may_not_do_it(study: Study) -> None:
    signed_in, sessions = owner(study), study_sessions(study)
    viewer = visitor(study, do(study, new_staff_link, sessions, "viewer", "Ed", "maya"))
    expert, stranger = visitor(study, staff_link_path(sessions, "expert", "ada")), visitor(study)
    acts = routes(study, "POST")
    assert len(acts) > 20 and set(acts) >= EXPERTS_DO
    before = look(study, events.latest)
    for act in acts:
        assert stranger.post(address(act)).status_code == 401, act
        assert viewer.post(address(act)).status_code == 403, act
        assert (expert.post(address(act)).status_code == 403) == (act not in EXPERTS_DO), act
        for headers in ({"sec-fetch-site": "cross-site"}, {"origin": "https://elsewhere.example"}):
            assert signed_in.post(address(act), headers=headers).status_code == 403, act
    new = [event.kind for event in look(study, lambda tx: events.recent(tx, 50)) if event.id > before]
    assert new == [], "nothing that was refused left a trace"


def test_no_page_of_the_console_is_open_to_strangers(study: Study) -> None:
    owner(study)
    stranger = visitor(study)
    pages = routes(study, "GET")
    assert len(pages) > 15
    for page in pages:
        answer = stranger.get(address(page).replace("{name}", "responses"))
        if page.startswith("/console/design/"):  # asked for by the script or the frame of the design page
            assert answer.json()["error"]["code"] == "signed_out", page
            continue
        assert (answer.status_code, answer.headers["location"][:7]) == (303, "/login?"), page
        assert stranger.get(f"{address(page)}?part=live").status_code == 401, page


def test_nobody_comes_upon_the_arms_before_having_asked(study: Study) -> None:
    client = owner(study)
    viewer = visitor(study, do(study, new_staff_link, study_sessions(study), "viewer", "Ed", "maya"))
    workers = re.findall(r'href="/console/workers/(w-\w+)"', client.get("/console/activity").text)
    assert workers
    pages = ["/console", "/console?part=live", "/console/workers", "/console/items", "/console/items?arm=plain-arm"]
    pages += ["/console/ledger", "/console/activity", "/console/activity?kind=arm", f"/console/workers/{workers[0]}"]
    for one in (client, viewer):
        for page in pages:
            # The study file, which the record keeps, names them; who is in which is what nobody is to see.
            shown = re.sub(r"arm=plain-arm|&#34;\w+-arm&#34;", "", one.get(page).text)
            assert "-arm" not in shown, page
    assert "-arm" not in client.get("/console/gates").text
    client.post("/console/arms", data={"reason": "the study is over"})
    assert "plain-arm" in client.get("/console/activity?kind=arm").text
    assert "-arm" not in viewer.get("/console/activity?kind=arm").text


def test_downloading_data_counts_as_having_looked_at_the_arms(study: Study) -> None:
    client = owner(study)
    exports = client.get("/console/export").text
    assert "Exports show the arms" in exports
    places = [exports.index(f'/console/export/{name}"') for name in ("grades", "consents", "messages", "crowdkit")]
    assert places == sorted(places), "each is with its kind, and formats for other tools are last"
    for name in export_formats(study):
        assert client.get(f"/console/export/{name}").status_code == 200, name
    written = [event.evidence for event in look(study, lambda tx: events.recent(tx, 99, kinds=("arms shown",)))]
    assert {event["by"] for event in written} == {"maya"}
    assert sorted(event["reason"] for event in written) == sorted(
        f"an export: {name}" for name in export_formats(study)
    )


@pytest.mark.parametrize("recorded", [False, True])
def test_the_table_about_typing_is_offered_where_typing_is_recorded(
    tmp_path: Path, clock: "ManualClock", monkeypatch: pytest.MonkeyPatch, recorded: bool
) -> None:
    monkeypatch.setattr("chorale.web.staff.PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=64))
    write_suggesting_study(tmp_path / "study", arms=False, writing=recorded)
    with closing(open_study(tmp_path / "study", clock=clock)) as opened:
        exports = owner(opened).get("/console/export").text
    assert ('/console/export/writing"' in exports) is recorded
    assert '/console/export/grades"' in exports
