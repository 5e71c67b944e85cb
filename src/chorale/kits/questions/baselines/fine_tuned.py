"""A fine-tuned Hugging Face model as a folder: the files transformers writes, with a description and a model card."""

from pathlib import Path
from typing import Any

from chorale.files.model_folders import PROGRESS, WEIGHTS, ModelKind
from chorale.files.source import refused
from chorale.kits.questions.baselines.choice_models import EarlierTraining
from chorale.kits.questions.baselines.examples import GIVEN
from chorale.kits.questions.baselines.hugging_face import FittedHuggingFace

FINE_TUNED = ModelKind(
    "chorale fine-tuned choice model",
    "a fine-tuned model for multiple-choice questions",
    "chorale train mcq",
    "It answers multiple-choice questions, for partial-input baselines and the gap between people and models.",
    {},
)


def save_fine_tuned(fitted: FittedHuggingFace, signature: str, training: dict[str, Any], folder: Path) -> None:
    """Writes the model and its tokenizer, then the description."""
    fitted.model.save_pretrained(folder, max_shard_size="1TB")
    fitted.tokenizer.save_pretrained(folder)
    about = {"signature": signature, "shape": {}, "training": training}
    FINE_TUNED.describe(folder, (folder / WEIGHTS).read_bytes(), about)
    (folder / PROGRESS).unlink(missing_ok=True)


def earlier_training(folder: Path) -> EarlierTraining:
    """Training data of the model in a folder. Raises an error if the weights do not match the description."""
    about, _ = FINE_TUNED.read(folder)
    try:
        given, data = about["training"]["settings"]["input"], about["training"]["data"]
        if given not in GIVEN:
            raise ValueError(f"the input must be one of {', '.join(GIVEN)}")
        return EarlierTraining(given, frozenset(map(str, data.values())))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise refused(folder / "model.json", None, "can't be used", FINE_TUNED.again, str(error)[:200]) from None
