"""Models by name: the light one, or a folder."""

from pathlib import Path

from chorale.kits.questions.baselines.choice_models import ChoiceModel, check_model_folder
from chorale.kits.questions.baselines.light import LightChoice
from chorale.model.extras import need

LIGHT = "light"


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
