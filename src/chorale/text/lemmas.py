"""Lemmas of words, for texts that use different forms of a predicate: is used in, be use in."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import islice, product

from chorale.text.inflections import verbs_of

_BE = frozenset({"am", "are", "were"})
"""Forms that are not among the five forms of a verb."""
_MOST_CACHED = 50_000
_MOST_READINGS = 16
"""Maximum number of words of a phrase, to limit the combinations of lemmas."""


@lru_cache(_MOST_CACHED)
def lemmas_of(word: str) -> tuple[str, ...]:
    """The possible lemmas of a word as a verb, most likely first; for other words, usually the word without its s.

    >>> lemmas_of("were"), lemmas_of("used"), lemmas_of("in")
    (('be',), ('use',), ('in',))
    """
    if word in _BE:
        return ("be",)
    return tuple(dict.fromkeys(verb.stem for verb in verbs_of(word))) or (word,)


@lru_cache(_MOST_CACHED)
def spellings_of(phrase: str) -> tuple[str, ...]:
    """The phrase, and its variants with every word replaced by a lemma.

    >>> spellings_of("is used in")
    ('is used in', 'be use in')
    """
    readings = product(*(lemmas_of(word) for word in phrase.split(" ")))
    return tuple(dict.fromkeys((phrase, *(" ".join(words) for words in islice(readings, _MOST_READINGS)))))


def all_spellings(phrases: Iterable[str]) -> frozenset[str]:
    return frozenset(spelling for phrase in phrases for spelling in spellings_of(phrase))
