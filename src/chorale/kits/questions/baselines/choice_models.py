"""What a model of multiple-choice questions is, however it works, and models by name: the light one, or a folder."""

from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

from chorale.files.source import refused
from chorale.kits.questions.baselines.examples import ChoiceExample
from chorale.kits.questions.baselines.light import LightChoice
from chorale.metrics import FloatArray
from chorale.model.extras import need

LIGHT = "light"


class FittedChoice(Protocol):
    def predict(self, examples: Sequence[ChoiceExample]) -> list[FloatArray]:
        """For every example the probability of each of its options."""


class ChoiceModel(Protocol):
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


def choice_model(
    name: str, *, epochs: int = 4, rate: float = 1e-5, batch: int = 8, device: str = "auto"
) -> ChoiceModel:
    """`light`, or the Hugging Face model of that folder; how it learns is for the latter."""
    if name == LIGHT:
        return LightChoice()
    check_model_folder(Path(name))
    need("torch", "transformers")
    # Heavy, and behind an extra that a base install does not have.
    from chorale.kits.questions.baselines.hugging_face import HuggingFaceChoice  # noqa: PLC0415

    return HuggingFaceChoice(Path(name), epochs, rate, batch, device)
