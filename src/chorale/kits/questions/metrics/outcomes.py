"""Possible outcomes of a question when some votes are sampled for the gold answer and the rest measure people.

Follows Nangia et al. (2021, section 5): the majority of four of ten validator votes and the writer's vote is the gold
answer; the majority of the remaining six is the human answer. The four are sampled at random. There are only C(10, 4) =
210 samples, and far fewer with different counts, so all are enumerated with their probabilities.
"""

import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

Ties = Literal["share", "wrong", "right"]
TIES: tuple[Ties, ...] = ("share", "wrong", "right")
DISCARDED = -1


@dataclass(frozen=True, slots=True)
class DrawOutcome:
    """One possible outcome."""

    probability: float
    gold: int
    """The gold answer, or `DISCARDED` if there is no majority or the majority is "invalid"."""
    for_gold: int
    """Number of gold votes for the gold answer; 0 for a discarded question."""
    gold_votes: int
    human: float | None
    """Whether the majority of the remaining votes is correct: 1, 0, or a fraction for a tie. None without remaining
    votes.
    """


@lru_cache(maxsize=65_536)
def outcomes_of(votes: tuple[int, ...], writer: int, drawn: int = 4, ties: Ties = "share") -> tuple[DrawOutcome, ...]:
    """All outcomes of a question, given the number of votes per answer (the last is "invalid").

    With at most `drawn` votes there is no sampling: all votes and the writer's determine the gold.

    >>> [(one.probability, one.gold, one.for_gold, one.human) for one in outcomes_of((9, 1, 0), writer=0)]
    [(0.4, 0, 4, 1.0), (0.6, 0, 5, 1.0)]
    """
    ways_to: dict[tuple[int, int, int, float | None], int] = {}
    for taken, ways in _draws(votes, drawn):
        gold, for_gold, total = _gold(taken, writer)
        rest = tuple(had - gone for had, gone in zip(votes, taken, strict=True))
        human = _human(rest, gold, ties) if any(rest) and gold != DISCARDED else None
        key = (gold, for_gold, total, human)
        ways_to[key] = ways_to.get(key, 0) + ways
    everything = sum(ways_to.values())
    ordered = sorted(ways_to, key=lambda key: (*key[:3], -1.0 if key[3] is None else key[3]))
    return tuple(DrawOutcome(ways_to[key] / everything, *key) for key in ordered)


def _draws(votes: tuple[int, ...], drawn: int) -> Iterator[tuple[tuple[int, ...], int]]:
    """Possible numbers of sampled votes per answer, with the number of samples for each."""
    if sum(votes) <= drawn:
        yield votes, 1
        return
    for taken in itertools.product(*(range(min(had, drawn) + 1) for had in votes)):
        if sum(taken) == drawn:
            yield taken, math.prod(math.comb(had, gone) for had, gone in zip(votes, taken, strict=True))


def _gold(taken: tuple[int, ...], writer: int) -> tuple[int, int, int]:
    counts = list(taken)
    counts[writer] += 1
    total, most = sum(counts), max(counts)
    answer = counts.index(most)
    if 2 * most <= total or answer == len(counts) - 1:
        return DISCARDED, 0, total
    return answer, most, total


def _human(rest: tuple[int, ...], gold: int, ties: Ties) -> float:
    most = max(rest)
    tied = [answer for answer, count in enumerate(rest) if count == most]
    if gold not in tied:
        return 0.0
    if len(tied) == 1:
        return 1.0
    return {"share": 1 / len(tied), "wrong": 0.0, "right": 1.0}[ties]
