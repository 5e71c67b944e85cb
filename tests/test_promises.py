"""The promises of the shell, each with a test that tries to break it, over real HTTP with real server processes."""

import asyncio
import json
import random
import sqlite3
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from bench.http_crowd import Connection, join
from chorale.audit.verify import verify
from chorale.engine import settling
from chorale.engine.models.running import annotate
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.store import ledger, responses, stages
from crowd import look
from examples import examples
from model_stand_in import model_stand_in
from serving import HOST, PATIENCE_SECONDS, Server, free_port, stop_process, wait_until_up
from small_study import write_small_study

# `make test-all` asks for all of it; a few kills find a broken promise as well, only not as surely.
KILLS = {"sqlite": examples(2, 50), "postgresql": examples(4, 20)}
# Tenths of a second.
MOST_WAITS = 600
OFFLINE = (ConnectionError, asyncio.IncompleteReadError, OSError, TimeoutError)


class PatientWorker:
    """Does what the page does: keeps an answer until the server has said yes, and sends it again until then.

    Every fifth one gets all gold wrong, so that workers are dropped and items offered again while everybody works.
    """

    tried_again: frozenset[int] = frozenset()
    """Statuses after which the page tries again by itself."""

    def __init__(self, port: int, number: int, accepted: dict[str, str]) -> None:
        self.port, self.name, self.accepted = port, f"worker-{number}", accepted
        self.spams = number % 5 == 0
        self.rng = random.Random(self.name)
        self.connection: Connection | None = None
        self.unexpected: list[Any] = []
        self.enough = False
        self.dropped = False

    async def post(self, path: str, body: dict[str, Any]) -> dict[str, Any]:
        while True:
            try:
                if self.connection is None:
                    self.connection = await join(HOST, self.port, self.name)
                status, answer = await asyncio.wait_for(self.connection.post(path, body), PATIENCE_SECONDS)
            except OFFLINE:
                await self.hang_up()
                await asyncio.sleep(0.02)
                continue
            if status in self.tried_again:
                await asyncio.sleep(0.05)
                continue
            if status >= 400:
                self.unexpected.append((path, status, answer))
            return answer

    def answer(self, phrase: str) -> str:
        if "gold" not in phrase:
            return self.rng.choice(["yes", "no"])
        right = int(phrase.rsplit(maxsplit=1)[-1]) % 2 == 0
        return "yes" if right is not self.spams else "no"

    async def hang_up(self) -> None:
        if self.connection is not None:
            await self.connection.close()
        self.connection = None

    async def work(self) -> None:
        number = idle = 0
        # Whoever has seen all that is left can wait for ever: people leave.
        while not self.enough and idle < 40:
            offer = await self.post("/api/stages/meaningful/next", {})
            if offer["status"] in ("done", "dropped"):
                self.dropped = offer["status"] == "dropped"
                break
            if offer["status"] != "item":
                idle += 1
                await asyncio.sleep(0.05)
                continue
            number += 1
            idle = 0
            token, answer = offer["assignment"]["id"], self.answer(offer["assignment"]["item"]["phrase"])
            body = {"key": f"{self.name}-{number:08d}", "answer": answer, "duration_ms": 5}
            outcome = await self.post(f"/api/assignments/{token}/submit", body)
            if outcome.get("status") in ("accepted", "already_submitted"):
                self.accepted[token] = answer
        await self.hang_up()


def check_integrity(study: Study, accepted: dict[str, str]) -> None:
    """Nothing accepted is missing, nothing is doubled, nothing is judged too often, every number recomputes."""
    settling.settle_everything(study)
    tokens = look(study, lambda tx: tx.exec_driver_sql("SELECT token, id, worker_id, item_id FROM assignment").all())
    given = look(
        study, lambda tx: tx.exec_driver_sql("SELECT assignment_id, answer, item_id, worker_id FROM response").all()
    )
    counted = [row for row in look(study, lambda tx: list(responses.all_responses(tx))) if row.counts]
    answers = {assignment: answer for assignment, answer, _, _ in given}
    assert len(answers) == len(given), "an assignment was answered twice"
    by_token = {token: assignment for token, assignment, _, _ in tokens}
    for token, answer in accepted.items():
        assert answers[by_token[token]] == f'"{answer}"', "an accepted answer is missing or changed"
    assert len(accepted) == len(given), "an answer is there that nobody was told of"
    assert max(Counter(row.item for row in counted).values()) <= 3
    assert max(Counter((item, worker) for _, _, item, worker in given).values()) == 1
    checked = look(study, lambda tx: verify(tx, study))
    assert checked.differences == []
    assert look(study, ledger.ledger_totals)["base"] == 3 * len(given)


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True)
def test_kill_9_loses_nothing_and_doubles_nothing(tmp_path: Path, database: str | None) -> None:
    """Promises 1 and 2. The crowd never stops while the server is killed at random moments."""
    folder = tmp_path / "study"
    # More work than can be done while the kills go on.
    write_small_study(folder, applications=4000, gold=200, share=0.5)
    kills = KILLS["sqlite" if database is None else "postgresql"]
    accepted: dict[str, str] = {}
    rng = random.Random(1)
    server = Server(folder, database)

    async def kill_again_and_again() -> None:
        for _ in range(kills):
            await asyncio.to_thread(server.wait)
            await asyncio.sleep(rng.uniform(0.0, 0.35))
            await asyncio.to_thread(server.kill)
            await asyncio.to_thread(server.start)

    async def everything() -> None:
        workers = [PatientWorker(server.port, number, accepted) for number in range(16)]
        crowd = asyncio.gather(*(worker.work() for worker in workers))
        await kill_again_and_again()
        assert not crowd.done(), "the work was over before the killing was"
        # On a busy machine hardly anything is done between two kills. What follows needs somebody who was dropped.
        for _ in range(MOST_WAITS):
            if len(accepted) > kills and any(worker.dropped for worker in workers):
                break
            await asyncio.sleep(0.1)
        for worker in workers:
            worker.enough = True
        await crowd
        assert [worker.unexpected for worker in workers if worker.unexpected] == []

    with server:
        asyncio.run(everything())
    with closing(open_study(folder, database)) as study:
        check_integrity(study, accepted)
        assert len(accepted) > kills, "hardly anybody got to work"
        assert look(study, stages.stage_counts)[0].dropped > 0
    if database is None:
        with closing(sqlite3.connect(folder / "study.db")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)


@pytest.fixture
def two_processes(tmp_path: Path, postgres_url: str) -> Iterator[tuple[Path, str, int]]:
    """Two server processes on one PostgreSQL, behind one port."""
    folder = tmp_path / "study"
    write_small_study(folder, applications=150, gold=40, share=0.3)
    port = free_port()
    with (tmp_path / "log").open("w") as log:
        options = ["--db", postgres_url, "--port", str(port), "--processes", "2"]
        process = subprocess.Popen(
            [sys.executable, "-m", "chorale", "serve", str(folder), *options],
            stdout=subprocess.DEVNULL,
            stderr=log,
            text=True,
        )
        wait_until_up(port)
        yield folder, postgres_url, port
        stop_process(process)


async def rush(port: int, people: int, accepted: dict[str, str]) -> list[Any]:
    """Everybody at once; then, since items of dropped workers come back when others have left, a few more."""
    problems = []
    waves = [range(people), *(range(people + 30 * wave, people + 30 * wave + 30) for wave in range(6))]
    for wave in waves:
        before = len(accepted)
        workers = [PatientWorker(port, number, accepted) for number in wave]
        await asyncio.gather(*(worker.work() for worker in workers))
        problems += [problem for worker in workers for problem in worker.unexpected]
        if len(accepted) == before:
            break
    return problems


def check_rush(study: Study, accepted: dict[str, str]) -> None:
    """Everything was judged three times by people who count, although many were dropped on the way."""
    check_integrity(study, accepted)
    counts = look(study, stages.stage_counts)[0]
    assert (counts.complete, counts.judgments) == (300, 900)
    assert counts.dropped > 10
    assert counts.discarded > 0


@pytest.mark.slow
def test_200_workers_on_one_sqlite_file(tmp_path: Path) -> None:
    """Promise 3: far more workers than places, all at once."""
    folder = tmp_path / "study"
    write_small_study(folder, applications=150, gold=40, share=0.3)
    accepted: dict[str, str] = {}
    with Server(folder) as server:
        assert asyncio.run(rush(server.port, 200, accepted)) == []
    assert "locked" not in server.log.read_text()
    with closing(open_study(folder)) as study:
        check_rush(study, accepted)


@pytest.mark.slow
def test_200_workers_on_postgresql_with_two_processes(two_processes: tuple[Path, str, int], tmp_path: Path) -> None:
    folder, address, port = two_processes
    accepted: dict[str, str] = {}
    assert asyncio.run(rush(port, 200, accepted)) == []
    with closing(open_study(folder, address)) as study:
        check_rush(study, accepted)
    assert "Traceback" not in (tmp_path / "log").read_text()


@pytest.mark.parametrize("database", ["sqlite", pytest.param("postgresql", marks=pytest.mark.slow)], indirect=True)
def test_two_tabs_double_clicks_and_replays_are_one_response(tmp_path: Path, database: str | None) -> None:
    """Promise 2, with everything sent at the same moment."""
    folder = tmp_path / "study"
    write_small_study(folder, applications=30, share=0)

    async def one_person_with_ten_tabs(port: int) -> tuple[int, list[str]]:
        tabs = [await join(HOST, port, "the-same-person") for _ in range(10)]
        problems: list[str] = []
        rounds = 0
        for _ in range(12):
            offers = await asyncio.gather(*(tab.post("/api/stages/meaningful/next", {}) for tab in tabs))
            tokens = {offer["assignment"]["id"] for _, offer in offers}
            if len(tokens) != 1:
                problems.append(f"tabs got different items: {tokens}")
            (token,) = tokens
            sent = [
                tab.post(
                    f"/api/assignments/{token}/submit",
                    {"key": f"key-of-tab-{number % 3}", "answer": "yes" if number % 2 else "no"},
                )
                for number, tab in enumerate(tabs)
            ]
            outcomes = await asyncio.gather(*sent)
            told = Counter(outcome["status"] for _, outcome in outcomes)
            if told != {"accepted": 1, "already_submitted": 9}:
                problems.append(str(told))
            rounds += 1
        for tab in tabs:
            await tab.close()
        return rounds, problems

    with Server(folder, database) as server:
        rounds, problems = asyncio.run(one_person_with_ten_tabs(server.port))
    assert problems == []
    study = open_study(folder, database)
    counts = look(study, stages.stage_counts)[0]
    assert (counts.judgments, counts.workers, counts.paid) == (rounds, 1, 3 * rounds)
    study.close()


def prompts_of_a_model(folder: Path) -> list[bytes]:
    """Everything that a model is sent that annotates a study."""
    with model_stand_in() as world:
        settings = folder / "study.toml"
        settings.write_text(f"{settings.read_text()}\n[[model]]\nname = 'm1'\nendpoint = '{world.address}'\n")
        with closing(open_study(folder)) as study:
            asyncio.run(annotate(study, folder, study.settings.model, "meaningful"))
    assert len(world.requests) > 60
    return [json.dumps(one, ensure_ascii=False).encode() for one in world.requests]


def test_gold_others_answers_and_panel_ids_never_reach_a_browser(tmp_path: Path) -> None:
    """Promise 6: everything a worker's browser ever gets, searched."""
    folder = tmp_path / "study"
    write_small_study(folder, applications=30, gold=20, share=0.3, floor=0.0)
    bodies: list[tuple[str, bytes, bytes]] = []

    async def watched(port: int, name: str) -> None:
        person = await join(HOST, port, name)

        async def get(path: str) -> None:
            _, headers, body = await person.request("GET", path)
            bodies.append((path, repr(headers).encode(), body))

        for path in ("/", "/stages/meaningful", "/stages/entailment", "/openapi.json", "/nothing-here"):
            await get(path)
        for _ in range(25):
            _, headers, body = await person.request("POST", "/api/stages/meaningful/next", b"{}")
            bodies.append(("next", repr(sorted(headers)).encode(), body))
            offer = json.loads(body)
            if offer["status"] != "item":
                break
            token = offer["assignment"]["id"]
            phrase = offer["assignment"]["item"]["phrase"]
            # Right on gold: then nothing at all may tell gold from the rest.
            answer = ("no" if int(phrase.split()[-1]) % 2 else "yes") if "gold" in phrase else "yes"
            sent = json.dumps({"key": "a-key-000001", "answer": answer}).encode()
            _, headers, body = await person.request("POST", f"/api/assignments/{token}/submit", sent)
            bodies.append(("submit", repr(sorted(headers)).encode(), body))
        await person.close()

    async def crowd(port: int) -> None:
        for number in range(4):
            await watched(port, f"panel-id-{number}")

    with Server(folder) as server:
        asyncio.run(crowd(server.port))
    shapes: dict[str, set[str]] = {"next": set(), "submit": set()}
    secrets = (b"The expert says so", b"panel-id-", b'"gold"', b"a000", b"production")
    bodies += [("prompt", b"", prompt) for prompt in prompts_of_a_model(folder)]
    for path, headers, body in bodies:
        for secret in secrets:
            assert secret not in body, (path, secret)
        if path in shapes:
            decoded = json.loads(body)
            if decoded["status"] in ("item", "accepted"):
                # What follows from the worker's own counts alone.
                decoded.pop("progress")
                decoded.pop("skips_left", None)
                for volatile in ("id", "expires_at", "server_now", "item"):
                    (decoded.get("assignment") or {}).pop(volatile, None)
                shapes[path].add(json.dumps(decoded, sort_keys=True) + headers.decode())
    # Gold and production look the same to the last byte that is not the item's own text.
    assert {path: len(found) for path, found in shapes.items()} == {"next": 1, "submit": 1}
