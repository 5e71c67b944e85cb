"""Balanced tuples for best–worst scaling: equal frequency of texts, and few repeated pairs."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from random import Random

TRIES = 40
"""Number of orders tried per round. The one with the fewest repeated pairs is used."""


@dataclass(frozen=True, slots=True)
class Tuples:
    """Tuples of text positions."""

    tuples: tuple[tuple[int, ...], ...]
    times: tuple[int, ...]
    """Frequency of each text."""
    repeated: int
    """Number of pairs that occur together more than once."""


def balanced_tuples(count: int, size: int, times: int, seed: int) -> Tuples:
    """Tuples of `size` out of `count` texts, with each text in `times` tuples (some texts in one more).

    Rounds of all texts in random order are concatenated and split into tuples. No text occurs twice in a tuple.

    >>> found = balanced_tuples(count=8, size=4, times=2, seed=1)
    >>> len(found.tuples), found.times
    (4, (2, 2, 2, 2, 2, 2, 2, 2))
    """
    if count < size:
        raise ValueError(f"cannot choose {size} different texts out of {count}")
    rng = Random(seed)
    wanted = -(-count * times // size)
    pairs: Counter[frozenset[int]] = Counter()
    made: list[tuple[int, ...]] = []
    rest: list[int] = []
    while len(made) < wanted:
        _, new, rest = min(
            (_cut(rest, rng.sample(range(count), count), size, pairs) for _ in range(TRIES)), key=lambda each: each[0]
        )
        for new_tuple in new[: wanted - len(made)]:
            made.append(new_tuple)
            pairs.update(map(frozenset, combinations(new_tuple, 2)))
    occurrences = Counter(text for one in made for text in one)
    repeated = sum(number > 1 for number in pairs.values())
    return Tuples(tuple(made), tuple(occurrences[text] for text in range(count)), repeated)


def _cut(
    rest: Sequence[int], order: list[int], size: int, pairs: Counter[frozenset[int]]
) -> tuple[int, list[tuple[int, ...]], list[int]]:
    """Tuples from the remaining texts and a new round, the remaining texts, and the number of repeated pairs."""
    head = list(rest)
    # Texts that complete a started tuple must not be in it already.
    for text in list(order):
        if len(head) < size and rest and text not in head:
            head.append(text)
            order.remove(text)
    line = [*head, *order]
    whole = len(line) // size * size
    new = [tuple(line[start : start + size]) for start in range(0, whole, size)]
    again = sum(pairs[frozenset(pair)] for one in new for pair in combinations(one, 2))
    return again, new, line[whole:]
