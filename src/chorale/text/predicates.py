"""The verbs of a sentence that QA-SRL asks about, with their forms."""

import re
from collections.abc import Container, Iterator, Sequence
from dataclasses import dataclass

from chorale.text.inflections import VerbForms, inflect, is_verb, is_word, likelihood, verbs_of
from chorale.text.tagger import Tagged, is_cut

_NEVER_ASKED = frozenset({"can", "could", "may", "might", "must", "ought", "shall", "should", "will", "would"})
"""Auxiliaries without five forms."""
_WORD = re.compile(r"['’](?:d|ll|m|re|s|ve)|[^\W\d_]+(?:['’-][^\W\d_]+)*", re.IGNORECASE)
"""Only letters: taggers mistake URLs, file names, command-line options and words with a quotation mark for verbs."""
_WITHIN = re.compile(r"[a-zß-ÿ][A-ZÀ-Þ]|[A-ZÀ-Þ]{2}[a-zß-ÿ]")
"""A capital letter within a word, as in identifiers and ORed."""
_BEFORE_PARTICIPLES = frozenset(
    {
        "have",
        "has",
        "had",
        "having",
        "'ve",
        "'s",
        "'d",
        "be",
        "am",
        "are",
        "is",
        "was",
        "were",
        "been",
        "being",
        "'re",
        "'m",
    }
)


@dataclass(frozen=True, slots=True)
class Predicate:
    index: int
    forms: VerbForms


def predicates(sentence: Sequence[Tagged], *, copulas: bool = False, auxiliaries: bool = False) -> Iterator[Predicate]:
    """All verbs of a sentence; copulas and auxiliaries only if requested.

    >>> words = [Tagged("Dogs", "dog", "NOUN"), Tagged("have", "have", "AUX", True), Tagged("run", "run", "VERB")]
    >>> [(verb.index, verb.forms.past) for verb in predicates(words)]
    [(2, 'ran')]
    """
    for index, token in enumerate(sentence):
        if _is_asked(token, copulas=copulas, auxiliaries=auxiliaries) and not is_cut(sentence, index):
            is_participle = _follows_helper(sentence, index)
            yield Predicate(index, forms_of(token.text, token.lemma, is_participle=is_participle))


def _follows_helper(sentence: Sequence[Tagged], index: int) -> bool:
    """Whether a form of have or be precedes a word, with only adverbs in between: has just got."""
    for token in reversed(sentence[:index]):
        if token.pos in ("ADV", "PART"):
            continue
        return token.text.lower().replace("’", "'") in _BEFORE_PARTICIPLES
    return False


def _is_asked(token: Tagged, *, copulas: bool, auxiliaries: bool) -> bool:
    lemma = token.lemma.lower()
    if len(lemma.strip("'’")) <= 1 or (len(token.text.strip("'’")) == 1 and lemma not in ("be", "have", "do")):
        return False  # a variable's name, or a contraction that was not recognised
    if token.pos not in ("VERB", "AUX") or not _WORD.fullmatch(token.text) or _WITHIN.search(token.text):
        return False
    if token.helps or (token.pos == "AUX" and lemma in _NEVER_ASKED):
        return auxiliaries and lemma not in _NEVER_ASKED
    return copulas if lemma == "be" or token.pos == "AUX" else True


def forms_of(
    word: str, lemma: str = "", *, is_participle: bool = False, written: Container[str] = frozenset()
) -> VerbForms:
    """The forms of the verb of a word in a sentence.

    A tagger's lemma is used if the word is a form of it and no other verb is more likely: taggers cut endings off
    unknown words. If the word is the same form of two listed verbs (*tinged*), the dictionary's first is used. Of two
    stems that no dictionary has, the one among the words `written` in the text is used.

    >>> forms_of("ran").stem, forms_of("found", "found").stem, forms_of("running", "ran").stem
    ('run', 'found', 'run')
    >>> forms_of("re-elected", "re-electe").stem, forms_of("weathering", "weathering").stem
    ('re-elect', 'weather')
    >>> forms_of("commoned", "commone").stem, forms_of("do-nothing", "do-nothe").stem, forms_of("keyring", "keyr").stem
    ('common', 'do-nothing', 'keyring')
    >>> forms_of("feed").stem, forms_of("pre-feed").stem, forms_of("freed").stem
    ('feed', 'pre-feed', 'free')
    >>> forms_of("tinged", "ting").stem, forms_of("lay", "lay").stem
    ('tinge', 'lay')
    """
    if _has_no_ending(word.lower()):
        return inflect(word)
    others = [verb for verb in verbs_of(word, is_participle=is_participle) if verb.stem != word.lower()]
    own = [inflect(lemma, seen=word, is_participle=is_participle)] if lemma.strip() else []
    if others and lemma.lower() == word.lower() and (not is_verb(lemma) or word.lower().endswith(("ed", "ing"))):
        own = []  # the tagger assigned another part of speech
    elif own and own[0] in others and _is_same_form(word.lower(), own[0], others[0]):
        own = []  # the tagger knows no more than the dictionary
    is_form = any(word.lower() in verb.all() for verb in own)
    # A word with an ending is a stem only if it is listed (found, need), or if nothing else looks like a verb.
    is_alone = not (others or is_form) or all(likelihood(verb.stem)[0] == 0 for verb in (*own, *others))
    # Adjectives in *ed* are never stems (naked); nouns in *ing* may be.
    is_noun = not word.lower().endswith("ed") and is_word(_last_part(word.lower()))
    itself = [inflect(word)] if is_verb(word) or is_alone or is_noun else []
    elsewhere = [verb for verb in own if is_verb(verb.stem) or not (others or itself)]
    if not is_form:
        possible = [*others, *itself, *elsewhere]
    elif is_verb(own[0].stem):
        possible = [*own, *others, *itself]
    else:
        possible = [*others, *own, *itself]
    return max(possible, key=lambda verb: _rank(verb.stem, word.lower(), written))


def _is_same_form(word: str, verb: VerbForms, other: VerbForms) -> bool:
    return [form == word for form in verb.all()] == [form == word for form in other.all()]


def _has_no_ending(word: str) -> bool:
    """Whether *eed* belongs to the stem. *feed* is never a form of *fee*, which is rarely a verb."""
    return word.endswith("feed") or (word.endswith("eed") and is_verb(word) and not is_verb(word[:-1]))


def _rank(stem: str, word: str, written: Container[str]) -> float:
    """The rank of a stem. Other words win over compounds (cotton, not cot-tone), and compounds over the word itself.

    Words that are not spelt like a verb (declasse, for declassed) do not win, even if the text contains them.
    """
    known = likelihood(stem)[0]
    if known < 3 and (is_word(_last_part(stem)) or (known > 0 and stem in written)):
        return 1.5 if stem == word else 2.5
    return known


_NOT_ENDINGS = ("string", "spring", "thing", "king", "ring", "wing")
"""Nouns whose *ing* is not an ending, also as the last part of a compound."""


def _last_part(word: str) -> str:
    """The last of a compound's words (*nothing* of *do-nothing*, *ring* of *keyring*), or the word itself."""
    front, _, last = word.rpartition("-")
    if front:
        return last
    return next((noun for noun in _NOT_ENDINGS if is_word(word.removesuffix(noun)) and word.endswith(noun)), word)
