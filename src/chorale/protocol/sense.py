"""Signs of careless answers: too fast, all the same, copied, or repeated text."""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Mapping, Sequence
from statistics import fmean
from typing import NamedTuple


class FastWorker(NamedTuple):
    """A worker who often answers faster than the study's minimum time."""

    worker: str
    fast: int
    answers: int
    fastest_ms: int
    items: tuple[str, ...]


class StraightLine(NamedTuple):
    """The same answer to many items in a row, although others answered differently."""

    worker: str
    length: int
    items: tuple[str, ...]
    others: float
    """The mean share of others' answers to these items that are different."""


MANY = 0.2
"""Minimum share of fast answers among a worker's answers for an alarm."""
FEWEST = 3


def too_fast(answers: Mapping[str, Sequence[tuple[str, int]]], least_ms: float) -> list[FastWorker]:
    """Workers who are often faster than the minimum, fastest first, given all workers' answers (item and duration).

    >>> too_fast({"a": [("i", 100), ("j", 200), ("k", 150)], "b": [("i", 9000)] * 5}, 1000)[0].fast
    3
    """
    hurried = []
    for worker, given in answers.items():
        fast = [(item, duration) for item, duration in given if duration < least_ms]
        if len(fast) >= FEWEST and len(fast) >= MANY * len(given):
            fastest = min(duration for _, duration in fast)
            hurried.append(FastWorker(worker, len(fast), len(given), fastest, tuple(item for item, _ in fast)))
    return sorted(hurried, key=lambda one: (-one.fast / one.answers, one.worker))


def straight_lines(answers: Mapping[str, Sequence[tuple[str, Hashable]]], longest: int) -> list[StraightLine]:
    """Workers with the same answer to at least this number of consecutive items, where at least half of the others'
    answers are different.

    `answers` are in the order of submission. A worker's own answer is not counted among the others.

    >>> own, first, second = [("i", "x"), ("j", "x")], [("i", 1), ("j", 2)], [("i", 3), ("j", 4)]
    >>> [line.worker for line in straight_lines({"a": own, "b": first, "c": second}, 2)]
    ['a']
    """
    votes: dict[str, Counter[Hashable]] = defaultdict(Counter)
    for given in answers.values():
        for item, answer in given:
            votes[item][answer] += 1
    lines = []
    for worker, given in answers.items():
        run = max(_runs(given), key=len, default=[])
        if len(run) < longest:
            continue
        unlike = [share for item, answer in run if (share := _unlike_others(votes[item], answer)) is not None]
        if unlike and fmean(unlike) >= 0.5:
            lines.append(StraightLine(worker, len(run), tuple(item for item, _ in run), fmean(unlike)))
    return sorted(lines, key=lambda one: (-one.length, one.worker))


def _unlike_others(votes: Counter[Hashable], answer: Hashable) -> float | None:
    """The share of the other answers to an item that differ from this one; None if there are no others."""
    others = votes.total() - 1
    return 1 - (votes[answer] - 1) / others if others else None


def _runs(given: Iterable[tuple[str, Hashable]]) -> Iterable[list[tuple[str, Hashable]]]:
    run: list[tuple[str, Hashable]] = []
    for item, answer in given:
        if run and run[-1][1] != answer:
            yield run
            run = []
        run.append((item, answer))
    if run:
        yield run
