"""Pairs of predicates known to be rules or not, from WordNet.

Pairs differ in exactly one verb: `acquire` and `buy`, `be acquire by` and `be buy by`. A verb entails its synonyms,
direct hypernyms, and WordNet's entailments. It does not entail its antonyms, hyponyms or co-hyponyms (Berant, Dagan and
Goldberger 2010, section 4.1).
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping

from chorale.kits.rules.files.rules import Rule
from chorale.text.wordnet import Synset, WordNet

_SENSES = 3
"""Maximum rank of a sense of a verb. Rare senses would create too many rules."""
_FORMS = ("be", "is", "are", "was", "were", "been", "being", "am", "have", "has", "had")
_MODALS = ("can", "could", "may", "might", "shall", "should", "will", "would")
_AUXILIARIES = frozenset((*_FORMS, *_MODALS))
_MORE_GENERAL, _MORE_SPECIAL, _ENTAILS, _CAUSES, _OPPOSITE = "@", "~", "*", ">", "!"


def examples_from_wordnet(predicates: Iterable[str], wordnet: WordNet) -> dict[Rule, bool]:
    """Rules between predicates, and whether they hold."""
    frames: dict[tuple[str, ...], dict[str, str]] = defaultdict(dict)
    for predicate in sorted(predicates):
        parts = _taken_apart(predicate, wordnet)
        if parts is not None:
            frame, verb = parts
            frames[frame].setdefault(verb, predicate)
    return {
        Rule(verbs[verb], verbs[other], turned=False): holds
        for verbs in frames.values()
        if len(verbs) > 1
        for verb in sorted(verbs)
        for other, holds in sorted(_related(verb, verbs, wordnet).items())
    }


def _taken_apart(predicate: str, wordnet: WordNet) -> tuple[tuple[str, ...], str] | None:
    """The words around the verb, and its lemma."""
    words = predicate.split()
    place = 0
    while place + 1 < len(words) and words[place] in _AUXILIARIES:
        place += 1
    if place == len(words) - 1 and place > 0 and words[place] in _AUXILIARIES:
        return None
    lemmas = wordnet.lemmas(words[place], "v") if words else ()
    if not lemmas:
        return None
    return (*words[:place], "_", *words[place + 1 :]), lemmas[0]


def _related(verb: str, verbs: Mapping[str, str], wordnet: WordNet) -> dict[str, bool]:
    entailed, denied = set[str](), set[str]()
    for sense in _senses(verb, wordnet):
        entailed |= set(sense.lemmas)
        for symbol, other in _linked(sense, wordnet):
            if symbol in {_MORE_GENERAL, _ENTAILS, _CAUSES}:
                entailed |= set(other.lemmas)
            elif symbol in {_MORE_SPECIAL, _OPPOSITE}:
                denied |= set(other.lemmas)
            if symbol == _MORE_GENERAL:
                kinds = (kind for down, kind in _linked(other, wordnet) if down == _MORE_SPECIAL)
                denied |= {lemma for kind in kinds for lemma in kind.lemmas}
    return {other: other in entailed for other in entailed | denied if other != verb and other in verbs}


def _senses(verb: str, wordnet: WordNet) -> Iterator[Synset]:
    for name in wordnet.senses(verb, "v")[:_SENSES]:
        if (synset := wordnet.synset(name)) is not None:
            yield synset


def _linked(sense: Synset, wordnet: WordNet) -> Iterator[tuple[str, Synset]]:
    for symbol, name in sense.links:
        if name.endswith("v") and (other := wordnet.synset(name)) is not None:
            yield symbol, other
