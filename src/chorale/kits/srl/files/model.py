"""Semantic roles in memory: one model for every file format."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from chorale.model.plural import plural
from chorale.model.reprs import brief_repr

Heads = tuple[int, ...]


class SrlArgument(NamedTuple):
    """One piece of an argument as written in the file: `C-` and `R-` labels are not resolved yet.

    Tokens are counted from 0. In formats that mark heads, `first` and `last` are both the head.
    """

    label: str
    first: int
    last: int


class SrlPredicate(NamedTuple):
    """A token that has arguments."""

    position: int
    lemma: str
    """The verb that srl-eval.pl compares: `buy` for `buy_out.03`."""
    sense: str
    """`buy.01` or the name of a frame. For CoNLL-2005 files, which have no senses, the lemma."""
    arguments: tuple[SrlArgument, ...]


class Sentence(NamedTuple):
    """Tokens, their syntax if the format has it, and the predicates in text order."""

    line: int
    """Number of its first line in the file."""
    length: int
    predicates: tuple[SrlPredicate, ...]
    forms: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()
    upos: tuple[str, ...] = ()
    xpos: tuple[str, ...] = ()
    feats: tuple[str, ...] = ()
    heads: Heads = ()
    """The head of each token, counted from 1; 0 is the root. Empty if the file has no syntax."""
    deprels: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(self.forms)


@dataclass(frozen=True, slots=True)
class Corpus:
    """The sentences of a file."""

    name: str
    """Name of the file in messages."""
    format: str
    """Name of the format."""
    digest: str
    sentences: Sequence[Sentence]

    def __repr__(self) -> str:
        return brief_repr("Corpus", self.name, self.format, plural(len(self.sentences), "sentence", "sentences"))

    @property
    def marks_spans(self) -> bool:
        """Whether arguments are spans; otherwise they are heads."""
        return self.format in ("conll05", "conll12", "conllup-spans")

    @property
    def has_senses(self) -> bool:
        """Whether predicates have senses; otherwise the verb is used as the sense."""
        return self.format != "conll05"

    @property
    def has_syntax(self) -> bool:
        return bool(self.sentences) and all(sentence.heads for sentence in self.sentences)


PREDICATE_ITSELF = frozenset({"V", "C-V"})
"""Labels of the predicate's own tokens. Readers leave them out: no scorer counts them."""


@lru_cache(maxsize=4096)
def canonical(label: str) -> str:
    """Normalises the name of a role: `ARG0` becomes `A0` and `ARGM-TMP` becomes `AM-TMP`, also after `C-` and `R-`.

    >>> [canonical(label) for label in ("ARG1", "C-ARG1", "R-ARGM-LOC", "A0", "Buyer")]
    ['A1', 'C-A1', 'R-AM-LOC', 'A0', 'Buyer']
    """
    prefix, name = "", label
    while name[:2] in ("C-", "R-"):
        prefix, name = prefix + name[:2], name[2:]
    if name.startswith("ARG") and len(name) > 3 and (name[3].isdigit() or name[3] in "MA"):
        name = "A" + name[3:]
    return prefix + name


@lru_cache(maxsize=65536)
def lemma_of(sense: str) -> str:
    """The verb of a sense, without particle and number.

    >>> [lemma_of(sense) for sense in ("buy.01", "buy_out.03", "Commerce_buy", "_")]
    ['buy', 'buy', 'Commerce_buy', '_']
    """
    lemma, dot, _ = sense.rpartition(".")
    if not dot:
        return sense
    return lemma.partition("_")[0] or lemma
