"""Candidate frames of a word: those of its lexical unit, and those of its WordNet senses.

A map gives the frames of a sense. Published maps cover few senses, so candidates can also come from related senses, as
in Framester: from senses whose words include a lexical unit, and along WordNet's relations. More distant frames score
lower:

    score(frame) = max over paths from a sense of the word to a sense with the frame, of the product of
                   0.5 to 0.8 for a first step sideways, 0.9 per step to a hypernym, 0.3 for a last step sideways,
                   and the confidence that the sense has the frame (1 if the map lists it)

The last step sideways is taken only to senses that certainly have the frame, because others add almost no correct
candidates. The frames of the word's own lexical unit always come first.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import Literal

from chorale.kits.frames.framenet import FrameNet
from chorale.text.wordnet import Synset, WordNet

Reach = Literal["units", "map", "synonyms", "related"]
"""Sources of candidates: FrameNet's lexical units only; with the map; with lexical units that share a sense; with all
senses that WordNet's relations lead to.
"""

_POS = {"v": "v", "n": "n", "a": "a", "adv": "r"}
"""WordNet's names of FrameNet's parts of speech."""
_SIDEWAYS = {"+": 0.7, "$": 0.8, "^": 0.5, "!": 0.5}
"""Links to senses with a related meaning: derived, grouped, see also, antonym."""
_UP = 0.9
_FROM_THERE = 0.3
_OWN = 2.0
_SURE, _AMONG_ITS_LIKE, _FIRST_SENSE, _ANY_SENSE, _DERIVED = 1.0, 0.6, 0.35, 0.12, 0.05
"""Confidence that a lexical unit has a sense: its lemma has no other sense; words of the same frame are near; it is the
most frequent sense; none of these; the sense belongs to a derived word.
"""


class CandidateFrames:
    """Finds candidate frames of words. Results per sense are cached."""

    def __init__(
        self,
        framenet: FrameNet,
        wordnet: WordNet | None = None,
        mapped: Mapping[str, Iterable[str]] | None = None,
        reach: Reach = "map",
    ) -> None:
        if wordnet is None and reach != "units":
            raise ValueError(f"reach {reach!r} requires WordNet")
        self.framenet = framenet
        self.wordnet = wordnet
        self.reach = reach
        self._mapped = {} if mapped is None else mapped
        self._scores_of: dict[str, Mapping[str, float]] = {}

    def candidates(self, lemma: str, pos: str = "v") -> list[str]:
        """The frames of a lemma with a part of speech (FrameNet's `v`, `n`, `a`, `adv`), nearest first."""
        return list(self.ranked(lemma, pos))

    def ranked(self, lemma: str, pos: str = "v") -> dict[str, float]:
        """The frames of a lemma with their scores, in order. Frames of the lemma's own lexical unit have 2."""
        scores = dict.fromkeys(self.framenet.units(lemma, pos), _OWN)
        if self.wordnet is not None and pos in _POS:
            for sense in self.wordnet.senses(lemma, _POS[pos]):
                for frame, score in self.of_sense(sense).items():
                    scores[frame] = max(score, scores.get(frame, 0.0))
        return dict(sorted(scores.items(), key=lambda pair: (-pair[1], pair[0])))

    def of_sense(self, sense: str) -> Mapping[str, float]:
        """The frames of a WordNet sense, given by name, with their scores."""
        if sense not in self._scores_of:
            self._scores_of[sense] = self._scores(sense)
        return self._scores_of[sense]

    def in_framenet(self, lemma: str, pos: str = "v") -> bool:
        """Whether FrameNet has the lemma as a lexical unit."""
        return bool(self.framenet.units(lemma, pos))

    def _scores(self, sense: str) -> dict[str, float]:
        if self.reach == "units":
            return {}
        if self.reach == "map":
            return dict.fromkeys(self._mapped.get(sense, ()), 1.0)
        near, beside = self._reached(sense) if self.reach == "related" else ({sense: 1.0}, {})
        scores: dict[str, float] = {}
        for reached, surest in ((near, 0.0), (beside, _SURE)):
            for other, weight in reached.items():
                for frame, sure in self._seeds.get(other, {}).items():
                    if sure >= surest:
                        scores[frame] = max(weight * sure, scores.get(frame, 0.0))
        return scores

    def _reached(self, sense: str) -> tuple[dict[str, float], dict[str, float]]:
        """All reached senses, and their neighbours, each with its proximity.

        Frames of neighbours count only if their confidence is 1.
        """
        start = {sense: 1.0} | {other: _SIDEWAYS[link] for link, other in self._links(sense) if link in _SIDEWAYS}
        reached: dict[str, float] = {}
        beside: dict[str, float] = {}
        for first, near in start.items():
            edge, seen, weight = {first}, {first}, near
            while edge:
                for each in edge:
                    reached[each] = max(weight, reached.get(each, 0.0))
                    for link, other in self._links(each):
                        if link in _SIDEWAYS:
                            beside[other] = max(weight * _FROM_THERE, beside.get(other, 0.0))
                edge = {other for each in edge for link, other in self._links(each) if link in ("@", "@i")} - seen
                seen |= edge
                weight *= _UP
        return reached, beside

    @cached_property
    def _seeds(self) -> Mapping[str, Mapping[str, float]]:
        """The frames of each sense from the map and from its words, with their confidence."""
        seeds: defaultdict[str, dict[str, float]] = defaultdict(dict)
        for frame, lemmas in self._lemmas_of_frames().items():
            for lemma, pos in lemmas:
                senses = () if self.wordnet is None else self.wordnet.senses(lemma, pos)
                for number, sense in enumerate(senses):
                    if len(senses) == 1:
                        sure = _SURE
                    elif self._among_its_like(sense, (lemma, pos), lemmas):
                        sure = _AMONG_ITS_LIKE
                    else:
                        sure = _ANY_SENSE if number else _FIRST_SENSE
                    seeds[sense][frame] = max(sure, seeds[sense].get(frame, 0.0))
                for sense in self._senses_of_derived(lemma, pos):
                    seeds[sense].setdefault(frame, _DERIVED)
        for sense, frames in self._mapped.items():
            seeds[sense].update(dict.fromkeys(frames, _SURE))
        return seeds

    def _senses_of_derived(self, lemma: str, pos: str) -> Iterator[str]:
        """All senses of the verbs and nouns related to a word: *amount to* leads to all senses of *amount*."""
        if self.wordnet is not None and self.reach == "related":
            for word, part in sorted(self.wordnet.derived(lemma, pos)):
                if part in ("v", "n"):
                    yield from self.wordnet.senses(word, part)

    def _lemmas_of_frames(self) -> dict[str, set[tuple[str, str]]]:
        lemmas: defaultdict[str, set[tuple[str, str]]] = defaultdict(set)
        for unit, frames in self.framenet.lexical_units.items():
            lemma, _, pos = unit.rpartition(".")
            if pos in _POS:
                for frame in frames:
                    lemmas[frame].add((lemma.replace(" ", "_"), _POS[pos]))
        return lemmas

    def _among_its_like(self, sense: str, own: tuple[str, str], lemmas: set[tuple[str, str]]) -> bool:
        """Whether another word of the frame has the sense, is linked to it, or shares its hypernym."""
        near = {sense} | {other for _, other in self._links(sense)}
        for link, above in self._links(sense):
            if link == "@":
                near |= {other for symbol, other in self._links(above) if symbol == "~"}
        words = {(word, name[-1]) for name in near if (synset := self._synset(name)) for word in synset.lemmas}
        return bool(words & lemmas - {own})

    def _synset(self, sense: str) -> Synset | None:
        return None if self.wordnet is None else self.wordnet.synset(sense)

    def _links(self, sense: str) -> tuple[tuple[str, str], ...]:
        synset = self._synset(sense)
        return () if synset is None else synset.links
