"""Expected behaviour of models that annotate: accuracy, confusions and confidence."""

from collections.abc import Callable, Mapping, Sequence
from math import exp, log
from random import Random
from typing import Annotated, NamedTuple

from pydantic import Field

from chorale.model import Answer
from chorale.model.setting_types import Fraction, Settings
from chorale.rehearsal.simulated.models import label_of

_NEAR = 1e-6
"""Minimum distance of probabilities from 0 and 1, to keep logarithms finite."""


class SimulatedModel(Settings):
    name: str = Field(min_length=1, max_length=60, description="The model's name in the study file.")
    accuracy: Fraction = Field(default=0.85, description="Probability that the model's answer is correct.")
    sureness: Annotated[float, Field(gt=0, le=1000)] = Field(
        default=2,
        description="How similar the model's probability of a correct answer is across items (the precision of a beta "
        "distribution). With 1, the model is nearly certain about some items and guesses on others. With 100, the "
        "probability is nearly the same for all items, so the model's confidence is uninformative.",
    )
    overconfidence: Annotated[float, Field(gt=0, le=10)] = Field(
        default=1,
        description="The log-odds of the model's confidence are the log-odds of a correct answer times this factor. "
        "With 1, the confidence is calibrated.",
    )
    confusions: dict[str, dict[str, float]] = Field(
        default_factory=dict,
        description="For each correct answer, the weights of the model's wrong answers: `confusions.rude = { neutral = "
        "3, kind = 1 }`. Default: all other answers are equally likely.",
    )
    output_tokens: int = Field(
        default=20, ge=1, le=200_000, description="Number of tokens in an answer. Prices are those of the study file."
    )


class ModelSaid(NamedTuple):
    """The answer of a simulated model."""

    answer: Answer
    confidence: float


def model_says(
    model: SimulatedModel,
    truth: Answer,
    choices: Sequence[Answer],
    rng: Random,
    imitate: Callable[[Answer, float, Random], Answer] | None = None,
) -> ModelSaid:
    """An answer with a confidence, given the correct and the possible answers.

    The probability of a correct answer is sampled for every item from a beta distribution with the model's accuracy as
    its mean. If answers can be partly correct, it applies to each part, and `imitate` makes the answer.
    """
    mean = min(1 - _NEAR, max(_NEAR, model.accuracy))
    chance = rng.betavariate(mean * model.sureness, (1 - mean) * model.sureness)
    if imitate is not None:
        answer = imitate(truth, chance, rng)
    else:
        answer = truth if rng.random() < chance else _wrong(model.confusions, truth, choices, rng)
    inside = min(1 - _NEAR, max(_NEAR, chance))
    odds = model.overconfidence * log(inside / (1 - inside))
    return ModelSaid(answer, 1 / (1 + exp(-odds)))


def _wrong(
    confusions: Mapping[str, Mapping[str, float]], truth: Answer, choices: Sequence[Answer], rng: Random
) -> Answer:
    others = [choice for choice in choices if choice != truth]
    if not others:
        return truth
    row = confusions.get(label_of(truth), {})
    weights = [row.get(label_of(choice), 0.0) for choice in others]
    return rng.choices(others, weights)[0] if any(weights) else rng.choice(others)
