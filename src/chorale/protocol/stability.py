"""Whether more judgments would still change the order of what people choose."""

from collections import Counter
from collections.abc import Iterable, Sequence

LEADING = 1 / 3
"""Options that at least this share chose are those whose order counts: what few chose goes up and down by chance."""


def ranking(chosen: Iterable[Sequence[str]]) -> tuple[frozenset[str], ...]:
    """The options that at least a third chose, the most frequent first; those chosen equally often together.

    >>> [sorted(level) for level in ranking([["a", "b"], ["a"], ["b"], ["a", "c"]])]
    [['a'], ['b']]
    """
    answers = [tuple(dict.fromkeys(answer)) for answer in chosen]
    counts = Counter(option for answer in answers for option in answer)
    levels: dict[int, set[str]] = {}
    for option, count in counts.items():
        if count >= LEADING * len(answers):
            levels.setdefault(count, set()).add(option)
    return tuple(frozenset(levels[count]) for count in sorted(levels, reverse=True))


def ranking_is_stable(chosen: Sequence[Sequence[str]], over: int) -> bool:
    """Whether the order has been the same after each of the last `over` answers and before them.

    `chosen` has the options of each answer, in the order they came. With too few answers to tell it is not.

    >>> ranking_is_stable([["a"], ["a", "b"], ["a"], ["a"], ["a"]], over=1)
    True
    >>> ranking_is_stable([["a"], ["b"], ["b"], ["b"]], over=3)
    False
    """
    if len(chosen) <= over:
        return False
    now = ranking(chosen)
    return all(ranking(chosen[:-back]) == now for back in range(1, over + 1))
