"""Caches parts of speech and lemmas from spaCy's rules.

The rules of a small English model depend on a word, its tag and its relation; a few depend on two consecutive words
(*gon na*). So results are cached by word. A sentence that may contain such a pair is processed by all rules.
"""

from collections.abc import Iterator, Sequence
from importlib import import_module
from typing import Any, NamedTuple

RULES = ("attribute_ruler", "lemmatizer")
"""The rule-based components of a model, which come last and are replaced here."""
_MOST_KEPT = 2**18
_RELATION = "relation "


class WordFacts(NamedTuple):
    lemma: str
    pos: str


class TaggingMemory:
    """The cached results of a loaded model's rules."""

    def __init__(self, model: Any) -> None:
        self._rules = [model.get_pipe(name) for name in RULES]
        self._several = list(_words_in_a_row(self._rules[0]))
        self._made = import_module("spacy.tokens").Doc
        self._known: dict[tuple[int, int, int], WordFacts] = {}

    def facts(self, doc: Any) -> list[WordFacts]:
        """The results for each token of a document, in order."""
        named = {text for token in doc for text in (token.lower_, f"{_RELATION}{token.dep_}")}
        if any(needed <= named for needed in self._several):
            self._apply(doc)
            return [WordFacts(token.lemma_, token.pos_) for token in doc]
        keys = [(token.orth, token.tag, token.dep) for token in doc]
        missing = {key: token for key, token in zip(keys, doc, strict=True) if key not in self._known}
        if missing:
            self._learn(list(missing), list(missing.values()), doc.vocab)
        return [self._known[key] for key in keys]

    def _learn(self, keys: Sequence[tuple[int, int, int]], tokens: Sequence[Any], vocab: Any) -> None:
        if len(self._known) + len(keys) > _MOST_KEPT:
            self._known.clear()
        alone = self._made(
            vocab,
            words=[token.text for token in tokens],
            tags=[token.tag_ for token in tokens],
            deps=[token.dep_ for token in tokens],
            heads=[0] * len(tokens),
        )
        self._apply(alone)
        self._known.update((key, WordFacts(token.lemma_, token.pos_)) for key, token in zip(keys, alone, strict=True))

    def _apply(self, doc: Any) -> None:
        for rule in self._rules:
            rule(doc)


def _words_in_a_row(ruler: Any) -> Iterator[frozenset[str]]:
    """The words and relations that must occur for a rule about consecutive words to apply, by rule."""
    for rule in ruler.patterns:
        for pattern in rule["patterns"]:
            if len(pattern) > 1:
                named = (
                    (mark, token.get(name)) for token in pattern for name, mark in (("LOWER", ""), ("DEP", _RELATION))
                )
                yield frozenset(f"{mark}{text}" for mark, text in named if isinstance(text, str))
