"""A trained classifier as a folder (`files/model_folders.py`)."""

from dataclasses import asdict
from pathlib import Path

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save

from chorale.files.model_folders import ModelKind, check_shapes, checked_sizes
from chorale.kits.frames.baselines.classifier import FrameClassifier
from chorale.kits.frames.baselines.lexicon import Lexicon
from chorale.kits.frames.baselines.network import Network, NetworkShape

_KIND = ModelKind(
    "chorale frame classifier",
    "a frame classifier",
    "chorale train frames",
    "It chooses among the FrameNet frames of a word in an English sentence, for the baselines `os` and `os+`. It "
    "covers only lexical units of FrameNet.",
    {"frames": list, "units": dict, "words": list},
)


def save_classifier(classifier: FrameClassifier, folder: Path) -> None:
    state = {name: value.contiguous() for name, value in classifier.network.state_dict().items()}
    about = {
        "signature": classifier.signature,
        "shape": asdict(classifier.network.shape),
        "training": dict(classifier.training),
        "frames": list(classifier.lexicon.frames),
        "units": {unit: list(frames) for unit, frames in classifier.lexicon.units.items()},
        "words": list(classifier.lexicon.words),
    }
    _KIND.write(folder, save(state, metadata={"signature": classifier.signature}), about)


def load_classifier(folder: Path) -> FrameClassifier:
    """Loads a saved classifier from a folder."""
    about, weights = _KIND.read(folder)
    try:
        lexicon = Lexicon(
            tuple(map(str, about["words"])),
            tuple(map(str, about["frames"])),
            {str(unit): tuple(map(str, frames)) for unit, frames in about["units"].items()},
        )
        state = load(weights)
        shape = NetworkShape(**checked_sizes(about["shape"], NetworkShape()))
        with torch.device("meta"):
            check_shapes(Network(lexicon.sizes, shape).state_dict(), state)
        network = Network(lexicon.sizes, shape)
        network.load_state_dict(state)
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError, SafetensorError) as error:
        raise _KIND.does_not_fit(folder, error) from None
    network.eval()
    return FrameClassifier(network, lexicon, str(about["signature"]), about["training"])
