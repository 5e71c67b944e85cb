"""Batches of encoded sentences for the network."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from chorale.kits.qasrl.parser.encoding import Codes, EncodedSentence
from chorale.kits.qasrl.parser.vocabulary import HashedVocabulary


class Vocabularies(NamedTuple):
    words: HashedVocabulary
    features: HashedVocabulary

    @classmethod
    def of(cls, sentences: Sequence[EncodedSentence], words: int, features: int) -> "Vocabularies":
        """Vocabularies of training sentences: `words` and `features` are the minimum frequencies."""
        of_verbs = (_joined(sentence.verb_features) for sentence in sentences)
        of_spans = (sentence.span_features.ravel() for sentence in sentences)
        return cls(
            HashedVocabulary.of((sentence.words for sentence in sentences), words),
            HashedVocabulary.of(chain(of_verbs, of_spans), features),
        )


@dataclass(frozen=True, slots=True)
class ParserBatch:
    """Tokens, verbs and spans of several sentences, concatenated. Positions count tokens of the whole batch."""

    lengths: Codes
    words: Codes
    pieces: Codes
    piece_starts: Codes
    tags: Codes
    states: NDArray[np.int8]
    texts: tuple[tuple[str, ...], ...]
    """Number of tokens of each sentence."""
    verbs: Codes
    participants: Codes
    """Verbs × 2: positions of subject and object, −1 for none."""
    verb_features: Codes
    verb_starts: Codes
    span_verb: Codes
    """The verb number of each span."""
    start: Codes
    last: Codes
    head: Codes
    span_features: Codes


@dataclass(frozen=True, slots=True)
class SentenceTargets:
    """Training targets for the spans of a sentence, for all verbs."""

    argument: NDArray[np.float32]
    exact: NDArray[np.float32]
    asked: Codes
    """Questions × 4: span, shape, polarity and preposition, −1 for none."""
    weight: NDArray[np.float32]


def batch_of(sentences: Sequence[EncodedSentence], vocabularies: Vocabularies) -> ParserBatch:
    lengths = [len(sentence.words) for sentence in sentences]
    before = [0, *accumulate(lengths)]
    pieces = list(chain.from_iterable(sentence.pieces for sentence in sentences))
    features = list(chain.from_iterable(sentence.verb_features for sentence in sentences))
    counts = list(chain.from_iterable(sentence.span_counts for sentence in sentences))
    spans = np.concatenate([sentence.spans + first for sentence, first in zip(sentences, before, strict=False)])
    return ParserBatch(
        lengths=np.array(lengths, dtype=np.int64),
        words=vocabularies.words.numbers(np.concatenate([sentence.words for sentence in sentences])),
        pieces=_joined(pieces),
        piece_starts=_starts(pieces),
        tags=np.concatenate([sentence.tags for sentence in sentences]),
        states=np.concatenate([sentence.states for sentence in sentences]),
        texts=tuple(sentence.texts for sentence in sentences),
        verbs=_joined([[verb + first for verb in one.verbs] for one, first in zip(sentences, before, strict=False)]),
        participants=_shifted([sentence.participants for sentence in sentences], before),
        verb_features=vocabularies.features.numbers(_joined(features)),
        verb_starts=_starts(features),
        span_verb=np.repeat(np.arange(len(counts)), counts),
        start=spans[:, 0],
        last=spans[:, 1] - 1,
        head=spans[:, 2],
        span_features=vocabularies.features.numbers(np.concatenate([sentence.span_features for sentence in sentences])),
    )


def targets_together(targets: Sequence[SentenceTargets]) -> SentenceTargets:
    """The targets of a batch, with spans numbered as in the batch."""
    before = np.cumsum([0, *(len(one.argument) for one in targets)])
    asked = [one.asked + np.array([first, 0, 0, 0]) for one, first in zip(targets, before, strict=False)]
    return SentenceTargets(
        np.concatenate([one.argument for one in targets]),
        np.concatenate([one.exact for one in targets]),
        np.concatenate(asked),
        np.concatenate([one.weight for one in targets]),
    )


def _shifted(tables: Sequence[Codes], before: Sequence[int]) -> Codes:
    moved = [np.where(table < 0, -1, table + first) for table, first in zip(tables, before, strict=False)]
    return np.concatenate(moved)


def _joined(lists: Sequence[Sequence[int]]) -> Codes:
    return np.fromiter(chain.from_iterable(lists), dtype=np.int64)


def _starts(lists: Sequence[Sequence[int]]) -> Codes:
    return np.fromiter(accumulate([0, *map(len, lists[:-1])] if lists else []), dtype=np.int64)
