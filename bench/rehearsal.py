"""Times the simulation of studies: cycles of requesting an item and answering it, on one core.

`PYTHONPATH=tests python -m bench.rehearsal` prints a table; `--profile` prints a profile.
"""

import cProfile
import json
import pstats
import sys
import tempfile
import time
from pathlib import Path

from chorale.folder.reading import load_folder
from chorale.folder.templates import create_study
from chorale.rehearsal import CROWD_FILE, Crowd, Rehearsal, read_crowd
from chorale.rehearsal.simulated import CrowdSettings
from small_study import write_small_study

WORKERS = 150
# 2 judgments of the 2 × 8,000 phrases and of the pairs made of them, and the gold in between.
APPLICATIONS = 8_000
# Two questions each.
PASSAGES = 750


def main() -> None:
    with tempfile.TemporaryDirectory() as name:
        large, template, trial = Path(name) / "large", Path(name) / "template", Path(name) / "trial"
        write_small_study(large, applications=APPLICATIONS, gold=400, judgments="2", share=0.1, fee_percent=20)
        create_study(template, "rules")
        print("| study | people | cycles | preparation s | run s | µs per cycle | 50,000 cycles s |")
        print("| --- | ---: | ---: | ---: | ---: | ---: | ---: |")
        _measure("the rules template", template, 40)
        _measure(f"{2 * APPLICATIONS:,} items and what follows", large, WORKERS)
        write_full_trial(trial)
        _measure(f"the four-arm trial, {2 * PASSAGES:,} questions an arm", trial, WORKERS)


def write_full_trial(folder: Path, passages: int = PASSAGES) -> None:
    """The four-arm trial with as many passages as the paper had: those of the template, each again with a number."""
    create_study(folder, "mcq-trial")
    path = folder / "passages" / "final.jsonl"
    shipped = [json.loads(line)["passage"] for line in path.read_text("utf-8").splitlines()]
    rows = [
        {"id": f"final-{number}", "passage": f"{shipped[number % len(shipped)]} (Text {number + 1}.)"}
        for number in range(passages)
    ]
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), "utf-8")


def _measure(title: str, folder: Path, workers: int) -> None:
    began = time.perf_counter()
    study_folder = load_folder(folder)
    crowd = read_crowd(study_folder) if (folder / CROWD_FILE).exists() else Crowd(CrowdSettings(workers=workers))
    rehearsal = Rehearsal(study_folder, crowd)
    prepared = time.perf_counter() - began
    profile = cProfile.Profile()
    if "--profile" in sys.argv[1:]:
        profile.enable()
    began = time.process_time()
    study, performance = rehearsal.perform(1)
    took = time.process_time() - began
    profile.disable()
    cycles = sum(person.answered for person in performance.people)
    each = took / cycles
    print(
        f"| {title} | {workers} | {cycles:,} | {prepared:.1f} | {took:.1f} | {each * 1e6:.0f} | {each * 50_000:.1f} |",
        flush=True,
    )
    study.close()
    rehearsal.close()
    if "--profile" in sys.argv[1:]:
        pstats.Stats(profile).sort_stats("tottime").print_stats(35)


if __name__ == "__main__":
    main()
