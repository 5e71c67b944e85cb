"""Possible outcomes of a question when some votes are sampled for the gold answer and the rest measure people.

After Nangia et al. (2021, section 5): four of ten validators' votes and the writer's decide the gold answer, by
majority; the majority of the remaining six is the human answer. Which four is chance. There are only C(10, 4) = 210
ways, and far fewer that differ in their counts, so all of them are gone through, with their probabilities.
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
    """One way it can go."""

    probability: float
    gold: int
    """The answer that counts as right, or `DISCARDED`: there is no majority, or it holds the question invalid."""
    for_gold: int
    """How many of the gold votes are for it; 0 of a discarded question."""
    gold_votes: int
    human: float | None
    """Whether the others' majority is right: 1, 0, or in between for a tie. None where nobody is left to ask."""


@lru_cache(maxsize=65_536)
def outcomes_of(votes: tuple[int, ...], writer: int, drawn: int = 4, ties: Ties = "share") -> tuple[DrawOutcome, ...]:
    """All outcomes of a question whose validators gave each answer so often (the last place: "invalid").

    A question with no more than `drawn` votes is not sampled: all its votes and the writer's make the gold.

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
    """How often each answer may be among the drawn votes, and in how many ways that comes about."""
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
