"""Backups of sites that run, restores of them, and nobody who becomes somebody else by either."""

import json
import re
from pathlib import Path
from typing import Any

import httpx2 as httpx
from click.testing import CliRunner, Result
from sqlalchemy import create_engine, text

from chorale.cli import app
from serving import HOST, Server
from small_study import write_small_study

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
        self.http = httpx.Client(base_url=f"http://{HOST}:{port}", follow_redirects=False, timeout=60)
        assert self.http.get("/join", params={"PROLIFIC_PID": name}).status_code == 303
        assert self.http.post("/consent", data={"agree": "yes"}).status_code == 303
        self.pseudonym = re.findall(r"w-[a-z0-9]{10}", self.http.get("/").text)[0]

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
        return self.http.post(f"/api/{path}", json=body, headers={"X-Chorale-Worker": self.pseudonym})


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
            tab.http = httpx.Client(
                base_url=f"http://{HOST}:{server.port}", cookies=tab.http.cookies, follow_redirects=False, timeout=60
            )
        # D's page, with its cookie and the answer it holds: refused for good, and told why and what to do.
        for answer in (late.submit(held), late.next()):
            assert (answer.status_code, answer.json()["error"]["code"]) == (410, "participation_lost")
            message = answer.json()["error"]["message"]
            assert "was restored on" in message and "Open the link" in message and late.pseudonym in message
        page = late.http.get("/").text
        assert "Your session has ended" in page and late.pseudonym in page and "Your overview" not in page
        # C had joined before: their answer waits until they have signed in again.
        waits = early.submit(kept)
        assert (waits.status_code, waits.json()["error"]["code"]) == (401, "signed_out")
        assert "was restored on" in waits.json()["error"]["message"]
        assert early.http.get("/join", params={"PROLIFIC_PID": "c"}).status_code == 303
        assert early.submit(kept).json()["status"] == "accepted"
        newcomer.answer()
        # D joins anew, as somebody else than before, and than E.
        again = Visitor(server.port, "d")
        assert len({early.pseudonym, newcomer.pseudonym, again.pseudonym, late.pseudonym}) == 4
        again.answer()
    assert given_by(folder, database) == {early.pseudonym: 2, newcomer.pseudonym: 1, again.pseudonym: 1}
    checked = json.loads(run("verify", folder, "--json", *db(database)).stdout)
    assert checked["ok"] and checked["checked"]["epochs"] == 2
