"""What requesters do with a study on Prolific: pausing, more places, tests, messages, decisions, notifications."""

import json
import re
import time
from collections.abc import Iterator
from copy import deepcopy
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner
from pydantic import ValidationError
from starlette.testclient import TestClient

from chorale.cli import app
from chorale.engine import payouts, publishing, recruiting
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.model import ProlificStudy, UserError
from chorale.platforms.prolific import Prolific
from chorale.platforms.prolific.hooks import EVENTS, SIGNATURE_HEADER, TIMESTAMP_HEADER, signature_of
from chorale.store import events, submissions, workers
from chorale.web.app import create_app
from chorale.web.links import setup_link_path
from prolific_stand_in import TOKEN, WORKSPACE, StandIn, stand_in
from prolific_study import come, participant, work, write_prolific_study

SITE = "https://study.example.org"
FIXED = 'screenout = "fixed"\nscreenout_reward = 2\nscreenout_slots = 10'
REASON = (
    "Eleven of your twelve answers were the same, and all of those where we know the answer were wrong: see page 2."
)


@pytest.fixture
def world(monkeypatch: pytest.MonkeyPatch) -> Iterator[StandIn]:
    monkeypatch.setattr("chorale.platforms.prolific.transport.FIRST_PAUSE", 0.01)
    monkeypatch.setattr("chorale.web.notifications.GATHER_SECONDS", 0.01)
    monkeypatch.setattr("chorale.web.staff.PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=64))
    with stand_in() as running:
        monkeypatch.setenv("CHORALE_PROLIFIC_URL", running.address)
        monkeypatch.setenv("PROLIFIC_TOKEN", TOKEN)
        yield running


def chorale(*arguments: object, code: int = 0) -> str:
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, (result.output, result.exception)
    return result.output


def publish(folder: Path, *more: object) -> dict[str, Any]:
    options = ("--to", "prolific", "--public-url", SITE, "--yes", "--json")
    answer: dict[str, Any] = json.loads(chorale("publish", folder, *options, *more))
    return answer


@pytest.fixture
def running(tmp_path: Path) -> Iterator[tuple[Study, TestClient]]:
    write_prolific_study(tmp_path)
    study = open_study(tmp_path)
    with TestClient(create_app(study)) as site:
        yield study, site
    study.close()


def pseudonym(study: Study, number: int) -> str:
    worker = study.store.look(lambda tx: workers.find_by_identity(tx, "prolific", participant(number)))
    assert worker is not None
    return worker.pseudonym


def test_recruiting_is_paused_started_stopped_and_opened_again_by_more_places(tmp_path: Path, world: StandIn) -> None:
    write_prolific_study(tmp_path)
    open_study(tmp_path).close()
    assert "No study 'main' was created" in chorale("pause", tmp_path, "--study", "main", code=2)
    study_id = publish(tmp_path)["id"]
    there = world.studies[study_id]
    assert "is paused" in chorale("pause", tmp_path, "--study", "main", "--reason", "A mistake in the guidelines.")
    assert there["status"] == "PAUSED"
    # Asked for again, and after an answer that was lost, it stays as it is.
    world.faults["POST /studies/*/transition/"] = ["lost"]
    assert "is published" in chorale("resume", tmp_path, "--study", "main", "--reason", "Corrected.")
    assert there["status"] == "ACTIVE"
    there["status"] = "PAUSED"
    assert "is paused on Prolific" in chorale("sync", tmp_path)
    assert "is ended" in chorale("pause", tmp_path, "--study", "main", "--stop")
    assert "Add places to reopen it" in chorale("resume", tmp_path, "--study", "main", "--reason", "x", code=2)
    assert publish(tmp_path, "--places", 25)["cost"] == 33
    assert (there["status"], there["total_available_places"]) == ("ACTIVE", 25)
    for wrong in ([], ["meaningful", "--study", "main"]):
        assert "Name either a stage or a study on Prolific" in chorale("pause", tmp_path, *wrong, code=2)
    assert "--stop only works with" in chorale("pause", tmp_path, "meaningful", "--stop", code=2)
    study = open_study(tmp_path)
    kept = study.store.look(lambda tx: events.recent(tx, 50, kinds=("recruitment",)))
    assert [one.evidence["action"] for one in kept] == ["stop", "start", "pause"]
    assert kept[-1].evidence["reason"] == "A mistake in the guidelines."
    study.close()


def test_the_console_pauses_and_raises_places_and_asks_about_the_cost(tmp_path: Path, world: StandIn) -> None:
    write_prolific_study(tmp_path)
    study_id = publish(tmp_path)["id"]
    there = world.studies[study_id]
    study = open_study(tmp_path)
    with Prolific(TOKEN, world.address) as client:
        owner = TestClient(create_app(study, prolific=client, public_url=SITE), base_url=SITE)
        form = {"name": "maya", "password": "a brass band at dawn", "again": "a brass band at dawn"}
        owner.post(setup_link_path(study) or "", data=form)
        page = owner.get("/console/recruiting").text
        assert "Pause recruiting" in page and "Resume recruiting" not in page
        done = owner.post("/console/recruiting/study", data={"study": "main", "action": "PAUSE", "reason": "Lunch."})
        assert "paused on Prolific" in done.text and "Resume recruiting" in done.text
        assert there["status"] == "PAUSED"
        assert (
            "Recruiting continues"
            in owner.post("/console/recruiting/study", data={"study": "main", "action": "START"}).text
        )
        asked = owner.post("/console/recruiting/publish", data={"study": "main", "places": 30})
        assert "10 more places at $0.05 each, with fees: $0.67" in asked.text
        assert there["total_available_places"] == 20, "nothing is spent before somebody has seen the cost"
        stale = owner.post("/console/recruiting/publish", data={"study": "main", "places": 30, "cost": 1})
        assert "Yes, add the places" in stale.text
        agreed = owner.post("/console/recruiting/publish", data={"study": "main", "places": 30, "cost": 67})
        assert "has 30 places now" in agreed.text
        assert there["total_available_places"] == 30
        fewer = owner.post("/console/recruiting/publish", data={"study": "main", "places": 3})
        assert (fewer.status_code, "larger number" in fewer.text) == (422, True)
        assert owner.post("/console/recruiting/study", data={"study": "main", "action": "PUBLISH"}).status_code == 422
    study.close()


def test_decisions_can_be_a_return_and_a_rejection_that_is_taken_back(
    running: tuple[Study, TestClient], world: StandIn, tmp_path: Path
) -> None:
    study, site = running
    study_id = publish(tmp_path)["id"]
    idle = [come(site, world, study_id, number, 0) for number in (1, 2)]
    for one in idle:
        world.finish(one, "NOCODE")
    chorale("sync", tmp_path)
    # Prolific's lists name the code otherwise than its answers about one submission.
    assert "NOCODE" in chorale("review", tmp_path)
    first, second = pseudonym(study, 1), pseudonym(study, 2)
    assert "--because" in chorale("review", tmp_path, "--ask-return", first, code=2)
    chorale("review", tmp_path, "--ask-return", first, "--because", "Didn't finish the study")
    assert world.submissions[idle[0]]["return_requested"] is not None
    assert world.messages[-1] == {
        "recipient_id": participant(1),
        "study_id": study_id,
        "body": "Didn't finish the study",
    }
    chorale("review", tmp_path, "--reject", second, "--because", REASON)
    assert world.submissions[idle[1]]["status"] == "REJECTED"
    assert "No submission of" in chorale("review", tmp_path, "--unreject", first, code=2)
    chorale("review", tmp_path, "--unreject", second)
    assert world.submissions[idle[1]]["status"] == "AWAITING REVIEW"
    kinds = ("return requested", "rejected", "unrejected")
    assert len(study.store.look(lambda tx: events.recent(tx, 50, kinds=kinds))) == 3


def test_one_message_goes_to_everybody_or_to_some(
    running: tuple[Study, TestClient], world: StandIn, tmp_path: Path
) -> None:
    study, site = running
    study_id = publish(tmp_path)["id"]
    assert "has no participants to send a message to" in chorale(
        "message", tmp_path, "--text", "Hello", "--yes", code=2
    )
    for number in range(3):
        come(site, world, study_id, number, 1)
    chorale("sync", tmp_path)
    assert "Sent to 3 people." in chorale("message", tmp_path, "--text", "The next part opens on Monday.", "--yes")
    assert sorted(one["recipient_id"] for one in world.messages) == [participant(number) for number in range(3)]
    chorale("message", tmp_path, "--text", "You too.", "--to", pseudonym(study, 2), "--yes")
    assert world.messages[-1]["recipient_id"] == participant(2)
    assert len(world.messages) == 4
    assert "w-nobody" in chorale("message", tmp_path, "--text", "x", "--to", "w-nobody", "--yes", code=2)
    refused = chorale("message", tmp_path, "--text", "x", "--status", "approved", "--yes", code=2)
    assert "has no participants with status APPROVED to send" in refused


def test_a_test_study_lets_test_participants_in_with_the_same_codes(
    running: tuple[Study, TestClient], world: StandIn, tmp_path: Path
) -> None:
    study, site = running
    said = chorale("publish", tmp_path, "--to", "prolific", "--public-url", SITE, "--test")
    assert "https://app.prolific.com/studies/" in said
    draft, test = world.studies.values()
    assert (draft["status"], test["status"]) == ("UNPUBLISHED", "ACTIVE")
    submission = come(site, world, test["id"], 1, 1)
    code = draft["completion_codes"][0]["code"]
    assert code in site.get("/").text
    world.finish(submission, code)
    chorale("sync", tmp_path)
    assert world.submissions[submission]["status"] == "APPROVED"
    publish(tmp_path)
    assert "is published" in chorale("publish", tmp_path, "--to", "prolific", "--public-url", SITE, "--test", code=2)
    assert study.store.look(lambda tx: [row.state for row in submissions.studies(tx)]) == ["published", "test"]


@pytest.mark.parametrize(
    ("arrival", "remedy"),
    [
        ('panel = "prolific"\nby_url = false', "Remove `by_url = false` from [arrival]."),
        ('panel = "connect"\nby_url = true', "Set `panel = \"prolific\"` in [arrival], not 'connect'."),
    ],
)
def test_a_study_that_nobody_from_prolific_could_join_is_not_published(
    tmp_path: Path, world: StandIn, arrival: str, remedy: str
) -> None:
    write_prolific_study(tmp_path)
    file = tmp_path / "study.toml"
    file.write_text(file.read_text().replace("[arrival]\n", f"[arrival]\n{arrival}\n"))
    refused = chorale("publish", tmp_path, "--to", "prolific", "--public-url", SITE, "--yes", code=2)
    assert "People from Prolific could not join." in refused and remedy in " ".join(refused.split())


def test_amounts_are_in_the_currency_of_the_workspace(
    running: tuple[Study, TestClient], world: StandIn, tmp_path: Path
) -> None:
    study, site = running
    world.currency = "GBP"
    refused = chorale("publish", tmp_path, "--to", "prolific", "--public-url", SITE, "--yes", code=2)
    assert "pays in GBP, but study.toml has amounts in USD" in refused
    assert 'currency = "GBP"' in refused
    world.currency = "USD"
    study_id = publish(tmp_path)["id"]
    submission = come(site, world, study_id, 1, 5)
    world.finish(submission, world.studies[study_id]["completion_codes"][0]["code"])
    chorale("sync", tmp_path)
    world.currency = "GBP"
    with Prolific(TOKEN, world.address) as client, pytest.raises(UserError, match="pays in GBP"):
        payouts.pay_by_prolific(study, client)
    assert world.paid == []


def test_a_pound_account_is_asked_about_pounds(tmp_path: Path, world: StandIn) -> None:
    write_prolific_study(tmp_path)
    toml = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(toml.replace("[pay]\n", '[pay]\ncurrency = "GBP"\n'))
    world.currency = "GBP"
    assert "£0.05 each, with fees: £1.33" in chorale(
        "publish", tmp_path, "--to", "prolific", "--public-url", SITE, "--draft"
    )


def test_everything_a_study_can_ask_for_is_asked_for_as_prolific_has_it(tmp_path: Path, world: StandIn) -> None:
    extra = """
maximum_minutes = 40
label = "annotation"
content_warning = "sensitive"
content_warning_details = "Some texts are rude."
devices = ["desktop"]
allow_groups = ["a1", "a2"]
block_groups = ["b1"]
submissions_per_person = -1
at_once = 5
filters = [
  { filter_id = "handedness", selected_values = ["0", "1"], weightings = { "0" = 30, "1" = 70 } },
  { filter_id = "age", lower = 18, upper = 60, weightings = { rest = { lower = 31, upper = 60, weighting = 2 } } },
  { filter_id = "or", selected_filters = [
    { filter_id = "fluent-languages", selected_values = ["19"] },
    { filter_id = "and", selected_filters = [
      { filter_id = "approval_rate", lower = 95 }, { filter_id = "born", upper = "1990-01-01" },
    ] },
  ] },
]

[[prolific.study]]
name = "later"
description = "The second round."
stages = ["meaningful"]
follows = "main"
places = 5
minutes = 5
reward = 5

[[prolific.study]]
name = "set"
description = "With a filter set."
filter_set = "5f3"
filter_set_version = 2
places = 5
minutes = 5
reward = 5
"""
    write_prolific_study(tmp_path, extra=extra)
    study = open_study(tmp_path)
    made = world.studies[publish(tmp_path)["id"]]
    assert made["maximum_allowed_time"] == 40
    assert (made["study_labels"], made["content_warnings"]) == (["annotation"], ["sensitive"])
    assert made["submissions_config"] == {"max_submissions_per_participant": -1, "max_concurrent_submissions": 5}
    assert made["filters"][0]["weightings"] == {"0": 30, "1": 70}
    assert made["filters"][1]["weightings"]["rest"] == {"selected_range": {"lower": 31, "upper": 60}, "weighting": 2}
    assert made["filters"][2]["selected_filters"][1]["selected_filters"][1]["selected_range"] == {"upper": "1990-01-01"}
    assert [(one["filter_id"], one["selected_values"]) for one in made["filters"][3:]] == [
        ("participant_group_allowlist", ["a1", "a2"]),
        ("participant_group_blocklist", ["b1"]),
    ]
    with TestClient(create_app(study)) as site:
        done = come(site, world, made["id"], 1, 2)
        come(site, world, made["id"], 2, 2)
        world.finish(done, made["completion_codes"][0]["code"])
        chorale("sync", tmp_path)
        second = world.studies[publish(tmp_path, "--study", "later")["id"]]
        [group] = world.groups.values()
        assert group["participants"] == [participant(1)], "who was approved in the first round"
        assert second["filters"] == [{"filter_id": "participant_group_allowlist", "selected_values": [group["id"]]}]
    from_set = world.studies[publish(tmp_path, "--study", "set")["id"]]
    assert (from_set["filter_set_id"], from_set["filter_set_version"], "filters" in from_set) == ("5f3", 2, False)
    study.close()


WANTED = {"name": "a", "description": "b", "places": 1, "minutes": 12, "reward": 10}


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"maximum_minutes": 30}, "at least 33"),
        ({"screenout": "fixed"}, "only one of"),
        ({"screenout": "fixed", "screenout_reward": 10}, "not below `reward`"),
        ({"screenout_reward": 3}, "only one of"),
        ({"screenout_slots": 3}, "`screenout_slots`"),
        ({"submissions_per_person": 0}, "submissions_per_person"),
        ({"content_warning_details": "x"}, "without `content_warning`"),
        ({"filter_set": "x", "invite": "y"}, "does not combine"),
        ({"filter_set_version": 1}, "without `filter_set`"),
        ({"invite": "x", "follows": "y"}, "Use one of them"),
        ({"filters": [{"filter_id": "or"}]}, "selected_filters"),
        ({"filters": [{"filter_id": "x", "lower": [1]}]}, "neither a number nor a date"),
        ({"filters": [{"filter_id": "x", "selected_values": ["1"], "weightings": {"1": "a"}}]}, "not a number"),
        (
            {"filters": [{"filter_id": "x", "selected_values": ["1"], "weightings": {"2": 1}}]},
            "not in `selected_values`",
        ),
        ({"filters": [{"filter_id": "x", "lower": 1, "weightings": {"2": 1}}]}, "wrong kind"),
    ],
)
def test_what_prolific_would_refuse_is_refused_before(more: dict[str, Any], why: str) -> None:
    with pytest.raises(ValidationError, match=why):
        ProlificStudy.model_validate({**WANTED, **more})


def test_more_screen_out_payments_are_asked_about_and_added(tmp_path: Path, world: StandIn) -> None:
    write_prolific_study(tmp_path, extra=FIXED)
    asking = ("publish", tmp_path, "--to", "prolific", "--public-url", SITE)
    assert "up to 10 screen-out payments of $0.02, with fees: $0.27" in chorale(*asking, "--draft")
    made = world.studies[publish(tmp_path)["id"]]
    toml = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(toml.replace("screenout_slots = 10", "screenout_slots = 15"))
    open_study(tmp_path).close()
    assert "up to 5 more screen-out payments" in chorale(*asking, "--yes")
    assert made["completion_codes"][1]["actions"][0]["slots"] == 15


@pytest.mark.parametrize(
    ("published", "changed", "says"),
    [
        (FIXED, FIXED.replace("reward = 2", "reward = 4"), "with screen-out payments of $0.02, and .* has .* of $0.04"),
        ("", FIXED, "with no fixed screen-out payments"),
        (FIXED, "", "`screenout_reward = 2`, or give the study another name"),
    ],
)
def test_screen_out_payments_stay_as_they_were_published(
    published: str, changed: str, says: str, tmp_path: Path, world: StandIn
) -> None:
    write_prolific_study(tmp_path, extra=published)
    before = deepcopy(world.studies[publish(tmp_path)["id"]])
    write_prolific_study(tmp_path, extra=changed)
    open_study(tmp_path).close()
    found = chorale("publish", tmp_path, "--to", "prolific", "--public-url", SITE, "--yes", code=2)
    assert re.search(says.replace("$", r"\$"), " ".join(found.split()))
    assert world.studies[before["id"]] == before


def test_prolific_notifies_the_site_and_nobody_else_can(tmp_path: Path, world: StandIn) -> None:
    write_prolific_study(tmp_path)
    toml = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(
        toml.replace("[prolific]\n", "[prolific]\nwebhooks = true\nsync_minutes = 60\n")
    )
    study = open_study(tmp_path)
    world.secrets[WORKSPACE] = "one that others use"
    with Prolific(TOKEN, world.address) as client:
        wanted = publishing.asked_for(study, None)
        drafted = publishing.draft(study, client, wanted, SITE)
        publishing.publish(study, client, wanted, drafted)
        site_app = create_app(study, prolific=client, public_url=SITE)
        with TestClient(site_app, base_url=SITE) as site:
            _until(lambda: len(world.subscriptions) == len(EVENTS))
            assert world.secrets[WORKSPACE] == "one that others use", "a new secret would end the others' notifications"
            _until(lambda: all(one["is_enabled"] for one in world.subscriptions.values()))
            assert {one["event_type"] for one in world.subscriptions.values()} == set(EVENTS)
            assert {one["target_url"] for one in world.subscriptions.values()} == {f"{SITE}/hooks/prolific"}
            _until(lambda: world.requests.count("GET /submissions/") == 1)
            body = json.dumps({"resource_id": "x", "event_type": EVENTS[0], "status": "ACTIVE"}).encode()
            now = str(int(time.time()))

            def notify(secret: str, timestamp: str, sent: bytes = body) -> int:
                signed = {TIMESTAMP_HEADER: timestamp, SIGNATURE_HEADER: signature_of(secret, timestamp, body)}
                return site.post("/hooks/prolific", content=sent, headers=signed).status_code

            good = world.secrets[WORKSPACE]
            assert notify("guessed", now) == 403
            assert notify(good, now, body + b" ") == 403
            assert notify(good, str(int(now) - 4000)) == 403
            assert notify(good, "yesterday") == 403
            assert world.requests.count("GET /submissions/") == 1
            assert notify(good, now) == 204
            _until(lambda: world.requests.count("GET /submissions/") == 2)
    study.close()


def test_a_site_that_cannot_be_notified_still_asks_prolific(tmp_path: Path, world: StandIn) -> None:
    write_prolific_study(tmp_path)
    toml = (tmp_path / "study.toml").read_text()
    (tmp_path / "study.toml").write_text(toml.replace("[prolific]\n", "[prolific]\nwebhooks = true\n"))
    publish(tmp_path)
    study = open_study(tmp_path)
    with Prolific(TOKEN, world.address) as client, TestClient(create_app(study, prolific=client)):
        _until(lambda: "GET /submissions/" in world.requests)
        assert not world.subscriptions, "the site has no https address"
    study.close()


def _until(holds: Any) -> None:
    limit = time.monotonic() + 20
    while not holds():
        assert time.monotonic() < limit
        time.sleep(0.02)


def test_people_who_were_erased_are_neither_invited_nor_written_to(
    running: tuple[Study, TestClient], world: StandIn, tmp_path: Path
) -> None:
    study, site = running
    made = world.studies[publish(tmp_path)["id"]]
    for number in (1, 2):
        world.finish(come(site, world, made["id"], number, 2), made["completion_codes"][0]["code"])
    chorale("sync", tmp_path)
    chorale("forget", tmp_path, pseudonym(study, 1), "--answers", "keep", "--even-unpaid", "--yes")
    assert study.store.look(lambda tx: submissions.approved_participants(tx, "main")) == [participant(2)]
    assert [one.participant for one in recruiting.recipients(study, "main", None, None)] == [participant(2)]


def test_somebody_in_two_studies_sees_the_codes_of_the_one_in_progress(
    running: tuple[Study, TestClient], world: StandIn, tmp_path: Path
) -> None:
    _, site = running
    study_id = publish(tmp_path)["id"]
    code = world.studies[study_id]["completion_codes"][0]["code"]
    submission = come(site, world, study_id, 1, 2)
    # Opening the link again is the same visit: what was done counts.
    visit = {"PROLIFIC_PID": participant(1), "STUDY_ID": study_id, "SESSION_ID": submission}
    site.get("/join", params=visit)
    assert code in site.get("/").text
    work(site, 1)
    assert code in site.get("/").text
