"""The demo: a study, a site, a crowd, and what comes out, over real HTTP."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from chorale.cli import app
from chorale.folder import templates as templating
from chorale.kits.rules.commands import demonstration

APPLICATIONS = 12


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The demo in seconds: fewer applications."""

    def create_small_study(directory: Path, template: str) -> None:
        templating.create_study(directory, template)
        items = directory / "applications.jsonl"
        items.write_text("".join(items.read_text("utf-8").splitlines(keepends=True)[:APPLICATIONS]), "utf-8")

    monkeypatch.setattr(demonstration, "create_study", create_small_study)


def demo(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["demo", *map(str, arguments), "--once", "--port", "0"])


@pytest.mark.usefixtures("small")
def test_a_crowd_does_the_study(tmp_path: Path) -> None:
    done = demo(tmp_path / "demo", "--workers", 12, "--seed", 3, "--json")
    assert done.exit_code == 0, (done.output, done.exception)
    told = json.loads(done.stdout)
    first, second = told["stages"]
    assert (first["items"], first["complete"]) == (2 * APPLICATIONS, 2 * APPLICATIONS)
    assert first["judgments"] == 6 * APPLICATIONS
    assert second["complete"] == second["items"] > 0
    assert told["outcomes"]["zeichner"]["unfinished"] == 0
    assert sum(told["outcomes"]["zeichner"].values()) == APPLICATIONS
    # A dozen applications are too few to be right for sure; the whole demo below is not.
    assert told["accuracy"] is None or 0 <= told["accuracy"] <= 1
    assert 0.5 < told["mean_confidence"]["meaningful"] <= 1
    assert told["spent"] > 0
    # Three cents for about eight seconds: the crowd's clock is the study's.
    assert 800 < told["hourly_wage"]["median"] < 4000
    assert set(told["links"]) == {"worker", "expert", "requester"}
    verified = CliRunner().invoke(app, ["verify", str(tmp_path / "demo")])
    assert verified.exit_code == 0, verified.output


@pytest.mark.usefixtures("small")
def test_what_people_read(tmp_path: Path) -> None:
    done = demo(tmp_path / "demo", "--workers", 10)
    assert done.exit_code == 0, (done.output, done.exception)
    assert not re.search(r"[\x00-\x09\x0b-\x1f]", done.stdout), "a pipe gets no control characters"
    assert re.search(r"^\d+ of about \d+ answers$", done.stdout, re.MULTILINE)
    assert "earlier demo" not in done.stdout
    for words in ("confidence", "first phrase", "Hourly wage", "per judged application", "correctly (by"):
        assert words in done.stdout
    for link in ("/join/", "/expert/", "/setup/"):
        assert f"http://127.0.0.1:{_port(done.stdout)}{link}" in done.stdout


def _port(text: str) -> int:
    found = re.search(r"http://127\.0\.0\.1:(\d+)", text)
    assert found is not None
    return int(found[1])


@pytest.mark.usefixtures("small")
def test_only_a_demo_makes_room_for_a_demo(tmp_path: Path) -> None:
    mine = tmp_path / "mine"
    mine.mkdir()
    (mine / "thesis.tex").write_text("years of work")
    refused = demo(mine)
    assert refused.exit_code == 2
    assert "already exists and is not a demo" in refused.stderr
    assert (mine / "thesis.tex").read_text() == "years of work"
    old = tmp_path / "old"
    old.mkdir()
    (old / demonstration.MARKER).write_text("")
    (old / "leftover").write_text("of the last demo")
    again = demo(old, "--workers", 10)
    assert again.exit_code == 0
    assert again.stdout.startswith(f"Replacing {old} from an earlier demo.\n")
    assert not (old / "leftover").exists()


@pytest.mark.slow
def test_the_whole_demo_takes_less_than_a_minute(tmp_path: Path) -> None:
    """Of a processor's time: how long that takes by the clock depends on what else the machine does."""
    before = os.times()
    done = subprocess.run(
        [sys.executable, "-m", "chorale", "demo", tmp_path / "demo", "--once", "--port", "0"],
        capture_output=True,
        text=True,
        timeout=600,
        env=os.environ,
        check=True,
    )
    after = os.times()
    assert after.children_user + after.children_system - before.children_user - before.children_system < 60
    assert done.stderr == ""
    assert "gold accuracy" in done.stdout, "somebody was removed, and it says why"
    right = re.search(r"([\d.]+)% correctly", done.stdout)
    assert right is not None
    assert float(right[1]) > 70
