"""Sentences where the crowd sees several frames, and the relations between them (Dumitrache et al. 2019, section 2.3).

A frame has a majority if more than half of the sentence's workers chose it, before weighting. Two frames are confused
if both have a frame-sentence score (FSS) above a threshold. The weight of a pair is the smaller score, summed over all
sentences.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations

from chorale.kits.frames.files.sentences import NONE, FrameSentence
from chorale.kits.frames.framenet import FrameNet

BOUND = 0.2
"""FSS above which a frame counts as present in a sentence."""
SHARED_UNITS = 0.1
"""Minimum fraction of the smaller frame's words that two overlapping frames share."""


class Relation(StrEnum):
    """The relation between two confused frames."""

    PARENT_CHILD = "parent and child"
    """One is above the other in FrameNet, directly or with one frame between them."""
    OVERLAPPING = "overlapping"
    """They share a parent or enough words, or have another FrameNet relation."""
    COMPOSED = "composed"
    """Neither. Together they may describe the meaning of the word."""


@dataclass(frozen=True, slots=True)
class Majorities:
    """Number of sentences by their number of majority frames."""

    none: int
    single: int
    several: int

    @property
    def sentences(self) -> int:
        return self.none + self.single + self.several


@dataclass(frozen=True, slots=True)
class ConfusedPair:
    first: str
    second: str
    sentences: tuple[str, ...]
    """Sentences in which both are present, strongest first."""
    weight: float
    relation: Relation | None
    """None without FrameNet."""
    links: tuple[str, ...]
    """FrameNet's names of their direct relations."""


def majority_frames(sentence: FrameSentence) -> list[str]:
    """The frames that more than half of the workers chose."""
    return [name for name, score in sentence.ranked() if score.initial > 0.5]


def majorities(sentences: Iterable[FrameSentence]) -> Majorities:
    counts = Counter(min(2, len(majority_frames(sentence))) for sentence in sentences)
    return Majorities(counts[0], counts[1], counts[2])


def seen_frames(sentence: FrameSentence, bound: float = BOUND) -> list[str]:
    return [name for name, score in sentence.ranked() if score.final > bound]


class FrameRelating:
    """Cached relations between frames."""

    def __init__(self, framenet: FrameNet) -> None:
        self._framenet = framenet
        self._units: defaultdict[str, set[str]] = defaultdict(set)
        for unit, frames in framenet.lexical_units.items():
            for frame in frames:
                self._units[frame].add(unit)
        self._known: dict[tuple[str, str], tuple[Relation, tuple[str, ...]]] = {}

    def between(self, first: str, second: str) -> tuple[Relation, tuple[str, ...]]:
        """The relation between two frames, with FrameNet's names of their direct relations."""
        pair = (min(first, second), max(first, second))
        if pair not in self._known:
            self._known[pair] = self._related(*pair)
        return self._known[pair]

    def _related(self, first: str, second: str) -> tuple[Relation, tuple[str, ...]]:
        first, second = self._framenet.known(first) or first, self._framenet.known(second) or second
        links = self._framenet.links
        named = tuple(sorted({link.kind for link in links.between(first, second)}))
        above, over = links.parents(first), links.parents(second)
        if second in above or first in over or self._over(above, second) or self._over(over, first):
            return Relation.PARENT_CHILD, named
        if named or above & over or self._share_words(first, second):
            return Relation.OVERLAPPING, named
        return Relation.COMPOSED, named

    def _over(self, parents: Iterable[str], frame: str) -> bool:
        return any(frame in self._framenet.links.parents(parent) for parent in parents)

    def _share_words(self, first: str, second: str) -> bool:
        left, right = self._units[first], self._units[second]
        smaller = min(len(left), len(right))
        return smaller > 0 and len(left & right) >= max(1.0, SHARED_UNITS * smaller)


def confused_pairs(
    sentences: Iterable[FrameSentence], relating: FrameRelating | None = None, bound: float = BOUND
) -> list[ConfusedPair]:
    """Pairs of frames that are present in the same sentences, ordered by weight, largest first."""
    weights: defaultdict[tuple[str, str], list[tuple[float, str]]] = defaultdict(list)
    for sentence in sentences:
        for first, second in combinations(sorted(seen_frames(sentence, bound)), 2):
            weight = min(sentence.frames[first].final, sentence.frames[second].final)
            weights[first, second].append((weight, sentence.id))
    pairs = []
    for (first, second), weighed in weights.items():
        relation, links = relating.between(first, second) if relating is not None else (None, ())
        ordered = sorted(weighed, key=lambda pair: (-pair[0], pair[1]))
        pairs.append(
            ConfusedPair(first, second, tuple(name for _, name in ordered), sum(w for w, _ in ordered), relation, links)
        )
    return sorted(pairs, key=lambda pair: (-pair.weight, pair.first, pair.second))


def why_unclear(sentence: FrameSentence, relating: FrameRelating, bound: float = BOUND) -> Relation | None:
    """The relation between the frames present in a sentence, or None if there are fewer than two.

    The strongest relation of any pair counts, in the order of the paper's appendix: parent and child, overlap,
    composition.
    """
    seen = seen_frames(sentence, bound)
    kinds = {relating.between(one, other)[0] for one, other in combinations(seen, 2)}
    return next((kind for kind in Relation if kind in kinds), None)


def histogram(values: Sequence[float], bins: int = 20) -> list[int]:
    """Number of values in each equal-width bin from 0 to 1."""
    counts = Counter(min(bins - 1, max(0, int(value * bins))) for value in values)
    return [counts[place] for place in range(bins)]


def none_score(sentence: FrameSentence) -> float:
    """Fraction of workers, weighted by quality, who found that no candidate fits."""
    score = sentence.frames.get(NONE)
    return 0.0 if score is None else score.final
