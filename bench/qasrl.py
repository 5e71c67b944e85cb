"""Times QA-SRL scoring (UA, LA and role) of tens of thousands of rows, and the reading of the files.

    python -m bench.qasrl              57,000 gold rows, and half and twice as many
    python -m bench.qasrl --data DIR   copies of the gold standard (qasrl-gs) instead of synthetic rows

A synthetic verb has about as many questions and answers as one in the gold standard (three, with 1.2 answers each). The
system drops, shifts and duplicates answers. In copies of real files, the verbs are renamed, so that each is unique.
"""

import argparse
import csv
import io
import random
import tempfile
from pathlib import Path

from bench.timing import best_of
from chorale.kits.qasrl.files import read_qasrl
from chorale.kits.qasrl.metrics import align, counts, statistics

ROWS = 57_000
COLUMNS = ("qasrl_id", "verb_idx", "verb", "question", "answer_range", "wh", "subj", "obj", "aux", "is_passive",
           "is_negated")  # fmt: skip
ROUNDS = 5


def made_up(rows: int, rng: random.Random) -> tuple[str, str]:
    """A gold standard and a system's output, as CSV."""
    gold, system = io.StringIO(), io.StringIO()
    writers = [csv.writer(file) for file in (gold, system)]
    for writer in writers:
        writer.writerow(COLUMNS)
    for number in range(rows):
        verb, wh = number // 3, rng.choice(("who", "what", "when", "where", "why", "how"))
        start = 10 * (number % 3)
        spans = [(start + 4 * at, start + 4 * at + rng.randint(1, 4)) for at in range(1 + (rng.random() < 0.2))]
        fixed = (f"s{verb // 2}", 30 + verb % 2, "does", f"{wh} {number % 900}?")
        slots = (wh, "someone", "", "did", "False", "False")
        writers[0].writerow((*fixed, _ranges(spans), *slots))
        if rng.random() < 0.85:
            shifted = [(max(0, a - (rng.random() < 0.2)), b + (rng.random() < 0.3)) for a, b in spans]
            if rng.random() < 0.2:
                shifted.append((shifted[0][0], shifted[0][1] + 1))
            writers[1].writerow((*fixed, _ranges(shifted), *slots))
    return gold.getvalue(), system.getvalue()


def _ranges(spans: list[tuple[int, int]]) -> str:
    return "~!~".join(f"{start}:{end}" for start, end in spans)


def copied(path: Path, times: int) -> str:
    """The rows of a CSV file so many times, each time with sentences of other names."""
    with path.open(encoding="utf-8-sig", newline="") as file:
        header, *rows = csv.reader(file)
    text = io.StringIO()
    writer = csv.writer(text)
    writer.writerow(header)
    for copy in range(times):
        writer.writerows([f"{row[0]}:{copy}", *row[1:]] for row in rows)
    return text.getvalue()


def measure(gold_text: str, system_text: str, where: Path) -> str:
    gold_file, system_file = where / "gold.csv", where / "system.csv"
    gold_file.write_text(gold_text, "utf-8", newline="")
    system_file.write_text(system_text, "utf-8", newline="")
    reading = best_of(ROUNDS, lambda: (read_qasrl(gold_file), read_qasrl(system_file)))
    gold, system = read_qasrl(gold_file), read_qasrl(system_file)
    scoring = best_of(ROUNDS, lambda: counts(statistics(align(system, gold))))
    ua = counts(statistics(align(system, gold)))["ua"]
    share = (reading.wall + scoring.wall) / reading.wall
    return (
        f"| {len(gold.rows.verb):,} | {scoring.wall:.3f} ({scoring.cpu:.3f}) | {reading.wall:.3f} ({reading.cpu:.3f}) "
        f"| {share:.1f} | {ua.tp:,} / {ua.fp:,} / {ua.fn:,} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", type=Path, help="a folder with qasrl-gs/wikinews.dev.gold.csv")
    parser.add_argument("--system", type=Path, help="a system's output for it (default: the gold file itself)")
    options = parser.parse_args()
    print("| gold rows | scoring s (CPU) | reading both s (CPU) | all / reading | UA TP / FP / FN |")
    print("| ---: | ---: | ---: | ---: | --- |")
    with tempfile.TemporaryDirectory() as folder:
        for share in (0.5, 1, 2):
            if options.data:
                source = options.data / "qasrl-gs" / "wikinews.dev.gold.csv"
                with source.open(encoding="utf-8-sig", newline="") as file:
                    times = round(share * ROWS / (sum(1 for _ in csv.reader(file)) - 1))
                texts = copied(source, times), copied(options.system or source, times)
            else:
                texts = made_up(round(share * ROWS), random.Random(1))
            print(measure(*texts, Path(folder)), flush=True)


if __name__ == "__main__":
    main()
