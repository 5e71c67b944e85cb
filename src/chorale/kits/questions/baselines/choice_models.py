"""Interface of models for multiple-choice questions, and checks of model folders."""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from chorale.files.source import refused
from chorale.kits.questions.baselines.examples import ChoiceExample, Given
from chorale.metrics import FloatArray


class FittedChoice(Protocol):
    def predict(self, examples: Sequence[ChoiceExample]) -> list[FloatArray]:
        """The probability of each option of every example."""


@dataclass(frozen=True, slots=True)
class EarlierTraining:
    """Training data of a previously trained model."""

    given: Given
    """The parts of each question that the model saw."""
    digests: frozenset[str]
    """Digests of the question files."""


class ChoiceModel(Protocol):
    @property
    def earlier(self) -> EarlierTraining | None:
        """Training data of a previously trained model, which is used unchanged. None for untrained models."""

    @property
    def signature(self) -> str:
        """The name of the model and all settings that change its answers, except the seed."""

    def fit(self, examples: Sequence[ChoiceExample], seed: int) -> FittedChoice:
        """Trains on examples. Hidden parts of the examples are empty."""


def check_model_folder(folder: Path) -> None:
    """Rejects folders that cannot contain a model, before large libraries are loaded."""
    if not folder.is_dir():
        raise refused(folder, None, "is not a folder", "Use light, or the folder of a saved model")
    if not (folder / "config.json").is_file():
        fix = "Save the model and its tokenizer there with save_pretrained"
        raise refused(folder / "config.json", None, "does not exist", fix)


def writes_text(folder: Path) -> bool:
    """Whether the model of a folder is a text-to-text model such as T5 or BART."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return False
    if not isinstance(config, dict):
        return False
    kinds = config.get("architectures") or [config.get("model_type")]
    return any(str(kind).endswith("ForConditionalGeneration") or str(kind) in ("t5", "mt5") for kind in kinds)
