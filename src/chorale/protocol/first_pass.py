"""Which items go to people if a model answers first: those it is unsure of, and a random audit sample."""

from enum import StrEnum
from typing import NamedTuple

from chorale.model import StageModels


class WhyAsked(StrEnum):
    """Why people are asked about an item, or are not."""

    NOT_ASKED = "not asked"
    """The model is sure enough, and the item is not in the audit sample."""
    AUDIT = "audit"
    LOW_CONFIDENCE = "low confidence"
    NO_ANSWER = "no answer"
    """The model's answer could not be used."""
    MODEL_REMOVED = "model removed"
    """The model was removed because of its gold accuracy."""


class FirstDecision(NamedTuple):
    why: WhyAsked
    probability: float
    """The probability that people are asked about the item, used as a weight in estimates."""

    @property
    def asks_people(self) -> bool:
        return self.why is not WhyAsked.NOT_ASKED


def decide_first(rule: StageModels, confidence: float | None, number: float) -> FirstDecision:
    """Decide whether people are asked about an item that a model has answered with this calibrated confidence.

    `number` is a random number of the item, from 0 to 1. Without a confidence, the model's answer is not used.

    >>> decide_first(StageModels(role="first", below=0.9, audit=0.1), 0.95, 0.5).why.value
    'not asked'
    """
    if confidence is None:
        return FirstDecision(WhyAsked.NO_ANSWER, 1.0)
    if confidence < rule.below:
        return FirstDecision(WhyAsked.LOW_CONFIDENCE, 1.0)
    return FirstDecision(WhyAsked.AUDIT if number < rule.audit else WhyAsked.NOT_ASKED, rule.audit)
