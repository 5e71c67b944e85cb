"""Texts as vectors and as sequences: hashed TF-IDF, and GLEU between two texts. Nothing is downloaded."""

import re
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2s

import numpy as np

from chorale.metrics import FloatArray

DIMENSIONS = 256
_LONGEST = 4
_WORD = re.compile(r"\w+")


def hashed_tfidf(texts: Sequence[str], dimensions: int = DIMENSIONS) -> FloatArray:
    """One unit vector per text: word counts weighted by inverse document frequency, at hashed positions.

    Words are compared ignoring case. The sign of an entry also comes from the hash, so that collisions tend to cancel.
    A text without words is a row of zeros.

    >>> vectors = hashed_tfidf(["a cat", "A cat!", "dogs bark"])
    >>> (vectors @ vectors.T).round(6).tolist()
    [[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]]
    """
    words: dict[str, int] = {}
    rows, columns = [], []
    for row, text in enumerate(texts):
        for word in _WORD.findall(text.casefold()):
            rows.append(row)
            columns.append(words.setdefault(word, len(words)))
    vectors = np.zeros((len(texts), dimensions))
    if not words:
        return vectors
    pairs, counts = np.unique(np.asarray(rows, dtype=np.intp) * len(words) + columns, return_counts=True)
    row, column = np.divmod(pairs, len(words))
    with_word = np.bincount(column, minlength=len(words))
    rarity = np.log((1 + len(texts)) / (1 + with_word)) + 1
    hashes = np.array([_hash(word) for word in words], dtype=np.int64)
    sign = np.where(hashes >> 31 & 1, -1.0, 1.0)
    np.add.at(vectors, (row, hashes[column] % dimensions), counts * (rarity * sign)[column])
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    return np.asarray(np.divide(vectors, lengths, out=np.zeros_like(vectors), where=lengths > 0))


def _hash(word: str) -> int:
    return int.from_bytes(blake2s(word.encode(), digest_size=4).digest(), "big")


def gleu(first: str, second: str) -> float:
    """Common n-grams of one to four words, as a fraction of those of the longer text (Wu et al. 2016); 0 for two empty
    texts.

    >>> gleu("a big cat", "a cat")
    0.3333333333333333
    """
    ours, theirs = _ngrams(first), _ngrams(second)
    longer = max(ours.total(), theirs.total())
    return (ours & theirs).total() / longer if longer else 0.0


def _ngrams(text: str) -> Counter[tuple[str, ...]]:
    words = text.split()
    return Counter(
        tuple(words[start : start + length])
        for length in range(1, _LONGEST + 1)
        for start in range(len(words) - length + 1)
    )
