"""Times `chorale prepare qasrl`, as a whole command and without start-up.

    python -m bench.prepare

The text consists of random words, about twenty per sentence.
"""

import argparse
import os
import platform
import random
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from bench.timing import best_of
from chorale.kits.qasrl.preparing import qasrl_items
from chorale.text.sentence_files import read_given

NOUNS = ("farmer", "river", "committee", "engine", "teacher", "letter", "storm", "village", "doctor", "bridge", "judge")
VERBS = ("carried", "opened", "had been repairing", "will sell", "couldn't reach", "sent", "was painting", "moved")
PLACES = ("in the valley", "before the war", "with a borrowed ladder", "because nobody objected", "near Lisbon")
LIMIT_S = 60


def text(sentences: int, seed: int) -> str:
    rng = random.Random(seed)

    def part() -> str:
        return f"the {rng.choice(NOUNS)} {rng.choice(VERBS)} the {rng.choice(NOUNS)} {rng.choice(PLACES)}"

    made = [f"{part()}, and {part()}.".capitalize() for _ in range(sentences)]
    return "\n\n".join(" ".join(made[start : start + 5]) for start in range(0, sentences, 5))


def command(path: Path, out: Path) -> None:
    subprocess.run(
        [sys.executable, "-m", "chorale", "prepare", "qasrl", str(path), "--out", str(out), "--force"],
        check=True,
        stdout=subprocess.DEVNULL,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sentences", type=int, default=1000)
    parser.add_argument("--runs", type=int, default=2)
    options = parser.parse_args()
    print(f"{platform.processor() or platform.machine()}, {os.cpu_count()} cores, Python {platform.python_version()}\n")
    print("| work | sentences | items | s | CPU s | limit s |")
    print("| --- | ---: | ---: | ---: | ---: | ---: |")
    with tempfile.TemporaryDirectory() as folder:
        path, out = Path(folder) / "text.txt", Path(folder) / "items.jsonl"
        path.write_text(text(options.sentences, seed=1), "utf-8")
        found = qasrl_items(read_given(path), str(path))
        inside = best_of(options.runs, lambda: qasrl_items(read_given(path), str(path)))
        shape = f"{found.sentences:,} | {len(found.rows):,}"
        print(f"| in a running process | {shape} | {inside.wall:.1f} | {inside.cpu:.1f} | |")
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        whole = best_of(options.runs, lambda: command(path, out))
        cpu = (resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before) / options.runs
        print(f"| `chorale prepare qasrl` | {shape} | {whole.wall:.1f} | {cpu:.1f} | {LIMIT_S} |")


if __name__ == "__main__":
    main()
