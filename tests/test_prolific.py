"""Prolific, through real HTTP: a stand-in that behaves like it, and the commands and the site as people use them."""

import json
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from chorale.audit.verify import verify
from chorale.cli import app
from chorale.engine import recruiting
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.folder.reading import load_folder
from chorale.model import MessageState, UserError
from chorale.platforms.prolific import InDoubtError, Prolific, checked_reason, has_arrived
from chorale.store import gates, items, messages
from chorale.web.app import create_app
from prolific_stand_in import TOKEN, WORKSPACE, StandIn, stand_in
from prolific_study import come, participant, work, write_prolific_study
from serving import HOST, PATIENCE_SECONDS, Server
from small_study import write_small_study

SITE = "https://study.example.org"
REASON = (
    "Eleven of your twelve answers were the same, and those where we know the answer were all wrong, as the "
    "instructions explain with examples."
)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setattr("chorale.platforms.prolific.transport.FIRST_PAUSE", 0.01)
    with stand_in() as running:
        monkeypatch.setenv("CHORALE_PROLIFIC_URL", running.address)
        monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
        yield running


def chorale(*arguments: object, code: int = 0, **options: Any) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments], **options)
    assert result.exit_code == code, (result.output, result.exception)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    assert TOKEN not in result.output
    return result.output


def told(*arguments: object) -> dict[str, Any]:
    answer: dict[str, Any] = json.loads(chorale(*arguments, "--json"))
    return answer


def publish(folder: Path, *more: object) -> dict[str, Any]:
    return told("publish", folder, "--to", "prolific", "--public-url", SITE, "--yes", *more)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    made = tmp_path / "study"
    write_prolific_study(made)
    return made


@pytest.fixture
def running(folder: Path) -> Iterator[tuple[Study, TestClient]]:
    study = open_study(folder)
    with TestClient(create_app(study)) as site:
        yield study, site
    study.close()


def test_a_study_that_asks_nothing_of_prolific_is_shown_how_to(tmp_path: Path) -> None:
    write_small_study(tmp_path / "study")
    said = chorale("publish", tmp_path / "study", "--to", "prolific", "--public-url", SITE, code=2)
    assert "docs/prolific.md" in said
    # What it shows does what it says.
    table = said[said.index("[[prolific.study]]") :]
    with (tmp_path / "study" / "study.toml").open("a") as file:
        file.write("\n" + table)
    assert load_folder(tmp_path / "study").settings.prolific is not None


def test_publishing_makes_a_draft_says_what_it_costs_and_asks(folder: Path, world: StandIn) -> None:
    asking = ("publish", folder, "--to", "prolific", "--public-url", SITE)
    assert "study.example.org" in chorale("publish", folder, "--to", "prolific", code=2)
    assert "Draft of" in chorale(*asking, "--draft")
    [made] = world.studies.values()
    assert made["status"] == "UNPUBLISHED"
    assert made["external_study_url"] == (
        f"{SITE}/join?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&STUDY_ID={{{{%STUDY_ID%}}}}&SESSION_ID={{{{%SESSION_ID%}}}}"
    )
    assert [one["code_type"] for one in made["completion_codes"]] == ["COMPLETED", "SCREENED_OUT"]
    # What is changed in the study file changes the draft.
    toml = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(toml.replace("reward = 5", "reward = 4"))
    open_study(folder).close()
    assert "20 places at $0.04 each, with fees: $1.07" in chorale(*asking, "--draft")
    assert made["reward"] == 4
    (folder / "study.toml").write_text(toml)
    open_study(folder).close()
    # 20 places at 5 cents and a third on top.
    assert "20 places at $0.05 each, with fees: $1.33" in chorale(*asking, input="n\n")
    assert made["status"] == "UNPUBLISHED"
    assert "Not confirmed" in chorale(*asking, code=2, input="")
    assert "is published" in chorale(*asking, input="y\n")
    assert made["status"] == "ACTIVE"
    assert "already published" in chorale(*asking, "--yes")
    assert len(world.studies) == 1
    toml = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(toml.replace("places = 20", "places = 30"))
    open_study(folder).close()
    assert publish(folder)["cost"] == 67
    assert made["total_available_places"] == 30


def test_mistakes_and_failures_are_told_and_can_be_tried_again(
    folder: Path, world: StandIn, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROLIFIC_TOKEN", "wrong")
    assert "does not accept this token" in chorale("publish", folder, "--to", "prolific", "--public-url", SITE, code=2)
    monkeypatch.setenv("PROLIFIC_TOKEN", "")
    monkeypatch.delenv("PROLIFIC_TOKEN")
    assert "needs an API token" in chorale(
        "publish", folder, "--to", "prolific", "--public-url", SITE, code=2, input=""
    )
    # A study made just before the connection broke is found again: there is no second one.
    world.faults["POST /studies/"] = ["lost"]
    drafting = ("publish", folder, "--to", "prolific", "--public-url", SITE, "--draft")
    assert "unknown whether" in chorale(*drafting, code=2, input=f"{TOKEN}\n")
    chorale(*drafting, input=f"{TOKEN}\n")
    assert [one["status"] for one in world.studies.values()] == ["UNPUBLISHED"]
    monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
    world.faults["GET /studies/*/"] = ["busy", "fails", "fails"]
    made = publish(folder)
    assert made["published"] is True
    assert "no study 'other'" in chorale("publish", folder, "--to", "prolific", "--study", "other", code=2)
    world.studies[made["id"]]["reward"] = 2
    assert "reward: 2 on Prolific, 5 in study.toml" in chorale("sync", folder)
    gone = world.studies.pop(made["id"])
    assert "no longer has the study 'main'" in chorale("sync", folder)
    world.studies[made["id"]] = gone
    monkeypatch.setenv("CHORALE_PROLIFIC_URL", "http://127.0.0.1:9")
    assert "can't be reached" in chorale("sync", folder, code=2)


def test_sync_matches_people_approves_work_and_frees_places(
    folder: Path, running: tuple[Study, TestClient], world: StandIn
) -> None:
    study, site = running
    study_id = publish(folder)["id"]
    code = world.studies[study_id]["completion_codes"][0]["code"]
    done = [come(site, world, study_id, number, 2) for number in range(8)]
    assert code in site.get("/").text
    for one in done:
        world.finish(one, code)
    idle = come(site, world, study_id, 50, 0)
    assert code not in site.get("/").text
    site.post("/api/stages/meaningful/next")
    never = world.arrive(study_id, participant(60), "AWAITING REVIEW")
    lazy = come(site, world, study_id, 70, 0)
    world.finish(lazy, "NOCODE")
    first = told("sync", folder)
    assert (first["reported"], first["approved"], first["freed"], len(first["waiting"])) == (11, 8, 0, 2)
    world.submissions[idle]["status"] = "TIMED-OUT"
    again = told("sync", folder)
    assert (again["approved"], again["freed"]) == (0, 1)
    assert study.store.read(items.live_leases).result() == {}
    assert {world.submissions[one]["status"] for one in done} == {"APPROVED"}
    assert again["studies"][0]["submissions"] == {"APPROVED": 8, "AWAITING REVIEW": 2, "TIMED-OUT": 1}
    assert told("sync", folder) == {**again, "freed": 0}
    # What the requester decides: too short a reason is refused before anything is asked for.
    [worker] = [row["worker"] for row in told("review", folder)["waiting"] if row["worker"] is not None]
    assert "at least 100" in chorale("review", folder, "--reject", worker, "--because", "bad", code=2)
    assert "a category" in chorale("review", folder, "--reject", worker, "--because", REASON, "--category", "X", code=2)
    chorale("review", folder, "--reject", worker, "--because", REASON)
    assert world.submissions[lazy]["status"] == "REJECTED"
    assert "No submission of" in chorale("review", folder, "--approve", worker, code=2)
    assert world.submissions[never]["status"] == "AWAITING REVIEW"
    assert study.store.read(lambda tx: verify(tx, study)).result().differences == []
    # Platform ids and the token are in no export, on no page, in no event and in no file.
    page = site.get("/").text
    exported = "".join(
        chorale("export", folder, "--format", name, "--out", "-") for name in ("jsonl", "workers", "ledger", "messages")
    )
    events = study.store.read(lambda tx: tx.exec_driver_sql("SELECT evidence FROM event").all()).result()
    for secret in (participant(1), participant(70), done[1], lazy, TOKEN):
        assert secret not in exported + page + repr(events)
    assert TOKEN.encode() not in b"".join(path.read_bytes() for path in folder.iterdir())


def test_invitation_only_rounds_have_an_allow_list_that_grows(tmp_path: Path, world: StandIn) -> None:
    folder = tmp_path / "study"
    second = """
[[prolific.study]]
name = "second"
description = "The second part, for those who did well."
places = 5
minutes = 5
reward = 10
stages = ["entailment"]
invite = "expert"
"""
    write_prolific_study(folder, extra=second)
    study = open_study(folder)
    with TestClient(create_app(study)) as site:
        first_id = publish(folder)["id"]
        world.workspaces.append("a second one")
        refused = chorale("publish", folder, "--to", "prolific", "--public-url", SITE, "--study", "second", code=2)
        assert "2 workspaces" in refused
        world.workspaces.pop()
        second_id = publish(folder, "--study", "second")["id"]
        [group] = world.groups.values()
        allowed = world.studies[second_id]["filters"]
        assert allowed == [{"filter_id": "participant_group_allowlist", "selected_values": [group["id"]]}]
        assert group["participants"] == []
        come(site, world, first_id, 1, 1)
        come(site, world, first_id, 2, 1)
        now = study.clock()
        worker = study.store.read(
            lambda tx: tx.exec_driver_sql(
                "SELECT worker_id FROM worker_identity WHERE external_id = ?", (participant(2),)
            ).scalar_one()
        ).result()
        study.store.write(lambda tx: gates.grant(tx, worker, "expert", now)).result()
        told("sync", folder)
        assert group["participants"] == [participant(2)]
        # The same person in the second study is the same worker, and finishes by what that study is for.
        come(site, world, second_id, 2, 0)
        assert world.studies[second_id]["completion_codes"][0]["code"] not in site.get("/").text
        assert study.store.read(lambda tx: tx.exec_driver_sql("SELECT count(*) FROM worker").scalar()).result() == 2
    study.close()


def test_arrivals_are_checked_against_what_prolific_knows(folder: Path, world: StandIn) -> None:
    study = open_study(folder)
    with Prolific(TOKEN, world.address, tries=1) as client, TestClient(create_app(study, prolific=client)) as site:
        study_id = publish(folder)["id"]
        submission = come(site, world, study_id, 1, 1)
        site.cookies.clear()
        for forged in (
            {"PROLIFIC_PID": participant(2), "STUDY_ID": study_id, "SESSION_ID": submission},
            {"PROLIFIC_PID": participant(1), "STUDY_ID": "f" * 24, "SESSION_ID": submission},
            {"PROLIFIC_PID": participant(1), "STUDY_ID": study_id, "SESSION_ID": "f" * 24},
            {"PROLIFIC_PID": participant(1), "STUDY_ID": study_id, "SESSION_ID": "../studies"},
            {"PROLIFIC_PID": participant(1), "STUDY_ID": study_id},
        ):
            assert site.get("/join", params=forged).status_code == 403, forged
        # Somebody from another study of the same account is in that one, and not here.
        other = world.arrive("d" * 24, participant(3))
        elsewhere = {"PROLIFIC_PID": participant(3), "STUDY_ID": "d" * 24, "SESSION_ID": other}
        assert "another study" in site.get("/join", params=elsewhere).text
        known = {**elsewhere, "PROLIFIC_PID": participant(1), "SESSION_ID": world.arrive("d" * 24, participant(1))}
        assert site.get("/join", params=known).status_code == 200
        # Coming again is coming back.
        again = {"PROLIFIC_PID": participant(1), "STUDY_ID": study_id, "SESSION_ID": submission}
        assert "1</b> answer given" in site.get("/join", params=again).text
        # While Prolific can't be asked, people come in; they are paid once it knows them.
        world.faults["GET /submissions/*/"] = ["fails"]
        unsure = {"PROLIFIC_PID": participant(9), "STUDY_ID": study_id, "SESSION_ID": "e" * 24}
        assert site.get("/join", params=unsure).status_code == 200
        site.post("/consent", data={"agree": "yes"})
        work(site, 1)
        told("sync", folder)
        due = told("pay", folder)["due"]
        assert {one["why_not"] for one in due} == {
            "Prolific has not reported their submission yet: synchronise first (`chorale sync`, or "
            "Recruiting in the console)",
            "their submission is not approved yet",
        }
    study.close()


def test_messages_are_sent_on_once(folder: Path, running: tuple[Study, TestClient], world: StandIn) -> None:
    study, site = running
    study_id = publish(folder)["id"]
    come(site, world, study_id, 1, 1)
    told("sync", folder)
    now = study.clock()

    def write(tx: Any) -> None:
        worker = tx.exec_driver_sql("SELECT id FROM worker").scalar_one()
        messages.add_message(tx, worker, "test:1", now, "Well done", "You may go on.", MessageState.SENT)

    study.store.write(write).result()
    world.faults["POST /messages/"] = ["lost"]
    assert "unknown whether" in chorale("sync", folder, code=2)
    assert len(world.messages) == 1
    # Long after, what Prolific shows tells that it arrived.
    study.store.write(lambda tx: tx.exec_driver_sql("UPDATE delivery SET at = at - 3600000")).result()
    assert told("sync", folder)["messages"] == 0
    assert [one["body"] for one in world.messages] == ["Well done\n\nYou may go on."]
    assert world.messages[0]["recipient_id"] == participant(1)


def test_a_running_site_keeps_in_step_by_itself(tmp_path: Path, world: StandIn) -> None:
    folder = tmp_path / "study"
    write_prolific_study(folder)
    toml = (folder / "study.toml").read_text()
    (folder / "study.toml").write_text(toml.replace("[prolific]\n", "[prolific]\nsync_minutes = 0.1\n"))
    study = open_study(folder)
    study_id = publish(folder)["id"]
    world.arrive(study_id, participant(1))
    with Prolific(TOKEN, world.address) as client, TestClient(create_app(study, prolific=client)):
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not study.store.read(recruiting.summary).result()[0]["submissions"] and time.monotonic() < deadline:
            time.sleep(0.02)
        assert study.store.read(recruiting.summary).result()[0]["submissions"] == {"ACTIVE": 1}
    study.close()


@pytest.mark.slow
def test_a_server_that_is_killed_goes_on_where_it_was(folder: Path, world: StandIn) -> None:
    study_id = publish(folder)["id"]
    submission = world.arrive(study_id, participant(1))
    visit = {"PROLIFIC_PID": participant(1), "STUDY_ID": study_id, "SESSION_ID": submission}

    def names() -> list[str]:
        with closing(sqlite3.connect(folder / "study.db")) as database:
            found = "SELECT w.pseudonym FROM submission s JOIN worker w ON w.id = s.worker_id WHERE reported_at > 0"
            return [row[0] for row in database.execute(found)]

    with Server(folder) as server:
        address = f"http://{HOST}:{server.port}/join"
        forged = {**visit, "PROLIFIC_PID": participant(2)}
        assert httpx.get(address, params=forged, timeout=PATIENCE_SECONDS).status_code == 403
        assert httpx.get(address, params=visit, timeout=PATIENCE_SECONDS).status_code == 303
        for _ in range(2):
            server.kill()
            server.start()
            server.wait()
        deadline = time.monotonic() + PATIENCE_SECONDS
        while not names() and time.monotonic() < deadline:
            time.sleep(0.1)
        assert len(names()) == 1
        assert httpx.get(address, params=visit, timeout=PATIENCE_SECONDS).status_code == 303
    assert TOKEN not in server.log.read_text()
    assert len(names()) == 1


def test_the_client_waits_retries_and_says_when_it_is_in_doubt(world: StandIn) -> None:
    slept: list[float] = []
    with Prolific(TOKEN, world.address, sleep=slept.append) as client:
        world.faults["GET /users/me/"] = ["busy", "fails", "busy"]
        assert client.me()["id"] == "researcher"
        assert len(slept) == 3
        world.faults["GET /users/me/"] = ["fails"] * 6
        with pytest.raises(UserError, match="can't answer now"):
            client.me()
        world.bulk["a" * 24] = []
        for wrong in ("fails", "lost", "cut"):
            world.faults["POST /bulk-bonus-payments/*/pay/"] = [wrong]
            with pytest.raises(InDoubtError):
                client.pay_bonuses("a" * 24)
        world.faults["POST /bulk-bonus-payments/*/pay/"] = ["busy"]
        client.pay_bonuses("a" * 24)
        with pytest.raises(UserError, match="not a Prolific ID"):
            client.submission("../users/me")
        assert client.workspace_of("b" * 24) == WORKSPACE
        with pytest.raises(UserError, match="characters that Prolific"):
            Prolific("two\nlines", world.address)
        world.submissions["a" * 24] = {"bonuses": [], "study_id": ""}
        world.studies["a" * 24] = {"reward": 1, "total_available_places": 1}
        for called, ask in (
            ("GET /submissions/*/", lambda: client.submission("a" * 24)),
            ("GET /submissions/", lambda: list(client.submissions("a" * 24))),
            ("GET /studies/*/", lambda: client.study("a" * 24)),
        ):
            world.faults[called] = ["strange"]
            with pytest.raises(UserError, match="does not understand"):
                ask()
        with pytest.raises(UserError, match=r"404.*does not exist"):
            client.submission("f" * 24)
    assert world.requests.count("POST /bulk-bonus-payments/*/pay/") == 5


def test_what_is_reported_tells_a_bonus_from_those_before() -> None:
    assert not has_arrived([50, 20], 50, [20, 50])
    assert has_arrived([50, 20], 50, [50, 20, 50])
    assert not has_arrived([], 50, [20])
    assert checked_reason(f"  {REASON} ", "LOW_EFFORT") == REASON
