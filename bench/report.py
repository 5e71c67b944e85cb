"""Times the import of a table of judgments and the report on it, each in its own process to measure its memory.

python -m bench.report [JUDGMENTS…]
"""

import csv
import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PER_ITEM = 10
WORKERS = 2_000
SIZES = (100_000, 1_000_000)
LABELS = ("plain", "kind", "rude", "odd")


def write_judgments(path: Path, judgments: int) -> None:
    """Ten people on every item, who are right more or less often."""
    chance = random.Random(1)
    skill = [chance.uniform(0.55, 0.95) for _ in range(WORKERS)]
    with path.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["task", "worker", "label", "text"])
        for number in range(judgments // PER_ITEM):
            right = chance.choice(LABELS)
            text = f"Message {number} of somebody who writes about the garden and the weather."
            for worker in chance.sample(range(WORKERS), PER_ITEM):
                label = right if chance.random() < skill[worker] else chance.choice(LABELS)
                table.writerow([f"t{number:07}", f"w{worker:05}", label, text])


def row(what: str, *arguments: str) -> None:
    """Runs a command to its end; prints what it took."""
    wall = time.perf_counter()
    process = subprocess.Popen([sys.executable, "-m", "chorale", *arguments], stdout=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - wall
    if status:
        raise RuntimeError(f"chorale {arguments[0]} failed")
    print(f"| {what} | {wall:.0f} s | {_processor(used):.1f} s | {used.ru_maxrss / 1024:,.0f} MB |", flush=True)


def _processor(used: resource.struct_rusage) -> float:
    return used.ru_utime + used.ru_stime


def main() -> None:
    sizes = [int(size) for size in sys.argv[1:]] or SIZES
    print("| command | wall time | processor time | peak memory |")
    print("| --- | ---: | ---: | ---: |", flush=True)
    for size in sizes:
        with tempfile.TemporaryDirectory() as scratch:
            table, study = Path(scratch) / "judgments.csv", Path(scratch) / "study"
            write_judgments(table, size)
            row(f"import, {size:,} judgments", "import", str(table), "--out", str(study))
            row(f"verify, {size:,}", "verify", str(study))
            row(f"report, {size:,}", "report", str(study), "--no-charts", "--out", str(Path(scratch) / "report.html"))


if __name__ == "__main__":
    main()
