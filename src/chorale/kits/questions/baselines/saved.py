"""A trained light model as a folder (`files/model_folders.py`), and its use on unseen questions."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from safetensors import SafetensorError
from safetensors.numpy import load, save

from chorale.files.model_folders import ModelKind
from chorale.kits.questions.baselines.choice_models import EarlierTraining
from chorale.kits.questions.baselines.examples import GIVEN, ChoiceExample
from chorale.kits.questions.baselines.light import FittedLight, LightChoice, Rarity

_KIND = ModelKind(
    "chorale light choice model",
    "a light model for multiple-choice questions",
    "chorale train mcq",
    "It guesses the correct option of a multiple-choice question from surface features, to reveal annotation "
    "artifacts. "
    "It does not understand the text: do not use it to answer questions.",
    {"stems": dict},
)


@dataclass(frozen=True, slots=True, eq=False)
class TrainedLight:
    """A previously trained light model. It is used as it is and ignores training examples."""

    fitted: FittedLight
    signature: str
    training: dict[str, Any]

    @property
    def earlier(self) -> EarlierTraining:
        return EarlierTraining(self.training["settings"]["input"], frozenset(self.training["data"].values()))

    def fit(self, examples: Sequence[ChoiceExample], seed: int) -> FittedLight:  # noqa: ARG002 - it has learnt already
        return self.fitted


def save_light(model: TrainedLight, folder: Path) -> None:
    """Writes the weights, the description and the model card."""
    about = {
        "signature": model.signature,
        "shape": asdict(model.fitted.settings),
        "training": model.training,
        "stems": model.fitted.rarity.of_stem,
    }
    _KIND.write(folder, save({"weights": model.fitted.weights}, metadata={"signature": model.signature}), about)


def load_light(folder: Path) -> TrainedLight:
    """Loads a saved model from a folder."""
    about, weights = _KIND.read(folder)
    try:
        settings = LightChoice(**about["shape"])
        table = load(weights)["weights"]
        if table.shape != (settings.buckets,) or table.dtype != np.float64 or not np.isfinite(table).all():
            raise ValueError(f"expected {settings.buckets} finite weights")
        if about["training"]["settings"]["input"] not in GIVEN:
            raise ValueError(f"the input must be one of {', '.join(GIVEN)}")
        rarity = Rarity({str(stem): float(value) for stem, value in about["stems"].items()})
    except (KeyError, TypeError, ValueError, SafetensorError) as error:
        raise _KIND.does_not_fit(folder, error) from None
    return TrainedLight(FittedLight(settings, rarity, table), str(about["signature"]), about["training"])
