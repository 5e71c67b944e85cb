"""The verbs of a sentence that QA-SRL asks about, with their forms."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from chorale.text.inflections import VerbForms, inflect, verbs_of
from chorale.text.tagger import Tagged

_NEVER_ASKED = frozenset({"can", "could", "may", "might", "must", "ought", "shall", "should", "will", "would"})
"""As helping verbs they have no five forms."""


@dataclass(frozen=True, slots=True)
class Predicate:
    index: int
    forms: VerbForms


def predicates(sentence: Sequence[Tagged], *, copulas: bool = False, auxiliaries: bool = False) -> Iterator[Predicate]:
    """Every verb; forms of be that join a subject to what it is, and helping verbs, only if asked for.

    >>> words = [Tagged("Dogs", "dog", "NOUN"), Tagged("have", "have", "AUX", True), Tagged("run", "run", "VERB")]
    >>> [(verb.index, verb.forms.past) for verb in predicates(words)]
    [(2, 'ran')]
    """
    for index, token in enumerate(sentence):
        if _is_asked(token, copulas=copulas, auxiliaries=auxiliaries):
            yield Predicate(index, forms_of(token.text, token.lemma))


def _is_asked(token: Tagged, *, copulas: bool, auxiliaries: bool) -> bool:
    lemma = token.lemma.lower()
    if token.pos not in ("VERB", "AUX") or not any(map(str.isalpha, token.text)):
        return False
    if token.helps or (token.pos == "AUX" and lemma in _NEVER_ASKED):
        return auxiliaries and lemma not in _NEVER_ASKED
    return copulas if lemma == "be" or token.pos == "AUX" else True


def forms_of(word: str, lemma: str = "") -> VerbForms:
    """The forms of the verb that stands in a sentence as this word. The lemma decides, if the word is a form of it.

    >>> forms_of("ran").stem, forms_of("found", "found").stem, forms_of("running", "ran").stem
    ('run', 'found', 'run')
    """
    if lemma.strip():
        forms = inflect(lemma, seen=word)
        if word.lower() in forms.all():
            return forms
    others = [verb for verb in verbs_of(word) if verb.stem != word.lower()]
    return others[0] if others else inflect(lemma if lemma.strip() else word)
