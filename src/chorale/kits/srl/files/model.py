"""Semantic roles in memory: one model for every file format."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from chorale.model.plural import plural
from chorale.model.reprs import brief_repr

Heads = tuple[int, ...]


class SrlArgument(NamedTuple):
    """One piece of an argument, as a file has it: `C-` and `R-` labels are not resolved yet.

    Tokens are counted from 0. Of a format that marks heads, `first` and `last` are both the head.
    """

    label: str
    first: int
    last: int


class SrlPredicate(NamedTuple):
    """A token that has arguments."""

    position: int
    lemma: str
    """What srl-eval.pl compares: of `buy_out.03` it is `buy`."""
    sense: str
    """`buy.01`, or a frame's name. CoNLL-2005 files have no senses: there it is the lemma."""
    arguments: tuple[SrlArgument, ...]


class Sentence(NamedTuple):
    """Tokens, their syntax where the format has it, and the predicates in the order they stand in."""

    line: int
    """Where it begins in its file."""
    length: int
    predicates: tuple[SrlPredicate, ...]
    forms: tuple[str, ...] = ()
    lemmas: tuple[str, ...] = ()
    upos: tuple[str, ...] = ()
    xpos: tuple[str, ...] = ()
    feats: tuple[str, ...] = ()
    heads: Heads = ()
    """Of every token the number of its head, counted from 1; 0 is the root. Empty if the file has no syntax."""
    deprels: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        return " ".join(self.forms)


@dataclass(frozen=True, slots=True)
class Corpus:
    """What a file holds."""

    name: str
    """As messages show it."""
    format: str
    """The name of its reader."""
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
        """Whether predicates have senses; otherwise the verb stands for its sense."""
        return self.format != "conll05"

    @property
    def has_syntax(self) -> bool:
        return bool(self.sentences) and all(sentence.heads for sentence in self.sentences)


PREDICATE_ITSELF = frozenset({"V", "C-V"})
"""Labels of the predicate's own tokens. Readers leave them out: no scorer counts them."""


@lru_cache(maxsize=4096)
def canonical(label: str) -> str:
    """One spelling for a role: `ARG0` is `A0`, `ARGM-TMP` and `AM-TMP` are the same, also behind `C-` and `R-`.

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
    """The verb of a sense, without its particle and its number.

    >>> [lemma_of(sense) for sense in ("buy.01", "buy_out.03", "Commerce_buy", "_")]
    ['buy', 'buy', 'Commerce_buy', '_']
    """
    lemma, dot, _ = sense.rpartition(".")
    if not dot:
        return sense
    return lemma.partition("_")[0] or lemma
