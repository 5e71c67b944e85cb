"""Times CrowdTruth on simulated crowds of several sizes, each in its own process to measure its memory.

    python -m bench.crowdtruth

CrowdTruth-core, the authors' program, is not on the package index. On two cores of a comparable machine it took 79 s to
load and 110 s to run the 15,000 judgments of the first line.
"""

import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import polars as pl

from bench.timing import best_of
from chorale.metrics.aggregation.crowdtruth import crowdtruth
from chorale.metrics.reading.judgment_files import read_judgments

PER_UNIT = 15
OPTIONS = 10
RUNS = 5


@dataclass(frozen=True)
class Crowd:
    units: int
    workers: int
    several: bool = False
    """Whether a judgment may have two options."""

    @property
    def runs(self) -> int:
        return RUNS if self.units < 10_000 else 2


CROWDS = (
    Crowd(1_000, 500),
    Crowd(1_000, 500, several=True),
    Crowd(100_000, 500),
    Crowd(100_000, 50_000),
    Crowd(100_000, 50_000, several=True),
)


def made_up(crowd: Crowd, rng: np.random.Generator) -> pl.DataFrame:
    """People who are right in three to nineteen of twenty cases and otherwise guess, in no order."""
    many = crowd.units * PER_UNIT
    units = np.repeat(np.arange(crowd.units), PER_UNIT)
    # Different people for every unit: a walk around the circle of them with steps of one length.
    first, step = rng.integers(crowd.workers, size=crowd.units), rng.integers(1, crowd.workers // PER_UNIT, crowd.units)
    workers = ((first[:, None] + step[:, None] * np.arange(PER_UNIT)) % crowd.workers).ravel()
    skill = rng.uniform(0.15, 0.95, size=crowd.workers)[workers]
    truth = rng.integers(OPTIONS, size=crowd.units)[units]
    label = np.where(rng.random(many) < skill, truth, rng.integers(OPTIONS, size=many)).astype(str)
    if crowd.several:
        more = np.char.add(np.char.add(label, "|"), rng.integers(OPTIONS, size=many).astype(str))
        label = np.where(rng.random(many) < 0.4, more, label)
    shuffled = rng.permutation(many)
    return pl.DataFrame({"task": units[shuffled], "worker": workers[shuffled], "label": label[shuffled]})


def measure(crowd: Crowd) -> str:
    """One line of the table."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "judgments.csv"
        made_up(crowd, np.random.default_rng(1)).write_csv(file)
        started = time.perf_counter()
        judgments = read_judgments(file, sep="|" if crowd.several else None).judgments
        reading = time.perf_counter() - started
    took = best_of(crowd.runs, lambda: crowdtruth(judgments))
    iterations = crowdtruth(judgments).iterations
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    return (
        f"| {len(judgments):,} | {crowd.units:,} | {crowd.workers:,} | {'up to 2' if crowd.several else '1'} "
        f"| {iterations} | {took.wall:.3f} | {took.cpu:.3f} | {reading:.2f} | {peak:,.0f} |"
    )


def main() -> None:
    if len(sys.argv) > 1:
        print(measure(CROWDS[int(sys.argv[1])]))
        return
    print(f"{PER_UNIT} workers per unit, {OPTIONS} options, closed task; best of {RUNS} (of 2 for the large ones)\n")
    print("| judgments | units | workers | labels | iterations | wall s | CPU s | reading s | peak memory MB |")
    print("| ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: | ---: |")
    for number in range(len(CROWDS)):
        line = subprocess.run(
            [sys.executable, "-m", "bench.crowdtruth", str(number)], check=True, capture_output=True, text=True
        )
        print(line.stdout.strip(), flush=True)


if __name__ == "__main__":
    main()
