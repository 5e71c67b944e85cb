"""A light model: surface cues weighted by a conditional logit. No download, no random numbers.

Every option has features x, and P(option) = exp(w·x) / Σ exp(w·x') over the options of its question. The weights w
maximise the penalised likelihood. Features come only from the parts that are shown:

- of the options: position, relative length, similarity to the others, digits, negations, words and bigrams;
- with the question: common words, and words that follow each type of question;
- with the passage: the fraction of an option's words, bigrams and rare words in the passage and its best sentence;
- with both: common words with the sentences that share the most with the question.
"""

import math
import re
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from chorale.kits.questions.baselines.examples import ChoiceExample
from chorale.metrics import FloatArray
from chorale.metrics.aggregation.ascent import climb
from chorale.text.alike import words_of

_SENTENCE = re.compile(r"(?<=[.!?])\s+|\n+")
_STEM = 6
"""Length of a crude stem for all languages: words with the same first letters, up to this length, are equal."""
_NEGATIONS = frozenset({"no", "not", "never", "none", "nobody", "nothing", "neither", "nor", "cannot", "without"})
_TOTALS = frozenset({"all", "every", "always", "only", "both", "any", "everyone", "everything", "none", "above"})
_STEPS = 200
_GAIN = 1e-4

Feature = tuple[str, float]


@dataclass(frozen=True, slots=True)
class LightChoice:
    """Settings of the light model.

    >>> shorter = [ChoiceExample(str(n), "", "", ("long and winding", "short"), 1) for n in range(20)]
    >>> fitted = LightChoice().fit(shorter)
    >>> fitted.predict([ChoiceExample("new", "", "", ("brief", "rather long and slow"), 0)])[0].round().tolist()
    [1.0, 0.0]
    """

    penalty: float = 5.0
    """Strength of the penalty on weights."""
    rare: float = 0.3
    """Scale of the features of single words relative to general features."""
    buckets: int = 2**16
    """Number of hash buckets for feature names."""

    @property
    def signature(self) -> str:
        return f"light:1,penalty:{self.penalty!r},rare:{self.rare!r},buckets:{self.buckets}"

    @property
    def earlier(self) -> None:
        return None

    def fit(self, examples: Sequence[ChoiceExample], seed: int = 0) -> "FittedLight":  # noqa: ARG002 - nothing is drawn
        """Fits the weights by penalised maximum likelihood. The result does not depend on the order of examples or on a
        seed.
        """
        if not examples:
            raise ValueError("there are no examples to train on")
        ordered = sorted(examples, key=lambda one: one.id)
        rarity = Rarity.of(ordered)
        table = _FeatureTable.of(ordered, rarity, self)
        # Only observed features can get a weight, and optimising only those is much faster.
        seen, column = np.unique(table.column, return_inverse=True)
        small = replace(table, column=column.astype(np.intp, copy=False), buckets=len(seen))
        right = np.zeros(table.options)
        right[table.starts[:-1] + [one.right for one in ordered]] = 1.0

        def likelihood(weights: FloatArray) -> tuple[float, FloatArray]:
            chance = small.probabilities(weights)
            value = float(np.log(np.maximum(chance[right > 0], 1e-300)).sum())
            value -= self.penalty / 2 * float(np.einsum("i,i->", weights, weights))
            return value, small.gradient(right - chance) - self.penalty * weights

        summit = climb(likelihood, np.zeros(len(seen)), steps=_STEPS, gain=_GAIN)
        weights = np.zeros(self.buckets)
        weights[seen] = summit.point
        return FittedLight(self, rarity, weights)


@dataclass(frozen=True, slots=True, eq=False)
class FittedLight:
    settings: LightChoice
    rarity: "Rarity"
    weights: FloatArray

    def predict(self, examples: Sequence[ChoiceExample]) -> list[FloatArray]:
        if not examples:
            return []
        table = _FeatureTable.of(examples, self.rarity, self.settings)
        return np.split(table.probabilities(self.weights), table.starts[1:-1])


@dataclass(frozen=True, slots=True, eq=False)
class _FeatureTable:
    """The features of all options of all examples, as parallel arrays."""

    row: NDArray[np.intp]
    column: NDArray[np.intp]
    value: FloatArray
    starts: NDArray[np.intp]
    """Start of the options of each example, and the end of the last."""
    buckets: int

    @classmethod
    def of(cls, examples: Sequence[ChoiceExample], rarity: "Rarity", settings: LightChoice) -> "_FeatureTable":
        rows: list[int] = []
        columns: list[int] = []
        values: list[float] = []
        starts = [0]
        for example in examples:
            for place, features in enumerate(_features(example, rarity, settings.rare)):
                for name, value in features:
                    rows.append(starts[-1] + place)
                    columns.append(_bucket(name, settings.buckets))
                    values.append(value)
            starts.append(starts[-1] + len(example.options))
        row, column, start = (np.asarray(numbers, dtype=np.intp) for numbers in (rows, columns, starts))
        return cls(row, column, np.asarray(values, dtype=np.float64), start, settings.buckets)

    @property
    def options(self) -> int:
        return int(self.starts[-1])

    def probabilities(self, weights: FloatArray) -> FloatArray:
        """Softmax over the options of each example."""
        score = np.bincount(self.row, self.value * weights[self.column], minlength=self.options)
        sizes = np.diff(self.starts)
        score -= np.repeat(np.maximum.reduceat(score, self.starts[:-1]), sizes)
        odds = np.exp(score)
        whole: FloatArray = odds / np.repeat(np.add.reduceat(odds, self.starts[:-1]), sizes)
        return whole

    def gradient(self, missing: FloatArray) -> FloatArray:
        sums = np.bincount(self.column, self.value * missing[self.row], minlength=self.buckets)
        return sums.astype(np.float64, copy=False)


@lru_cache(maxsize=2**18)
def _bucket(name: str, buckets: int) -> int:
    return zlib.crc32(name.encode("utf-8", "surrogatepass")) % buckets


@dataclass(frozen=True, slots=True, eq=False)
class Rarity:
    """Rarity of a word in the training texts, from 0 to 1."""

    of_stem: dict[str, float]

    @classmethod
    def of(cls, examples: Sequence[ChoiceExample]) -> "Rarity":
        texts = {one.passage or one.question or " ".join(one.options) for one in examples}
        counts = Counter(stem for text in texts for stem in set(_stems(text)))
        whole = math.log(1 + len(texts))
        return cls({stem: 1 - math.log(1 + count) / whole for stem, count in counts.items()})

    def __call__(self, stem: str) -> float:
        return self.of_stem.get(stem, 1.0)

    def shared(self, words: Sequence[str], among: frozenset[str]) -> float:
        """The fraction of the total rarity of words that also occur in the other text."""
        weights = self.of_stem
        whole = sum([weights.get(word, 1.0) for word in words])
        return sum([weights.get(word, 1.0) for word in words if word in among]) / whole if whole else 0.0


# Features


def _stems(text: str) -> list[str]:
    return [word[:_STEM] for word in words_of(text)]


def _pairs(stems: Sequence[str]) -> list[str]:
    return [f"{one} {other}" for one, other in pairwise(stems)]


def _features(example: ChoiceExample, rarity: Rarity, rare: float) -> Iterator[list[Feature]]:
    """Features of each option."""
    options = [_stems(option) for option in example.options]
    question = _stems(example.question)
    passage = _Passage.of(example.passage, question, rarity) if example.passage else None
    for place in range(len(options)):
        features = list(_of_options(example, options, place, rare))
        if question:
            features += _with_question(question, options[place], example.options[place], rarity, rare)
        if passage is not None:
            features += passage.features(options[place], rarity, asked=bool(question))
        yield features


def _of_options(example: ChoiceExample, options: Sequence[list[str]], place: int, rare: float) -> Iterator[Feature]:
    own, others = options[place], [one for number, one in enumerate(options) if number != place]
    lengths = [len(one) for one in options]
    mean = sum(lengths) / len(lengths) or 1
    yield f"place {place}", 1.0
    yield "length", (lengths[place] - mean) / mean
    yield "longest", float(all(lengths[place] > len(other) for other in others))
    yield "shortest", float(all(lengths[place] < len(other) for other in others))
    yield "likeness", sum(_likeness(own, other) for other in others) / len(others)
    yield "most alike", max(_likeness(own, other) for other in others)
    option, words = example.options[place], words_of(example.options[place])
    yield "digits", float(any(letter.isdigit() for letter in option))
    yield "negation", float(any(word in _NEGATIONS or word.endswith("n't") for word in words))
    yield "total", float(any(word in _TOTALS for word in words))
    yield "full stop", float(option.rstrip().endswith("."))
    yield "capital", float(option[:1].isupper())
    for word in sorted({*own, *_pairs(own)}):
        yield f"word {word}", rare
    if own:
        yield f"first {own[0]}", rare


def _likeness(left: Sequence[str], right: Sequence[str]) -> float:
    either = {*left, *right}
    return len({*left} & {*right}) / len(either) if either else 0.0


def _with_question(
    question: Sequence[str], own: Sequence[str], option: str, rarity: Rarity, rare: float
) -> Iterator[Feature]:
    yield "in question", rarity.shared(own, frozenset(question))
    asked = " ".join(question[:2])
    for form in ("digits",) * any(letter.isdigit() for letter in option) + ("capitals",) * option.istitle():
        yield f"asked {asked}: {form}", 1.0
    yield f"asked {asked}: words", math.log1p(len(own))
    for word in sorted({*own}):
        yield f"asked {question[0]}: {word}", rare


@dataclass(frozen=True, slots=True, eq=False)
class _Passage:
    sentences: Sequence[tuple[frozenset[str], float]]
    """The words of each sentence, and its overlap with the question."""
    words: frozenset[str]
    pairs: frozenset[str]
    counts: Counter[str]

    @classmethod
    def of(cls, text: str, question: Sequence[str], rarity: Rarity) -> "_Passage":
        stems = _stems(text)
        sentences = [frozenset(_stems(sentence)) for sentence in _SENTENCE.split(text)]
        return cls(
            [(words, rarity.shared(question, words)) for words in sentences if words],
            frozenset(stems),
            frozenset(_pairs(stems)),
            Counter(stems),
        )

    def features(self, own: Sequence[str], rarity: Rarity, *, asked: bool) -> Iterator[Feature]:
        pairs = _pairs(own)
        share = rarity.shared(own, self.words)
        yield "in passage", share
        yield "none in passage", float(share == 0)
        yield "all in passage", float(share == 1)
        yield "pairs in passage", sum(pair in self.pairs for pair in pairs) / len(pairs) if pairs else 0.0
        yield "often in passage", sum(math.log1p(self.counts[word]) * rarity(word) for word in own) / (len(own) or 1)
        within = [(rarity.shared(own, words), fits) for words, fits in self.sentences]
        yield "in best sentence", max((shared for shared, _ in within), default=0.0)
        if asked and within:
            yield "in asked sentence", max(within, key=lambda one: one[1])[0]
            weight = sum(fits**2 for _, fits in within)
            yield "in asked sentences", sum(shared * fits**2 for shared, fits in within) / weight if weight else 0.0
