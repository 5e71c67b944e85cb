"""Gold that was wrong in a large study: correcting it survives `kill -9`, and others get their turn meanwhile."""

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import insert, select, update

from chorale.engine.correcting import GoldCorrection, correct_gold
from chorale.engine.entering import arrive, consent
from chorale.engine.opening import open_study
from chorale.engine.running import Study
from chorale.engine.settling import settle_group
from chorale.model import GoldRecord
from chorale.protocol import gold_after
from chorale.store import Tx
from chorale.store.schema import assignment, gold, grade, item, participation, response

WORKERS = 1_000
ITEMS = 2_000
EACH = 20
STUDY = """\
[study]
title = "Gold for everybody"
contact = "team@example.org"
consent = "consent.md"

[[stage]]
name = "tone"
title = "How does it sound?"
task = "form"
guidelines = "consent.md"
items = { file = "items.jsonl" }
judgments = 10
gold = { file = "gold.jsonl", after = 2 }

[stage.options]
shows = [{ item = "text" }]
fields = [{ name = "tone", kind = "choice", ask = "How?", options = ["kind", "rude"] }]
"""


def write_study(folder: Path) -> None:
    """20,000 judgments by people who met one gold item, by which they are trusted; every third was wrong about it."""
    folder.mkdir()
    (folder / "consent.md").write_text("Made up.\n")
    (folder / "study.toml").write_text(STUDY)
    rows = [{"id": f"i{number:05}", "text": f"Message {number}"} for number in range(ITEMS)]
    (folder / "items.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    gold = [
        {"id": name, "text": f"Get out, {name}!", "answer": {"tone": "rude"}, "explanation": "An order."}
        for name in "gh"
    ]
    (folder / "gold.jsonl").write_text("".join(json.dumps(row) + "\n" for row in gold))
    # Everybody arrives and agrees to take part before the first item is given out.
    study = open_study(folder, clock=lambda: 0)
    try:
        study.store.write(lambda tx: fill(tx, study)).result()
        keys = sorted(row["id"] for row in rows)
        for start in range(0, ITEMS, 500):
            some = keys[start : start + 500]
            study.store.write(lambda tx, some=some: settle(tx, study, some)).result()  # type: ignore[misc]
    finally:
        study.close()


def settle(tx: Tx, study: Study, keys: list[str]) -> None:
    for key in keys:
        settle_group(tx, study, study.stage("tone"), key)


def fill(tx: Tx, study: Study) -> None:
    stage = study.stage("tone")
    people = [arrive(tx, study, "test", str(number), {}).id for number in range(WORKERS)]
    for who in people:
        consent(tx, study, who)
    query = select(item.c.key, item.c.id, item.c.group_key).where(item.c.stage_id == stage.id)
    ids = {key: (item_id, group) for key, item_id, group in tx.execute(query)}
    gold_id, group = ids.pop("g")
    del ids["h"]
    items = [ids[key] for key in sorted(ids)]
    tx.execute(insert(participation), [_taking_part(stage.id, who) for who in people])
    given = [
        (who, *items[(place * EACH + turn) % ITEMS], said(place % 3 == 0 or turn % 5 == 0), 1_000 + turn)
        for place, who in enumerate(people)
        for turn in range(EACH)
    ]
    of = {"stage_id": stage.id, "kind": "production"}
    numbered = list(enumerate(given, 1))
    tx.execute(
        insert(assignment),
        [
            {"id": n, "token": f"p{n}", "item_id": item_id, "worker_id": who, "group_key": key, "state": "submitted"}
            | {"leased_at": at - 500, "expires_at": at, "ended_at": at, **of}
            for n, (who, item_id, key, _, at) in numbered
        ],
    )
    tx.execute(
        insert(response),
        [
            {"id": n, "assignment_id": n, "item_id": item_id, "worker_id": who, "answer": answer, "task_version": 1}
            | {"submitted_at": at, "duration_ms": 500, "idempotency_key": f"p{n}", **of}
            for n, (who, item_id, _, answer, at) in numbered
        ],
    )
    tx.execute(update(gold).where(gold.c.item_id == gold_id).values(taken=WORKERS))
    for place, who in enumerate(people):
        right = place % 3 != 0
        record = gold_after(GoldRecord(), [right], stage.settings.gold)
        _answer_gold(tx, stage.id, who, gold_id, group, 10**6 + place, right)
        tx.execute(
            update(participation)
            .where(participation.c.worker_id == who)
            .values(
                answered=EACH + 1,
                served=EACH + 1,
                gold_answered=record.answered,
                gold_right=record.right,
                gold_recent=record.recent,
                worked_ms=(EACH + 1) * 500,
            )
        )


def _taking_part(stage_id: int, who: int) -> dict[str, Any]:
    nothing = ("seed", "gold_answered", "gold_right", "earned", "fees", "exact_fees", "item_cursor")
    of = {"stage_id": stage_id, "worker_id": who, "standing": "active", "entered_at": 500, "worked_ms": EACH * 500}
    return {**dict.fromkeys(nothing, 0), **of, "served": EACH, "answered": EACH, "changes": 0, "settled": 0}


def said(rude: bool) -> str:
    return '{"tone":"rude"}' if rude else '{"tone":"kind"}'


def _answer_gold(tx: Tx, stage_id: int, who: int, gold_id: int, group: str, number: int, right: bool) -> None:
    of = {"stage_id": stage_id, "item_id": gold_id, "worker_id": who, "kind": "gold"}
    lease = {"token": f"g{number}", "group_key": group, "leased_at": 1, "expires_at": 9, "ended_at": 501}
    tx.execute(insert(assignment).values(id=number, state="submitted", **lease, **of))
    given = {"answer": said(right), "task_version": 1, "submitted_at": 501, "duration_ms": 500}
    tx.execute(insert(response).values(id=number, assignment_id=number, idempotency_key=f"g{number}", **given, **of))
    reasons = "[]" if right else '["tone: answered kind; the correct answer is rude"]'
    score = {"source": "gold", "score": float(right), "reasons": reasons, "graded_at": 501}
    tx.execute(insert(grade).values(response_id=number, **score))


def asked(folder: Path, query: str) -> list[Any]:
    with closing(sqlite3.connect(folder / "study.db", timeout=30)) as database:
        return database.execute(query).fetchall()


def graded_again(folder: Path) -> int:
    return int(asked(folder, "SELECT count(*) FROM grade WHERE source = 'gold:2'")[0][0])


def settled(folder: Path) -> int:
    return int(asked(folder, "SELECT count(*) FROM participation WHERE settled = changes AND changes > 0")[0][0])


@contextmanager
def exporting(folder: Path) -> Iterator["subprocess.Popen[bytes]"]:
    """What begins with going on where the last one stopped."""
    command = [sys.executable, "-m", "chorale", "export", str(folder), "--format", "labels", "--force"]
    process = subprocess.Popen([*command, "--out", str(folder / "labels.csv")], stdout=subprocess.DEVNULL)
    try:
        yield process
    finally:
        process.kill()
        process.wait()


def killed_when(folder: Path, far_enough: Callable[[], bool]) -> None:
    with exporting(folder) as process:
        while not far_enough():
            assert process.poll() is None, "it was done before it could be killed"
            time.sleep(0.002)
        process.send_signal(signal.SIGKILL)
        assert process.wait() == -signal.SIGKILL


@pytest.mark.slow
def test_a_correction_that_20000_judgments_depend_on_survives_kill_9(tmp_path: Path) -> None:
    folder, whole = tmp_path / "study", tmp_path / "whole"
    write_study(folder)
    before = asked(folder, "SELECT id, label, confidence FROM item ORDER BY id")
    study = open_study(folder)
    correct_gold(study, GoldCorrection(study.stage("tone"), "g", {"tone": "kind"}, "", "maya", "It was the other one"))
    study.close()
    shutil.copytree(folder, whole)

    killed_when(folder, lambda: graded_again(folder) > 100)
    assert 100 < graded_again(folder) < WORKERS
    killed_when(folder, lambda: settled(folder) > 10)
    assert graded_again(folder) == WORKERS > settled(folder) > 10
    for each in (folder, whole):
        with exporting(each) as process:
            assert process.wait(120) == 0
    query = "SELECT id, state, label, confidence, counted, taken, released FROM item ORDER BY id"
    assert asked(folder, query) == asked(whole, query)
    assert asked(folder, "SELECT id, label, confidence FROM item ORDER BY id") != before
    assert graded_again(folder) == WORKERS
    assert len(asked(folder, "SELECT id FROM event WHERE kind = 'gold graded again'")) == 1
    verified = subprocess.run(
        [sys.executable, "-m", "chorale", "verify", str(folder), "--json"], check=True, capture_output=True
    )
    assert json.loads(verified.stdout)["ok"]
