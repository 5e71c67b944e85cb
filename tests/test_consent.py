"""Consent forms have versions: a changed form is agreed to again before the next item, and verified."""

import json
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from sqlalchemy import text
from starlette.testclient import TestClient

from chorale.audit.verify import verify
from chorale.cli import app
from chorale.cli.addresses import is_preview
from chorale.engine import entering
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.exchange.export import write_export
from chorale.folder.templates import create_study, template_names
from chorale.model import Refusal
from chorale.store import consents
from chorale.web.app import create_app
from conftest import ManualClock
from crowd import Person, do, look, tamper
from small_study import write_small_study

CHANGED = "You agree to take part, and to be asked again in a year.\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "study"
    write_small_study(folder, applications=6)
    return folder


def reopened(study: Study, folder: Path, database: str | None, clock: ManualClock) -> Study:
    """The same study with another consent form, a minute later."""
    study.close()
    (folder / "consent.md").write_text(CHANGED)
    clock.pass_minutes(1)
    return open_study(folder, database, clock)


def test_a_changed_form_is_agreed_to_again_before_the_next_item(
    folder: Path, database: str | None, clock: ManualClock
) -> None:
    study = open_study(folder, database, clock)
    person = Person(study, "one")
    person.judge()
    held = person.next()
    with closing(reopened(study, folder, database, clock)) as study:
        person.study = study
        with pytest.raises(Refusal, match="consent"):
            person.next()
        clock.pass_minutes(1)
        # What was given out before the form changed can still be answered.
        person.submit(held)
        with pytest.raises(Refusal, match="consent"):
            person.next()
        clock.pass_minutes(1)
        do(study, entering.consent, person.id)
        do(study, entering.consent, person.id)
        clock.pass_minutes(1)
        person.judge()
        assert look(study, lambda tx: verify(tx, study)).differences == []
        assert [one.version for one in look(study, consents.forms)] == [1, 2]
        assert len(look(study, consents.consents)) == 2
        write_export(study, "jsonl", folder / "out.jsonl")
        write_export(study, "csv", folder / "out.csv")
        write_export(study, "consents", folder / "consents.csv")
    rows = [json.loads(line) for line in (folder / "out.jsonl").read_text().splitlines()]
    assert [row["consent_version"] for row in rows] == [1, 1, 2]
    assert [line.rsplit(",", 1)[1] for line in (folder / "out.csv").read_text().splitlines()[1:]] == ["1", "1", "2"]
    assert CHANGED.strip() in (folder / "consents.csv").read_text()


def test_the_same_form_is_agreed_to_once(folder: Path, database: str | None, clock: ManualClock) -> None:
    with closing(open_study(folder, database, clock)) as study:
        person = Person(study, "one")
    with closing(open_study(folder, database, clock)) as study:
        person.study = study
        person.judge()
        assert look(study, consents.latest_version) == 1


def test_verify_finds_items_given_out_without_consent(folder: Path, clock: ManualClock) -> None:
    study = open_study(folder, None, clock)
    person = Person(study, "one")
    with closing(reopened(study, folder, None, clock)) as study:
        person.study = study
        # Whoever can write to the database can let somebody in without asking them.
        do(study, lambda tx, _: tx.execute(text("UPDATE worker SET consent_version = 2")))
        person.judge()
        differences = look(study, lambda tx: verify(tx, study)).differences
    assert any("consent to version 2 is stored, but the log has version 1" in one for one in differences)
    assert any("had agreed to version 1 of the consent form, but version 2 was in force" in one for one in differences)


def test_forms_of_earlier_studies_get_numbers(folder: Path, clock: ManualClock) -> None:
    with closing(open_study(folder, None, clock)) as study:
        person = Person(study, "one")

        for statement in ("DELETE FROM consent_text", "UPDATE worker SET consent_version = 0"):
            tamper(study, statement)
        assert look(study, lambda tx: verify(tx, study)).differences == []
    (folder / "consent.md").write_text(CHANGED)
    clock.pass_minutes(1)
    with closing(open_study(folder, None, clock)) as study:
        person.study = study
        assert [one.text for one in look(study, consents.forms)] == ["You agree to take part.\n", CHANGED]
        with pytest.raises(Refusal, match="consent"):
            person.next()
        assert look(study, lambda tx: verify(tx, study)).differences == []


def test_the_page_says_that_the_form_has_changed(folder: Path, clock: ManualClock) -> None:
    study = open_study(folder, None, clock)
    with TestClient(create_app(study), follow_redirects=False) as site:
        site.get("/join", params={"PROLIFIC_PID": "one"})
        assert "has changed" not in site.get("/").text
        site.post("/consent", data={"agree": "yes"})
        cookies = site.cookies
    with closing(reopened(study, folder, None, clock)) as study:
        with TestClient(create_app(study), follow_redirects=False, cookies=cookies) as site:
            page = site.get("/").text
            assert "The consent form has changed since you agreed to it." in page
            assert "asked again in a year" in page
            assert site.get("/stages/meaningful").headers["location"] == "/"
            refused = site.post("/api/stages/meaningful/next", json={})
            assert (refused.status_code, refused.json()["error"]["code"]) == (403, "no_consent")
            site.post("/consent", data={"agree": "yes"})
            assert "has changed" not in site.get("/").text
            assert site.post("/api/stages/meaningful/next", json={}).json()["status"] == "item"


CHECKLIST = (
    *("What we record", "sensitive data", "used for research", "[storage location]", "[retention period]"),
    *("random participant ID", "published", "To withdraw your consent", "[legal basis]", "[researcher name]"),
    *("[institution]", "[contact]", "[ethics approval]", "[duration]", "[pay]", "## Risks", "voluntary"),
)
"""What Prolific asks of a consent form (docs/data-protection.md names the source), and what ethics boards do."""


@pytest.mark.parametrize("template", template_names())
def test_every_template_has_what_a_consent_form_must_contain(tmp_path: Path, template: str) -> None:
    if template == "ranking":
        pytest.skip("the template of another package")
    create_study(tmp_path / "new", template)
    form = " ".join((tmp_path / "new" / "consent.md").read_text().split())
    assert [part for part in CHECKLIST if part not in form] == []


def test_a_form_with_placeholders_does_not_open_in_public(tmp_path: Path) -> None:
    create_study(tmp_path / "new", "form")

    def serve(*options: str) -> Any:
        return CliRunner().invoke(app, ["serve", str(tmp_path / "new"), "--port", "0", *options])

    for options in (("--public-url", "https://study.example.org"), ("--host", "0.0.0.0")):
        refused = serve(*options)
        assert refused.exit_code == 2
        assert "[institution]" in refused.output and "--unfinished" in refused.output


def test_check_says_that_answers_of_people_who_withdraw_are_kept(folder: Path) -> None:
    """Before, a study could keep the answers that its consent form promised to erase, without a word."""

    def notes() -> str:
        return " ".join(CliRunner().invoke(app, ["check", str(folder)]).output.split())

    assert "people who withdraw are kept" not in notes()
    toml = folder / "study.toml"
    toml.write_text(toml.read_text() + '\n[retention]\nwithdrawn_answers = "keep"\n')
    assert "people who withdraw are kept without their identity. Say so in the consent form" in notes()


def test_what_is_a_preview() -> None:
    assert is_preview(None, "127.0.0.1") and is_preview("http://localhost:8000", "0.0.0.0")
    assert not is_preview(None, "0.0.0.0") and not is_preview("https://study.example.org", "127.0.0.1")
