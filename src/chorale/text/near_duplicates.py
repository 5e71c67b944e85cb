"""Texts that are nearly the same: the same words but for case, punctuation and a few changes.

Texts are compared by the triples of characters in their words (Jaccard similarity). Only texts that share a band of
their MinHash signature are compared (Broder 1997, "On the resemblance and containment of documents"), so the time grows
with the number of texts and not with its square.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from functools import lru_cache
from random import Random
from zlib import crc32

ALIKE = 0.8
"""The share of triples that near-duplicates have in common, of all that either has."""
_BANDS, _ROWS = 5, 3
"""Texts at the bound share a band 97 times in 100, at half of the work of more bands."""
_PRIME = (1 << 61) - 1
_RANDOM = Random(1997)
_HASHES = [(_RANDOM.randrange(1, _PRIME), _RANDOM.randrange(_PRIME)) for _ in range(_BANDS * _ROWS)]
_COMPARED = 20
"""Texts of one band that a text is compared with: those before it that began a cluster."""


def plain_words(text: str) -> str:
    """A text without regard to case, punctuation and white space.

    >>> plain_words("It's RUDE,  really!")
    'it s rude really'
    """
    return " ".join(re.findall(r"\w+", text.casefold()))


def near_duplicates(texts: Sequence[str]) -> list[list[int]]:
    """The places of texts in clusters of at least two that are nearly the same, the largest first.

    >>> near_duplicates(["It is very rude.", "it is VERY rude", "Nice!", "nice", "Other words."])
    [[0, 1], [2, 3]]
    """
    by_text: dict[str, list[int]] = defaultdict(list)
    for place, text in enumerate(texts):
        by_text[plain_words(text)].append(place)
    clusters: list[list[int]] = []
    first_of: list[tuple[int, ...]] = []
    in_band: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for text, places in by_text.items():
        shingles = _shingles(text)
        bands = list(_bands(shingles))
        tried = dict.fromkeys(number for band in bands for number in in_band[band][:_COMPARED])
        cluster = next((number for number in tried if _similarity(shingles, first_of[number]) >= ALIKE), None)
        if cluster is not None:
            clusters[cluster] += places
            continue
        for band in bands:
            in_band[band].append(len(clusters))
        clusters.append(list(places))
        # A tuple takes a sixth of the memory of a set, and each is only compared with the set of a later text.
        first_of.append(tuple(shingles))
    several = [sorted(places) for places in clusters if len(places) > 1]
    return sorted(several, key=lambda places: (-len(places), places))


def contains_copy(text: str, source: str, words: int) -> bool:
    """Whether a text of a minimum number of words is copied from another: all its words are there, in this order.

    >>> contains_copy("you clown about the garden", "Honestly, you clown about the garden!", 4)
    True
    """
    plain = plain_words(text)
    return len(plain.split()) >= words and f" {plain} " in f" {plain_words(source)} "


def _shingles(text: str) -> frozenset[int]:
    padded = f" {text} "
    return frozenset(_number_of(padded[place : place + 3]) for place in range(max(1, len(padded) - 2)))


@lru_cache(maxsize=100_000)
def _number_of(triple: str) -> int:
    """Kept, so that texts share the numbers in memory."""
    return crc32(triple.encode())


def _bands(shingles: Iterable[int]) -> Iterable[tuple[int, ...]]:
    least = list(map(min, zip(*map(_hashes, shingles), strict=True)))
    for band in range(_BANDS):
        yield band, *least[band * _ROWS : (band + 1) * _ROWS]


@lru_cache(maxsize=100_000)
def _hashes(shingle: int) -> tuple[int, ...]:
    """Texts share most of their triples, so hashes are computed once."""
    return tuple((a * shingle + b) % _PRIME for a, b in _HASHES)


def _similarity(left: frozenset[int], right: Sequence[int]) -> float:
    shared = len(left.intersection(right))
    return shared / (len(left) + len(right) - shared)
