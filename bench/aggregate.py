"""Times aggregation methods and crowd-kit in the same run.

Simulated crowd: 10 judgments per task by 1,000 workers. Each worker has an accuracy between 0.3 and 0.95, and otherwise
guesses among 4 labels. Reading the file has its own column and is not part of the other times.

    python -m bench.aggregate           everything; crowd-kit takes two minutes
    python -m bench.aggregate --quick   a tenth of the judgments
"""

import argparse
import tempfile
import time
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from bench.timing import best_of
from chorale.metrics.aggregation import MethodOptions, aggregate
from chorale.metrics.judgments import Judgments
from chorale.metrics.reading.judged import ReadJudgments
from chorale.metrics.reading.judgment_files import read_judgments
from chorale.metrics.resampling import Resampling
from chorale.metrics.scoring.aggregating import AggregationRequest, score_aggregation

WORKERS, LABELS, EACH = 1_000, 4, 10
RUNS = 3
HEADER = "| work | chorale | of it processor | crowd-kit | ratio | reading |\n| --- | --- | --- | --- | --- | --- |"
PEERS = {
    "majority": "MajorityVote",
    "dawid-skene": "DawidSkene",
    "mace": "MACE",
    "glad": "GLAD",
    "mmsr": "MMSR",
    "zero-based-skill": "ZeroBasedSkill",
}
SIZES = {
    "majority": 1_000_000,
    "dawid-skene": 1_000_000,
    "mace": 100_000,
    "glad": 100_000,
    "mmsr": 100_000,
    "zero-based-skill": 100_000,
}
FITTED_ONLY = ("zero-based-skill",)
"""Of crowd-kit this only learns skills: its `predict` fails with recent versions of scikit-learn."""
SLOW_PEERS = ("mmsr",)
"""Crowd-kit's takes minutes for 1,000 workers."""


@dataclass(frozen=True)
class Figures:
    work: str
    ours: float
    processor: float
    theirs: float | None
    reading: float

    def row(self) -> str:
        theirs = "" if self.theirs is None else f"{self.theirs:.2f} s"
        ratio = "" if self.theirs is None else f"{self.theirs / self.ours:,.0f}×"
        return (
            f"| {self.work} | {self.ours:.2f} s | {self.processor:.2f} s | {theirs} | {ratio} | {self.reading:.2f} s |"
        )


def crowd(judgments: int, seed: int = 0) -> pl.DataFrame:
    """Who said what. Nobody judges a task twice."""
    rng = np.random.default_rng(seed)
    tasks = judgments // EACH
    truth = rng.integers(LABELS, size=tasks)
    accuracy = rng.uniform(0.3, 0.95, WORKERS)
    task = np.repeat(np.arange(tasks), EACH)
    # Ten different workers: a random first one, and steps of up to a tenth of all.
    steps = rng.integers(1, WORKERS // EACH, size=(tasks, EACH))
    worker = (rng.integers(WORKERS, size=(tasks, 1)) + np.cumsum(steps, axis=1)).reshape(-1) % WORKERS
    knows = rng.random(judgments) < accuracy[worker]
    label = np.where(knows, truth[task], rng.integers(LABELS, size=judgments))
    order = rng.permutation(judgments)
    columns = {"task": task, "worker": worker, "label": label}
    return pl.DataFrame({name: [f"{name[0]}{value}" for value in column[order]] for name, column in columns.items()})


def measured(method: str, size: int, path: Path) -> Figures:
    table = crowd(size)
    table.write_csv(path)
    reading, _ = best_of(RUNS, lambda: read_judgments(path))
    judgments = Judgments.from_frame(table)
    ours, processor = best_of(RUNS, lambda: aggregate(judgments, method, MethodOptions()))
    return Figures(f"{method}, {size:,} judgments", ours, processor, _by_peer(method, table), reading)


def measured_with_intervals(size: int, path: Path) -> Figures:
    """What `--ci --json` adds: an interval of every task's certainty and of every worker's quality."""
    crowd(size).write_csv(path)
    judgments, digest = read_judgments(path)

    def score() -> None:
        request = AggregationRequest("dawid-skene")
        score_aggregation(ReadJudgments(str(path), judgments, digest), request, Resampling(ci=True))

    ours, processor = best_of(1, score)
    return Figures(f"dawid-skene with all intervals, {size:,} judgments", ours, processor, None, 0.0)


def _by_peer(method: str, table: pl.DataFrame) -> float | None:
    if method in SLOW_PEERS:
        return None
    try:
        import crowdkit.aggregation as peers  # noqa: PLC0415 - only if it is there
        import pandas as pd  # noqa: PLC0415
    except ImportError:
        return None
    frame: Any = pd.DataFrame({name: table[name].to_list() for name in table.columns})
    started = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        estimator = getattr(peers, PEERS[method])()
        (estimator.fit if method in FITTED_ONLY else estimator.fit_predict)(frame)
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="a tenth of the judgments")
    quick = parser.parse_args().quick
    print(HEADER)
    with tempfile.TemporaryDirectory() as folder:
        for method, size in SIZES.items():
            print(measured(method, size // 10 if quick else size, Path(folder) / "judgments.csv").row(), flush=True)
        size = SIZES["dawid-skene"]
        print(measured_with_intervals(size // 10 if quick else size, Path(folder) / "judgments.csv").row(), flush=True)


if __name__ == "__main__":
    main()
