"""A trained classifier as a folder: the weights as safetensors, everything else as JSON. Nothing in it is ever run."""

import json
from dataclasses import asdict, fields
from hashlib import sha256
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load, save

from chorale.files.source import read_bytes, read_source, refused
from chorale.files.tables import replacing
from chorale.kits.frames.baselines.classifier import FrameClassifier
from chorale.kits.frames.baselines.lexicon import Lexicon
from chorale.kits.frames.baselines.network import Network, NetworkShape

KIND = "chorale frame classifier"
VERSION = 1
WEIGHTS, ABOUT = "model.safetensors", "model.json"
_AGAIN = "Train it again with `chorale baseline train-frames`"
_WIDEST = 4096


def save_classifier(classifier: FrameClassifier, folder: Path) -> None:
    """Write the two files. The one that names the other's content comes last, so that halves are told apart."""
    state = {name: value.contiguous() for name, value in classifier.network.state_dict().items()}
    weights = save(state, metadata={"signature": classifier.signature})
    about = {
        "kind": KIND,
        "version": VERSION,
        "signature": classifier.signature,
        "weights": sha256(weights).hexdigest(),
        "shape": asdict(classifier.network.shape),
        "training": dict(classifier.training),
        "frames": list(classifier.lexicon.frames),
        "units": {unit: list(frames) for unit, frames in classifier.lexicon.units.items()},
        "words": list(classifier.lexicon.words),
    }
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / WEIGHTS) as draft:
        draft.write_bytes(weights)
    with replacing(folder / ABOUT) as draft:
        draft.write_text(json.dumps(about, ensure_ascii=False, indent=1, allow_nan=False) + "\n", "utf-8")


def load_classifier(folder: Path) -> FrameClassifier:
    """The classifier of a folder, exactly as it was saved."""
    if folder.exists() and not folder.is_dir():
        raise refused(folder, None, "is a file", "Name the folder that the classifier was saved in")
    about = _about(folder / ABOUT)
    raw = read_bytes(folder / WEIGHTS)
    if sha256(raw).hexdigest() != about["weights"]:
        raise refused(folder / WEIGHTS, None, f"is not the file that {ABOUT} describes", _AGAIN)
    try:
        lexicon = Lexicon(
            tuple(map(str, about["words"])),
            tuple(map(str, about["frames"])),
            {str(unit): tuple(map(str, frames)) for unit, frames in about["units"].items()},
        )
        shape = _shape(about["shape"])
        network = Network(lexicon.sizes, shape)
        network.load_state_dict(load(raw))
    except (KeyError, TypeError, ValueError, AttributeError, RuntimeError, SafetensorError) as error:
        raise refused(folder / ABOUT, None, "does not fit its weights", _AGAIN, str(error)[:200]) from None
    network.eval()
    return FrameClassifier(network, lexicon, str(about["signature"]), about["training"])


def _about(path: Path) -> dict[str, Any]:
    source = read_source(path)
    try:
        about = json.loads(source.text)
    except (ValueError, RecursionError):
        raise refused(path, None, "is not JSON", _AGAIN) from None
    if not isinstance(about, dict) or about.get("kind") != KIND:
        raise refused(path, None, "is not of a frame classifier", "Name the folder of one")
    if about.get("version") != VERSION:
        raise refused(path, None, "is of another version", _AGAIN, repr(about.get("version"))[:50])
    needed = {"signature": str, "weights": str, "shape": dict, "training": dict, "frames": list, "units": dict,
              "words": list}  # fmt: skip
    for name, kind in needed.items():
        if not isinstance(about.get(name), kind):
            raise refused(path, None, f"has nothing usable under {name!r}", _AGAIN)
    return about


def _shape(values: dict[str, Any]) -> NetworkShape:
    names = {one.name for one in fields(NetworkShape)}
    if set(values) != names:
        raise ValueError(f"the shape has the settings {', '.join(sorted(values))}, not {', '.join(sorted(names))}")
    for name, value in values.items():
        whole = isinstance(getattr(NetworkShape(), name), int)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value <= (_WIDEST if whole else 1):
            raise ValueError(f"the shape has no number for {name} that can be used")
    return NetworkShape(**values)
