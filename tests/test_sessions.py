"""Sessions end when somebody signs out or is revoked, whoever has a copy of the cookie."""

import re
import shutil
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import text
from starlette.testclient import TestClient

from chorale.audit.verify import verify
from chorale.cli.rotate import new_links
from chorale.engine import entering, work
from chorale.engine.arrivals import new_invitation
from chorale.engine.keys import replace_key
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.engine.sessions import RESTORED, SIGNED_OUT, begin, digest_of
from chorale.store import epochs, events, sessions, submissions
from chorale.store.invitations import REUSABLE
from chorale.store.libpq import PostgresDriver
from chorale.web.app import SWEEP_SECONDS, create_app
from chorale.web.links import invitation_path, new_staff_link, staff_link_path, study_sessions
from chorale.web.sessions import STAFF_COOKIE, WORKER_COOKIE
from chorale.web.staff import revoke
from conftest import StudyMaker
from crowd import do, look, tamper
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
    expert.get(staff_link_path(study_sessions(study), "expert", "ada"))
    assert expert.post("/console/queue/work", data={"stage": "entailment"}).status_code == 303
    assert submit(expert, lease(expert)).json()["status"] == "accepted"
    held, before = lease(expert), paid(study)
    for name in (WORKER_COOKIE, STAFF_COOKIE):
        thief.cookies.set(name, expert.cookies[name])
    do(study, revoke, "ada", "expert", "maya", "has left")
    for client in (expert, thief):
        for answer in (submit(client, held), client.post("/api/stages/meaningful/next", json={})):
            assert (answer.status_code, answer.json()["error"]["code"]) == (403, "revoked")
        assert client.get("/console/queue").status_code == 303
        assert client.post("/console/queue/work", data={"stage": "entailment"}).status_code == 401
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


def judge(study: Study, worker_id: int) -> None:
    """Answer without a session, as no page can."""
    lease = do(study, work.next_item, study.stage("meaningful"), worker_id).lease
    assert lease is not None
    do(study, work.submit, worker_id, lease.token, "yes", "key-00000001", 1)


def differences(study: Study) -> list[str]:
    return look(study, lambda tx: verify(tx, study)).differences


def test_verify_sees_whose_sessions_arrivals_and_answers_are_not_theirs(make_study: StudyMaker) -> None:
    study = make_study(applications=20)
    one, other = browser(study), browser(study)
    join(one, "ada")
    submit(one, lease(one))
    join(other, "bob")
    assert differences(study) == []
    first, second = look(study, lambda tx: list(tx.execute(text("SELECT pseudonym FROM worker ORDER BY id")).scalars()))

    def change(statement: str, **given: str) -> None:
        study.store.write(lambda tx: tx.execute(text(statement), given) and None).result()

    change("UPDATE worker_session SET pseudonym = :other WHERE pseudonym = :one", one=first, other=second)
    assert differences(study) == [f"worker {first}: has a session that was issued to {second}"]
    change("UPDATE worker_session SET pseudonym = :one WHERE worker_id = 1", one=first)
    change("UPDATE worker SET pseudonym = 'w-somebody' WHERE pseudonym = :other", other=second)
    assert f"worker w-somebody: the log shows that {second} joined instead" in differences(study)
    change("UPDATE worker SET pseudonym = :other WHERE pseudonym = 'w-somebody'", other=second)
    do(study, lambda tx, study: epochs.begin(tx, study.clock(), epochs.RESTORED, {"backup made at": 0}))
    assert differences(study) == ["epoch 2: started with a restore that was not logged"]
    # Somebody answers who has not signed in since then.
    number = look(study, lambda tx: tx.execute(text("SELECT max(id) FROM worker")).scalar_one())
    judge(study, number)
    assert f"worker {second}: response 2 was given in epoch 2, in which they never signed in" in differences(study)


@pytest.mark.parametrize("database", ["sqlite"], indirect=True)
def test_verify_sees_epochs_and_submissions_that_were_changed(make_study: StudyMaker) -> None:
    """Before, a restore could be made invisible, and two people could swap their IDs on the platform."""
    study = make_study(applications=20)
    one, other = browser(study), browser(study)
    join(one, "ada")
    join(other, "bob")
    first, second = look(study, lambda tx: list(tx.execute(text("SELECT pseudonym FROM worker ORDER BY id")).scalars()))

    def arrivals(tx: Any, study: Study) -> None:
        submissions.plan_study(tx, "main", "m", 100, 5, {}, ("A", "B"), 1)
        for number, name in enumerate(("ada", "bob"), 1):
            submissions.note_arrival(tx, f"session-{number}", "main", name, number, 1)
        epoch = epochs.begin(tx, study.clock(), epochs.RESTORED, {"backup made at": 0})
        events.record(tx, study.clock(), "restored", {"epoch": epoch.number})

    do(study, arrivals)
    assert differences(study) == []
    for old, new in (("ada", "x"), ("bob", "ada"), ("x", "bob")):
        tamper(study, f"UPDATE worker_identity SET external_id = '{new}' WHERE external_id = '{old}'")
    swapped = [f"worker {name}: has a submission of another person on the platform" for name in sorted((first, second))]
    assert differences(study) == swapped
    tamper(study, "UPDATE epoch SET reason = 'created' WHERE number = 2")
    assert differences(study) == [
        "epoch 2: the log shows the restore that started it, but the list of epochs does not",
        "epoch 2: did not start with a restore, and is not the first",
        *swapped,
    ]


def test_verify_sees_answers_of_a_revoked_expert(make_study: StudyMaker) -> None:
    study = make_study(applications=20)
    expert = do(study, entering.arrive_as_expert, "ada")
    do(study, revoke, "ada", "expert", "maya", "has left")
    assert differences(study) == []
    judge(study, expert.id)
    assert differences(study) == [f"worker {expert.pseudonym}: response 1 was given after their link was revoked"]


def test_replacing_the_key_ends_sessions_and_links_of_a_site_that_runs(make_study: StudyMaker, tmp_path: Path) -> None:
    study = make_study(applications=20)
    site = create_app(study)
    old = study_sessions(study)
    nonce = do(study, lambda tx, study: new_invitation(tx, study, "maya"))
    do(study, new_staff_link, old, "expert", "ada", "maya")
    links = [invitation_path(old, nonce), staff_link_path(old, "expert", "ada")]
    with TestClient(site, follow_redirects=False) as client:
        join(client, "ada")
        held = lease(client)
        do(study, replace_key, "maya")
        # At once, although the site does not know the new key yet.
        refused = submit(client, held)
        assert (refused.status_code, refused.json()["error"]["code"]) == (401, "signed_out")
        assert "Everyone was signed out" in refused.json()["error"]["message"]
        rows = new_links(study, "https://study.example.org")
        assert {row["for"] for row in rows} == {"worker", "expert"}
        time.sleep(2 * SWEEP_SECONDS)
        for link in links:
            assert client.get(link).status_code == 403
        for row in rows:
            assert client.get(row["link"].removeprefix("https://study.example.org")).status_code == 303
        assert client.post("/api/stages/meaningful/next", json={}).status_code in (200, 403)


def test_people_known_by_their_browser_alone_are_recognised_until_they_sign_out(make_study: StudyMaker) -> None:
    study = make_study(applications=20)
    link = invitation_path(study_sessions(study), do(study, reusable))
    own, thief = browser(study), browser(study)

    def came(client: TestClient) -> str:
        client.get(link)
        claim = study_sessions(study).worker(client.cookies[WORKER_COOKIE])
        assert claim is not None
        return claim.pseudonym

    first = came(own)
    thief.cookies.set(WORKER_COOKIE, own.cookies[WORKER_COOKIE])
    assert came(own) == first
    study.store.write(lambda tx: sessions.end_all(tx, RESTORED, 1)).result()
    assert came(own) == first
    own.post("/leave")
    copied = thief.cookies[WORKER_COOKIE]
    assert came(own) != first
    study.store.write(lambda tx: sessions.end_all(tx, SIGNED_OUT, 1)).result()
    thief.cookies.clear()
    thief.cookies.set(WORKER_COOKIE, copied)
    assert thief.post("/api/stages/meaningful/next", json={}).status_code == 401


def reusable(tx: Any, study: Study) -> str:
    return new_invitation(tx, study, "maya", kind=REUSABLE)


def test_checking_a_session_takes_no_statement_more(
    tmp_path: Path, postgres_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On PostgreSQL every statement is a round trip, and these are behind every answer."""
    write_small_study(tmp_path / "study", applications=20)
    with closing(open_study(tmp_path / "study", postgres_url)) as study:
        worker = do(study, entering.arrive, "prolific", "ada", {})
        do(study, entering.consent, worker.id)
        begun = do(study, begin, worker)
        claim = sessions.SessionClaim(worker.id, worker.pseudonym, begun.epoch, digest_of(begun.token))
        stage, counted = study.stage("meaningful"), []
        statements: list[str] = []

        def noted(run: Any) -> Any:
            def note(driver: Any, sql: str, *given: Any) -> Any:
                statements.append(sql)
                return run(driver, sql, *given)

            return note

        monkeypatch.setattr(PostgresDriver, "change", noted(PostgresDriver.change))
        monkeypatch.setattr(PostgresDriver, "ask", noted(PostgresDriver.ask))
        for number, session in enumerate((None, None, claim)):
            statements.clear()
            lease = do(study, work.next_item, stage, worker.id, session).lease
            assert lease is not None
            do(study, work.submit, worker.id, lease.token, "yes", f"key-0000000{number}", 1, session)
            counted.append(len(statements))
        # The first time they also enter the stage.
        assert counted[0] > counted[1] == counted[2]
