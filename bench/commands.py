"""Times whole scoring commands and compares them with the time for reading their input.

    PYTHONPATH=tests python -m bench.commands

Each command runs in its own process, including start-up. Its input is read by the same reader in a running process.
The modules of a command are compiled, as in an installed Chorale. A process that cannot store compiled modules would
spend a tenth of a second on compiling at every start.
"""

import argparse
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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
from chorale.metrics.reading.responses import read_responses


@dataclass(frozen=True, slots=True)
class Bench:
    """Runs commands whose modules are compiled once, into a folder."""

    compiled: Path
    runs: int

    def run(self, *arguments: object) -> None:
        environment = {**os.environ, "PYTHONPYCACHEPREFIX": str(self.compiled)}
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        command = [sys.executable, "-m", "chorale", *map(str, arguments)]
        subprocess.run(command, check=True, env=environment, capture_output=True)

    def measured(self, title: str, reading: Callable[[], object], *arguments: object) -> str:
        """A row of the table. Commands and reading take turns, so that a busy machine slows both."""
        self.run(*arguments)
        walls, used, reads = [], [], []
        for _ in range(self.runs):
            before = resource.getrusage(resource.RUSAGE_CHILDREN)
            began = time.perf_counter()
            self.run(*arguments)
            walls.append(time.perf_counter() - began)
            after = resource.getrusage(resource.RUSAGE_CHILDREN)
            used.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
            reads.append(best_of(1, reading))
        wall, cpu = min(read.wall for read in reads), min(read.cpu for read in reads)
        times = f"{min(walls) / wall:.1f} | {min(used) / cpu:.1f}"
        return f"| {title} | {min(walls):.2f} | {min(used):.2f} | {wall:.3f} | {cpu:.3f} | {times} |"


def write_answers(path: Path, responders: int = 200, items: int = 500) -> None:
    """A table of right and wrong answers, one row per responder."""
    rng = np.random.default_rng(1)
    chance = 1 / (1 + np.exp(rng.normal(size=items) - rng.normal(size=responders)[:, None]))
    right = (rng.random((responders, items)) < chance).astype(int)
    lines = [",".join(["responder", *(f"i{number}" for number in range(items))])]
    lines += [",".join([f"r{number}", *map(str, row)]) for number, row in enumerate(right)]
    path.write_text("\n".join([*lines, ""]), "utf-8")


def rows(folder: Path) -> Iterator[tuple[str, Callable[[], object], tuple[object, ...]]]:
    """What is run, how its input is read, and the arguments."""
    million, frames, many, answers = (folder / f"{name}.csv" for name in ("million", "frames", "many", "answers"))
    crowd(1_000_000).write_csv(million)
    frames_crowd(CROWDS[0], np.random.default_rng(1)).write_csv(frames)
    frames_crowd(max(CROWDS, key=lambda one: (one.units, -one.workers)), np.random.default_rng(1)).write_csv(many)
    write_answers(answers)
    gold, system = folder / "gold.csv", folder / "system.csv"
    for path, text in zip((gold, system), questions(ROWS, random.Random(1)), strict=True):
        path.write_text(text, "utf-8", newline="")
    roles, gold_roles = write_files(folder)
    for method in ("majority", "dawid-skene"):
        title = f"aggregate --method {method}, 1,000,000 judgments"
        yield title, partial(read_judgments, million), ("aggregate", million, "--method", method)
    yield "agreement, 1,000,000 judgments", partial(read_judgments, million), ("agreement", million)
    for path, size in ((frames, "15,000"), (many, "1,500,000")):
        title = f"aggregate --method crowdtruth, {size} judgments"
        yield title, partial(read_judgments, path), ("aggregate", path, "--method", "crowdtruth")
    both = partial(map, read_qasrl, (gold, system))
    yield f"evaluate qasrl, {ROWS:,} gold rows", lambda: list(both()), ("evaluate", "qasrl", system, gold)
    both_roles = partial(map, read_srl, (gold_roles, roles))
    for metrics in ("primesrl", "primesrl,conll05,conll09"):
        title = f"evaluate srl, 2,000 sentences, {metrics}"
        yield title, lambda: list(both_roles()), ("evaluate", "srl", roles, gold_roles, "--metric", metrics)
    for model in ("1pl", "2pl"):
        title = f"irt --model {model}, 200 responders × 500 items"
        yield title, partial(read_responses, [answers]), ("irt", answers, "--model", model)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--only", default="", help="only commands that contain this text")
    options = parser.parse_args()
    print("| command | seconds | CPU seconds | reading s | reading CPU s | × reading | × reading, CPU |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        bench = Bench(folder / "compiled", options.runs)
        for title, reading, arguments in rows(folder):
            if options.only in title:
                print(bench.measured(title, reading, *arguments), flush=True)


if __name__ == "__main__":
    main()
