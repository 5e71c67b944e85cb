"""Finds subject and object of a verb: the tokens that its questions call someone or something."""

from collections.abc import Sequence
from typing import NamedTuple

from chorale.text.tagger import Sentence

NOBODY = -1
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass"})
_OBJECTS = ("dobj", "attr", "oprd", "dative", "ccomp", "xcomp", "acomp")
"""Likeliest first."""
_RELATIVE_PRONOUNS = frozenset({"WDT", "WP", "WP$"})
_OF_NOUNS = frozenset({"relcl", "acl"})
_DEEPEST = 6


class Participants(NamedTuple):
    """The heads of subject and object, or −1. The object of a passive verb is its agent."""

    subject: int
    object: int


def parts_below(sentence: Sentence) -> list[list[int]]:
    """The dependents of each token, in order."""
    below: list[list[int]] = [[] for _ in sentence]
    for place, token in enumerate(sentence):
        if token.head not in (place, NOBODY):
            below[token.head].append(place)
    return below


def participants(sentence: Sentence, below: Sequence[Sequence[int]], verb: int) -> Participants:
    """Subject and object, including those in another clause (*the man* who came, *they* want to go)."""
    return Participants(_subject(sentence, below, verb, 0), _object(sentence, below, verb))


def _subject(sentence: Sentence, below: Sequence[Sequence[int]], verb: int, depth: int) -> int:
    relation, above = sentence[verb].relation, sentence[verb].head
    for place in below[verb]:
        if sentence[place].relation in _SUBJECTS:
            return above if relation == "relcl" and sentence[place].tag in _RELATIVE_PRONOUNS else place
    if relation in _OF_NOUNS:
        return above
    if depth == _DEEPEST or relation not in ("conj", "xcomp", "advcl", "pcomp", "ccomp"):
        return NOBODY
    if relation == "xcomp":
        named = [place for place in below[above] if sentence[place].relation == "dobj"]
        if named:
            return named[0]
    return _subject(sentence, below, above, depth + 1)


def _object(sentence: Sentence, below: Sequence[Sequence[int]], verb: int) -> int:
    relation, above = sentence[verb].relation, sentence[verb].head
    kinds = {sentence[place].relation: place for place in reversed(below[verb])}
    if "agent" in kinds:
        return next(iter(below[kinds["agent"]]), NOBODY)
    named = next((kinds[kind] for kind in _OBJECTS if kind in kinds), NOBODY)
    if relation != "relcl":
        return named
    if named == NOBODY:
        subject = next((kinds[kind] for kind in sorted(_SUBJECTS) if kind in kinds), NOBODY)
        return NOBODY if subject == NOBODY or sentence[subject].tag in _RELATIVE_PRONOUNS else above
    return above if sentence[named].tag in _RELATIVE_PRONOUNS else named
