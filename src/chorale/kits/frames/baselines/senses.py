"""FS: selects a WordNet sense by rule and predicts the frames of that sense.

Framester's own tool (Gangemi et al. 2016) selects the sense with a word sense disambiguator, and looks up the frames of
the sense in Framester's map; profile T also follows WordNet's relations. This package has neither the disambiguator nor
the map. Here, the sense is WordNet's first (most frequent) sense, or the sense whose gloss shares the most words with
the sentence (Lesk). The predicted frames are the nearest frames in the user's map and along WordNet's relations.
"""

from collections.abc import Iterable, Mapping
from typing import Literal

from chorale.kits.frames.baselines.prediction import FramePrediction
from chorale.kits.frames.candidates import CandidateFrames
from chorale.kits.frames.files.words import FrameWord
from chorale.text.alike import words_of
from chorale.text.wordnet import Synset, WordNet

SenseChoice = Literal["first", "lesk"]

_COMMON_WORDS = (
    "a about after all also an and any are as at be been before being but by can could did do does for from had has "
    "have he her his how i if in into is it its more most no not of on one or other our out over she so some such "
    "than that the their them then there these they this those to up was we were what when where which who will with "
    "would you your something someone somebody"
)
_COMMON = frozenset(_COMMON_WORDS.split())
_ALIKE = 5
"""Number of first letters in which two words must agree to count as equal."""


def frames_by_sense(
    words: Iterable[FrameWord], candidates: CandidateFrames, choice: SenseChoice = "first"
) -> list[FramePrediction]:
    """The frames of the selected sense of each verb, each with score 1."""
    if candidates.wordnet is None:
        raise ValueError("selecting senses requires WordNet")
    predictions = []
    for word in words:
        sense = choose_sense(word, candidates.wordnet, choice)
        frames = {} if sense is None else candidates.of_sense(sense)
        predictions.append(FramePrediction(word.id, dict.fromkeys(_nearest(frames), 1.0)))
    return predictions


def choose_sense(word: FrameWord, wordnet: WordNet, choice: SenseChoice) -> str | None:
    """The name of the synset, or None if WordNet has no such verb."""
    lemmas = wordnet.lemmas(word.word, "v")
    senses = wordnet.senses(lemmas[0], "v") if lemmas else ()
    if not senses:
        return None
    if choice == "first":
        return senses[0]
    context = _content(word.text) - {word.word.casefold()[:_ALIKE], lemmas[0][:_ALIKE]}
    # For ties, max takes the first sense, which is the most frequent.
    return max(senses, key=lambda sense: len(context & _gloss_words(wordnet.synset(sense))))


def _gloss_words(synset: Synset | None) -> frozenset[str]:
    """The words of a gloss, of its examples, and of the synset itself."""
    return frozenset() if synset is None else _content(f"{synset.gloss} {' '.join(synset.lemmas)}")


def _content(text: str) -> frozenset[str]:
    return frozenset(word[:_ALIKE] for word in words_of(text) if word not in _COMMON)


def _nearest(frames: Mapping[str, float]) -> list[str]:
    most = max(frames.values(), default=0.0)
    return sorted(frame for frame, score in frames.items() if score == most > 0)
