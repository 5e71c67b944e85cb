"""Times the console's pages on a large study: 100,000 items, 2,000 workers, 300,000 judgments.

    PYTHONPATH=tests python -m bench.console                 everything, as rows for docs/performance.md
    PYTHONPATH=tests python -m bench.console --items 10000   a quick run

The database is written directly, without simulated work. Every table that a page reads is filled as in a real study.
"""

import argparse
import json
import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
from sqlalchemy import bindparam, insert, update
from starlette.testclient import TestClient

from bench.serve import postgres
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.store import Tx
from chorale.store.schema import assignment, entry, event, grade, item, participation, response, worker
from chorale.web.app import create_app
from chorale.web.links import setup_link_path
from small_study import write_small_study

JUDGMENTS = 3
GOLD_EVERY = 10
BATCH = 5_000
PASSWORD = "only for measuring"
PAGES = (
    "/console?part=live",
    "/console/workers?stage=meaningful",
    "/console/workers?stage=meaningful&order=gold&direction=down&page=3",
    "/console/workers/{worker}",
    "/console/items?stage=meaningful",
    "/console/items?stage=meaningful&order=least confident",
    "/console/items?stage=meaningful&order=most judged",
    "/console/items?stage=meaningful&disagreement=split",
    "/console/items?stage=meaningful&disagreement=unanimous",
    "/console/items?stage=meaningful&worker={worker}",
    "/console/items?stage=meaningful&after_key=a{last}",
    "/console/items?stage=meaningful&after_key=a{last}&turn=back",
    "/console/items?stage=meaningful&find=nowhere to be found",
    "/console/items/one?stage=meaningful&key={item}",
    "/console/ledger",
    "/console/ledger?worker={worker}",
    "/console/ledger?kind=bonus",
    "/console/activity",
    "/console/activity?kind=labelled",
    "/console/activity?worker={worker}",
    "/console/payments",
    "/console/gold/meaningful",
    "/console/queue",
    "/console/review/meaningful",
)


def fill(tx: Tx, study: Study, workers: int) -> tuple[str, str]:
    """Let everything have been judged; a worker's pseudonym, and an item's key."""
    chance = random.Random(1)
    stage = study.stage("meaningful")
    names = [f"w-{number:06d}" for number in range(workers)]
    _put(tx, worker, ({"id": n + 1, "pseudonym": name, "arrived_at": 0} for n, name in enumerate(names)))
    ids = [row.id for row in tx.execute(item.select().where(item.c.stage_id == stage.id, item.c.wanted > 0))]
    golds = [row.id for row in tx.execute(item.select().where(item.c.stage_id == stage.id, item.c.wanted == 0))]
    work = [(item_id, "production") for item_id in ids for _ in range(JUDGMENTS)]
    chance.shuffle(work)
    work = [one for number, pair in enumerate(work) for one in _with_gold(number, pair, golds)]
    answers: dict[int, list[str]] = {}
    given: list[tuple[int, int, str, str, bool]] = []
    for place, (item_id, kind) in enumerate(work):
        who = place % workers + 1
        answer = '"yes"' if chance.random() < 0.85 else '"no"'
        if kind == "production":
            answers.setdefault(item_id, []).append(answer)
        given.append((item_id, who, kind, answer, chance.random() < 0.85))
    _write_answers(tx, stage.id, given)
    _write_records(tx, stage.id, workers, given)
    _write_labels(tx, stage.id, answers)
    key = tx.execute(item.select().where(item.c.id == ids[len(ids) // 2])).one().key
    return names[7], str(key)


def _with_gold(number: int, pair: tuple[int, str], golds: list[int]) -> Iterator[tuple[int, str]]:
    yield pair
    if number % GOLD_EVERY == 0:
        yield golds[(number // GOLD_EVERY) % len(golds)], "gold"


def _put(tx: Tx, table: Any, rows: Iterator[dict[str, Any]]) -> None:
    batch: list[dict[str, Any]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == BATCH:
            tx.execute(insert(table), batch)
            batch = []
    if batch:
        tx.execute(insert(table), batch)


def _write_answers(tx: Tx, stage_id: int, given: list[tuple[int, int, str, str, bool]]) -> None:
    _put(
        tx,
        assignment,
        (
            {
                "id": n,
                "token": f"t{n}",
                "stage_id": stage_id,
                "item_id": item_id,
                "worker_id": who,
                "group_key": f"g{n}",
                "kind": kind,
                "state": "submitted",
                "leased_at": n * 100,
                "expires_at": n * 100 + 600_000,
                "ended_at": n * 100 + 9_000,
            }
            for n, (item_id, who, kind, _, _) in enumerate(given, 1)
        ),
    )
    _put(
        tx,
        response,
        (
            {
                "id": n,
                "assignment_id": n,
                "stage_id": stage_id,
                "item_id": item_id,
                "worker_id": who,
                "kind": kind,
                "answer": answer,
                "task_version": 1,
                "submitted_at": n * 100,
                "duration_ms": 9_000,
                "idempotency_key": f"k{n}",
            }
            for n, (item_id, who, kind, answer, _) in enumerate(given, 1)
        ),
    )
    graded = ((n, right) for n, (_, _, kind, _, right) in enumerate(given, 1) if kind == "gold")
    _put(
        tx,
        grade,
        (
            {"response_id": n, "source": "gold", "score": float(right), "reasons": "[]", "graded_at": n * 100}
            for n, right in graded
        ),
    )
    _put(
        tx,
        entry,
        (
            {
                "cause": f"response:{n}:base",
                "at": n * 100,
                "worker_id": who,
                "stage_id": stage_id,
                "kind": "base",
                "amount": 3,
                "reason": "a judgment in meaningful",
            }
            for n, (_, who, _, _, _) in enumerate(given, 1)
        ),
    )


def _write_records(tx: Tx, stage_id: int, workers: int, given: list[tuple[int, int, str, str, bool]]) -> None:
    counts = {who: [0, 0, 0] for who in range(1, workers + 1)}
    for _, who, kind, _, right in given:
        counts[who][0] += 1
        counts[who][1] += kind == "gold"
        counts[who][2] += kind == "gold" and right
    _put(
        tx,
        participation,
        (
            {
                "stage_id": stage_id,
                "worker_id": who,
                "standing": "active" if who % 40 else "dropped",
                "entered_at": who,
                "seed": who,
                "served": answered,
                "answered": answered,
                "gold_answered": golds,
                "gold_right": right,
                "gold_recent": "",
                "earned": 3 * answered,
                "fees": 0,
                "exact_fees": 0,
                "worked_ms": 9_000 * answered,
                "item_cursor": 0,
                "changes": 0,
                "settled": 0,
            }
            for who, (answered, golds, right) in counts.items()
        ),
    )
    evidence = json.dumps({"right": 1, "answered": 4, "trust": 0.25, "floor": 0.6, "after": 4})
    _put(
        tx,
        event,
        (
            {"at": who, "kind": "dropped", "stage_id": stage_id, "worker_id": who, "evidence": evidence}
            for who in range(40, workers + 1, 40)
        ),
    )


def _write_labels(tx: Tx, stage_id: int, answers: dict[int, list[str]]) -> None:
    label = update(item).where(item.c.id == bindparam("of"))
    label = label.values(state="complete", label=bindparam("said"), confidence=bindparam("sure"))
    label = label.values(counted=JUDGMENTS, taken=JUDGMENTS, released=bindparam("out"))
    labelled = []
    for item_id, said in answers.items():
        answer = max(sorted(set(said)), key=said.count)
        sure = said.count(answer) / len(said)
        labelled.append({"of": item_id, "said": answer, "sure": sure, "out": sure > 0.7})
    tx.execute(label, labelled)
    _put(
        tx,
        event,
        (
            {
                "at": number * 100,
                "kind": "labelled",
                "stage_id": stage_id,
                "item_id": item_id,
                "evidence": json.dumps({"judgments": [{"worker": "w", "answer": one, "trust": 1.0} for one in said]}),
            }
            for number, (item_id, said) in enumerate(answers.items())
        ),
    )


def measure(folder: Path, database: str | None, items: int, workers: int) -> Iterator[tuple[str, float, float]]:
    """Every page: its address, and the best time of five, on the wall and of this process, in ms."""
    write_small_study(folder, applications=items // 2, gold=200, share=0.1)
    study = open_study(folder, database)
    try:
        who, key = study.store.write(lambda tx: fill(tx, study, workers)).result()
        if database is not None:
            # What autovacuum does within a minute of so many new rows.
            with psycopg.connect(database.replace("postgresql+psycopg", "postgresql"), autocommit=True) as connection:
                connection.execute("VACUUM ANALYZE")
        client = TestClient(create_app(study), follow_redirects=False)
        form = {"name": "maya", "password": PASSWORD, "again": PASSWORD}
        client.post(setup_link_path(study) or "", data=form)
        for page in PAGES:
            path = page.format(worker=who, item=key, last=f"{items // 2 - 100:05d}")
            best = (float("inf"), float("inf"))
            for _ in range(5):
                wall, cpu = time.perf_counter(), time.process_time()
                answer = client.get(path)
                best = min(best, ((time.perf_counter() - wall) * 1000, (time.process_time() - cpu) * 1000))
                if answer.status_code != 200:
                    raise RuntimeError(f"{path}: {answer.status_code}")
            yield page, *best
    finally:
        study.close()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--workers", type=int, default=2_000)
    parser.add_argument("--databases", nargs="*", default=["sqlite", "postgresql"])
    options = parser.parse_args()
    print("| database | page | ms | ms of CPU |")
    print("| --- | --- | ---: | ---: |")
    for database in options.databases:
        with tempfile.TemporaryDirectory() as scratch:
            folder = Path(scratch) / "study"
            if database == "sqlite":
                for page, wall, cpu in measure(folder, None, options.items, options.workers):
                    print(f"| SQLite | `{page}` | {wall:,.0f} | {cpu:,.0f} |", flush=True)
            else:
                with postgres(Path(scratch)) as (address, _):
                    for page, wall, cpu in measure(folder, address, options.items, options.workers):
                        print(f"| PostgreSQL | `{page}` | {wall:,.0f} | {cpu:,.0f} |", flush=True)


if __name__ == "__main__":
    main()
