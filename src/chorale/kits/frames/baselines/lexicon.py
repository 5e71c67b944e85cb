"""The vocabulary of a classifier: words, subwords, lexical units and their frames."""

import re
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from chorale.kits.frames.baselines.fulltext import TargetSentence, TargetWord

PIECES = 2**13
"""Number of hash buckets for subwords."""
_PADDING, _UNKNOWN = 0, 1
_SPECIAL = 2
_SHORTEST, _LONGEST = 3, 5
_LONGEST_WORD = 40
Codes = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TensorBatch:
    """Sentences and their targets as arrays. Targets of unknown lexical units are included."""

    words: Codes
    """Sentences × maximum length, padded with 0."""
    lengths: Codes
    pieces: Codes
    """Subwords of all tokens, concatenated."""
    piece_starts: Codes
    units: Codes
    """The lexical unit of each target."""
    token_target: Codes
    """For every token of a target, the number of the target and the position of the token."""
    token_place: Codes
    token_share: NDArray[np.float32]
    frames: Codes
    """Targets × maximum number of candidates."""
    pairs: Codes
    """The index of each pair of unit and frame in the network's table of pairs."""
    real: NDArray[np.bool_]
    right: Codes
    """The index of the correct candidate, or −1."""


@dataclass(frozen=True, slots=True, eq=False)
class Lexicon:
    words: tuple[str, ...]
    frames: tuple[str, ...]
    units: Mapping[str, tuple[str, ...]]
    """The candidate frames of each lexical unit, both sorted."""
    _word: dict[str, int] = field(default_factory=dict, repr=False)
    _frame: dict[str, int] = field(default_factory=dict, repr=False)
    _unit: dict[str, int] = field(default_factory=dict, repr=False)
    _first_pair: dict[str, int] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._word.update({word: number for number, word in enumerate(self.words, _SPECIAL)})
        self._frame.update({frame: number for number, frame in enumerate(self.frames)})
        pairs = 0
        for number, (unit, frames) in enumerate(self.units.items(), 1):
            self._unit[unit] = number
            self._first_pair[unit] = pairs
            pairs += len(frames)

    @classmethod
    def of(
        cls, sentences: Iterable[TargetSentence], units: Mapping[str, Sequence[str]], *, at_least: int = 2
    ) -> "Lexicon":
        """All words with the minimum frequency, and all lexical units, including unseen ones."""
        counts = Counter(token.casefold() for sentence in sentences for token in sentence.tokens)
        return cls(
            tuple(sorted(word for word, count in counts.items() if count >= at_least)),
            tuple(sorted({frame for frames in units.values() for frame in frames})),
            {unit: tuple(sorted(units[unit])) for unit in sorted(units)},
        )

    @property
    def sizes(self) -> dict[str, int]:
        """Number of rows of the network's tables."""
        return {
            "words": len(self.words) + _SPECIAL,
            "pieces": PIECES,
            "units": len(self.units) + 1,
            "frames": len(self.frames),
            "pairs": sum(map(len, self.units.values())),
        }

    def candidates(self, unit: str) -> tuple[str, ...]:
        return self.units.get(unit, ())

    def batch(self, sentences: Sequence[TargetSentence]) -> TensorBatch:
        longest = max(len(sentence.tokens) for sentence in sentences)
        words = np.full((len(sentences), longest), _PADDING, dtype=np.int64)
        pieces: list[int] = []
        starts: list[int] = []
        targets: list[tuple[int, TargetWord]] = []
        for row, sentence in enumerate(sentences):
            for place in range(longest):
                starts.append(len(pieces))
                if place < len(sentence.tokens):
                    words[row, place] = self._word.get(sentence.tokens[place].casefold(), _UNKNOWN)
                    pieces.extend(pieces_of(sentence.tokens[place]))
            targets += [(row * longest, target) for target in sentence.targets]
        options = [self.candidates(target.unit) for _, target in targets]
        shape = (len(targets), max((len(frames) for frames in options), default=0) or 1)
        frames, pairs = np.zeros(shape, dtype=np.int64), np.zeros(shape, dtype=np.int64)
        real = np.zeros(shape, dtype=np.bool_)
        right = np.full(len(targets), -1, dtype=np.int64)
        for row, ((_, target), names) in enumerate(zip(targets, options, strict=True)):
            frames[row, : len(names)] = [self._frame[name] for name in names]
            pairs[row, : len(names)] = self._first_pair.get(target.unit, 0) + np.arange(len(names))
            real[row, : len(names)] = True
            if target.frame in names:
                right[row] = names.index(target.frame)
        tokens = [
            (row, start + token, 1 / len(target.tokens))
            for row, (start, target) in enumerate(targets)
            for token in target.tokens
        ]
        return TensorBatch(
            words=words,
            lengths=np.asarray([len(sentence.tokens) for sentence in sentences], dtype=np.int64),
            pieces=np.asarray(pieces, dtype=np.int64),
            piece_starts=np.asarray(starts, dtype=np.int64),
            units=np.asarray([self._unit.get(target.unit, 0) for _, target in targets], dtype=np.int64),
            token_target=np.asarray([row for row, _, _ in tokens], dtype=np.int64),
            token_place=np.asarray([place for _, place, _ in tokens], dtype=np.int64),
            token_share=np.asarray([share for _, _, share in tokens], dtype=np.float32),
            frames=frames,
            pairs=pairs,
            real=real,
            right=right,
        )


@lru_cache(maxsize=2**16)
def pieces_of(token: str) -> tuple[int, ...]:
    """Hashes of the token, its shape and its character n-grams of length three to five. They are the same on every
    machine.

    >>> len(pieces_of("ran")), pieces_of("ran") == pieces_of("Ran")
    (8, False)
    """
    whole = f"<{token.casefold()[:_LONGEST_WORD]}>"
    pieces = [whole]
    pieces += [
        whole[start : start + size] for size in range(_SHORTEST, _LONGEST + 1) for start in range(len(whole) - size + 1)
    ]
    shape = re.sub("[a-z]+", "x", re.sub("[A-Z]+", "X", re.sub(r"\d+", "0", token[:_LONGEST_WORD])))
    return tuple(zlib.crc32(piece.encode("utf-8", "surrogatepass")) % PIECES for piece in (*pieces, f"shape {shape}"))
