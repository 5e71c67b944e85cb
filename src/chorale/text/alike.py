"""Finds similar texts by their shared words."""

import math
import re
from collections import Counter
from collections.abc import Callable, Container, Iterator, Sequence

_BLOCK = 256
_WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")


def words_of(text: str) -> list[str]:
    """The words of a text in lower case, without punctuation.

    >>> words_of("It didn't rain; nobody left.")
    ['it', "didn't", 'rain', 'nobody', 'left']
    """
    return _WORD.findall(text.casefold().replace("’", "'"))


def alike_pairs(
    sets: Sequence[frozenset[str]],
    threshold: float,
    progress: Callable[[int, int], None] | None = None,
    leaving: Container[int] = (),
) -> Iterator[tuple[int, int, float]]:
    """Pairs of word sets with at least this Jaccard similarity, the earlier one first.

    Exact, without comparing all pairs: two similar sets share one of their rarest words. Members of `leaving` are not
    compared further after their first pair.

    >>> sets = [frozenset("abcd"), frozenset("wxyz"), frozenset("abce")]
    >>> [(left, right) for left, right, _ in alike_pairs(sets, 0.6)]
    [(0, 2)]
    """
    counts = Counter(word for one in sets for word in one)
    holders: dict[str, list[int]] = {}
    for right, words in enumerate(sets):
        if progress and (right % _BLOCK == 0 or right == len(sets) - 1):
            progress(right + 1, len(sets))
        if not words:
            continue
        rarest = sorted(words, key=lambda word: (counts[word], word))
        rarest = rarest[: len(words) - math.ceil(threshold * len(words) - 1e-9) + 1]
        for left in sorted({place for word in rarest for place in holders.get(word, ())}):
            other = sets[left]
            if threshold * max(len(words), len(other)) - 1e-9 <= min(len(words), len(other)):
                shared = len(words & other) / len(words | other)
                if shared >= threshold - 1e-9:
                    yield left, right, shared
                    if right in leaving:
                        break
        for word in rarest if right not in leaving else ():
            holders.setdefault(word, []).append(right)
