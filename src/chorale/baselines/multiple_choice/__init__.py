"""Partial-input baselines: can the right answer be told without the question, the passage, or both?"""

from chorale.baselines.multiple_choice.examples import GIVEN, Example, Given, Gold, examples_of, lacking
from chorale.baselines.multiple_choice.light import FittedLight, LightChoice
from chorale.baselines.multiple_choice.models import ChoiceModel, FittedChoice
from chorale.baselines.multiple_choice.naming import LIGHT, choice_model
from chorale.baselines.multiple_choice.trials import Trial, accuracy_metric, cross_validate, folds_of, transfer

__all__ = [
    "GIVEN",
    "LIGHT",
    "ChoiceModel",
    "Example",
    "FittedChoice",
    "FittedLight",
    "Given",
    "Gold",
    "LightChoice",
    "Trial",
    "accuracy_metric",
    "choice_model",
    "cross_validate",
    "examples_of",
    "folds_of",
    "lacking",
    "transfer",
]
