"""Models by name: the light one, or a folder."""

from pathlib import Path

from chorale.kits.questions.baselines.choice_models import ChoiceModel, check_model_folder, writes_text
from chorale.kits.questions.baselines.light import LightChoice
from chorale.model import UserError
from chorale.model.extras import need

LIGHT = "light"


def choice_model(
    name: str, *, epochs: int = 4, rate: float = 1e-5, batch: int = 8, device: str = "auto"
) -> ChoiceModel:
    """`light`, or the Hugging Face model of that folder; how it learns is for the latter."""
    if name == LIGHT:
        return LightChoice()
    check_model_folder(Path(name))
    writes = writes_text(Path(name))
    if writes and epochs:
        raise UserError(f"{name} is a text-to-text model, which answers as it is. Add --epochs 0.")
    need("torch", "transformers")
    # Heavy, and behind an extra that a base install does not have.
    from chorale.kits.questions.baselines.hugging_face import HuggingFaceChoice, HuggingFaceText  # noqa: PLC0415

    kind = HuggingFaceText if writes else HuggingFaceChoice
    return kind(Path(name), epochs, rate, batch, device)
