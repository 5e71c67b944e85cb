"""How well and how fast a simulated worker works."""

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
    """Reads the item and answers as well as they can."""
    RANDOM = "random"
    """Clicks anything."""
    FIRST_OPTION = "first-option"
    """Always clicks the same."""
    COPY_PREVIOUS = "copy-previous"
    """Gives the answer they gave before."""


USUAL_KEEPING = Keeping(0.9, 0.2)
# The logistic function, averaged over a normal distribution, is nearly a flatter logistic function: by this much.
_FLATTENED = 0.346


def stretch(spread: float) -> float:
    """By how much log-odds must be stretched for the mean over all items to stay what it was."""
    return sqrt(1 + _FLATTENED * spread * spread)


class Hardness(NamedTuple):
    """How hard an item is, for everybody alike: on those that are harder than others, people err together.

    It moves everybody's odds of being right about the item: by a number sampled from a normal distribution, in
    log-odds, the same for all who answer it. Everybody is still right about all items as often as their accuracy says.
    """

    stretch: float
    ease: float
    """What it adds to the log-odds of a right answer: below 0 where it is hard."""

    def ability(self, accuracy: float) -> float:
        """How often somebody is right about it, who is right about all items so often."""
        if not 0 < accuracy < 1:
            return accuracy
        odds = self.stretch * log(accuracy / (1 - accuracy)) + self.ease
        return 1 / (1 + exp(-odds)) if odds > 0 else exp(odds) / (1 + exp(odds))


def draw_hardness(spread: float, rng: Random) -> Hardness:
    """How hard an item is where they differ by so much, as a standard deviation in log-odds."""
    return Hardness(stretch(spread), rng.gauss(0.0, spread))


@dataclass(frozen=True, slots=True)
class WorkerModel:
    name: str
    accuracy: float = 1.0
    """How often an item that was read is answered rightly."""
    carelessness: float = 0.0
    """How often an item is not read at all and anything is clicked."""
    mode: Mode = Mode.HONEST
    pace: float = 1.0
    """Median time for an item, as a share of the time it is expected to take."""
    spread: float = 0.4
    """How much that varies from item to item: the standard deviation of its logarithm."""
    accuracies: Mapping[str, float] = field(default_factory=dict)
    """Accuracy where it is another one, by the name of a stage or a task."""
    learning: float = 0.0
    """The share of their errors that somebody gives up after a mistake was explained to them."""
    dropout: float = 0.0
    """How likely it is that they leave for good instead of answering the item in front of them."""
    confusion: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    """How often which answer is given where which is right, both as labels, if that is known."""
    keeping: Keeping = USUAL_KEEPING
    """How often what a model suggests is kept, where it is right and where it is wrong. Otherwise they answer alone."""
    suggested_pace: float = 0.7
    """Time for an item with a suggestion, as a share of that for one without."""
    share: float = 1.0
    """How much of the work people like them did, next to others: so often they are drawn."""

    def accuracy_in(self, *names: str) -> float:
        """How good they are to begin with, given a stage's name and its task's."""
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
        """One of the choices, given the right one; `accuracy` is what they have learned to be, if they learn.

        Where an answer can be right in part, `imitate` says what somebody of an accuracy makes of the right one. How
        hard the item is counts for everybody who reads it.
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
        """Whether they submit a suggestion as it is."""
        return rng.random() < (self.keeping.right if is_right else self.keeping.wrong)

    def learned(self, accuracy: float, mistakes: float = 1.0) -> float:
        """How good they are after a mistake was explained, or part of one, or several."""
        kept: float = (1 - self.learning) ** mistakes
        return 1 - (1 - accuracy) * kept

    def seconds(self, expected: float, rng: Random, *, suggested: bool = False) -> float:
        """How long the next item takes: mostly about the median, now and then much longer, as people do."""
        pace = self.pace * self.suggested_pace if suggested else self.pace
        return expected * pace * exp(rng.gauss(0.0, self.spread))

    def _confused(self, truth: Answer, choices: Sequence[Answer], rng: Random, hardness: Hardness | None) -> Answer:
        right = label_of(truth)
        row = self.confusion[right]
        weights = [row.get(label_of(choice), 0.0) for choice in choices]
        if hardness is not None and (accuracy := row.get(right, 0.0)) < 1:
            # What they mistake it for stays what it was; how often they do does not.
            able = hardness.ability(accuracy)
            mistakes = (1 - able) / (1 - accuracy)
            weights = [
                able if label_of(choice) == right else weight * mistakes
                for choice, weight in zip(choices, weights, strict=True)
            ]
        return rng.choices(choices, weights)[0] if any(weights) else truth


def label_of(answer: Answer) -> str:
    """An answer as files of judgments have it: of a form that asks one thing, what was answered to that."""
    return str(next(iter(answer.values())) if isinstance(answer, dict) and len(answer) == 1 else answer)


def _another(truth: Answer, choices: Sequence[Answer], rng: Random) -> Answer:
    """One of the choices that is not right, if there is one. Most are: seldom is a second one looked at."""
    for _ in range(4):
        choice = rng.choice(choices)
        if choice != truth:
            return choice
    wrong = [choice for choice in choices if choice != truth]
    return rng.choice(wrong) if wrong else truth


def good(accuracy: float = 0.95) -> WorkerModel:
    return WorkerModel("good", accuracy=accuracy)


def careless(accuracy: float = 0.75) -> WorkerModel:
    """In a hurry, and often elsewhere with their thoughts."""
    return WorkerModel("careless", accuracy=accuracy, carelessness=0.1, pace=0.6)


def random_clicker() -> WorkerModel:
    return WorkerModel("random clicker", mode=Mode.RANDOM, pace=0.15)


def first_option_clicker() -> WorkerModel:
    return WorkerModel("first-option clicker", mode=Mode.FIRST_OPTION, pace=0.15)


def mixed_crowd(size: int, seed: int) -> list[WorkerModel]:
    """A crowd as panels have them: of 40, 28 good, 7 careless and 5 spammers, in no particular order."""
    rng = Random(f"{seed}:crowd")
    spammers = round(size * 0.125)
    careless_ones = round(size * 0.175)
    crowd = [first_option_clicker() if number % 2 else random_clicker() for number in range(spammers)]
    crowd += [careless(rng.uniform(0.65, 0.80)) for _ in range(careless_ones)]
    crowd += [good(rng.uniform(0.90, 0.98)) for _ in range(size - spammers - careless_ones)]
    rng.shuffle(crowd)
    return crowd
