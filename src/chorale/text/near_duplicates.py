"""Near-duplicate texts: equal except for case, punctuation and a few changes.

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

from chorale.text.scripts import length_in_words, with_spaces

ALIKE = 0.8
"""Minimum Jaccard similarity of near-duplicates."""
_BANDS, _ROWS = 5, 3
"""Texts at the threshold share a band with probability 0.97; more bands would double the work."""
_PRIME = (1 << 61) - 1
_RANDOM = Random(1997)
_HASHES = [(_RANDOM.randrange(1, _PRIME), _RANDOM.randrange(_PRIME)) for _ in range(_BANDS * _ROWS)]
_COMPARED = 20
"""Maximum number of texts per band to compare with: earlier ones that started a cluster."""


def plain_words(text: str) -> str:
    """A text normalised for case, punctuation and white space.

    >>> plain_words("It's RUDE,  really!")
    'it s rude really'
    """
    return " ".join(re.findall(r"\w+", text.casefold()))


def near_duplicates(texts: Sequence[str]) -> list[list[int]]:
    """Clusters of near-duplicates as indices of texts, largest first.

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


_MOSTLY = 0.8
"""Minimum copied share of a text that counts as a copy."""


def contains_copy(text: str, source: str, words: int) -> bool:
    """Whether most of a text is copied from another, in runs of at least this many words.

    A word added, left out or mistyped does not hide a copy. A quotation within one's own sentence is not a copy.
    In scripts without spaces, two characters count as a word.

    >>> contains_copy("well you clown about the garden", "Honestly, you clown about the garden!", 4)
    True
    >>> contains_copy("it is rude to say you clown about the garden", "Honestly, you clown about the garden!", 4)
    False
    """
    part, whole = (with_spaces(plain_words(each)).split() for each in (text, source))
    runs = {tuple(whole[place : place + words]) for place in range(len(whole) - words + 1)}
    copied: set[int] = set()
    for place in range(len(part) - words + 1):
        if tuple(part[place : place + words]) in runs:
            copied.update(range(place, place + words))
    taken = " ".join(part[place] for place in sorted(copied))
    return len(copied) >= _MOSTLY * len(part) and length_in_words(taken) >= words


def _shingles(text: str) -> frozenset[int]:
    padded = f" {text} "
    return frozenset(_number_of(padded[place : place + 3]) for place in range(max(1, len(padded) - 2)))


@lru_cache(maxsize=100_000)
def _number_of(triple: str) -> int:
    """Cached, so that texts share the numbers in memory."""
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
