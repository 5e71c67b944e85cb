"""Partial-input baselines: can a model find the correct answer without the question, the passage, or both?"""

from chorale.kits.questions.baselines.choice_models import ChoiceModel, FittedChoice
from chorale.kits.questions.baselines.examples import GIVEN, ChoiceExample, Given, Gold, examples_of, lacking
from chorale.kits.questions.baselines.light import FittedLight, LightChoice
from chorale.kits.questions.baselines.naming import LIGHT, choice_model
from chorale.kits.questions.baselines.trials import ModelTrial, accuracy_metric, cross_validate, folds_of, transfer

__all__ = [
    "GIVEN",
    "LIGHT",
    "ChoiceExample",
    "ChoiceModel",
    "FittedChoice",
    "FittedLight",
    "Given",
    "Gold",
    "LightChoice",
    "ModelTrial",
    "accuracy_metric",
    "choice_model",
    "cross_validate",
    "examples_of",
    "folds_of",
    "lacking",
    "transfer",
]
