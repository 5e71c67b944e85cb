"""Reports created in the background from the console: one at a time, whatever is clicked or killed."""

import io
import json
import os
import signal
import subprocess
import time
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from argon2 import PasswordHasher
from starlette.testclient import TestClient

from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.files.progress_file import JobProgress, progress_writer, read_progress
from chorale.model import UserError
from chorale.store import events
from chorale.web.app import create_app
from chorale.web.console import report_jobs
from chorale.web.console.report_jobs import FOLDER, ReportWish, reports, start_report
from chorale.web.links import setup_link_path
from crowd import look, people
from small_study import write_small_study
from test_console import PASSWORD

PATIENCE = 120.0


@pytest.fixture
def study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Study]:
    monkeypatch.setattr("chorale.web.staff.PasswordHasher", partial(PasswordHasher, time_cost=1, memory_cost=64))
    write_small_study(tmp_path / "study")
    opened = open_study(tmp_path / "study")
    for person in people(opened, 3):
        person.judge()
    yield opened
    opened.close()


def as_owner(study: Study, folder: Path | None) -> TestClient:
    client = TestClient(create_app(study, folder=folder), follow_redirects=False)
    client.post(setup_link_path(study) or "", data={"name": "maya", "password": PASSWORD, "again": PASSWORD})
    return client


def sleeper(monkeypatch: pytest.MonkeyPatch, command: list[str]) -> None:
    """Let another program run in place of the report."""
    started = subprocess.Popen
    monkeypatch.setattr(subprocess, "Popen", lambda _, **options: started(command, **options))


def until(state: str, folder: Path) -> report_jobs.ReportJob:
    deadline = time.monotonic() + PATIENCE
    while (job := reports(folder)[0]).state != state:
        assert time.monotonic() < deadline, job
        time.sleep(0.05)
    return job


def test_a_report_is_created_in_the_background_then_read_and_downloaded(study: Study, tmp_path: Path) -> None:
    folder = tmp_path / "study"
    client = as_owner(study, folder)
    assert "No report yet" in client.get("/console/report").text
    assert client.post("/console/report").headers["location"] == "/console/report?done=report-started"
    job = until("done", folder)
    page = client.get("/console/report?part=live").text
    assert f'href="/console/report/{job.name}"' in page and "maya" in page
    shown = client.get(f"/console/report/{job.name}")
    assert "<html" in shown.text and "sandbox" in shown.headers["content-security-policy"]
    assert "script-src" not in shown.headers["content-security-policy"]
    saved = client.get(f"/console/report/{job.name}?download=true")
    assert saved.headers["content-disposition"].startswith("attachment")
    assert [one.evidence for one in look(study, lambda tx: events.recent(tx, 9, kinds=("report created",)))] == [
        {"by": "maya"}
    ]


@pytest.mark.parametrize(
    ("form", "ending", "start"), [("markdown", ".md", "# A small"), ("latex", ".tex", "% A small")]
)
def test_a_report_in_another_format_and_its_dataset_are_downloaded(
    study: Study, tmp_path: Path, form: str, ending: str, start: str
) -> None:
    folder = tmp_path / "study"
    client = as_owner(study, folder)
    wish = {"format": form, "dataset": "true", "licence": "-CC BY 4.0"}
    assert client.post("/console/report", data=wish).headers["location"] == "/console/report?done=report-started"
    job = until("done", folder)
    assert (job.format, job.has_dataset) == (form, True)
    saved = client.get(f"/console/report/{job.name}")
    assert saved.text.startswith(start) and f'{job.name}{ending}"' in saved.headers["content-disposition"]
    assert saved.headers["content-disposition"].startswith("attachment")
    with zipfile.ZipFile(io.BytesIO(client.get(f"/console/report/{job.name}/dataset").content)) as dataset:
        card = json.loads(dataset.read(f"{job.name}-dataset/croissant.json"))
        assert card["license"] == "-CC BY 4.0"
        assert {"labels.csv", "responses.jsonl"} <= {Path(name).name for name in dataset.namelist()}
    logged = look(study, lambda tx: events.recent(tx, 9, kinds=("report created", "exported")))
    evidence = sorted((one.evidence for one in logged), key=lambda each: each["format"] == "dataset")
    assert evidence == [{"by": "maya", "format": form}, {"by": "maya", "format": "dataset"}]
    assert client.get("/console/report/report-1/dataset").status_code == 404
    assert client.post("/console/report", data={"format": "docx"}).status_code == 422


def test_a_second_click_starts_no_second_report_and_a_killed_one_is_reported(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "study"
    client = as_owner(study, folder)
    sleeper(monkeypatch, ["sleep", "60"])
    done = [client.post("/console/report").headers["location"].rpartition("=")[2] for _ in range(2)]
    assert done == ["report-started", "report-running"]
    [job] = reports(folder)
    assert job.state == "running" and "in progress" in client.get("/console/report").text
    assert client.get(f"/console/report/{job.name}").status_code == 404
    about = json.loads((folder / FOLDER / f"{job.name}.json").read_text())
    os.kill(about["process"], signal.SIGKILL)
    until("failed", folder)
    assert "The report was interrupted. Start it again." in client.get("/console/report").text
    assert client.post("/console/report").headers["location"].endswith("report-started"), "and it can be started again"
    os.kill(json.loads((folder / FOLDER / f"{reports(folder)[0].name}.json").read_text())["process"], signal.SIGKILL)


def test_a_report_that_fails_shows_the_end_of_its_log(
    study: Study, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sleeper(monkeypatch, ["sh", "-c", "echo '<b>no database</b>' >&2; exit 2"])
    client = as_owner(study, tmp_path / "study")
    client.post("/console/report")
    until("failed", tmp_path / "study")
    assert "&lt;b&gt;no database&lt;/b&gt;" in client.get("/console/report").text


def test_without_a_folder_or_with_one_that_is_not_writable_the_page_says_so(study: Study, tmp_path: Path) -> None:
    client = as_owner(study, None)
    assert "started without a study folder" in client.get("/console/report").text
    assert client.post("/console/report").status_code == 422
    (tmp_path / "study" / FOLDER).write_text("a file in the way")
    with pytest.raises(UserError, match="cannot be written"):
        start_report(tmp_path / "study", "", "maya", 0, ReportWish())


@pytest.mark.parametrize("name", ["..%2f..%2fstudy", "report-..", "study.toml", "report-1/../../study.toml"])
def test_no_other_file_is_served(study: Study, tmp_path: Path, name: str) -> None:
    assert as_owner(study, tmp_path / "study").get(f"/console/report/{name}").status_code in (404, 422)


def test_progress_passes_through_a_file(tmp_path: Path) -> None:
    file = tmp_path / "progress"
    assert read_progress(file) is None
    progress_writer(file, "steps")(3, 10)
    assert read_progress(file) == JobProgress(3, 10, "steps")
    progress_writer(file, "steps")(1, None, "reading a file")
    assert read_progress(file) == JobProgress(1, 0, "reading a file")
    file.write_text("half")
    assert read_progress(file) is None


@pytest.mark.parametrize("text", ["[]", "null", "{", '{"began": "1"}', '{"process": "../..", "began": "1"}'])
def test_a_broken_file_of_a_report_does_not_break_the_page(study: Study, tmp_path: Path, text: str) -> None:
    folder = tmp_path / "study"
    (folder / FOLDER).mkdir()
    (folder / FOLDER / "report-1.json").write_text(text)
    assert "The report was interrupted" in as_owner(study, folder).get("/console/report").text
