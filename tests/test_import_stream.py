"""Files are imported as they are read: in little memory, whole or not at all, and whatever their order."""

import csv
import fcntl
import json
import os
import signal
import subprocess
import sys
import threading
import tracemalloc
from pathlib import Path
from typing import Any

import apsw
import pytest
from click.testing import CliRunner, Result
from hypothesis import given
from hypothesis import strategies as st
from starlette.testclient import TestClient

from chorale.cli import app
from chorale.engine.entering import EXPERTS_PANEL
from chorale.engine.started import started_study
from chorale.exchange import imported_work, importing
from chorale.exchange.importing import import_files
from chorale.files import batch_files, row_spool
from chorale.files.batch_files import BatchOptions, BatchRow
from chorale.files.row_spool import RowSpool
from chorale.files.source import StreamedFile, digest_of
from chorale.metrics.score_table import ScoreTable
from chorale.model import Problem
from chorale.monitor.status import status
from chorale.report.imported import logged_imports
from chorale.report.people import funnel_section
from chorale.store import importing as store_importing
from chorale.store import items as store_items
from chorale.store import staging
from chorale.store.staging import Staging
from chorale.store.workers import attendees
from chorale.web.app import create_app
from chorale.web.links import new_staff_link, study_sessions


def run(*arguments: object, code: int = 0) -> Result:
    done = CliRunner().invoke(app, [str(one) for one in arguments])
    assert done.exit_code == code, done.output
    return done


def table(path: Path, judgments: int = 12) -> Path:
    rows = [(f"t{n // 3:05}", f"w{n % 3}", "yes" if n % 5 else "no", f"Text {n // 3}") for n in range(judgments)]
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([("task", "worker", "label", "text"), *rows])
    return path


def test_what_a_killed_import_left_is_removed_and_told(tmp_path: Path) -> None:
    file, left = table(tmp_path / "old.csv"), tmp_path / ".s.0123abcd.part"
    other, busy = tmp_path / ".other.0123abcd.part", tmp_path / ".s.4567abcd.part"
    for folder in (left, other, busy):
        (folder / "study").mkdir(parents=True)
    held = os.open(busy, os.O_RDONLY)
    fcntl.flock(held, fcntl.LOCK_EX)
    try:
        assert f"Removed {left}" in run("import", file, "--out", tmp_path / "s").stderr
    finally:
        os.close(held)
    # Another study's, and that of an import that is still running, are none of its business.
    assert not left.exists() and other.exists() and busy.exists()


@pytest.mark.slow
def test_an_import_that_is_killed_leaves_no_study_and_the_next_one_works(tmp_path: Path) -> None:
    file = table(tmp_path / "old.csv")
    program = (
        "import os, signal, sys\n"
        "from chorale.store.loading import LoadingStore\n"
        "LoadingStore.finish = lambda self: os.kill(os.getpid(), signal.SIGKILL)\n"
        "from chorale.cli import main\n"
        "main()\n"
    )
    killed = subprocess.run(
        [sys.executable, "-c", program, "import", str(file), "--out", str(tmp_path / "s")], check=False
    )
    assert killed.returncode == -signal.SIGKILL
    assert not (tmp_path / "s").exists() and len(list(tmp_path.glob(".s.*.part"))) == 1
    run("import", file, "--out", tmp_path / "s")
    assert json.loads(run("verify", tmp_path / "s", "--json").stdout)["ok"]
    assert {path.name for path in tmp_path.iterdir()} == {"old.csv", "s"}


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), apsw.FullError("database or disk is full")])
def test_nothing_is_left_of_an_import_that_fails_late(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, error: Exception
) -> None:
    file = table(tmp_path / "old.csv")

    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(importing, "bring_in_work", fail)
    told = run("import", file, "--out", tmp_path / "new" / "folder" / "s", code=2).stderr
    assert f"can't be written: {error.args[-1]}" in told
    assert {path.name for path in tmp_path.iterdir()} == {"old.csv"}


def test_a_folder_that_comes_up_meanwhile_is_not_touched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, out = table(tmp_path / "old.csv"), tmp_path / "s"
    put_in = imported_work.bring_in_work

    def slowly(*arguments: object) -> None:
        put_in(*arguments)  # type: ignore[arg-type]
        out.mkdir()

    monkeypatch.setattr(importing, "bring_in_work", slowly)
    assert "already exists" in run("import", file, "--out", out, code=2).stderr
    assert list(out.iterdir()) == [] and not list(tmp_path.glob(".s.*"))


def test_a_pipe_can_be_imported(tmp_path: Path) -> None:
    file, pipe = table(tmp_path / "old.csv"), tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_bytes(file.read_bytes()))
    writer.start()
    done = import_files([pipe], tmp_path / "s", BatchOptions(), title="From a pipe")
    writer.join()
    assert done.stages == {"pipe": {"judgments": 12, "items": 4, "workers": 3}}


def test_progress_is_told_in_megabytes_judgments_and_items(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "_MEGABYTE", 100)
    told: list[tuple[int, int, str]] = []
    file = table(tmp_path / "old.csv")
    import_files([file], tmp_path / "s", BatchOptions(), title="x", progress=lambda *one: told.append(one))
    assert list(dict.fromkeys(what for _, _, what in told)) == [
        *("MB read", "rows parsed", "judgments imported", "items labelled")
    ]
    assert all(0 <= done <= total for done, total, _ in told)


def test_no_more_problems_are_collected_than_are_told(tmp_path: Path) -> None:
    file = tmp_path / "old.csv"
    file.write_text("task,worker,label\n" + "t,w\n" * 200)
    told = run("import", file, "--out", tmp_path / "s", code=2).stderr
    assert "does not have the 3 cells of the header in at least 50 rows (lines 2, 3, 4, …)" in told
    file.write_text("task,worker,label\n" + ",w,yes\n" * 200)
    empty = run("import", file, "--out", tmp_path / "s", code=2).stderr
    assert "column 'task' is empty in at least 50 rows (lines 2, 3, 4, …)" in empty


def test_an_item_too_long_for_a_form_is_told_with_its_line_and_column(tmp_path: Path) -> None:
    file = tmp_path / "old.csv"
    file.write_text(f"task,worker,label,text\nb,w,yes,short\na,w,no,{'x' * 60_000}\n")
    told = " ".join(run("import", file, "--out", tmp_path / "s", code=2).stderr.split())
    assert "old.csv:3: column 'text' is too long" in told
    assert {path.name for path in tmp_path.iterdir()} == {"old.csv"}


def test_what_a_file_does_not_tell_is_not_said(tmp_path: Path) -> None:
    run("import", table(tmp_path / "old.csv"), "--out", tmp_path / "s")
    with started_study(tmp_path / "s", None) as study:
        found = study.store.read(
            lambda tx: funnel_section(tx, study, status(tx, study), attendees(tx, EXPERTS_PANEL), logged_imports(tx))
        ).result()
        sessions = study_sessions(study)
        link = study.store.write(lambda tx: new_staff_link(tx, study, sessions, "viewer", "Vi", "maya")).result()
        with TestClient(create_app(study)) as viewer:
            viewer.get(link)
            page = viewer.get("/console/recruiting").text
            overview = viewer.get("/console").text
    [people] = [part for part in found.details if isinstance(part, ScoreTable) and "people who" in part.columns]
    assert [row[0] for row in people.rows] == ["are in the file", "worked", "worked in old"]
    assert (found.json["arrived"], found.json["consented"], found.json["worked"]) == (3, None, 3)
    assert "Workers in the imported files" in page and "Gave consent" not in page
    assert "The imported study is ready" in overview and "step-recruit" not in overview
    assert "Agreement over time" not in overview, "all labels were made at once"


def test_settings_that_make_no_study_are_told_as_such(tmp_path: Path) -> None:
    told = run("import", table(tmp_path / "old.csv"), "--out", tmp_path / "s", "--title", "x" * 5_000, code=2).stderr
    assert told.startswith("chorale: These files can't be imported") and "title" in told and ".part" not in told


def test_rows_come_back_as_they_were_with_columns_that_came_late(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"a": 1, "b": "x"},
        {"b": None, "a": [1, {"c": "ü"}]},
        {"late": 1.5},
        {"a": 10**30, "b": True},
    ]
    file = tmp_path / "rows.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    spool, problems, streamed = RowSpool(tmp_path / "spool"), list[Problem](), StreamedFile()
    spool.fill(file, problems, streamed)
    assert (spool.names, spool.count, problems) == (["a", "b", "late"], 4, [])
    assert streamed.digest == digest_of(file.read_bytes())
    for _ in range(2):
        assert [(line, list(cells)) for line, cells in spool] == [
            (n, [row.get(name) for name in spool.names]) for n, row in enumerate(rows, 1)
        ]


judgment = st.tuples(
    st.sampled_from("abc"),
    st.sampled_from("xyz"),
    st.sampled_from(["p", ("p", "q"), "ü"]),
    st.sampled_from([None, 1, 2]),
)


@given(st.lists(st.tuples(judgment, st.sampled_from("mn")), min_size=1, max_size=30))
def test_judgments_are_brought_in_order_and_the_last_of_somebody_counts(tmp_path_factory, rows) -> None:  # type: ignore[no-untyped-def]
    found = [
        BatchRow(line, task, worker, (said, None), at, 5, None, (task, told))
        for line, ((task, worker, said, at), told) in enumerate(rows, 2)
    ]
    last = {(row.task, row.worker): row for row in found}
    expected = sorted(last.values(), key=lambda row: (row.submitted_at or 0, row.line))
    tasks = sorted({row.task for row in expected})
    with pytest.MonkeyPatch.context() as patch:
        # So that what has come before is forgotten.
        patch.setattr(staging, "_REMEMBERED", 2)
        patch.setattr(staging, "_AT_ONCE", 3)
        stage = Staging(tmp_path_factory.mktemp("staging") / "staging.db")
        try:
            assert stage.add(found) == len(rows)
            totals = stage.arrange()
            stage.rewrite_answers(lambda given: json.dumps(given[0]))
            numbers = {name: number for number, name, _ in stage.workers(9)}
            stage.number_workers((number, 100 + number) for number in numbers.values())
            values: dict[str, Any] = {"stage": 1, "version": 1, "now": 9, "item": 10, "assignment": 70, "response": 50}
            values |= {"amount": 7, "reason": "", "first": 1, "last": 100}
            leases, work, pay = stage.assignments(values), stage.responses(values), stage.entries(values)
            items, by_item, worked = list(stage.items()), list(stage.by_item()), list(stage.worked(9))
            differing = {cells[0][0] for cells in stage.differing()}
        finally:
            stage.close()
    assert totals[:4] == (len(last), len(rows) - len(last), len(tasks), len({row.worker for row in expected}))
    assert [item.task for item in items] == tasks
    times = [9 if row.submitted_at is None else row.submitted_at for row in expected]
    who = [100 + numbers[row.worker] for row in expected]
    assert [row[:2] for row in work] == [(51 + n, 71 + n) for n in range(len(expected))]
    assert [(row[3], row[4], row[8]) for row in work] == [
        (11 + tasks.index(row.task), worker, at) for row, worker, at in zip(expected, who, times, strict=True)
    ]
    assert [json.loads(row[6]) for row in work] == [json.loads(json.dumps(row.given[0])) for row in expected]
    assert [(row[0], row[4], row[5], *row[8:]) for row in leases] == [
        (71 + n, worker, row.task, at - 5, at, at)
        for n, (row, worker, at) in enumerate(zip(expected, who, times, strict=True))
    ]
    assert [row[:3] for row in pay] == [
        (f"response:{51 + n}:base", at, worker) for n, (worker, at) in enumerate(zip(who, times, strict=True))
    ]
    assert sorted(worked) == [
        (
            one,
            who.count(one),
            5 * who.count(one),
            min(at for at, other in zip(times, who, strict=True) if other == one) - 5,
        )
        for one in sorted(set(who))
    ]
    assert [(item, place) for item, place, _, _ in by_item] == sorted(
        (tasks.index(row.task) + 1, place) for place, row in enumerate(expected, 1)
    )
    assert differing == {task for task in tasks if len({row.item_cells for row in expected if row.task == task}) > 1}


@pytest.mark.slow
def test_four_times_as_many_judgments_take_hardly_more_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in (
        *((batch_files, "_MOST_KNOWN"), (staging, "_REMEMBERED"), (staging, "_AT_ONCE"), (store_items, "BATCH")),
        *((row_spool, "_ROWS_AT_ONCE"), (store_importing, "_BATCH"), (imported_work, "_ITEMS_AT_ONCE")),
    ):
        monkeypatch.setattr(module, name, 200)
    most: list[int] = []
    for judgments in (3_000, 3_000, 12_000):
        file = table(tmp_path / "old.csv", judgments)
        tracemalloc.start()
        import_files([file], tmp_path / f"s{len(most)}", BatchOptions(), title="x")
        most.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    # The first one also loads what every import needs.
    assert most[2] < 1.3 * most[1]
