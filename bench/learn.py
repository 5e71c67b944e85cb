"""Measures the time and memory for learning rules, how both grow, and the effect of pruning.

    python -m bench.learn [--millions 1,2,5,10] [--memory 4GB] [--pruning]

Extractions are sampled from Zipf's law (`chorale.kits.rules.learning.synthetic`). Each row is one run of the command
`chorale learn rules --method dirt,cover,binc` in its own process, from a tab-separated file to a Parquet file. Memory
is the peak of the process. `--pruning` compares the results of other limits at the smallest size.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import polars as pl

from chorale.kits.rules.learning import synthetic_extractions

PRUNINGS: tuple[tuple[str, ...], ...] = (
    (),
    ("--max-predicates", "300"),
    ("--max-predicates", "3000"),
    ("--max-predicates", "100000"),
    ("--min-predicate", "20"),
    ("--min-predicate", "5"),
    ("--min-filler", "2"),
    ("--min-shared", "2"),
)
BEST = 10


class Run(NamedTuple):
    wall: float
    cpu: float
    memory: float
    told: dict[str, Any]


def written(millions: float, folder: Path) -> Path:
    path = folder / f"{millions:g}.tsv"
    with path.open("wb") as file:
        for number, table in enumerate(synthetic_extractions(int(millions * 1e6))):
            table.write_csv(file, separator="\t", include_header=number == 0)
    return path


_MEASURED = """
import json, resource, sys
from click.testing import CliRunner
from chorale.cli import app
result = CliRunner().invoke(app, ["learn", "rules", *sys.argv[1:], "--json"])
used = resource.getrusage(resource.RUSAGE_SELF)
assert result.exit_code == 0, result.output
cpu, told = used.ru_utime + used.ru_stime, json.loads(result.stdout)
print(json.dumps({"cpu": cpu, "memory": used.ru_maxrss / 2**20, "told": told}))
"""


def learned(path: Path, out: Path, *options: str) -> Run:
    arguments = [str(path), "--method", "dirt,cover,binc", "--out", str(out), "--force", "--threads", "2", *options]
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", _MEASURED, *arguments], capture_output=True, text=True, check=True)
    wall = time.perf_counter() - start
    found = json.loads(done.stdout)
    return Run(wall, found["cpu"], found["memory"], found["told"])


def growth(millions: list[float], memory: str, folder: Path) -> None:
    print("| extractions | predicates kept | joined pairs | rules | s | CPU s | CPU s per million pairs | GB |")
    print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for size in millions:
        path = written(size, folder)
        run = learned(path, folder / "rules.parquet", "--memory", memory)
        pairs = run.told["joined_pairs"]
        print(
            f"| {size:g} M | {run.told['kept_predicates']:,} | {pairs / 1e6:,.1f} M | "
            f"{sum(run.told['rules'].values()) / 1e6:,.1f} M | {run.wall:,.0f} | {run.cpu:,.0f} | "
            f"{run.cpu / pairs * 1e6:.2f} | {run.memory:.1f} |",
            flush=True,
        )
        path.unlink()


def best_rules(path: Path) -> pl.DataFrame:
    """The best rules of each left side by each method."""
    rules = pl.read_parquet(path)
    return (
        rules.sort("score", "rhs", descending=[True, False]).group_by("lhs", "method", maintain_order=True).head(BEST)
    )


def pruning(millions: float, memory: str, folder: Path) -> None:
    print(f"\n| options | joined pairs | rules | CPU s | share of the {BEST} best rules kept |")
    print("| --- | ---: | ---: | ---: | ---: |")
    path = written(millions, folder)
    usual: pl.DataFrame | None = None
    for options in PRUNINGS:
        out = folder / "pruned.parquet"
        run = learned(path, out, "--memory", memory, *options)
        best = best_rules(out)
        usual = best if usual is None else usual
        both = usual.join(best, on=["lhs", "rhs", "method"], how="semi").height
        print(
            f"| {' '.join(options) or 'as they are'} | {run.told['joined_pairs'] / 1e6:,.1f} M | "
            f"{sum(run.told['rules'].values()) / 1e6:,.2f} M | {run.cpu:,.0f} | {both / max(1, usual.height):.3f} |",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--millions", default="1,2,5,10")
    parser.add_argument("--memory", default="4GB")
    parser.add_argument("--pruning", action="store_true")
    options = parser.parse_args()
    millions = [float(part) for part in options.millions.split(",")]
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    with tempfile.TemporaryDirectory() as folder:
        if options.pruning:
            pruning(min(millions), options.memory, Path(folder))
        else:
            growth(millions, options.memory, Path(folder))


if __name__ == "__main__":
    main()
