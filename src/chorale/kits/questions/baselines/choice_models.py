"""What a model of multiple-choice questions is, however it works, and which folders can hold one."""

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
        """For every example the probability of each of its options."""


@dataclass(frozen=True, slots=True)
class EarlierTraining:
    """What a model that was trained before had learnt from."""

    given: Given
    """What it was shown of each question."""
    digests: frozenset[str]
    """Of the files with the questions."""


class ChoiceModel(Protocol):
    @property
    def earlier(self) -> EarlierTraining | None:
        """Where it learnt, if it answers as it was trained before. None for a model that learns from the examples."""

    @property
    def signature(self) -> str:
        """Its name and everything that changes what it says, but the seed."""

    def fit(self, examples: Sequence[ChoiceExample], seed: int) -> FittedChoice:
        """Learn from examples. Parts of them that the model may not see are empty."""


def check_model_folder(folder: Path) -> None:
    """Refuse a folder that can't hold a model before anything heavy is loaded."""
    if not folder.is_dir():
        raise refused(folder, None, "is no folder", "Write light, or name the folder that the model was saved in")
    if not (folder / "config.json").is_file():
        fix = "Save the model there with save_pretrained, and its tokenizer too"
        raise refused(folder / "config.json", None, "does not exist", fix)


def writes_text(folder: Path) -> bool:
    """Whether a folder's model goes from text to text, as T5 and BART do."""
    try:
        config = json.loads((folder / "config.json").read_text("utf-8"))
    except (OSError, ValueError):
        return False
    if not isinstance(config, dict):
        return False
    kinds = config.get("architectures") or [config.get("model_type")]
    return any(str(kind).endswith("ForConditionalGeneration") or str(kind) in ("t5", "mt5") for kind in kinds)
