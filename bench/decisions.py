"""Times the decision which item a worker gets next, in a stage of 100,000 items.

    PYTHONPATH=tests python -m bench.decisions

Only the decision is measured, with the engine's own functions on a database in memory: whether gold is due, and which
item is next. No item is assigned, so the stage is the same for every decision.
"""

import argparse
import tempfile
import time
from pathlib import Path
from random import Random

from chorale.engine.opening import bring_in
from chorale.folder.reading import load_folder
from chorale.protocol import gold_due
from chorale.store import Tx, offering, open_memory_store
from small_study import write_small_study

ITEMS = 100_000
DECISIONS = 1_000_000
WORKERS = 500


def decide(tx: Tx, stage_id: int, decisions: int, rng: Random) -> int:
    """So many decisions for workers at places of their own; how many were gold."""
    gold = 0
    for number in range(decisions):
        worker = 1 + number % WORKERS
        gold += gold_due(worker, number // WORKERS % 200, 0.1)
        found = offering.next_item(tx, stage_id, worker, rng.getrandbits(62), apart=offering.Apart(not_from_own=1))
        if found is None:
            raise RuntimeError("a stage full of items has none to offer")
    return gold


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--decisions", type=int, default=DECISIONS)
    decisions = parser.parse_args().decisions
    with tempfile.TemporaryDirectory() as folder:
        # Every application is two items.
        write_small_study(Path(folder), applications=ITEMS // 2, share=0.1)
        study = bring_in(load_folder(Path(folder)), open_memory_store(), time.time_ns)
    stage = study.stage("meaningful")
    started = time.process_time()
    study.store.read(lambda tx: decide(tx, stage.id, decisions, Random(1))).result()
    seconds = time.process_time() - started
    print("| decisions | items | CPU s | µs each |")
    print("| ---: | ---: | ---: | ---: |")
    print(f"| {decisions:,} | {ITEMS:,} | {seconds:.1f} | {seconds / decisions * 1e6:.1f} |")
    study.close()


if __name__ == "__main__":
    main()
