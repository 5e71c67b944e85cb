"""Exporting a study of a million judgments, in a process of its own for the sake of its memory.

python -m bench.export [JUDGMENTS]
"""

import json
import re
import sqlite3
import subprocess
import sys
import tempfile
import time
from contextlib import closing
from pathlib import Path

from chorale.store import Tx, importing
from chorale.store.importing import DoneWork
from chorale.study import Study, open_study
from chorale.study.export import write_export
from chorale.study.started import started_study

JUDGMENTS = 1_000_000
PER_ITEM = 10
WORKERS = 2_000
FORMATS = ("parquet", "jsonl", "csv")
STUDY = """
[study]
title = "A million judgments"
contact = "bench@example.org"
consent = "consent.md"

[[stage]]
name = "tone"
title = "How does it sound?"
task = "form"
guidelines = "consent.md"
items = { file = "items.jsonl" }
judgments = 10

[stage.options]
shows = [{ item = "text" }]
fields = [{ name = "tone", kind = "choice", ask = "How?", options = ["a", "b"] }]
"""


def make(folder: Path, judgments: int) -> None:
    """A study with its judgments, and labels as settling would have left them."""
    items = judgments // PER_ITEM
    (folder / "consent.md").write_text("Made up.\n")
    (folder / "study.toml").write_text(STUDY)
    with (folder / "items.jsonl").open("w") as file:
        for number in range(items):
            text = (
                f"Message {number} of somebody who writes about the garden, the neighbours and the weather of the day."
            )
            file.write(json.dumps({"id": f"i{number:07}", "text": text}) + "\n")
    study = open_study(folder)
    study.store.write(lambda tx: _fill(tx, study)).result()
    study.close()
    with closing(sqlite3.connect(folder / "study.db")) as database:
        label = json.dumps({"tone": "a"}, separators=(",", ":"))
        values = "state = 'complete', counted = taken, confidence = 0.8, released = 1"
        database.execute(f"UPDATE item SET label = ?, {values}", (label,))
        database.commit()


def _fill(tx: Tx, study: Study) -> None:
    stage = study.stage("tone")
    workers = [importing.add_worker(tx, f"w-{number:05}", "bench", str(number), 0) for number in range(WORKERS)]
    ids = list(importing.item_ids(tx, stage.id).items())
    done = [
        DoneWork(workers[(place * PER_ITEM + turn) % WORKERS], item_id, group, '{"tone":"a"}', 10**12 + place, 5_000)
        for turn in range(PER_ITEM)
        for place, (_, (item_id, group)) in enumerate(ids)
    ]
    importing.add_done_work(tx, stage.id, 1, done, None)


def most_memory() -> float:
    """The most this process has had, in MB. What getrusage says begins with what the parent had."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


def measure(folder: Path, format_name: str) -> None:
    """One export; prints its row."""
    with started_study(folder, None) as study:
        before = most_memory()
        wall, processor = time.perf_counter(), time.process_time()
        rows = write_export(study, format_name, folder / f"out.{format_name}")
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
    most = most_memory()
    size = (folder / f"out.{format_name}").stat().st_size / 2**20
    times = f"{wall:.1f} s | {processor:.1f} s"
    print(f"| {format_name} | {rows:,} | {times} | {most:,.0f} MB | {before:,.0f} MB | {size:,.0f} MB |")


def main() -> None:
    if len(sys.argv) == 3:
        measure(Path(sys.argv[1]), sys.argv[2])
        return
    judgments = int(sys.argv[1]) if len(sys.argv) == 2 else JUDGMENTS
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), judgments)
        print("| format | rows | wall | processor | memory at most | before | file |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
        for format_name in FORMATS:
            subprocess.run([sys.executable, "-m", "bench.export", folder, format_name], check=True)


if __name__ == "__main__":
    main()
