"""Whether the stem of a verb exists. Questions are asked with it, so a stem that nothing confirms must not be used."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from string import ascii_lowercase
from typing import Self

from chorale.text.inflections import (
    PREFIXES,
    VerbForms,
    inflect,
    is_compound,
    is_verb,
    is_word,
    likelihood,
    parts_of_speech,
    verbs_of,
)
from chorale.text.tagger import Sentence, Tagged, is_cut

_ENDED = re.compile(r"(?:ed|ing|[^sui]s)$")
"""The endings of verb forms."""
_PARTICIPLE = re.compile(r"(?:ed|ing)$")
_DERIVED = re.compile(r"[a-z]{3}i(?:ze|fy)$")
"""Verbs that can be derived from any noun or adjective: monomorphize, yuppify."""
_BRITISH = re.compile(r"([a-z]{3,})ise$")
"""Many other words end in *is* (hollised), so this ending needs the word it is derived from: conditionalise."""
_DERIVED_FORM = re.compile(r"[a-z]{4}ating$")
"""Many words in *ated* are adjectives (pileated); those in *ating* are verbs."""
_DOUBLED = re.compile(r"[^aeiou]+[aeiou]([bdgmnprt])\1(?:ed|ing)")
"""Forms of one syllable with a doubled consonant, which only stems with a single one have: vlogged."""
_PRODUCTIVE = frozenset({*PREFIXES, "auto", "bio", "co", "cyber", "de", "dis", "geo", "meta", "micro",
                         "photo", "poly", "retro", "sub", "super", "tele", "trans",
                         }) - {"un", "with"}  # fmt: skip
"""What makes new verbs of verbs. Others make adjectives of participles: unused, nonblocking, multilayered."""
_CLOSED = frozenset({"ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ"})
_SHORTEST_DOUBLING = 4
"""Many shorter words are names: mirred, gred."""
_SHORTEST_MISSPELT = 6
"""Shorter stems are similar to others without being misspelt: vlog, flog."""
_SHORTEST_WITH_WRONG_VOWEL = 8
_VOWELS = frozenset("aeiou")
_MOST_CACHED = 50_000


@dataclass(slots=True)
class WrittenWords:
    """The words of a text, which confirm the stems of other words in it."""

    words: set[str] = field(default_factory=set)
    """All words in lower case that may be stems: no prepositions, articles and so on."""
    base_forms: set[str] = field(default_factory=set)
    """Those used as an infinitive or in the present tense."""
    inflected: dict[str, set[str]] = field(default_factory=dict)
    """The different forms of each stem that no dictionary has."""

    @classmethod
    def of(cls, words: Iterable[str]) -> Self:
        return cls({*words}, {*words})

    def read(self, sentence: Sentence) -> None:
        for index, token in enumerate(sentence):
            if token.text.islower() and token.pos not in _CLOSED and not is_cut(sentence, index):
                self.words.add(token.text)
                if token.tag in ("VB", "VBP"):
                    self.base_forms.add(token.text)

    def note(self, stem: str, word: str) -> None:
        self.inflected.setdefault(stem, set()).add(word)


NOTHING_WRITTEN = WrittenWords()


def is_attested(verb: VerbForms, token: Tagged, written: WrittenWords = NOTHING_WRITTEN) -> bool:
    """Whether a verb's stem is known to exist: by a dictionary, by a prefix before a verb, or from the text.

    >>> from chorale.text.predicates import forms_of
    >>> [is_attested(forms_of(word), Tagged(word, "", "VERB")) for word in ("ran", "retweeted", "zoloned", "unused")]
    [True, True, False, False]
    >>> is_attested(forms_of("zoloned"), Tagged("zoloned", "", "VERB"), WrittenWords.of({"zolon"}))
    True
    """
    stem, word = verb.stem, token.text.lower()
    parts = parts_of_speech(word)
    if is_verb(stem):
        return True
    if stem == word and not _ENDED.search(stem):
        return not parts or not parts.isdisjoint({"NOUN", "VERB"})  # no verb is made of an adjective or adverb
    is_participle = word in (verb.present_participle, verb.past, verb.past_participle) and word != stem
    is_adjective = is_participle and stem.startswith(("un", "non")) and not stem.startswith("under")
    if is_adjective or (word != stem and parts and "VERB" not in parts):
        return stem in written.base_forms
    is_new = not parts_of_speech(stem)  # known words confirm a verb only if they are nouns or verbs themselves
    is_written = is_new and stem in written.words and not is_misspelt(stem)
    if len(stem) > 2 and (is_written or (is_compound(stem) and len(written.inflected.get(stem, ())) > 1)):
        return True
    front, hyphen, last = stem.rpartition("-")
    if hyphen:
        return front in _PRODUCTIVE and is_verb(last)
    is_noun = is_word(stem) and not parts_of_speech(stem).isdisjoint({"NOUN", "VERB"})
    return is_noun or _is_verb_with_prefix(stem) or _is_only_stem(stem, token.text)


def _is_verb_with_prefix(stem: str) -> bool:
    is_part = not _PARTICIPLE.search(stem)  # parenting has no verb *ting* in it
    return is_part and any(
        len(stem) > len(prefix) + 2 and is_verb(stem.removeprefix(prefix))
        for prefix in (*_PRODUCTIVE, "un")
        if stem.startswith(prefix)
    )


def _is_only_stem(stem: str, word: str) -> bool:
    """Whether the spelling of a form allows no other stem. Names and misspelt words are not forms."""
    if is_misspelt(stem):
        return False
    if doubled := _DOUBLED.fullmatch(word):
        is_form = word.islower() and word.startswith(stem + doubled[1])
        return is_form and len(stem) >= _SHORTEST_DOUBLING and not _has_verb_at_end(stem, 3)
    is_derived = _DERIVED.search(stem) is not None or _is_british(stem) or _DERIVED_FORM.search(word) is not None
    return is_derived and not _has_verb_at_end(stem, 6)


def _is_british(stem: str) -> bool:
    british = _BRITISH.fullmatch(stem)
    return british is not None and (is_verb(f"{british[1]}ize") or is_word(british[1]))


def _has_verb_at_end(stem: str, letters: int) -> bool:
    """Whether other letters are before a verb of at least that length: nomodify, xset."""
    return any(is_verb(stem[cut:]) for cut in range(1, len(stem) - letters + 1))


@lru_cache(_MOST_CACHED)
def is_misspelt(stem: str) -> bool:
    """Whether a letter is missing, added or swapped in a listed verb, or a vowel is wrong in a long one.

    Other letters make other verbs: colorize.

    >>> is_misspelt("initate"), is_misspelt("seperate"), is_misspelt("colorize")
    (True, True, False)
    """
    if len(stem) < _SHORTEST_MISSPELT:
        return False
    cuts = [(stem[:at], stem[at:]) for at in range(len(stem) + 1)]
    others = [front + rest[1:] for front, rest in cuts if rest]
    others += [front + rest[1] + rest[0] + rest[2:] for front, rest in cuts if len(rest) > 1]
    for letter in ascii_lowercase:
        others += [front + letter + rest for front, rest in cuts]
        if len(stem) >= _SHORTEST_WITH_WRONG_VOWEL and letter in _VOWELS:
            others += [front + letter + rest[1:] for front, rest in cuts if rest and rest[0] in _VOWELS - {letter}]
    return any(is_verb(other) for other in others)


def similar_verbs(word: str, stem: str) -> list[VerbForms]:
    """Other verbs that a word may be a form of, if the stem is not listed or another has the same past (rout, route).

    >>> [verb.stem for verb in similar_verbs("zoloned", "zolon")], similar_verbs("hoped", "hope")
    (['zolone'], [])
    >>> [verb.stem for verb in similar_verbs("routing", "rout")], similar_verbs("found", "find")
    (['route'], [])
    """
    others = [verb for verb in verbs_of(word) if verb.stem not in (stem, word.lower())]
    if is_verb(stem):
        past = inflect(stem).past
        return [verb for verb in others if is_verb(verb.stem) and past == verb.past]
    return [verb for verb in others if likelihood(verb.stem)[0] > 0]
