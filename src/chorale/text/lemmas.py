"""Words without their endings, for texts that spell the same predicate in different forms: is used in, be use in."""

from collections.abc import Iterable
from functools import lru_cache
from itertools import islice, product

from chorale.text.inflections import verbs_of

_BE = frozenset({"am", "are", "were"})
"""Forms that a table of five forms has no place for."""
_MOST_CACHED = 50_000
_MOST_READINGS = 16
"""Of a phrase: beyond, its words have more lemmas than anybody would take into account."""


@lru_cache(_MOST_CACHED)
def lemmas_of(word: str) -> tuple[str, ...]:
    """The lemmas a word may have as a verb, the likeliest first; of any other word, mostly the word without its s.

    >>> lemmas_of("were"), lemmas_of("used"), lemmas_of("in")
    (('be',), ('use',), ('in',))
    """
    if word in _BE:
        return ("be",)
    return tuple(dict.fromkeys(verb.stem for verb in verbs_of(word))) or (word,)


@lru_cache(_MOST_CACHED)
def spellings_of(phrase: str) -> tuple[str, ...]:
    """The phrase, and the same with a lemma in the place of every word.

    >>> spellings_of("is used in")
    ('is used in', 'be use in')
    """
    readings = product(*(lemmas_of(word) for word in phrase.split(" ")))
    return tuple(dict.fromkeys((phrase, *(" ".join(words) for words in islice(readings, _MOST_READINGS)))))


def all_spellings(phrases: Iterable[str]) -> frozenset[str]:
    return frozenset(spelling for phrase in phrases for spelling in spellings_of(phrase))
