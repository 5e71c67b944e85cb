"""Models by name: the light model, or a folder."""

from pathlib import Path

from chorale.files.model_folders import ABOUT, kind_in
from chorale.kits.questions.baselines.choice_models import ChoiceModel, check_model_folder, writes_text
from chorale.kits.questions.baselines.light import LightChoice
from chorale.model import UserError
from chorale.model.extras import need

LIGHT = "light"
_FINE_TUNED = "chorale fine-tuned choice model"


def choice_model(
    name: str, *, epochs: int = 4, rate: float = 1e-5, batch: int = 8, device: str = "auto"
) -> ChoiceModel:
    """`light`, or the model of a folder. The other settings apply to an untrained Hugging Face model."""
    if name == LIGHT:
        return LightChoice()
    folder = Path(name)
    is_fine_tuned = kind_in(folder) == _FINE_TUNED
    if (folder / ABOUT).is_file() and not is_fine_tuned:
        need("safetensors")
        from chorale.kits.questions.baselines.saved import load_light  # noqa: PLC0415 - behind an extra

        return load_light(folder)
    check_model_folder(folder)
    writes = writes_text(folder)
    if writes and epochs:
        raise UserError(f"{name} is a text-to-text model and cannot be fine-tuned. Add --epochs 0.")
    need("torch", "transformers")
    # A large import that requires an optional extra.
    from chorale.kits.questions.baselines.fine_tuned import earlier_training  # noqa: PLC0415
    from chorale.kits.questions.baselines.hugging_face import HuggingFaceChoice, HuggingFaceText  # noqa: PLC0415

    if is_fine_tuned:
        return HuggingFaceChoice(folder, 0, rate, batch, device, earlier=earlier_training(folder))
    kind = HuggingFaceText if writes else HuggingFaceChoice
    return kind(folder, epochs, rate, batch, device)
