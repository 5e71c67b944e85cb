"""Statistical tests for suspicious answers and skips, with few false alarms.

Every test compares a count with a binomial distribution for honest workers. It requires a probability below
`FALSE_ALARMS` divided by the number of workers or pairs. So if everybody is honest, at most one check in a hundred
raises an alarm.
"""

from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from math import exp, lgamma, log, sqrt
from statistics import median
from typing import NamedTuple

FALSE_ALARMS = 0.01
USUAL_SKIPS = 0.1
"""Minimum share of skips to be suspicious. It rises to twice the others' median share if that is higher."""
FEWEST_GOLD, GOOD_GOLD = 4, 0.75
USUAL_GAP = 0.15
"""Tolerated difference between a worker's agreement with labels and that of others, and between a pair's agreement and
the expected one.
"""
FEWEST_SHARED = 12


class Skipper(NamedTuple):
    worker: str
    skipped: int
    served: int
    usual: float
    """The median of the others' shares."""


class GoldOnly(NamedTuple):
    """A worker who answers gold well and other items badly."""

    worker: str
    gold: float
    agreed: float
    usual: float
    """How often others agree with the labels."""


class SuspectPair(NamedTuple):
    """Two workers who agree with each other far more than with everybody else."""

    workers: tuple[str, str]
    same: int
    shared: int
    expected: float
    """Their expected agreement if they answered independently."""


class Given(NamedTuple):
    """An answer to a complete item."""

    worker: str
    item: int
    answer: str
    label: str


def tail(count: int, trials: int, chance: float) -> float:
    """The probability of this number of successes or more.

    >>> round(tail(2, 2, 0.5), 3), tail(0, 5, 0.1)
    (0.25, 1.0)
    """
    if count <= 0:
        return 1.0
    if chance <= 0 or count > trials:
        return 0.0
    if chance >= 1:
        return 1.0
    top = lgamma(trials + 1)
    odds, rest = log(chance), log(1 - chance)
    terms = (
        exp(top - lgamma(k + 1) - lgamma(trials - k + 1) + k * odds + (trials - k) * rest)
        for k in range(count, trials + 1)
    )
    return min(1.0, sum(terms))


def skippers(records: Mapping[str, tuple[int, int]]) -> list[Skipper]:
    """Workers who skip far more than others, given all workers' numbers of skips and answers."""
    shares = sorted(skipped / (skipped + answered) for skipped, answered in records.values() if skipped + answered)
    suspects = []
    for worker, (skipped, answered) in records.items():
        if not skipped:
            continue
        own = bisect_left(shares, skipped / (skipped + answered))
        others = shares[:own] + shares[own + 1 :]
        usual = median(others) if others else 0.0
        most = min(1.0, max(USUAL_SKIPS, 2 * usual))
        if tail(skipped, skipped + answered, most) < FALSE_ALARMS / len(records):
            suspects.append(Skipper(worker, skipped, skipped + answered, usual))
    return suspects


def good_at_gold_only(given: Iterable[Given], gold: Mapping[str, tuple[int, int]]) -> list[GoldOnly]:
    """Workers with good gold answers who agree with the labels of other items far less than others do.

    `gold` has the correct and total numbers of gold answers by worker.
    """
    answers: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    for judgment in given:
        answers[judgment.worker] += 1
        agreed[judgment.worker] += judgment.answer == judgment.label
    suspects = []
    for worker, (right, met) in gold.items():
        mine, total = answers[worker], answers.total()
        if met < FEWEST_GOLD or right < GOOD_GOLD * met or not mine or total == mine:
            continue
        usual = (agreed.total() - agreed[worker]) / (total - mine)
        most_apart = min(1.0, 1 - usual + USUAL_GAP)
        if tail(mine - agreed[worker], mine, most_apart) < FALSE_ALARMS / len(gold):
            suspects.append(GoldOnly(worker, right / met, agreed[worker] / mine, usual))
    return suspects


def in_step(given: Iterable[Given]) -> list[SuspectPair]:
    """Pairs who agree with each other far more often than their agreement with everybody else explains.

    Under a right-or-wrong model, a worker's agreement with others gives their accuracy, and two accuracies give the
    expected agreement of independent workers. Hard items lead many workers to the same error, so agreement that is
    up to `USUAL_GAP` higher than expected is not suspicious. Two workers who are nearly always right are
    never suspects.
    """
    by_item: dict[int, list[Given]] = defaultdict(list)
    for judgment in given:
        by_item[judgment.item].append(judgment)
    shared: Counter[tuple[str, str]] = Counter()
    same: Counter[tuple[str, str]] = Counter()
    compared: Counter[str] = Counter()
    agreed: Counter[str] = Counter()
    for several in by_item.values():
        for first, second in combinations(sorted(several), 2):
            pair, alike = (first.worker, second.worker), first.answer == second.answer
            shared[pair] += 1
            same[pair] += alike
            for worker in pair:
                compared[worker] += 1
                agreed[worker] += alike
    overall = agreed.total() / compared.total() if compared else 0.0
    # A pair is tested only if both also share enough items with others: their expected agreement depends on these.
    looked_at = [
        pair
        for pair, count in shared.items()
        if count >= FEWEST_SHARED and all(compared[worker] - count >= FEWEST_SHARED for worker in pair)
    ]
    pairs = []
    for pair in looked_at:
        # Each worker's agreement with others, without the other worker of the pair.
        rates = [(agreed[worker] - same[pair]) / (compared[worker] - shared[pair]) for worker in pair]
        expected = expected_agreement(overall, *rates)
        if tail(same[pair], shared[pair], min(1.0, expected + USUAL_GAP)) < FALSE_ALARMS / len(looked_at):
            pairs.append(SuspectPair(pair, same[pair], shared[pair], expected))
    return sorted(pairs)


def expected_agreement(overall: float, first: float, second: float) -> float:
    """The expected agreement of two independent workers, from their agreement with everybody else and the `overall`
    agreement.

    >>> round(expected_agreement(0.82, 0.82, 0.82), 3), round(expected_agreement(0.82, 0.5, 0.9), 3)
    (0.82, 0.5)
    """
    spread = sqrt(max(0.0, 2 * overall - 1))
    if not spread:
        return max(overall, first, second)
    usual = (1 + spread) / 2
    first_rate, second_rate = (min(1.0, max(0.0, (rate - 1 + usual) / spread)) for rate in (first, second))
    return first_rate * second_rate + (1 - first_rate) * (1 - second_rate)


def groups_of(pairs: Sequence[SuspectPair]) -> list[tuple[str, ...]]:
    """Groups of connected pairs, largest first."""
    groups: list[set[str]] = []
    for pair in pairs:
        joined = [group for group in groups if group & set(pair.workers)]
        groups = [group for group in groups if group not in joined]
        groups.append(set(pair.workers).union(*joined))
    return sorted((tuple(sorted(group)) for group in groups), key=lambda group: (-len(group), group))
