"""Whether the stem of a verb exists. Questions are asked with it, so a stem that nothing confirms must not be used."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from string import ascii_lowercase
from typing import Self

from chorale.text.inflections import (
    COMBINING,
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

_PARTICIPLE = re.compile(r"(?:ed|ing)$")
_DERIVED = re.compile(r"([a-z]{3,})i(?:ze|fy)$")
"""Verbs that can be derived from any noun or adjective: monomorphize, yuppify."""
_LOST = ("", "e", "y", "a", "al", "an", "ar", "ate", "ation", "ia", "ic", "id", "ine", "is", "ism", "ist", "ium", "on",
         "or", "ous", "ity", "um", "us")  # fmt: skip
"""Endings that a word loses before *ize* or *ify*: anonymous, anonymize."""
_SIZE = re.compile(r"([a-z]{2,})size$")
"""Many compounds end in *size*: winsize. Derived verbs have a vowel before it: photosynthesize."""
_BRITISH = re.compile(r"([a-z]{3,})ise$")
"""Other words can look like a verb in *ise* (hollised), so the word that it is derived from must be known:
conditionalise, of conditional.
"""
_PRODUCTIVE = frozenset({*PREFIXES, "auto", "co", "de", "dis"}) - {"inter", "un", "with"}
"""Prefixes that turn a verb into a new verb. Others also form nouns (microphone) or adjectives (nonblocking)."""
_FIRST_PARTS = (*PREFIXES, *COMBINING)
_BEFORE_BASE_FORMS = ("mis", "out", "pre", "re")
"""Prefixes that turn verbs only into verbs. Others also form nouns: autocommand, backslash."""
_BEFORE_INFINITIVE_FORMS = (*_BEFORE_BASE_FORMS, "dis", "over", "un", "under")
"""The last four also form adjectives: uncool, overlong."""
_DIRECTIONS = frozenset({"back", "cross", "down", "fore", "up"})
"""Prefixes that also turn nouns into adjectives: cross-eyed."""
_BEFORE_INFINITIVES = frozenset(
    {"able", "attempt", "begin", "continue", "decide", "easy", "fail", "hard", "have", "how", "impossible", "like",
     "likely", "manage", "need", "order", "possible", "ready", "refuse", "start", "try", "unable", "want", "way",
     "wish"}
)  # fmt: skip
"""Words after which *to* always begins an infinitive."""
_BASE_TAGS = ("VB", "VBP", "VBZ")
_NOUN = re.compile(r"(?:tion|ment|ness|ity|ism)$")
_NEGATIONS = frozenset({"n't", "n’t", "never", "not"})
_PARTICLES = frozenset({"away", "back", "down", "in", "off", "on", "out", "over", "through", "up"})
_OLD_PRONOUNS = frozenset({"thee", "thou", "ye"})
_SUBJECTS = frozenset({"NOUN", "NUM", "PRON", "PROPN"})
_SPELLED = re.compile(r"(?!.*(.)\1\1)[a-z]+(?:-[a-z]+)*")
"""No English word has the same letter three times in a row, as in exssstend."""
_CLOSED = frozenset({"ADP", "AUX", "CCONJ", "DET", "PART", "PRON", "SCONJ"})
_SHORTEST = 4
"""Shorter stems must be in a dictionary. Others are refused, such as *ade* for *ading*."""
_SHORTEST_ORIGIN = 5
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
    infinitives: set[str] = field(default_factory=set)
    """Words that follow *to*, a modal verb or *do*, and that a tagger calls verbs there."""
    base_forms: set[str] = field(default_factory=set)
    """Words in positions where only a verb can be: *can grep*, *did not grep*, *want to grep*, *to grep the log*."""
    inflected: dict[str, set[str]] = field(default_factory=dict)
    """The different forms of each stem that no dictionary has."""

    nouns: Counter[str] = field(default_factory=Counter)
    """How often a tagger called a word a noun, minus how often it called it a verb in the base form or with *s*."""

    @classmethod
    def of(cls, words: Iterable[str]) -> Self:
        return cls({*words}, {*words}, {*words})

    def read(self, sentence: Sentence) -> None:
        for index, token in enumerate(sentence):
            if token.pos in ("NOUN", "PROPN") or token.tag in _BASE_TAGS:
                self.nouns[token.text.lower()] += 1 if token.pos in ("NOUN", "PROPN") else -1
            if (
                token.text.islower()
                and token.pos not in _CLOSED
                and not (is_cut(sentence, index) or follows_dash(sentence, index))
            ):
                self.words.add(token.text)
                if token.tag in _BASE_TAGS and _is_where_verbs_are(sentence, index):
                    self.infinitives.add(token.text)
                    if _is_where_only_verbs_are(sentence, index):
                        self.base_forms.add(token.text)

    def note(self, stem: str, word: str) -> None:
        self.inflected.setdefault(stem, set()).add(word)

    def has_other_forms(self, stem: str, word: str) -> bool:
        """Whether the text has the verb both with *ed* or *ing* and without.

        A word and its form with *s* may both be nouns (*plug-in*, *plug-ins*), and participles may be an adjective and
        a noun (*ill-conditioned*, *ill-conditioning*).
        """
        forms = {*self.inflected.get(stem, ()), word}
        return len({form != stem and _PARTICIPLE.search(form) is not None for form in forms}) > 1


NOTHING_WRITTEN = WrittenWords()


def follows_dash(sentence: Sentence, index: int) -> bool:
    """Whether a word follows a dash with spaces, which may have cut it: de - veloped."""
    return index > 1 and sentence[index - 1].text == "-" and sentence[index - 2].text.isalpha()


def _is_where_verbs_are(sentence: Sentence, index: int) -> bool:
    before = _before_adverbs(sentence, index - 1)
    return before >= 0 and (sentence[before].tag in ("MD", "TO") or sentence[before].lemma.lower() == "do")


def _is_where_only_verbs_are(sentence: Sentence, index: int) -> bool:
    """Whether a modal verb or *do not* precedes a word, or *to* after a word like *want*, or *to* before an object.

    Taggers also mistake names and nouns after *to* for verbs: *defaults to fceil*, *an immunity to iocane powder*.
    After a modal verb without a subject before it, a noun may be the subject: *nor can piety itself*, *could fceil
    return 1?*
    """
    before = _before_adverbs(sentence, index - 1)
    if before < 0 or sentence[index].text in _OLD_PRONOUNS:
        return False
    word, following = sentence[before], sentence[index + 1] if index + 1 < len(sentence) else None
    if word.tag == "MD":
        subject = _before_adverbs(sentence, before - 1)
        has_subject = subject >= 0 and sentence[subject].pos in _SUBJECTS
        return has_subject and (following is None or following.pos not in ("AUX", "VERB"))
    if word.lemma.lower() == "do":
        return any(token.lemma.lower() in _NEGATIONS for token in sentence[before + 1 : index])
    if word.tag != "TO" or parts_of_speech(sentence[index].text):
        return False  # a known noun: going to church
    has_object = following is not None and following.tag in ("DT", "PRP", "PRP$")
    return has_object or (before > 0 and sentence[before - 1].lemma.lower() in _BEFORE_INFINITIVES)


def _before_adverbs(sentence: Sentence, index: int) -> int:
    """The position of the next token to the left that is not an adverb, or -1."""
    while index >= 0 and (sentence[index].pos == "ADV" or sentence[index].tag == "RB"):
        index -= 1
    return index


def is_attested(verb: VerbForms, token: Tagged, written: WrittenWords = NOTHING_WRITTEN) -> bool:
    """Whether a verb's stem is known to exist: by a dictionary, by a prefix before a verb, or from the text.

    >>> from chorale.text.predicates import forms_of
    >>> [is_attested(forms_of(word), Tagged(word, "", "VERB")) for word in ("ran", "retweeted", "zoloned", "unused")]
    [True, True, False, False]
    >>> is_attested(forms_of("zoloned"), Tagged("zoloned", "", "VERB"), WrittenWords.of({"zolon"}))
    True
    """
    stem, word = verb.stem, token.text.lower()
    if is_verb(stem):
        return True
    if not _SPELLED.fullmatch(stem) or len(stem) < _SHORTEST:
        return False
    if "-" not in stem and is_misspelt(word, stem):
        return False
    if token.text.istitle() and not {word, stem} & written.words:
        return False  # perhaps a name: Spotify
    has_ending = word in (verb.present_participle, verb.past, verb.past_participle) and word != stem
    if not has_ending:
        return _is_base_form(stem, word, written)
    parts = parts_of_speech(word)
    rests = [stem.removeprefix(prefix) for prefix in ("un", "non") if stem.startswith(prefix)]
    is_adjective = any(is_verb(rest) or _is_derived(rest) for rest in rests)
    if is_adjective or (parts and "VERB" not in parts):
        return stem in written.base_forms
    if stem in written.base_forms or (is_compound(stem) and written.has_other_forms(stem, word)):
        return True
    front, hyphen, last = stem.rpartition("-")
    if hyphen:
        # Brain-damaged is not a form of a verb, though brain-damage exists.
        is_adjective = front in _DIRECTIONS and "NOUN" in parts_of_speech(last)
        return front in _PRODUCTIVE and is_verb(last) and not is_adjective
    # Known words confirm a verb only if they are nouns themselves. A form with *ed* may be an adjective: celled.
    is_written = not parts_of_speech(stem) and stem in written.words
    is_confirmed = (is_written or "NOUN" in parts_of_speech(stem)) and verb.present_participle in (
        word,
        *written.inflected.get(stem, ()),
    )
    return is_confirmed or _is_verb_with_prefix(stem) or _is_derived(stem)


def _is_base_form(stem: str, word: str, written: WrittenWords) -> bool:
    """Whether a word without *ed* or *ing* is a verb. Taggers also mistake names, nouns and foreign words for verbs."""
    parts = parts_of_speech(word)
    if parts and "VERB" not in parts and ("NOUN" not in parts or "ADV" in parts):
        return False  # adjectives and adverbs do not become verbs
    front, hyphen, last = stem.rpartition("-")
    if hyphen and (front in _NEGATIONS or not (is_verb(last) or last in _PARTICLES)):
        return False  # a dash without spaces: we do not know-we do not claim to know
    if hyphen and front not in _PRODUCTIVE and last.startswith(front.rpartition("-")[2]):
        return False  # a stutter: t-t-talk
    is_infinitive = word != stem or word in written.infinitives
    prefixes = _BEFORE_INFINITIVE_FORMS if is_infinitive else _BEFORE_BASE_FORMS
    has_prefix = _is_verb_with_prefix(stem, prefixes) or (
        front in _PRODUCTIVE and is_verb(last) and (is_infinitive or front not in _DIRECTIONS)  # an adjective: up-close
    )
    if written.nouns[word] > 0 or _NOUN.search(stem) or _is_doer(stem):
        return False
    if not parts and (has_prefix or _is_derived(stem)):
        return True
    # A noun may have a plural and an adjective with *ed*: wretches, wretched.
    is_noun = "NOUN" in parts_of_speech(stem) and not any(
        form.endswith("ing") for form in written.inflected.get(stem, ())
    )
    if not is_noun and written.has_other_forms(stem, word):
        return True
    # Even where only a verb can be, other words may be misspelt, foreign or dialect: kontinue, larn, getcha.
    return stem in written.base_forms and (hyphen != "" or _is_verb_with_prefix(stem))


def _is_doer(word: str) -> bool:
    """Whether a word is a verb followed by *er*: debugger, opener."""
    rest = word.removesuffix("er")
    return rest != word and any(map(is_verb, (rest, f"{rest}e", rest[:-1])))


def _is_verb_with_prefix(stem: str, prefixes: Iterable[str] = (*_PRODUCTIVE, "un")) -> bool:
    is_part = not _PARTICIPLE.search(stem)  # *parenting* does not contain a verb *ting*
    return is_part and any(
        len(stem) > len(prefix) + 2 and is_verb(stem.removeprefix(prefix))
        for prefix in prefixes
        if stem.startswith(prefix)
    )


def _is_derived(stem: str) -> bool:
    if (size := _SIZE.fullmatch(stem)) and (size[1][-1] not in _VOWELS or is_word(size[1])):
        return False
    return _has_origin(stem) or _is_british(stem)


def _has_origin(stem: str) -> bool:
    """Whether the dictionary has a word that a verb is derived from, perhaps after a prefix: monomorphize, of morph.

    Others are misspelt: tyrranize.
    """
    derived = _DERIVED.fullmatch(stem)
    if derived is None:
        return False
    if any(map(_is_known, (derived[1] + ending for ending in _LOST))):
        return True
    return any(stem.startswith(prefix) and _has_origin(stem.removeprefix(prefix)) for prefix in _FIRST_PARTS)


def _is_known(word: str) -> bool:
    return bool((parts_of_speech(word) | parts_of_speech(word.title())) & {"ADJ", "NOUN", "PROPN"})


def _is_british(stem: str) -> bool:
    british = _BRITISH.fullmatch(stem)
    if british is None:
        return False
    origins = [british[1]]
    if len(british[1]) >= _SHORTEST_ORIGIN:  # shorter ones may be unrelated: lore, of lorises
        origins += [f"{british[1]}e", british[1].title()]
    return is_verb(f"{british[1]}ize") or any(map(is_word, origins))


@lru_cache(_MOST_CACHED)
def is_misspelt(word: str, stem: str) -> bool:
    """Whether a letter is missing, doubled or swapped in a form of a listed verb, or a vowel is wrong in a long one.

    Short words are similar to others without being misspelt (vlogged, logged), so in them only wrongly single or double
    letters count (discusing, writting). A different consonant may make a different verb: colorize, colonize.

    >>> is_misspelt("initated", "initate"), is_misspelt("seperate", "seperate"), is_misspelt("colorize", "colorize")
    (True, True, False)
    >>> is_misspelt("discusing", "discuse"), is_misspelt("writting", "writ"), is_misspelt("vlogged", "vlog")
    (True, True, False)
    """
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    others = [front + (rest[1:] if rest[:1] == front[-1] else front[-1] + rest) for front, rest in cuts[1:]]
    is_long = len(stem) >= _SHORTEST_MISSPELT and not is_word(stem)
    if is_long:
        others += [front + rest[1] + rest[0] + rest[2:] for front, rest in cuts if len(rest) > 1]
        others += [front + letter + rest for front, rest in cuts[1:] for letter in ascii_lowercase]
    if is_long and len(stem) >= _SHORTEST_WITH_WRONG_VOWEL:
        vowels = [(front, rest) for front, rest in cuts if rest[:1] in _VOWELS]
        others += [front + letter + rest[1:] for front, rest in vowels for letter in _VOWELS - {rest[0]}]
    return any(other != word and (is_verb(other) or parts_of_speech(other) & {"AUX", "VERB"}) for other in others)


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
