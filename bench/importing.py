"""Times the import of files of judgments, each in its own process to measure its memory.

python -m bench.importing [JUDGMENTS…]
"""

import csv
import random
import sys
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path

from bench.report import LABELS, WORKERS, row, write_judgments

SIZES = (100_000, 1_000_000, 3_000_000)
PER_ITEM = 10
BATCH_SIZE = 100_000
COLUMNS = ("HITId", "WorkerId", "AssignmentStatus", "SubmitTime", "WorkTimeInSeconds", "Reward", "Input.text")


def write_batch(path: Path, judgments: int) -> None:
    """A batch of Mechanical Turk with two columns of answers, in no order."""
    chance = random.Random(1)
    start = datetime(2017, 9, 25, tzinfo=UTC)
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow((*COLUMNS, "Answer.tone", "Answer.why"))
        for _ in range(judgments):
            item = chance.randrange(judgments // PER_ITEM)
            when = start + timedelta(seconds=chance.randrange(10**7))
            said = (
                chance.choice(LABELS),
                f"Because of word {chance.randrange(10**6)}." if chance.random() < 0.2 else "",
            )
            text = f"Message {item} of somebody who writes about the garden and the weather."
            work = ("Approved", when.strftime("%a %b %d %H:%M:%S UTC %Y"), chance.randrange(5, 300), "$0.07")
            table.writerow((f"HIT{item:07}", f"A{chance.randrange(WORKERS):05}", *work, text, *said))


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or SIZES
    print("| file | wall time | processor time | peak memory |")
    print("| --- | ---: | ---: | ---: |", flush=True)
    for size in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            table = Path(scratch) / "judgments.csv"
            write_judgments(table, size)
            row(f"a table of {size:,} judgments", "import", str(table), "--out", f"{scratch}/study")
    with tempfile.TemporaryDirectory() as scratch:
        batch = Path(scratch) / "batch.csv"
        write_batch(batch, BATCH_SIZE)
        row(f"a batch of {BATCH_SIZE:,} judgments, in no order", "import", str(batch), "--out", f"{scratch}/study")


if __name__ == "__main__":
    main()
