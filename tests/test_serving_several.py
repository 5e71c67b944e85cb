"""`chorale serve` with several studies: what it prints, refuses and logs; processes; Mechanical Turk under a path."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import boto3
import httpx
import pytest
from playwright.sync_api import Browser, expect
from sqlalchemy import create_engine, make_url, text

from browsing import CHROMIUM, PATIENCE_MS, Watch
from chorale.engine import team
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.kits.mturk.market.access import make_key
from chorale.web.links import new_invitations, study_sessions, team_link_path
from serving import HOST, PATIENCE_SECONDS, Server, free_port, stop_process, wait_until_up
from small_study import write_small_study
from test_cli import chorale
from turk import HTML_QUESTION, PROPERTIES, write_market

PASSWORD = "three quiet herons wade"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("first", "second"):
        write_small_study(tmp_path / name, applications=20)
    return tmp_path


@contextmanager
def serving(*arguments: object, log: Path) -> Iterator[tuple["subprocess.Popen[str]", str]]:
    port = free_port()
    command = [sys.executable, "-m", "chorale", "serve", *map(str, arguments), "--port", str(port), "--access-log"]
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, text=True)
    try:
        wait_until_up(port, log)
        yield process, f"http://{HOST}:{port}"
    finally:
        stop_process(process)


def test_each_study_is_under_its_name_and_a_broken_one_keeps_nobody_out(folder: Path) -> None:
    (folder / "broken").mkdir()
    (folder / "broken" / "study.toml").write_text("[study\n")
    log = folder / "printed.log"
    with serving(folder, log=log) as (_, url), httpx.Client(base_url=url, timeout=PATIENCE_SECONDS) as client:
        assert "Sign in" in client.get("/").text
        assert client.get("/first/").status_code == client.get("/second/").status_code == 200
        assert client.get("/broken/").status_code == 503
        link = chorale("invite", folder / "second").stdout.strip()
        assert link.startswith(f"{url}/second/join/")
        joined = client.get(link)
        assert (joined.status_code, joined.headers["location"]) == (303, "/second/")
        assert chorale("team", folder / "first", "--invite", "Anna").stdout.startswith(f"{url}/first/team/")
        assert "already" in chorale("serve", folder / "first", "--port", free_port(), code=2).stderr
        assert "read back and checked" in chorale("backup", folder / "first", folder / "backup.zip", "--fast").stdout
    printed = log.read_text("utf-8")
    assert "Warning: broken is not served." in printed
    assert f"console:  {url}/first/console" in printed
    assert f"Serving at {url}." in printed
    assert "[second] GET /join/{token} 303" in printed
    assert "chorale.access: GET / 200" in printed
    assert "Traceback" not in printed


def test_what_cannot_be_served_together_is_refused(folder: Path) -> None:
    (folder / "other" / "first").mkdir(parents=True)
    write_small_study(folder / "other" / "first")
    twice = chorale("serve", folder / "first", folder / "other" / "first", code=2).stderr
    assert "folders named 'first'" in twice
    assert "{study}" in chorale("serve", folder, "--db", "postgresql+psycopg://nobody@127.0.0.1/x", code=2).stderr
    assert "without a path" in chorale("serve", folder, "--public-url", "https://example.org/path", code=2).stderr
    for name in ("first", "second"):
        (folder / name / "study.toml").write_text("[study\n")
    refused = chorale("serve", folder / "first", folder / "second", "--port", free_port(), code=2)
    assert "No study could be opened" in refused.stderr


# Several processes


@pytest.fixture
def databases(postgres_server: str) -> Iterator[str]:
    """The address of PostgreSQL databases, with a place for the names of studies."""
    engine = create_engine(postgres_server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        for name in ("first", "second"):
            connection.execute(text(f"CREATE DATABASE {name}"))
    url = make_url(postgres_server)
    yield url.set(database="STUDY").render_as_string(hide_password=False).replace("STUDY", "{study}")
    with engine.connect() as connection:
        for name in ("first", "second"):
            connection.execute(text(f"DROP DATABASE {name} WITH (FORCE)"))
    engine.dispose()


def _member(study: Study) -> str:
    made = study.store.do(lambda tx: team.invite(tx, study.clock(), "Anna", "maya"))
    return team_link_path(study_sessions(study), made.token)


@pytest.mark.slow
def test_one_sign_in_holds_in_every_process_and_through_a_restart(folder: Path, databases: str) -> None:
    paths = {}
    for name in ("first", "second"):
        with closing(open_study(folder / name, databases.replace("{study}", name))) as study:
            paths[name] = f"/{name}{_member(study)}"
    log = folder / "printed.log"
    with (
        serving(folder, "--db", databases, "--processes", 2, log=log) as (process, url),
        httpx.Client(base_url=url, timeout=PATIENCE_SECONDS) as client,
    ):
        for name, path in paths.items():
            given = {"password": PASSWORD, "again": PASSWORD} if name == "first" else {"known": PASSWORD}
            assert client.post(path, data=given).status_code == 303
        client.cookies.clear()
        assert client.post("/sign-in", data={"name": "Anna", "password": PASSWORD}).status_code == 303
        process.send_signal(signal.SIGHUP)
        for _ in range(40):
            # Every request may go to another process, and the processes are replaced meanwhile.
            with httpx.Client(base_url=url, timeout=PATIENCE_SECONDS, cookies=client.cookies) as other:
                page = other.get("/").text
            assert page.count('action="/enter"') == 2
            time.sleep(0.25)
        assert client.post("/enter", data={"study": "second"}).headers["location"] == "/second/"
        assert "consent" in client.get("/second/").text
    assert "replaced 2 server processes" in log.read_text("utf-8")


# Mechanical Turk


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium: install it, or run `make browser`")
def test_hits_and_layouts_work_under_a_path(tmp_path: Path, chromium: Browser) -> None:
    write_market(tmp_path / "mturk", rows=True)
    write_small_study(tmp_path / "rules")
    for name in ("AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_ENDPOINT_URL_MTURK"):
        os.environ.pop(name, None)
    with closing(open_study(tmp_path / "mturk")) as study:
        key = study.store.do(lambda tx: make_key(tx, study, "tests", "a test"))
        sessions = study_sessions(study)
        [path] = study.store.do(lambda tx: new_invitations(tx, study, sessions, 1, "maya"))
    server = Server(tmp_path)
    url = f"http://{HOST}:{server.port}"
    with server:
        client = boto3.client(
            "mturk",
            endpoint_url=f"{url}/mturk",
            region_name="us-east-1",
            aws_access_key_id=key.access_key,
            aws_secret_access_key=key.secret,
        )
        given = {**PROPERTIES, "MaxAssignments": 2, "LifetimeInSeconds": 3600, "Question": HTML_QUESTION}
        hit = client.create_hit(**given)["HIT"]["HITId"]
        watch, context = Watch(url), chromium.new_context(base_url=url, reduced_motion="reduce")
        watch.over(context)
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.goto(f"/mturk{path}")
        page.get_by_role("checkbox").check()
        page.get_by_role("button", name="Continue").click()
        page.goto(f"/mturk/hits/{hit}")
        page.get_by_role("button", name="Accept this task").click()
        frame = page.frame_locator("#hit-frame")
        frame.get_by_label("Which colour is the sea?").fill("deep blue")
        frame.get_by_label("Very sure").check()
        frame.get_by_role("button", name="Send").click()
        expect(page.get_by_role("heading", name="Submitted. Thank you!")).to_be_visible()
        [done] = client.list_assignments_for_hit(HITId=hit)["Assignments"]
        assert "deep blue" in done["Answer"]
        page.goto("/mturk/stages/batch")
        expect(page.locator("#start, #panel-item").filter(visible=True)).to_be_visible()
        if page.locator("#start").is_visible():
            page.locator("#start").click()
        layout = page.frame_locator(".hit-frame")
        layout.get_by_label("No", exact=True).check()
        page.wait_for_timeout(600)  # what comes sooner is taken for the second half of a double click
        page.locator("#submit").click()
        expect(page.locator("#answered")).to_contain_text("1")
        client.close()
        context.close()
        assert [one for one in watch.complaints if "policy violated" in one] == []
