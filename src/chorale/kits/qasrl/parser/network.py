"""The network: a BiLSTM over the sentence, a score for each span of each verb, and a question for the selected spans.

    x = word ⊕ pieces ⊕ tags ⊕ states of the tagger,   h = BiLSTM(x)
    z = ReLU(A h(start) + B h(last) + C h(head) + D h(verb) + E h(subject) + F h(object) + features)
    argument, exact = MLP(z),   shape, polarity, preposition = MLP(z)

The score of a shape is its own score plus the scores of its slots, so that *who* or *someone* is learnt across
questions. The same holds for polarities.

Without an encoder, only the states of spaCy's small model are pretrained. With an encoder, its vectors are added to x
and its layers are fine-tuned. The products with h are computed once per token, so each candidate span takes only a few
additions.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from chorale.kits.qasrl.parser.batching import ParserBatch
from chorale.kits.qasrl.parser.encoding import EIGHTHS, PIECES, STATES, TAGS
from chorale.kits.qasrl.parser.inventory import QuestionInventory

if TYPE_CHECKING:
    from chorale.kits.qasrl.parser.encoder import PretrainedEncoder


@dataclass(frozen=True, slots=True)
class ParserShape:
    """Layer sizes and dropout."""

    word: int = 96
    pieces: int = 64
    tags: int = 48
    hidden: int = 128
    layers: int = 1
    span: int = 192
    question: int = 256
    dropout: float = 0.4
    word_dropout: float = 0.3
    """Dropout of word vectors in training, because unseen words have none."""
    feature_dropout: float = 0.1


class ParserNetwork(nn.Module):
    def __init__(
        self,
        inventory: QuestionInventory,
        sizes: tuple[int, int],
        shape: ParserShape,
        encoder: "PretrainedEncoder | None" = None,
    ) -> None:
        """`sizes`: sizes of the word and feature vocabularies."""
        super().__init__()
        self.shape, self.encoder = shape, encoder
        self.word = nn.Embedding(sizes[0], shape.word, padding_idx=0)
        self.piece = nn.EmbeddingBag(PIECES, shape.pieces, mode="mean")
        self.tag = nn.EmbeddingBag(TAGS, shape.tags, mode="sum")
        self.lstm = nn.LSTM(
            shape.word + shape.pieces + shape.tags + STATES + (encoder.width if encoder else 0),
            shape.hidden,
            num_layers=shape.layers,
            bidirectional=True,
            batch_first=True,
            dropout=shape.dropout if shape.layers > 1 else 0.0,
        )
        self.places = nn.Linear(2 * shape.hidden, 6 * shape.span)
        self.feature = nn.EmbeddingBag(sizes[1], shape.span, mode="sum", padding_idx=0)
        self.score = nn.Sequential(nn.Linear(shape.span, 64), nn.ReLU(), nn.Linear(64, 2))
        self.register_buffer("shapes", torch.from_numpy(_parts(inventory.shapes)), persistent=False)
        self.register_buffer("polarities", torch.from_numpy(_parts(inventory.polarities)), persistent=False)
        self.sizes = self.shapes.shape[1], self.polarities.shape[1], len(inventory.prepositions)
        self.question = nn.Sequential(
            nn.Linear(shape.span, shape.question),
            nn.ReLU(),
            nn.Dropout(shape.dropout),
            nn.Linear(shape.question, sum(self.sizes)),
        )
        self.drop = nn.Dropout(shape.dropout)
        for table in (self.word, self.feature):
            nn.init.zeros_(table.weight)
        for table in (self.piece, self.tag):
            nn.init.normal_(table.weight, std=0.3)

    def forward(self, batch: ParserBatch) -> Any:
        """The vector z of every span."""
        at = self.feature.weight.device

        def given(values: Any) -> Any:
            return torch.from_numpy(values).to(at, non_blocking=True)

        words = self.word(given(batch.words))
        if self.training:
            kept = torch.rand(len(words), 1, device=at) >= self.shape.word_dropout
            words = words * kept
        pieces = self.piece(given(batch.pieces), given(batch.piece_starts))
        known = [words, pieces, self.tag(given(batch.tags)), given(batch.states).float() / EIGHTHS]
        if self.encoder is not None:
            known.append(self.encoder(batch.texts))
        x = self.drop(torch.cat(known, dim=-1))
        padded = nn.utils.rnn.pad_sequence(torch.split(x, batch.lengths.tolist()), batch_first=True)
        packed = nn.utils.rnn.pack_padded_sequence(
            padded, torch.from_numpy(batch.lengths), batch_first=True, enforce_sorted=False
        )
        h, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        inside = torch.arange(h.shape[1], device=at) < given(batch.lengths)[:, None]
        start, last, head, verb, subject, acted_on = self._with_nothing(self.places(self.drop(h[inside])))
        named = given(batch.participants)
        verbs = verb[given(batch.verbs)] + subject[named[:, 0]] + acted_on[named[:, 1]]
        verbs = verbs + self.feature(self._some(given(batch.verb_features)), given(batch.verb_starts))
        z = self.feature(self._some(given(batch.span_features))) + start[given(batch.start)] + last[given(batch.last)]
        return torch.relu(z + head[given(batch.head)] + verbs[given(batch.span_verb)])

    def _with_nothing(self, placed: Any) -> Any:
        """Appends a row of zeros for index −1."""
        return torch.cat([placed, torch.zeros_like(placed[:1])]).chunk(6, dim=-1)

    def _some(self, features: Any) -> Any:
        """Drops some features in training, to prepare for unseen features."""
        if not self.training:
            return features
        return features * (torch.rand(features.shape, device=features.device) >= self.shape.feature_dropout)

    def scores(self, z: Any) -> Any:
        """Spans × 2 logits: whether the span is an argument, and how close it is to one."""
        return self.score(self.drop(z))

    def questions(self, z: Any) -> tuple[Any, Any, Any]:
        """Logits of the shapes, polarities and prepositions."""
        shape, polarity, preposition = self.question(self.drop(z)).split(self.sizes, dim=-1)
        return shape @ self.shapes.T, polarity @ self.polarities.T, preposition


def _parts(combinations: Sequence[tuple[Hashable, ...]]) -> NDArray[np.float32]:
    """Combinations × parts: 1 where a combination has a part. Each combination is also a part of itself."""
    named = [[*enumerate(combination), combination] for combination in combinations]
    places: dict[Hashable, int] = {}
    for parts in named:
        for part in parts:
            places.setdefault(part, len(places))
    table = np.zeros((len(named), len(places)), dtype=np.float32)
    for row, parts in enumerate(named):
        table[row, [places[part] for part in parts]] = 1
    return table
