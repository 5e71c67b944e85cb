"""Models of simulated workers: accuracy and speed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from math import exp, log, sqrt
from random import Random
from typing import NamedTuple

from chorale.contract.simulating import Keeping
from chorale.model import Answer


class Mode(StrEnum):
    HONEST = "honest"
    """Reads the item and answers by ability."""
    RANDOM = "random"
    """Answers randomly."""
    FIRST_OPTION = "first-option"
    """Always chooses the first option."""
    COPY_PREVIOUS = "copy-previous"
    """Repeats the previous answer."""


USUAL_KEEPING = Keeping(0.9, 0.2)
# Averaged over a normal distribution, the logistic function is approximately a flatter one, by this factor.
_FLATTENED = 0.346


def stretch(spread: float) -> float:
    """The factor for log-odds that keeps the mean accuracy over all items."""
    return sqrt(1 + _FLATTENED * spread * spread)


class Hardness(NamedTuple):
    """The difficulty of an item, shared by all workers, so that they err together on hard items.

    It shifts everybody's log-odds of a correct answer by a number sampled from a normal distribution. The mean accuracy
    of each worker over all items stays the same.
    """

    stretch: float
    ease: float
    """The shift of the log-odds of a correct answer: below 0 for hard items."""

    def ability(self, accuracy: float) -> float:
        """The accuracy on this item of a worker with this mean accuracy."""
        if not 0 < accuracy < 1:
            return accuracy
        odds = self.stretch * log(accuracy / (1 - accuracy)) + self.ease
        return 1 / (1 + exp(-odds)) if odds > 0 else exp(odds) / (1 + exp(odds))


def draw_hardness(spread: float, rng: Random) -> Hardness:
    """Sample an item's difficulty, with this standard deviation in log-odds."""
    return Hardness(stretch(spread), rng.gauss(0.0, spread))


@dataclass(frozen=True, slots=True)
class WorkerModel:
    name: str
    accuracy: float = 1.0
    """Accuracy on items that are read."""
    carelessness: float = 0.0
    """Fraction of items answered randomly without reading."""
    mode: Mode = Mode.HONEST
    pace: float = 1.0
    """Median time for an item, relative to its expected time."""
    spread: float = 0.4
    """Standard deviation of the logarithm of that time."""
    accuracies: Mapping[str, float] = field(default_factory=dict)
    """Different accuracies, by the name of a stage or task."""
    learning: float = 0.0
    """Each explained mistake reduces their errors by this fraction."""
    dropout: float = 0.0
    """Probability of leaving the study at an item, without answering it."""
    confusion: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """Confusion frequencies by correct label, if known."""
    keeping: Keeping = USUAL_KEEPING
    """Probabilities of keeping correct and wrong suggestions. Otherwise they answer on their own."""
    suggested_pace: float = 0.7
    """Time for an item with a suggestion, relative to one without."""
    share: float = 1.0
    """Sampling weight: their share of the judgments."""

    def accuracy_in(self, *names: str) -> float:
        """Their initial accuracy in a stage with a task."""
        return next((self.accuracies[name] for name in names if name in self.accuracies), self.accuracy)

    def answer(
        self,
        truth: Answer,
        choices: Sequence[Answer],
        rng: Random,
        *,
        accuracy: float | None = None,
        previous: Answer | None = None,
        imitate: Callable[[Answer, float, Random], Answer] | None = None,
        hardness: Hardness | None = None,
    ) -> Answer:
        """An answer, given the correct one; `accuracy` is their current accuracy, if they learn.

        If answers can be partly correct, `imitate` makes the answer. Difficulty affects everybody who reads the item.
        """
        if self.mode is Mode.FIRST_OPTION:
            return choices[0]
        if self.mode is Mode.COPY_PREVIOUS and previous is not None:
            return previous
        if self.mode is not Mode.HONEST or rng.random() < self.carelessness:
            return rng.choice(choices)
        if self.confusion and label_of(truth) in self.confusion:
            return self._confused(truth, choices, rng, hardness)
        able = self.accuracy if accuracy is None else accuracy
        if hardness is not None:
            able = hardness.ability(able)
        if imitate is not None:
            return imitate(truth, able, rng)
        if rng.random() < able:
            return truth
        return _another(truth, choices, rng)

    def keeps(self, rng: Random, *, is_right: bool) -> bool:
        """Whether they submit a suggestion unchanged."""
        return rng.random() < (self.keeping.right if is_right else self.keeping.wrong)

    def learned(self, accuracy: float, mistakes: float = 1.0) -> float:
        """Their accuracy after a number of explained mistakes, which may be fractional."""
        kept: float = (1 - self.learning) ** mistakes
        return 1 - (1 - accuracy) * kept

    def seconds(self, expected: float, rng: Random, *, suggested: bool = False) -> float:
        """The time for the next item, log-normal: mostly near the median, sometimes much longer."""
        pace = self.pace * self.suggested_pace if suggested else self.pace
        return expected * pace * exp(rng.gauss(0.0, self.spread))

    def _confused(self, truth: Answer, choices: Sequence[Answer], rng: Random, hardness: Hardness | None) -> Answer:
        right = label_of(truth)
        row = self.confusion[right]
        weights = [row.get(label_of(choice), 0.0) for choice in choices]
        if hardness is not None and (accuracy := row.get(right, 0.0)) < 1:
            # The distribution of errors stays; their frequency changes.
            able = hardness.ability(accuracy)
            mistakes = (1 - able) / (1 - accuracy)
            weights = [
                able if label_of(choice) == right else weight * mistakes
                for choice, weight in zip(choices, weights, strict=True)
            ]
        return rng.choices(choices, weights)[0] if any(weights) else truth


def label_of(answer: Answer) -> str:
    """An answer as a label in files of judgments: for a form with one field, the value of that field."""
    return str(next(iter(answer.values())) if isinstance(answer, dict) and len(answer) == 1 else answer)


def _another(truth: Answer, choices: Sequence[Answer], rng: Random) -> Answer:
    """A random wrong choice, if there is one."""
    for _ in range(4):
        choice = rng.choice(choices)
        if choice != truth:
            return choice
    wrong = [choice for choice in choices if choice != truth]
    return rng.choice(wrong) if wrong else truth


def good(accuracy: float = 0.95) -> WorkerModel:
    return WorkerModel("good", accuracy=accuracy)


def careless(accuracy: float = 0.75) -> WorkerModel:
    """Fast and often inattentive."""
    return WorkerModel("careless", accuracy=accuracy, carelessness=0.1, pace=0.6)


def random_clicker() -> WorkerModel:
    return WorkerModel("random clicker", mode=Mode.RANDOM, pace=0.15)


def first_option_clicker() -> WorkerModel:
    return WorkerModel("first-option clicker", mode=Mode.FIRST_OPTION, pace=0.15)


def mixed_crowd(size: int, seed: int) -> list[WorkerModel]:
    """A typical panel: of 40 people, 28 good, 7 careless and 5 spammers, in random order."""
    rng = Random(f"{seed}:crowd")
    spammers = round(size * 0.125)
    careless_ones = round(size * 0.175)
    crowd = [first_option_clicker() if number % 2 else random_clicker() for number in range(spammers)]
    crowd += [careless(rng.uniform(0.65, 0.80)) for _ in range(careless_ones)]
    crowd += [good(rng.uniform(0.90, 0.98)) for _ in range(size - spammers - careless_ones)]
    rng.shuffle(crowd)
    return crowd
