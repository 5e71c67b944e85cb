"""Measures how many items a second one model annotates with a server that answers immediately, and the memory it takes.

`chorale annotate` and the test server run in separate processes and share the machine's cores. If other programs use
the machine too, compare processor time.

    PYTHONPATH=tests python -m bench.annotate --items 100000
    PYTHONPATH=tests python -m bench.annotate --items 5000 --role worker
"""

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from multiprocessing import Process, Queue
from pathlib import Path

from model_stand_in import model_stand_in
from small_study import write_small_study


def _serve(found: "Queue[str]", done: "Queue[int]", report: "Queue[tuple[int, int, float]]") -> None:
    with model_stand_in(keep_requests=False) as world:
        found.put(world.address)
        done.get()
        report.put((world.served, world.most_at_once, time.process_time()))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=100_000)
    parser.add_argument("--at-once", type=int, default=32)
    parser.add_argument("--role", default="beside")
    given = parser.parse_args()
    found: Queue[str] = Queue()
    done: Queue[int] = Queue()
    report: Queue[tuple[int, int, float]] = Queue()
    server = Process(target=_serve, args=(found, done, report), daemon=True)
    server.start()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary) / "study"
        write_small_study(folder, applications=given.items // 2, gold=40, share=0.02, floor=0.0, judgments="1")
        text = (folder / "study.toml").read_text()
        text = text.replace("[stage.gold]", f'[stage.models]\nrole = "{given.role}"\n[stage.gold]', 1)
        model = f'\n[[model]]\nname = "m"\nendpoint = "{found.get()}"\nat_once = {given.at_once}\ninput_price = 15\n'
        (folder / "study.toml").write_text(text + model)
        program = [sys.executable, "-m", "chorale", "annotate", str(folder), "--stage", "meaningful"]
        began = time.monotonic()
        subprocess.run([*program, "--limit", "1"], check=True, capture_output=True)
        opening = time.monotonic() - began
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        subprocess.run(program, check=True, capture_output=True)
        wall = time.monotonic() - began
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        done.put(1)
        served, at_once, processor = report.get()
        print(
            "| items | requests at once | items/s | processor ms per item | test server, ms per item | peak MB | load |"
        )
        print("| ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
        print(
            f"| {served:,} | {at_once} | {served / wall:,.0f} | {used / served * 1000:.2f} "
            f"| {processor / served * 1000:.2f} | {after.ru_maxrss / 1024:,.0f} | {os.getloadavg()[0]:.0f} |"
        )
        print(f"\nOpening the study took {opening:.1f} s of the {wall:.1f} s.")
    server.join()


if __name__ == "__main__":
    main()
