"""Times Krippendorff's α of a million judgments, and the package `krippendorff` in the same run.

python -m bench.agreement
"""

import tempfile
from functools import partial
from pathlib import Path

import krippendorff
import numpy as np
import polars as pl

from bench.timing import best_of
from chorale.metrics.agreement import Level, krippendorff_alpha
from chorale.metrics.reading.judgment_files import read_judgments

JUDGMENTS = 1_000_000
PER_ITEM = 5
WORKERS = 20
LABELS = 5
RUNS = 5


def made_up(rng: np.random.Generator) -> pl.DataFrame:
    """People who are right in seven of ten cases and otherwise guess, in no order."""
    items = JUDGMENTS // PER_ITEM
    tasks = np.repeat(np.arange(items), PER_ITEM)
    # Five different people for every item: neighbours on a circle.
    workers = (rng.integers(WORKERS, size=items)[:, None] + np.arange(PER_ITEM)).ravel() % WORKERS
    truth = rng.integers(LABELS, size=items)[tasks]
    labels = np.where(rng.random(JUDGMENTS) < 0.7, truth, rng.integers(LABELS, size=JUDGMENTS)) + 1
    shuffled = rng.permutation(JUDGMENTS)
    return pl.DataFrame({"task": tasks[shuffled], "worker": workers[shuffled], "label": labels[shuffled]})


def main() -> None:
    frame = made_up(np.random.default_rng(1))
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "judgments.csv"
        frame.write_csv(file)
        reading, _ = best_of(3, lambda: read_judgments(file))
        judgments = read_judgments(file).judgments
    # What the package wants: a table of raters by items, or how often each value was given to each item.
    counts = np.zeros((JUDGMENTS // PER_ITEM, LABELS), dtype=np.int64)
    np.add.at(counts, (frame["task"].to_numpy(), frame["label"].to_numpy() - 1), 1)
    raters = np.full((WORKERS, JUDGMENTS // PER_ITEM), np.nan)
    raters[frame["worker"].to_numpy(), frame["task"].to_numpy()] = frame["label"].to_numpy()
    print(f"{JUDGMENTS:,} judgments, {PER_ITEM} per item, {WORKERS} workers, {LABELS} labels; best of {RUNS}\n")
    print("| α | ours s | ours CPU s | krippendorff s | ratio | the same from counts s | ratio | reading s |")
    print("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    levels: tuple[Level, ...] = ("nominal", "interval", "ordinal", "ratio")
    values = np.arange(1, LABELS + 1)
    for level in levels:
        ours, processor = best_of(RUNS, partial(krippendorff_alpha, judgments, level=level))
        by_raters, _ = best_of(3, partial(krippendorff.alpha, raters, level_of_measurement=level))
        from_counts = partial(krippendorff.alpha, value_counts=counts, value_domain=values, level_of_measurement=level)
        by_counts, _ = best_of(3, from_counts)
        value = krippendorff_alpha(judgments, level=level).value
        other = from_counts()
        assert value is not None and abs(value - other) < 1e-9, (level, value, other)
        print(
            f"| {level} | {ours:.3f} | {processor:.3f} | {by_raters:.2f} | {by_raters / ours:.0f}× | {by_counts:.3f} "
            f"| {by_counts / ours:.1f}× | {reading:.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
