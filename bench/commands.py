"""Whole scoring commands beside reading their input: how much does everything else cost?

    python -m bench.commands

A command is a process of its own, with its start-up; reading is the same reader called in a process that is up.
"""

import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np

from bench.aggregate import crowd
from bench.crowdtruth import CROWDS
from bench.crowdtruth import made_up as frames_crowd
from bench.qasrl import ROWS
from bench.qasrl import made_up as questions
from bench.srl import write_files
from bench.timing import best_of
from chorale.kits.qasrl.files import read_qasrl
from chorale.kits.srl.files import read_srl
from chorale.metrics.reading.judgment_files import read_judgments

RUNS = 3


def measured(title: str, reading: Callable[[], object], *arguments: object) -> str:
    read = best_of(RUNS, reading)
    walls, used = [], []
    for _ in range(RUNS):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.perf_counter()
        subprocess.run([sys.executable, "-m", "chorale", *map(str, arguments)], check=True, stdout=subprocess.DEVNULL)
        walls.append(time.perf_counter() - began)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    times = f"{min(walls) / read.wall:.1f} | {min(used) / read.cpu:.1f}"
    return f"| {title} | {min(walls):.2f} | {min(used):.2f} | {read.wall:.2f} | {read.cpu:.2f} | {times} |"


def ask_for_help() -> None:
    subprocess.run([sys.executable, "-m", "chorale", "--help"], check=True, capture_output=True)


def main() -> None:
    print("| command | seconds | CPU seconds | reading s | reading CPU s | × reading | × reading, CPU |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        million, frames, many = folder / "million.csv", folder / "frames.csv", folder / "frames-large.csv"
        crowd(1_000_000).write_csv(million)
        frames_crowd(CROWDS[0], np.random.default_rng(1)).write_csv(frames)
        frames_crowd(max(CROWDS, key=lambda one: (one.units, -one.workers)), np.random.default_rng(1)).write_csv(many)
        gold, system = folder / "gold.csv", folder / "system.csv"
        for path, text in zip((gold, system), questions(ROWS, random.Random(1)), strict=True):
            path.write_text(text, "utf-8", newline="")
        srl_system, srl_gold = write_files(folder)
        print(f"| --help | {best_of(RUNS, ask_for_help).wall:.2f} | | | | | |")
        for method in ("majority", "dawid-skene"):
            title = f"aggregate --method {method}, 1,000,000 judgments"
            print(
                measured(title, partial(read_judgments, million), "aggregate", million, "--method", method), flush=True
            )
        print(
            measured("agreement, 1,000,000 judgments", partial(read_judgments, million), "agreement", million),
            flush=True,
        )
        for path, size in ((frames, "15,000"), (many, "1,500,000")):
            title = f"aggregate --method crowdtruth, {size} judgments"
            print(
                measured(title, partial(read_judgments, path), "aggregate", path, "--method", "crowdtruth"), flush=True
            )
        print(
            measured(
                f"evaluate qasrl, {ROWS:,} gold rows",
                lambda: (read_qasrl(gold), read_qasrl(system)),
                *("evaluate", "qasrl", system, gold),
            ),
            flush=True,
        )
        print(
            measured(
                "evaluate srl, 2,000 sentences, three metrics",
                lambda: (read_srl(srl_gold), read_srl(srl_system)),
                *("evaluate", "srl", srl_system, srl_gold, "--metric", "primesrl,conll05,conll09"),
            ),
            flush=True,
        )


if __name__ == "__main__":
    main()
