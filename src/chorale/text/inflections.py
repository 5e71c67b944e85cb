"""The five forms of an English verb.

The table of irregular verbs has priority, then lemminflect's dictionary if it is installed, then rules. The rules are
sufficient for a base installation: they miss few common verbs.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, Self

KEYS = ("stem", "presentSingular3rd", "presentParticiple", "past", "pastParticiple")
"""The QA-SRL Bank's names of the five forms, in the order of `VerbForms`."""
_HERE = Path(__file__).parent
_MORE, _STRESSED_LAST, _WRONG = "more_verbs.txt", "doubling_verbs.txt", "not_verbs.txt"
_VOWELS = "aeiou"
_TAGS = ("VBZ", "VBG", "VBD", "VBN")
# A verb with one of these prefixes inflects like the verb: refreeze, refroze.
PREFIXES = ("counter", "under", "inter", "cross", "down", "fore", "over", "back", "with", "mis", "out", "pre", "re",
             "un", "up")  # fmt: skip
# Past forms that many words end in: burbled, coppled.
_SHORT_PASTS = frozenset({"bled", "fled", "led", "pled", "red", "shed", "sled", "sped", "wed", "bred"})
# First parts of compounds that are not words by themselves: cybersquat, metaprogram.
COMBINING = ("anti", "auto", "be", "bio", "co", "cyber", "de", "dis", "em", "en", "geo", "hyper", "in", "macro",
              "meta", "micro", "mini", "mono", "multi", "nano", "non", "photo", "poly", "post", "proto", "pseudo",
              "retro", "semi", "sub", "super", "tele", "trans", "ultra")  # fmt: skip
_DOUBLING_PREFIXES = ("under", "back", "over", "out", "mis", "sub", "un")
_CLOSED_SYLLABLE = re.compile(r"[^aeiouy]*(?:qu|y)?[aeiou][bcdfgjklmnpqrstvz]")
_ENDINGS = {"ies": ("y", "ie"), "ied": ("y", "ie"), "ying": ("ie",), "ed": ("", "e"), "ing": ("", "e"), "es": ("e", ""),
            "s": ("",)}  # fmt: skip
# Endings that stems have only with a silent e (google, serve, dodge, promise, translate, skype), and endings with the e
# of a past form: texte, vlogge, retweete.
_IMPLAUSIBLE = re.compile(
    r"(?:[^aeiouylr][lr]|v|(?<!yn)(?<!i)c|dg|[aeiouy][sz]|[aeiou][^aeiou]*at|[^aeiouylrf]f|[^aeiouylrnwd]d|y[bdfgkmpt]"
    r"|([bcdfgjklmnpqrtvwxz])\1e|[^aeiou][bdfkmnptwx]e|[aeiou]{2}[dfklmnprt](?<![eiu]at)e|[eo]re|stre|ynce|[^aeiou]ie"
    r"|(?:[^aeiou]c|ff|p|s|ss)he|sse|[aeiou][wx]e|[aeo]ye|[hkpt]ene)$"
)
_RARELY_MEANT = frozenset({"rout"})
"""Stems whose forms are usually those of another: routed, of route."""
_MOST_CACHED = 50_000


@dataclass(frozen=True, slots=True)
class VerbForms:
    """The five forms of a verb, for questions about it."""

    stem: str
    present_singular_3rd: str
    present_participle: str
    past: str
    past_participle: str
    variants: tuple[tuple[str, str], ...] = field(default=(), kw_only=True)
    """Alternative spellings, each with the Bank's name of its form: `("past", "pled")`."""

    def as_bank(self) -> dict[str, str]:
        """The forms by the names in the Bank's `verbInflectedForms`.

        >>> inflect("cut").as_bank()["presentSingular3rd"]
        'cuts'
        """
        return dict(zip(KEYS, self.all(), strict=True))

    @classmethod
    def from_bank(cls, forms: Mapping[str, str], variants: Mapping[str, Iterable[str]] | None = None) -> Self:
        others = [(key, spelling) for key in KEYS for spelling in (variants or {}).get(key, ())]
        return cls(*(forms[key] for key in KEYS), variants=tuple(others))

    def all(self) -> tuple[str, str, str, str, str]:
        return (self.stem, self.present_singular_3rd, self.present_participle, self.past, self.past_participle)

    def words(self) -> frozenset[str]:
        """All words in the forms and variants."""
        spellings = [*self.all(), *(spelling for _, spelling in self.variants)]
        return frozenset(word for spelling in spellings for word in spelling.split())


class _Choices(NamedTuple):
    """All forms in use, the most usual first. If there are as many past forms as participles, they are paired."""

    third: tuple[str, ...]
    ing: tuple[str, ...]
    past: tuple[str, ...]
    participle: tuple[str, ...]


def inflect(lemma: str, seen: str = "", *, is_participle: bool = False) -> VerbForms:
    """The forms of a verb. If several are in use (burned, burnt), the one `seen` in the sentence.

    The usual past form does not determine the participle (showed, shown), unless the word is used as one (has got).

    >>> inflect("refer").past, inflect("undergo").past_participle, inflect("Burn", seen="burnt").past
    ('referred', 'undergone', 'burnt')
    >>> inflect("get", seen="got").past_participle, inflect("get", seen="got", is_participle=True).past_participle
    ('gotten', 'got')
    """
    stem = lemma.strip().lower()
    if not stem:
        raise ValueError("a verb needs at least one letter")
    return _inflected(stem, seen.lower(), is_participle)


def variants_of(forms: VerbForms) -> dict[str, tuple[str, ...]]:
    """Alternative spellings of a verb's forms, by the Bank's name of the form.

    >>> variants_of(inflect("plead")), variants_of(inflect("cut"))
    ({'past': ('pled',), 'pastParticiple': ('pled',)}, {})
    """
    own = forms.as_bank()
    known = dict(zip(KEYS[1:], _choices(forms.stem), strict=True))
    # A rare past form that equals the stem (plead) is usually a mistake.
    others = {
        key: tuple(form for form in spellings if form not in (own[key], forms.stem)) for key, spellings in known.items()
    }
    return {key: spellings for key, spellings in others.items() if spellings}


@lru_cache(_MOST_CACHED)
def _inflected(stem: str, seen: str, is_participle: bool) -> VerbForms:
    known = _as_seen(stem, seen, _choices(stem))
    if is_participle and seen in known.participle:
        return VerbForms(stem, known.third[0], known.ing[0], seen if seen in known.past else known.past[0], seen)
    # The usual past form does not determine the participle: showed, shown. A rarer one does: burnt, burnt. A stem that
    # is also a rare past form determines nothing: plead.
    if seen in (known.past[0], stem):
        return VerbForms(stem, *(forms[0] for forms in known))
    where = next((forms for forms in (known.past, known.participle, known.ing, known.third) if seen in forms), (seen,))
    place = where.index(seen)
    taken = [seen if seen in forms else forms[place] if len(forms) == len(where) else forms[0] for forms in known]
    return VerbForms(stem, *taken)


def _as_seen(stem: str, seen: str, known: _Choices) -> _Choices:
    """The forms with a doubled consonant if the sentence doubles it but the known forms do not: journalled."""
    doubled = stem + stem[-1]
    is_certain = _is_listed(stem) and not stem.endswith("l")  # American dictionaries lack journalling
    if seen not in (f"{doubled}ing", f"{doubled}ed") or is_certain or any(seen in forms for forms in known):
        return known
    return _Choices(known.third, (f"{doubled}ing",), (f"{doubled}ed",), (f"{doubled}ed",))


def _choices(stem: str) -> _Choices:
    front, _, last = stem.rpartition("-")
    if front and last:
        return _with_prefix(f"{front}-", _choices(last))
    if stem in _irregular():
        return _irregular()[stem]
    for prefix in PREFIXES:
        rest = stem.removeprefix(prefix)
        if rest != stem and rest in _irregular():
            return _with_prefix(prefix, _irregular()[rest])
    known = None if stem in _words(_MORE) else _from_dictionary(stem)
    if known is None and stem not in _words(_STRESSED_LAST) and (split := next(_splits(stem, _is_listed), None)):
        return _with_prefix(split[0], _choices(split[1]))
    return known or _by_rule(stem)


def _splits(word: str, is_known: Callable[[str], object]) -> Iterator[tuple[str, str]]:
    """Splits of a compound into a first part (ending in a hyphen, a prefix, or another word) and a known rest."""
    front, hyphen, last = word.rpartition("-")
    cuts = [len(front + hyphen)] if front and last else _cuts(word)
    yield from ((word[:cut], word[cut:]) for cut in cuts if is_known(word[cut:]))


def _cuts(word: str) -> Iterator[int]:
    yield from (
        len(first) for first in (*PREFIXES, *COMBINING) if word.startswith(first) and len(word) > len(first) + 2
    )
    yield from (cut for cut in range(3, len(word) - 3) if is_word(word[:cut]) or _dictionary() is None)


def _with_prefix(prefix: str, choices: _Choices) -> _Choices:
    return _Choices(*(tuple(prefix + form for form in forms) for forms in choices))


@cache
def _irregular() -> Mapping[str, _Choices]:
    table = {}
    for line in _lines("irregular_verbs.txt"):
        stem, past, participle, *others = line.split()
        regular = _by_rule(stem)
        ing = (others[0],) if others else regular.ing
        third = (others[1],) if len(others) > 1 else regular.third
        table[stem] = _Choices(third, ing, tuple(past.split("/")), tuple(participle.split("/")))
    return table


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(word for line in _lines(name) for word in line.split())


def _lines(name: str) -> list[str]:
    text = (_HERE / name).read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def _from_dictionary(stem: str) -> _Choices | None:
    """The forms from lemminflect, if it is installed and knows the verb. For unknown verbs, the rules are better."""
    if (dictionary := _dictionary()) is None or not stem.isascii():
        return None
    listed: list[tuple[str, ...]] = [tuple(dictionary.getInflection(stem, tag=tag, inflect_oov=False)) for tag in _TAGS]
    regular = _by_rule(stem)
    # For some verbs, it has the forms of another one (impanel, empanels), and it lacks the k in mimicking.
    if not all(forms and forms[0].startswith(stem[:2]) for forms in listed) or stem.endswith("c"):
        return regular
    return _spelt_alike(stem, listed, regular) or _Choices(*listed)


def _spelt_alike(stem: str, listed: Sequence[tuple[str, ...]], regular: _Choices) -> _Choices | None:
    """Regular forms with a consistent single or double consonant, if the dictionary mixes them; else None."""
    single = (f"{stem}ing", f"{stem}ed", f"{stem}ed")
    double = tuple(form.replace(stem, stem + stem[-1], 1) for form in single)
    if not all({*forms} <= {*pair} for forms, *pair in zip(listed[1:], single, double, strict=True)):
        return None
    doubles = _doubles(stem) or not any(form in forms for form, forms in zip(single, listed[1:], strict=True))
    first, second = (double, single) if doubles else (single, double)
    variants = [
        (usual, variant) if variant in forms else (usual,)
        for usual, variant, forms in zip(first, second, listed[1:], strict=True)
    ]
    return _Choices(regular.third, *variants)


@cache
def _dictionary() -> Any:
    return import_module("lemminflect") if find_spec("lemminflect") else None


# Rules


def _by_rule(stem: str) -> _Choices:
    return _Choices((_third(stem),), (_joined(stem, "ing"),), (_joined(stem, "ed"),), (_joined(stem, "ed"),))


def _third(stem: str) -> str:
    if stem.endswith("y") and stem[-2:-1] not in _VOWELS:
        return f"{stem[:-1]}ies"
    if stem.endswith(("s", "x", "z", "ch", "sh")) or (stem.endswith("o") and stem[-2:-1] not in _VOWELS):
        return f"{stem}es"
    return f"{stem}s"


def _joined(stem: str, ending: str) -> str:
    """The stem joined with -ing or -ed, with the correct spelling."""
    if stem.endswith("y") and stem[-2:-1] not in _VOWELS and ending == "ed":
        return f"{stem[:-1]}ied"
    if stem.endswith("ie") and ending == "ing":
        return f"{stem[:-2]}ying"
    if stem.endswith("e") and (ending == "ed" or not stem.endswith(("ee", "oe", "ye"))):
        return stem[:-1] + ending
    if stem.endswith("c") and stem[-2:-1] in "aeiou":
        return f"{stem}k{ending}"
    return stem + stem[-1] + ending if _doubles(stem) else stem + ending


def _doubles(stem: str) -> bool:
    if stem in _words(_STRESSED_LAST) or _CLOSED_SYLLABLE.fullmatch(stem):
        return len(stem) > 1
    return any(stem.removeprefix(prefix) in _words(_STRESSED_LAST) for prefix in PREFIXES) or any(
        len(stem) > len(prefix) + 2 and _CLOSED_SYLLABLE.fullmatch(stem.removeprefix(prefix))
        for prefix in _DOUBLING_PREFIXES
        if stem.startswith(prefix)
    )


# From a form back to the verb


def verbs_of(word: str, *, is_participle: bool = False) -> list[VerbForms]:
    """The verbs that a word may be a form of, most likely first. Without a dictionary, some of them do not exist.

    >>> [[verb.stem for verb in verbs_of(word)][:2] for word in ("hopping", "went", "autorouting")]
    [['hop'], ['go'], ['autoroute', 'autorout']]
    >>> verbs_of("unfollowed")[0].stem, verbs_of("googled")[0].stem, verbs_of("crowdsourced")[0].stem
    ('unfollow', 'google', 'crowdsource')
    """
    form = word.lower()
    if known := _those_with(form, _known_stems(form), is_participle):
        return known
    compounds = dict.fromkeys(_compound_stems(form))
    others = [stem for stem in _possible_stems(form) if stem not in compounds]
    return _those_with(form, [*compounds, *sorted(others, key=likelihood, reverse=True)], is_participle)


def likelihood(stem: str) -> tuple[int, int]:
    """A score of how likely a text is the stem of a verb.

    In descending order: a listed verb, one with a prefix or another word in front (retweet, livestream), one spelt like
    a stem, and others (googl). Of two that contain a listed verb, the longer scores higher (uninstall, uninstal); of
    two that only look like verbs, the shorter.

    >>> [likelihood(stem)[0] for stem in ("go", "unsing", "crowdspeak", "frob", "googl")]
    [4, 3, 2, 1, 0]
    """
    known = _knowledge(stem)
    return known, 0 if known == 4 else len(stem) if known > 1 else -len(stem)


def _knowledge(stem: str) -> int:
    if _is_listed(stem):
        return 4
    front, _, last = stem.rpartition("-")
    rests = [stem.removeprefix(prefix) for prefix in PREFIXES if stem.startswith(prefix)] + ([last] if front else [])
    if any(len(rest) > 2 and _is_listed(rest) for rest in rests):
        return 3
    if is_compound(stem):
        return 2
    return int(_IMPLAUSIBLE.search(stem) is None)


def is_verb(word: str) -> bool:
    """Whether a word is listed as the stem of a verb."""
    return _is_listed(word.lower())


@lru_cache(_MOST_CACHED)
def is_word(text: str) -> bool:
    """Whether the dictionary has the text as any kind of word; False without a dictionary."""
    dictionary = _dictionary()
    return dictionary is not None and text.isascii() and bool(dictionary.getAllInflections(text))


@lru_cache(_MOST_CACHED)
def parts_of_speech(word: str) -> frozenset[str]:
    """The parts of speech that the dictionary has for a word or its lemma; empty without a dictionary.

    >>> sorted(parts_of_speech("theses")), sorted(parts_of_speech("emails")), sorted(parts_of_speech("xyz"))
    (['NOUN'], ['NOUN', 'VERB'], [])
    """
    dictionary = _dictionary()
    lemmas = dictionary.getAllLemmas(word) if dictionary is not None and word.isascii() else {}
    return frozenset(part for part, stems in lemmas.items() if part != "VERB" or not {*stems} <= _words(_WRONG))


@lru_cache(_MOST_CACHED)
def _is_listed(stem: str) -> bool:
    if stem in _irregular() or stem in _words(_STRESSED_LAST) or stem in _words(_MORE):
        return True
    if (dictionary := _dictionary()) is None or not stem.isascii() or stem in _words(_WRONG):
        return False
    return all(dictionary.getInflection(stem, tag=tag, inflect_oov=False) for tag in _TAGS[1:3])  # pent is one form


def _those_with(form: str, stems: Iterable[str], is_participle: bool) -> list[VerbForms]:
    inflected = (inflect(stem, seen=form, is_participle=is_participle) for stem in dict.fromkeys(stems))
    return [forms for forms in inflected if form in forms.all()]


def _known_stems(form: str) -> Iterator[str]:
    yield from _stem_by_irregular_form().get(form, ())
    yield from (stem for stem in _possible_stems(form) if stem in _words(_MORE))
    if (dictionary := _dictionary()) is not None and form.isascii():
        listed = (stem for stem in dictionary.getLemma(form, upos="VERB", lemmatize_oov=False) if _is_listed(stem))
        yield from sorted(listed, key=_RARELY_MEANT.__contains__)


def _compound_stems(form: str) -> Iterator[str]:
    """Stems of compounds whose last part is a form of a known verb: metaprogramming, unfollowed."""
    for front, rest in _splits(form, lambda rest: len(rest) > 2 and rest not in _SHORT_PASTS):
        # The last part of *snapshotting* (ting) is not a verb of its own.
        is_cut_off = rest.endswith(("ing", "ed"))
        yield from (
            front + stem for stem in _known_stems(rest) if _is_listed(stem) and not (is_cut_off and stem == rest)
        )


def is_compound(stem: str) -> bool:
    """Whether a stem consists of a prefix or a word, and the stem of a listed verb.

    >>> is_compound("unspeak"), is_compound("metaspeak"), is_compound("speak"), is_compound("xyzspeak")
    (True, True, False, False)
    """
    is_verb_part = not stem.endswith(("ing", "ed"))  # *parenting* does not contain a verb *ting*
    return is_verb_part and any(_splits(stem, lambda rest: len(rest) > 2 and _is_listed(rest)))


def _possible_stems(form: str) -> Iterator[str]:
    for ending, others in _ENDINGS.items():
        rest = form.removesuffix(ending)
        if rest != form and len(rest) > 1 and not rest.endswith("-"):
            if ending in ("ed", "ing") and (rest[-1] == rest[-2] or rest.endswith("ck")):
                yield rest[:-1]
            # Unless it is listed, a stem does not end in i: zombie, of zombies.
            yield from (rest + other for other in others if other or not rest.endswith("i") or _is_listed(rest))
    if form:
        yield form


@cache
def _stem_by_irregular_form() -> Mapping[str, tuple[str, ...]]:
    table: dict[str, list[str]] = {}
    for stem, choices in _irregular().items():
        for form in dict.fromkeys(form for forms in choices for form in forms):
            table.setdefault(form, []).append(stem)
    return {form: tuple(stems) for form, stems in table.items()}
