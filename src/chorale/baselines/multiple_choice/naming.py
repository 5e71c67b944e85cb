"""Models by name: the light one, or a folder."""

from pathlib import Path

from chorale.baselines.extras import need_models
from chorale.baselines.multiple_choice.folders import check_folder
from chorale.baselines.multiple_choice.light import LightChoice
from chorale.baselines.multiple_choice.models import ChoiceModel

LIGHT = "light"


def choice_model(
    name: str, *, epochs: int = 4, rate: float = 1e-5, batch: int = 8, device: str = "auto"
) -> ChoiceModel:
    """`light`, or the Hugging Face model of that folder; what is told of learning is for the latter."""
    if name == LIGHT:
        return LightChoice()
    check_folder(Path(name))
    need_models("torch", "transformers")
    # Heavy, and behind an extra that a base install does not have.
    from chorale.baselines.multiple_choice.hugging_face import HuggingFaceChoice  # noqa: PLC0415

    return HuggingFaceChoice(Path(name), epochs, rate, batch, device)
