"""The network: a BiLSTM over the sentence, and a score for every candidate frame of the target.

    x = word ⊕ mean of pieces,   h = BiLSTM(x),   t = mean over the target's tokens of (h ⊕ x)
    v(f) = ReLU(W (t ⊕ unit)) · frame + bias(frame) + bias(unit, frame)

It has no pretrained vectors: everything is learnt from FrameNet's texts.
"""

from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

from chorale.kits.frames.baselines.lexicon import TensorBatch

_NEVER = -1e9


@dataclass(frozen=True, slots=True)
class NetworkShape:
    """Layer sizes and dropout."""

    word: int = 64
    pieces: int = 64
    hidden: int = 128
    unit: int = 64
    dropout: float = 0.5
    word_dropout: float = 0.3
    """How often a word is replaced with the unknown word in training, to learn its vector."""
    unit_dropout: float = 0.3


class Network(nn.Module):
    def __init__(self, sizes: dict[str, int], shape: NetworkShape) -> None:
        super().__init__()
        self.shape = shape
        token = shape.word + shape.pieces
        self.word = nn.Embedding(sizes["words"], shape.word, padding_idx=0)
        self.piece = nn.EmbeddingBag(sizes["pieces"], shape.pieces, mode="mean")
        self.lstm = nn.LSTM(token, shape.hidden, bidirectional=True, batch_first=True)
        self.unit = nn.Embedding(sizes["units"], shape.unit)
        self.middle = nn.Linear(2 * shape.hidden + token + shape.unit, shape.hidden)
        self.frame = nn.Embedding(sizes["frames"], shape.hidden)
        self.frame_bias = nn.Embedding(sizes["frames"], 1)
        self.pair_bias = nn.Embedding(sizes["pairs"], 1)
        self.drop = nn.Dropout(shape.dropout)
        for table in (self.unit, self.frame):
            nn.init.normal_(table.weight, std=0.1)
        for table in (self.frame_bias, self.pair_bias):
            nn.init.zeros_(table.weight)

    def forward(self, batch: TensorBatch) -> Any:
        """Scores v(f) of every candidate of every target, with a very small number for padding."""
        words = self._without_some(torch.from_numpy(batch.words), self.shape.word_dropout, 1)
        pieces = self.piece(torch.from_numpy(batch.pieces), torch.from_numpy(batch.piece_starts))
        x = self.drop(torch.cat([self.word(words), pieces.view(*words.shape, -1)], dim=-1))
        packed = nn.utils.rnn.pack_padded_sequence(
            x, torch.from_numpy(batch.lengths), batch_first=True, enforce_sorted=False
        )
        h, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True, total_length=words.shape[1])
        tokens = torch.cat([self.drop(h), x], dim=-1).flatten(0, 1)
        units = self._without_some(torch.from_numpy(batch.units), self.shape.unit_dropout, 0)
        spoken = tokens[torch.from_numpy(batch.token_place)] * torch.from_numpy(batch.token_share)[:, None]
        target = torch.zeros(len(units), tokens.shape[-1]).index_add_(0, torch.from_numpy(batch.token_target), spoken)
        middle = self.drop(torch.relu(self.middle(torch.cat([target, self.unit(units)], dim=-1))))
        frames = torch.from_numpy(batch.frames)
        v = torch.einsum("nd,ncd->nc", middle, self.frame(frames)) + self.frame_bias(frames)[..., 0]
        v = v + self.pair_bias(torch.from_numpy(batch.pairs))[..., 0]
        return v.masked_fill(~torch.from_numpy(batch.real), _NEVER)

    def _without_some(self, codes: Any, rate: float, instead: int) -> Any:
        """Replaces some codes in training. Padding, which is 0, is kept."""
        if not self.training:
            return codes
        gone = (torch.rand(codes.shape) < rate) & (codes > 0)
        return torch.where(gone, torch.full_like(codes, instead), codes)
