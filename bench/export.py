"""Times the export of a study with a million judgments, each format in its own process to measure its memory.

python -m bench.export [JUDGMENTS]
"""

import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench.report import write_judgments
from chorale.engine.started import started_study
from chorale.exchange.export import write_export
from chorale.exchange.importing import import_files
from chorale.files.batch_files import BatchOptions

JUDGMENTS = 1_000_000
FORMATS = ("parquet", "jsonl", "csv", "huggingface", "labelstudio", "mturk")


def make(folder: Path, judgments: int) -> None:
    """A study of a table of judgments, with the labels they make."""
    table = folder / "judgments.csv"
    write_judgments(table, judgments)
    import_files([table], folder / "study", BatchOptions(), title="A million judgments")


def most_memory() -> float:
    """The most this process has had, in MB. What getrusage says begins with what the parent had."""
    found = re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())
    return int(found[1]) / 1024 if found else float("nan")


def measure(folder: Path, format_name: str) -> None:
    """One export; prints its row."""
    out = folder / f"out.{format_name}"
    with started_study(folder / "study", None) as study:
        before = most_memory()
        wall, processor = time.perf_counter(), time.process_time()
        rows = write_export(study, format_name, out)
        wall, processor = time.perf_counter() - wall, time.process_time() - processor
    most = most_memory()
    files = [out] if out.is_file() else [path for path in out.rglob("*") if path.is_file()]
    size = sum(path.stat().st_size for path in files) / 2**20
    times = f"{wall:.1f} s | {processor:.1f} s"
    print(f"| {format_name} | {rows:,} | {times} | {most:,.0f} MB | {before:,.0f} MB | {size:,.0f} MB |")


def main() -> None:
    if len(sys.argv) == 3:
        measure(Path(sys.argv[1]), sys.argv[2])
        return
    judgments = int(sys.argv[1]) if len(sys.argv) == 2 else JUDGMENTS
    with tempfile.TemporaryDirectory() as folder:
        make(Path(folder), judgments)
        print("| format | rows | wall time | processor time | peak memory | memory before | file |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |", flush=True)
        for format_name in FORMATS:
            subprocess.run([sys.executable, "-m", "bench.export", folder, format_name], check=True)


if __name__ == "__main__":
    main()
