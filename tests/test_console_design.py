"""Editing a form in the console while the site serves: for the owner, by the rules of what may change when."""

from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from starlette.testclient import TestClient

from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.folder.templates import create_study
from chorale.store import events, requesters
from chorale.web.app import create_app
from chorale.web.links import new_staff_link, setup_link_path, study_sessions
from crowd import Person, do, look
from test_console import PASSWORD


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    create_study(tmp_path / "study", "form")
    return tmp_path / "study"


@pytest.fixture
def study(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Study]:
    monkeypatch.setattr("chorale.web.staff.PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=64))
    opened = open_study(folder)
    yield opened
    opened.close()


def _owner(study: Study, folder: Path | None) -> TestClient:
    client = TestClient(create_app(study, folder=folder), follow_redirects=False)
    client.post(setup_link_path(study) or "", data={"name": "maya", "password": PASSWORD, "again": PASSWORD})
    return client


def _edit(client: TestClient, **changes: Any) -> dict[str, Any]:
    """The form with other settings of its fields, by the name of each."""
    state = client.get("/console/design/state").json()
    options = state["stages"][0]["options"]
    for field in options["fields"]:
        field.update(changes.get(field["name"], {}))
    return {"stage": "tone", "digest": state["digest"], "options": options}


def test_an_owner_edits_the_form_beside_its_preview(study: Study, folder: Path) -> None:
    client = _owner(study, folder)
    assert 'href="/console/design"' in client.get("/console/study").text
    page = client.get("/console/design")
    assert 'data-base="/console/design"' in page.text and 'href="/console/study"' in page.text
    before = (folder / "study.toml").read_text()
    edit = _edit(client, tone={"ask": "And now?"})
    assert client.post("/console/design/draft", json=edit).json()["shown"]
    assert "And now?" in client.get("/console/design/preview/tone").text
    assert (folder / "study.toml").read_text() == before
    saved = client.post("/console/design/save", json=edit).json()
    assert saved["saved"] and "Restart the site" in saved["note"]
    assert (folder / "study.toml").read_text() == before.replace("How does the message sound?", "And now?")
    assert "How does the message sound?" in study.stages["tone"].task.form.html, "people work with the form in force"
    [event] = look(study, lambda tx: events.recent(tx, 9, kinds=("form saved",)))
    assert event.evidence == {"by": "maya", "form of": "tone"}
    late = client.post("/console/design/save", json=edit)
    assert late.json()["error"]["code"] == "changed_meanwhile"


def test_a_saved_form_is_used_after_a_restart(study: Study, folder: Path) -> None:
    client = _owner(study, folder)
    assert client.post("/console/design/save", json=_edit(client, ease={"levels": 7})).json()["saved"]
    study.close()
    again = open_study(folder)
    shape = again.stages["tone"].task.shape
    assert shape.parse_answer({"tone": "polite", "ease": 7, "words": []}, {"message": "Hello"})["ease"] == 7
    again.close()


def test_what_people_have_answered_cannot_be_changed_in_the_console(study: Study, folder: Path) -> None:
    client = _owner(study, folder)
    person = Person(study, "5f0000000000000000000001")
    person.submit(person.next("tone"), {"tone": "polite", "ease": 3, "words": []})
    before = (folder / "study.toml").read_text()
    refused = client.post("/console/design/save", json=_edit(client, ease={"levels": 7})).json()
    assert not refused["saved"]
    assert "would change after the stage has started" in refused["elsewhere"][0]
    assert (folder / "study.toml").read_text() == before
    assert look(study, lambda tx: events.recent(tx, 9, kinds=("form saved",))) == []
    assert client.post("/console/design/save", json=_edit(client, tone={"ask": "And now?"})).json()["saved"]


def test_two_owners_do_not_see_each_others_drafts(study: Study, folder: Path) -> None:
    maya = _owner(study, folder)
    known = PasswordHasher(time_cost=1, memory_cost=64).hash(PASSWORD)
    study.store.do(lambda tx: requesters.set_password(tx, "ben", "owner", known))
    ben = TestClient(maya.app, follow_redirects=False)
    ben.post("/login", data={"name": "ben", "password": PASSWORD})
    maya.post("/console/design/draft", json=_edit(maya, tone={"ask": "What maya tries"}))
    assert "What maya tries" in maya.get("/console/design/preview/tone").text
    assert ben.get("/console/design/preview/tone").status_code == 200
    assert "What maya tries" not in ben.get("/console/design/preview/tone").text


def test_nobody_but_the_owner_gets_in(study: Study, folder: Path) -> None:
    owner = _owner(study, folder)
    edit = _edit(owner, tone={"ask": "And now?"})
    before = (folder / "study.toml").read_text()
    cross = owner.post("/console/design/save", json=edit, headers={"Sec-Fetch-Site": "cross-site"})
    assert cross.json()["error"]["code"] == "cross_site"
    stranger = TestClient(owner.app, follow_redirects=False)
    assert stranger.get("/console/design").headers["location"].startswith("/login")
    for role in ("viewer", "expert"):
        client = TestClient(owner.app, follow_redirects=False)
        client.get(do(study, new_staff_link, study_sessions(study), role, f"the {role}", "maya"))
        assert client.get("/console/design").status_code == 403, role
        assert client.post("/console/design/save", json=edit).status_code == 403, role
    assert stranger.post("/console/design/save", json=edit).status_code == 401
    assert stranger.get("/console/design/preview/tone").status_code == 401
    assert (folder / "study.toml").read_text() == before


def test_a_study_without_a_folder_here_says_so(study: Study) -> None:
    client = _owner(study, None)
    assert "/console/design" not in client.get("/console/study").text
    assert client.get("/console/design").status_code == 404
