"""No identifier and no secret is in anything a site prints, at any level, whatever fails."""

import logging
import os
import re
import secrets
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx2 as httpx
import pytest
from sqlalchemy import create_engine, make_url, text

from chorale.model import UserError
from chorale.store.opening import store_url
from chorale.web.logs import CodeName, OneLineAMinute, RedactingFormatter
from prolific_stand_in import TOKEN, stand_in
from prolific_study import write_prolific_study
from serving import HOST, PATIENCE_SECONDS, free_port, stop_process, wait_until_up
from small_study import write_small_study

PASSWORD = "correct-horse-battery"
WRONG_PASSWORD = "wrong-horse-battery"
EXPERT_NAME = "ada.lovelace@example.org"
ANSWER = "an-answer-nobody-may-read"

# Everything is logged, and what is asked for by name fails with what it was given in its message.
HOOK = """
import logging, os, threading
logging.Logger.isEnabledFor = lambda self, level: True
import chorale.engine.work as work
from sqlalchemy import text

def fail_with_values(tx, study, worker_id, token, *rest):
    try:
        raise ValueError(f"inner failure of {token} {rest}")
    except ValueError as error:
        raise RuntimeError(f"outer failure of {token} {rest} {os.environ['TEST_PID']}") from error

def violate(tx, study, worker_id, token):
    tx.execute(text("INSERT INTO worker_identity (panel, external_id, worker_id, visit) "
        "SELECT panel, external_id, worker_id, visit FROM worker_identity WHERE external_id = :external_id"),
        {"external_id": os.environ["TEST_PID"]})

def fail_in_thread(tx, study, worker_id, token, answer, *rest):
    def fail():
        raise ValueError(f"in a thread: {answer} {os.environ['TEST_PID']}")
    threading.Thread(target=fail).start()
    return fail_with_values(tx, study, worker_id, token, answer, *rest)

work.extend, work.skip, work.submit = fail_with_values, violate, fail_in_thread
"""


class LoggedSite:
    """A site in a process of its own that logs everything, and what it printed."""

    def __init__(self, folder: Path, tmp_path: Path, database: str | None, **environment: str) -> None:
        self.port, self.printed = free_port(), tmp_path / "printed.log"
        self.url = f"http://{HOST}:{self.port}"
        hook = tmp_path / "hook"
        hook.mkdir()
        (hook / "sitecustomize.py").write_text(HOOK, "utf-8")
        options = ["--access-log", "--port", str(self.port), *([] if database is None else ["--db", database])]
        with self.printed.open("w") as output:
            self.process = subprocess.Popen(
                [sys.executable, "-m", "chorale", "serve", str(folder), *options],
                stdout=output,
                stderr=subprocess.STDOUT,
                text=True,
                env={**os.environ, **environment, "PYTHONPATH": str(hook), "PYTHONUNBUFFERED": "1"},
            )

    def text(self) -> str:
        return self.printed.read_text("utf-8")

    def wait(self) -> None:
        wait_until_up(self.port, self.printed)
        deadline = time.monotonic() + PATIENCE_SECONDS
        while "Serving at" not in self.text() and time.monotonic() < deadline:
            time.sleep(0.02)


@pytest.fixture
def pid() -> str:
    return secrets.token_hex(12)


def everything_there_is_to_ask(site: LoggedSite, pid: str) -> dict[str, str]:
    """Go through every kind of request with values that can be recognised; those values."""
    setup = re.search(r"/setup/(\S+)", site.text())
    assert setup is not None
    seen = {"PID": pid, "study": f"study{pid}", "session": f"session{pid}", "password": PASSWORD}
    seen |= {"wrong password": WRONG_PASSWORD, "expert": EXPERT_NAME, "answer": ANSWER}
    with httpx.Client(base_url=site.url, timeout=PATIENCE_SECONDS) as owner:
        form = {"name": "owner", "password": PASSWORD, "again": PASSWORD}
        assert owner.post(f"/setup/{setup[1]}", data=form).status_code == 303
        seen["staff cookie"] = owner.cookies["chorale_staff"]
        assert owner.post("/login", data={"name": pid, "password": WRONG_PASSWORD}).status_code in (401, 403, 422)
        owner.get("/console/workers", params={"q": pid})
        owner.get(f"/console/workers/{pid}")
    # The server closes a connection after a failure.
    anew = {"Connection": "close"}
    with httpx.Client(base_url=site.url, timeout=PATIENCE_SECONDS, headers=anew) as worker:
        visit = {"PROLIFIC_PID": pid, "STUDY_ID": seen["study"], "SESSION_ID": seen["session"]}
        joined = worker.get("/join", params=visit)
        if joined.status_code == 303:
            seen["worker cookie"] = worker.cookies["chorale_worker"]
        worker.post("/consent", data={"agree": "yes"})
        worker.get(f"/join/{pid}")
        worker.get(f"/expert/{pid}")
        worker.get(f"/{pid}/nothing?PROLIFIC_PID={pid}")
        worker.get("/static/chorale.css", params={"v": pid})
        offered = worker.post("/api/stages/meaningful/next")
        if offered.status_code == 200:
            seen["assignment"] = token = offered.json()["assignment"]["id"]
            body = {"key": f"key-{pid}", "answer": ANSWER}
            failed = worker.post(f"/api/assignments/{token}/submit", json=body)
            assert failed.status_code == 500
            assert pid not in failed.text
            assert worker.post(f"/api/assignments/{token}/extend").status_code == 500
            assert worker.post(f"/api/assignments/{token}/return").status_code == 500
    for line in (f"GET /join?PROLIFIC_PID={pid} HTTP/9.9", f"NOTHING-{pid}", f"GET /{pid} HTTP/1.1\r\nUpgrade: {pid}"):
        with socket.create_connection((HOST, site.port), PATIENCE_SECONDS) as raw:
            raw.sendall(f"{line}\r\nHost: {HOST}\r\nConnection: close\r\n\r\n".encode())
            raw.recv(4096)
    return seen


def assert_nothing_shows(printed: str, seen: dict[str, str]) -> None:
    for what, value in seen.items():
        place = printed.find(value)
        assert place < 0, f"{what} is in the log: …{printed[max(0, place - 200) : place + 100]}"


def shut_out(address: str, postgres_server: str) -> None:
    """Let nobody use a PostgreSQL database any more."""
    name = make_url(address).database
    engine = create_engine(postgres_server, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false"))
        connection.execute(text(f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"))
    engine.dispose()


@pytest.fixture
def logged_site(tmp_path: Path, database: str | None, pid: str) -> Iterator[LoggedSite]:
    folder = tmp_path / "study"
    write_small_study(folder)
    site = LoggedSite(folder, tmp_path, database, TEST_PID=pid)
    site.wait()
    yield site
    if site.process.poll() is None:
        stop_process(site.process)


def test_no_log_has_an_identifier_or_a_secret(
    logged_site: LoggedSite, database: str | None, pid: str, request: pytest.FixtureRequest
) -> None:
    seen = everything_there_is_to_ask(logged_site, pid)
    if database is not None:
        shut_out(database, request.getfixturevalue("postgres_server"))
    with httpx.Client(base_url=logged_site.url, timeout=PATIENCE_SECONDS, cookies={"chorale_worker": pid}) as late:
        status = late.get("/join", params={"PROLIFIC_PID": f"late{pid}"}).status_code
        assert status == (303 if database is None else 503)
    stop_process(logged_site.process)
    printed = logged_site.text()
    assert_nothing_shows(printed, seen)
    # What is there instead: where it failed, of what kind, and which page was asked for.
    assert "POST /api/assignments/{token}/submit 500" in printed
    assert "GET /join 303" in printed
    assert "RuntimeError" in printed
    assert "ValueError" in printed
    assert "IntegrityError" in printed
    assert "test_logs" not in printed


def test_what_prolific_refuses_is_not_in_the_log(tmp_path: Path, pid: str) -> None:
    folder = tmp_path / "study"
    write_prolific_study(folder)
    with stand_in() as world:
        world.faults = {f"GET /submissions/{what}": ["fails"] * 9 for what in ("", "*/")}
        environment = {"TEST_PID": pid, "PROLIFIC_TOKEN": TOKEN, "CHORALE_PROLIFIC_URL": world.address}
        site = LoggedSite(folder, tmp_path, None, **environment)
        try:
            site.wait()
            seen = everything_there_is_to_ask(site, pid)
        finally:
            stop_process(site.process)
    assert_nothing_shows(site.text(), {**seen, "token": TOKEN})


def line_for(logger: str, message: str, *args: object, error: BaseException | None = None) -> str:
    exc_info = None if error is None else (type(error), error, error.__traceback__)
    record = logging.LogRecord(logger, logging.ERROR, __file__, 1, message, args, exc_info, "some_function")
    return RedactingFormatter().format(record)


def test_only_numbers_and_names_from_code_are_written_out() -> None:
    assert line_for("chorale.web", "%s of %d in %s", "5f0c", 3, CodeName("qasrl")).endswith("… of 3 in qasrl")
    assert line_for("chorale.web", "broken %d", "5f0c").endswith("broken %d")
    assert line_for("chorale.web", "%s", ValueError).endswith("ValueError")


def test_of_other_packages_only_the_place_is_written() -> None:
    line = line_for("httpx", "GET https://api.prolific.com/?user=%s", "5f0c")
    assert "prolific" not in line
    assert "test_logs.py:1 some_function" in line


def test_chains_and_groups_of_errors_are_shown_without_messages() -> None:
    try:
        try:
            raise KeyError("5f0c")
        except KeyError as error:
            raise ExceptionGroup("of 5f0c", [OSError(28, "5f0c"), ValueError("5f0c")]) from error
    except ExceptionGroup as group:
        text_of_group = line_for("chorale.web", "failed", error=group)
    assert "5f0c" not in text_of_group
    for kind in ("KeyError", "ExceptionGroup", "OSError (ENOSPC)", "ValueError"):
        assert kind in text_of_group


def test_the_same_failure_is_one_line_a_minute_with_a_count() -> None:
    now = 0.0
    written: list[str] = []
    once_a_minute = OneLineAMinute(lambda: now)

    def note(message: str, level: int = logging.ERROR) -> None:
        record = logging.LogRecord("chorale.web", level, __file__, 1, message, (), None)
        if once_a_minute.filter(record):
            written.append(RedactingFormatter().format(record).partition(": ")[2])

    for second in range(150):
        now = second
        note("sweeping failed")
        note("something else")
        note("GET / 200", logging.INFO)
    assert [line for line in written if "sweeping" in line] == [
        "sweeping failed",
        "sweeping failed (and 59 more like this in the last 60 s)",
        "sweeping failed (and 59 more like this in the last 60 s)",
    ]
    assert written.count("GET / 200") == 150


def test_a_mistyped_database_address_does_not_show_its_password(tmp_path: Path) -> None:
    with pytest.raises(UserError) as refused:
        store_url("postgresql+psycopg://me:hunter2@host:port/name", tmp_path / "study.db")
    assert "hunter2" not in refused.value.message
    assert "me:***@host" in refused.value.message
