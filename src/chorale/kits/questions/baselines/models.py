"""What a model of multiple-choice questions is, however it works."""

from collections.abc import Sequence
from typing import Protocol

from chorale.kits.questions.baselines.examples import Example
from chorale.metrics import FloatArray


class FittedChoice(Protocol):
    def predict(self, examples: Sequence[Example]) -> list[FloatArray]:
        """For every example the probability of each of its options."""


class ChoiceModel(Protocol):
    @property
    def signature(self) -> str:
        """Its name and everything that changes what it says, but the seed."""

    def fit(self, examples: Sequence[Example], seed: int) -> FittedChoice:
        """Learn from examples. Parts of them that the model may not see are empty."""
