"""Synthetic extractions that resemble ReVerb's, for tests and benchmarks.

Predicates and arguments follow Zipf's law, and their number grows with the extractions (Heaps' law), at about the rates
of ReVerb on ClueWeb09: 15 million extractions have 0.7 million predicates and 2.3 million arguments. Predicates belong
to topics. Half of a predicate's arguments are common to all and half belong to its topic, so that predicates of the
same topic are similar.
"""

from collections.abc import Iterator

import numpy as np
import polars as pl
from numpy.typing import NDArray

_BLOCK = 1_000_000
_SYLLABLES = tuple(first + second for first in "bdfgklmnprst" for second in "aeiou")
_TOPICS = 200
_OWN = 0.5
_STEP = 7919


def synthetic_extractions(extractions: int, seed: int = 1) -> Iterator[pl.DataFrame]:
    """Tables with the columns `arg1`, `predicate` and `arg2`, a million rows each, `extractions` in total."""
    n_predicates, n_arguments = max(2, int(400 * extractions**0.45)), max(2, int(3000 * extractions**0.4))
    rng = np.random.default_rng(seed)
    topics = rng.integers(0, _TOPICS, n_predicates)
    predicates, arguments = _names(n_predicates, "{} to"), _names(n_arguments, "the {}")
    of_predicates, of_arguments = _zipf(n_predicates), _zipf(n_arguments)
    for start in range(0, extractions, _BLOCK):
        rows = min(_BLOCK, extractions - start)
        predicate = _drawn(rng, of_predicates, rows)
        slots = []
        for turn in (1, 2):
            argument = _drawn(rng, of_arguments, rows)
            own = rng.random(rows) < _OWN
            shift = turn * _STEP * (1 + topics[predicate])
            slots.append(np.where(own, (argument + shift) % n_arguments, argument))
        first, second = (arguments.gather(slot) for slot in slots)
        yield pl.DataFrame({"arg1": first, "predicate": predicates.gather(predicate), "arg2": second})


def _zipf(size: int) -> NDArray[np.float64]:
    """Cumulative probabilities of ranks 1, 2, …, proportional to 1/r."""
    shares = np.cumsum(1.0 / np.arange(1, size + 1))
    return np.asarray(shares / shares[-1])


def _drawn(rng: np.random.Generator, shares: NDArray[np.float64], rows: int) -> NDArray[np.int64]:
    return np.minimum(np.searchsorted(shares, rng.random(rows)), len(shares) - 1).astype(np.int64)


def _names(size: int, pattern: str) -> pl.Series:
    """One word of random syllables for every number."""
    base = len(_SYLLABLES)
    numbers = np.arange(size)
    syllables = np.array(_SYLLABLES)
    places = max(2, int(np.ceil(np.log(max(size, 2)) / np.log(base))))
    parts = [pl.Series(str(place), syllables[(numbers // base**place) % base]) for place in range(places)]
    words = pl.DataFrame(parts).select(pl.concat_str(pl.all()).alias("word"))["word"]
    return words.to_frame().select(pl.format(pattern, pl.col("word")).alias("name"))["name"]
