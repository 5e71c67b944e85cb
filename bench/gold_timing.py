"""Tests whether response times reveal gold, on a served study with one account at a time.

The server grades an answer to gold, and counts any other answer towards a label. These take different times. Nobody
else works at the same time and there is no network delay, which is the best case for an attacker. An account sees each
item once, so a group has one time per item and account. The output is the area under the ROC curve of a single time
(0.5 is guessing), and the precision of calling the items with the longest, or shortest, mean times gold.

    PYTHONPATH=tests python -m bench.gold_timing
"""

import asyncio
import secrets
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from statistics import fmean

from bench.http_crowd import join
from serving import HOST, free_port, stop_process, wait_until_up
from small_study import write_small_study

ACCOUNTS, EACH, STAGE = 10, 120, "meaningful"


def main() -> None:
    with tempfile.TemporaryDirectory() as name, _served(Path(name)) as port:
        taken = asyncio.run(_times(port))
    print("| reply | share of gold | AUC of one time | precision, slowest | precision, fastest |")
    print("| --- | ---: | ---: | ---: | ---: |")
    for reply, times in taken.items():
        print(row(reply, times))


@contextmanager
def _served(folder: Path) -> Iterator[int]:
    write_small_study(folder, applications=300, gold=67, share=0.1, floor=0.0, feedback="none")
    port = free_port()
    command = [sys.executable, "-m", "chorale", "serve", str(folder), "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, text=True)
    try:
        wait_until_up(port)
        yield port
    finally:
        stop_process(process)


async def _times(port: int) -> Mapping[str, Sequence[tuple[str, float]]]:
    """The phrase and the seconds of every reply, by what was asked."""
    taken: dict[str, list[tuple[str, float]]] = defaultdict(list)
    accounts = [await join(HOST, port, f"timing-{secrets.token_hex(4)}") for _ in range(ACCOUNTS)]
    for _ in range(EACH):
        for account in accounts:
            began = time.perf_counter()
            _, offer = await account.post(f"/api/stages/{STAGE}/next", {})
            asked = time.perf_counter()
            if offer["status"] != "item":
                continue
            phrase = next(iter(offer["assignment"]["item"].values()))
            body = {"key": secrets.token_urlsafe(12), "answer": "yes", "duration_ms": 5}
            await account.post(f"/api/assignments/{offer['assignment']['id']}/submit", body)
            taken["next"].append((phrase, asked - began))
            taken["submit"].append((phrase, time.perf_counter() - asked))
    for account in accounts:
        await account.close()
    return taken


def row(reply: str, times: Sequence[tuple[str, float]]) -> str:
    ranked = sorted(times, key=lambda one: one[1])
    gold = [rank for rank, (phrase, _) in enumerate(ranked) if "gold" in phrase]
    others = len(ranked) - len(gold)
    area = (sum(gold) - len(gold) * (len(gold) - 1) / 2) / (len(gold) * others)
    by_item: dict[str, list[float]] = defaultdict(list)
    for phrase, seconds in times:
        by_item[phrase].append(seconds)
    means = sorted(by_item, key=lambda phrase: fmean(by_item[phrase]))
    called = max(3, sum("gold" in phrase for phrase in by_item) // 2)
    fastest, slowest = (fmean("gold" in phrase for phrase in some) for some in (means[:called], means[-called:]))
    return f"| {reply} | {len(gold) / len(times):.3f} | {area:.3f} | {slowest:.3f} | {fastest:.3f} |"


if __name__ == "__main__":
    main()
