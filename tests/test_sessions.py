"""Sessions end when somebody signs out or is revoked, whoever has a copy of the cookie."""

import re
import shutil
from pathlib import Path
from typing import Any

from sqlalchemy import text
from starlette.testclient import TestClient

from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.web.app import create_app
from chorale.web.links import expert_link_path, study_sessions
from chorale.web.sessions import STAFF_COOKIE, WORKER_COOKIE
from chorale.web.staff import revoke
from conftest import StudyMaker
from crowd import do, look
from small_study import write_small_study


def browser(study: Study) -> TestClient:
    return TestClient(create_app(study), follow_redirects=False)


def join(client: TestClient, name: str) -> None:
    assert client.get("/join", params={"PROLIFIC_PID": name}).status_code == 303
    assert client.post("/consent", data={"agree": "yes"}).status_code == 303


def lease(client: TestClient, stage: str = "meaningful") -> str:
    offer = client.post(f"/api/stages/{stage}/next", json={}).json()
    return str(offer["assignment"]["id"])


def submit(client: TestClient, token: str, answer: Any = "yes") -> Any:
    return client.post(f"/api/assignments/{token}/submit", json={"key": f"key-{token}", "answer": answer})


def paid(study: Study) -> int:
    return int(look(study, lambda tx: tx.execute(text("SELECT coalesce(sum(amount), 0) FROM entry")).scalar_one()))


def test_a_copied_cookie_is_useless_after_signing_out(make_study: StudyMaker) -> None:
    study = make_study(applications=20)
    own, thief = browser(study), browser(study)
    join(own, "ada")
    held = lease(own)
    thief.cookies.set(WORKER_COOKIE, own.cookies[WORKER_COOKIE])
    assert "Your overview" in thief.get("/").text
    own.post("/leave")
    assert "Your overview" not in thief.get("/").text
    for answer in (
        thief.post("/api/stages/meaningful/next", json={}),
        submit(thief, held),
        thief.post(f"/api/assignments/{held}/extend"),
        thief.post(f"/api/assignments/{held}/return"),
    ):
        assert (answer.status_code, answer.json()["error"]["code"]) == (401, "signed_out")
    assert paid(study) == 0
    join(own, "ada")
    assert submit(own, held).json()["status"] == "accepted"


def test_a_revoked_expert_neither_works_nor_is_paid(make_study: StudyMaker) -> None:
    """Also in stages that ask for no qualification, with an item they hold, and with one that is answered late."""
    study = make_study(applications=20, entailment_extra='qualifications = ["expert"]')
    expert, thief = browser(study), browser(study)
    expert.get(expert_link_path(study_sessions(study), "ada"))
    assert expert.post("/console/desk/work", data={"stage": "entailment"}).status_code == 303
    assert submit(expert, lease(expert)).json()["status"] == "accepted"
    held, before = lease(expert), paid(study)
    for name in (WORKER_COOKIE, STAFF_COOKIE):
        thief.cookies.set(name, expert.cookies[name])
    do(study, revoke, "ada", "expert", "maya", "has left")
    for client in (expert, thief):
        for answer in (submit(client, held), client.post("/api/stages/meaningful/next", json={})):
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "revoked")
        assert client.get("/console/desk").status_code == 303
        assert client.post("/console/desk/work", data={"stage": "entailment"}).status_code == 401
    assert paid(study) == before


def test_a_session_is_bound_to_its_worker_where_a_database_was_copied_back_by_hand(tmp_path: Path) -> None:
    """D joins after a copy was made, E after it was put back: E has D's row, and D's page must not answer as E."""
    folder = tmp_path / "study"
    write_small_study(folder, applications=20)
    study = open_study(folder)
    first = browser(study)
    join(first, "c")
    study.close()
    shutil.copy(folder / "study.db", tmp_path / "copy.db")
    study = open_study(folder)
    late = browser(study)
    join(late, "d")
    cookie, page = late.cookies[WORKER_COOKIE], re.findall(r"w-[a-z0-9]{10}", late.get("/").text)[0]
    held = lease(late)
    study.close()
    for name in ("study.db", "study.db-wal", "study.db-shm"):
        (folder / name).unlink(missing_ok=True)
    shutil.copy(tmp_path / "copy.db", folder / "study.db")
    study = open_study(folder)
    try:
        next_one, late = browser(study), browser(study)
        join(next_one, "e")
        late.cookies.set(WORKER_COOKIE, cookie)
        for headers in ({}, {"x-chorale-worker": page}):
            for path in ("stages/meaningful/next", f"assignments/{held}/submit"):
                body = {"key": "key-00000001", "answer": "yes"} if "submit" in path else {}
                answer = late.post(f"/api/{path}", json=body, headers=headers)
                assert (answer.status_code, answer.json()["error"]["code"]) == (410, "participation_lost"), answer.text
        assert "Your overview" not in late.get("/").text and "Your overview" in next_one.get("/").text
    finally:
        study.close()
