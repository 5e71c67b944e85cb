"""Trained models as folders: the weights as safetensors, everything else as JSON. Nothing in them is ever executed."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

from chorale.files.model_cards import model_card
from chorale.files.source import read_bytes, read_source, refused
from chorale.files.tables import replacing
from chorale.model import UserError

WEIGHTS, ABOUT, CARD = "model.safetensors", "model.json", "README.md"
PROGRESS = "training.safetensors"
"""The state of an incomplete training (`training_progress.py`)."""
_WIDEST = 4096
"""Maximum size of a layer: a file that asks for more would exhaust the memory."""
_MOST_LAYERS = 16


class ModelFolder(NamedTuple):
    """The parsed content of a folder. Whether its parts fit together is not checked yet."""

    about: dict[str, Any]
    weights: bytes


@dataclass(frozen=True, slots=True)
class ModelKind:
    """One kind of trained model."""

    name: str
    """Its name in the file."""
    title: str
    """Its name in messages: `a frame classifier`."""
    command: str
    """The command that trains it: `chorale train frames`."""
    use: str
    """For the model card: what it is for, and what it should not be used for."""
    parts: Mapping[str, type]
    """Further keys of the description, besides the signature, the weights' digest, the shape and the training."""
    version: int = 1

    @property
    def again(self) -> str:
        """What to do about a broken model."""
        return f"Train it again with `{self.command}`"

    def write(self, folder: Path, weights: bytes, about: Mapping[str, Any]) -> None:
        """Write the weights, a model card and, last, the description with the digest of the weights."""
        folder.mkdir(parents=True, exist_ok=True)
        with replacing(folder / WEIGHTS) as draft:
            draft.write_bytes(weights)
        self.describe(folder, weights, about)

    def describe(self, folder: Path, weights: bytes, about: Mapping[str, Any]) -> None:
        """Write the model card and the description of the weights in the folder."""
        whole = {"kind": self.name, "version": self.version, "weights": sha256(weights).hexdigest(), **about}
        with replacing(folder / CARD) as draft:
            draft.write_text(model_card(self.title, self.command, self.use, whole), "utf-8")
        with replacing(folder / ABOUT) as draft:
            draft.write_text(json.dumps(whole, ensure_ascii=False, indent=1, allow_nan=False) + "\n", "utf-8")

    def read(self, folder: Path) -> ModelFolder:
        """Read a folder; refuse one that is of another kind or broken."""
        if folder.exists() and not folder.is_dir():
            raise refused(folder, None, "is a file", "Name the folder that the model was saved in")
        about = self._about(folder / ABOUT)
        weights = read_bytes(folder / WEIGHTS)
        if sha256(weights).hexdigest() != about["weights"]:
            raise refused(folder / WEIGHTS, None, f"is not the file that {ABOUT} describes", self.again)
        return ModelFolder(about, weights)

    def does_not_fit(self, folder: Path, error: Exception) -> Exception:
        """The error for a folder whose parts do not fit together."""
        return refused(folder / ABOUT, None, "does not fit its weights", self.again, str(error)[:200])

    def _about(self, path: Path) -> dict[str, Any]:
        source = read_source(path)
        try:
            about = json.loads(source.text)
        except (ValueError, RecursionError):
            raise refused(path, None, "is not JSON", self.again) from None
        if not isinstance(about, dict) or about.get("kind") != self.name:
            raise refused(path, None, f"does not describe {self.title}", "Name a folder with such a model")
        if about.get("version") != self.version:
            raise refused(path, None, "was written by another version", self.again, repr(about.get("version"))[:50])
        needed = {"signature": str, "weights": str, "shape": dict, "training": dict, **self.parts}
        for name, kind in needed.items():
            if not isinstance(about.get(name), kind):
                raise refused(path, None, f"has no usable value for {name!r}", self.again)
        return about


def kind_in(folder: Path) -> str | None:
    """The kind of model that a folder's description names, unchecked. None if it has no description."""
    try:
        about = json.loads((folder / ABOUT).read_bytes())
    except (OSError, ValueError, RecursionError):
        return None
    return str(about.get("kind")) if isinstance(about, dict) else None


def check_model_target(folder: Path, *, force: bool) -> None:
    """Refuse a folder that a model can't be saved in, before the training starts."""
    if folder.exists() and not folder.is_dir():
        raise UserError(f"{folder} is a file. Name a folder.")
    names = {path.name for path in folder.iterdir()} if folder.is_dir() else set()
    if ABOUT in names and not force:
        raise UserError(f"{folder} has a trained model. Add --force to overwrite it, or name another folder.")
    if ABOUT in names:
        return
    if others := names - {WEIGHTS, CARD, PROGRESS}:
        raise UserError(f"{folder} has other files, such as {min(others)}. Name another folder.")


def check_shapes(needed: Mapping[str, Any], there: Mapping[str, Any]) -> None:
    """Compare the tensors that a network needs with those of its folder; ValueError if they differ.

    The needed shapes are determined without memory (on torch's device `meta`). This check comes before the network is
    made, so a folder needs no more memory than its weights. Otherwise, a few numbers in its description could request
    any amount.
    """
    for name, tensor in needed.items():
        if name not in there:
            raise ValueError(f"there are no weights for {name}")
        if tuple(there[name].shape) != tuple(tensor.shape):
            raise ValueError(f"{name} has the shape {tuple(there[name].shape)}, not {tuple(tensor.shape)}")


def checked_sizes(values: Mapping[str, Any], usual: Any) -> dict[str, Any]:
    """Validate the sizes of a network, with the names and types of `usual`; ValueError if they are invalid."""
    names = {one.name for one in fields(usual)}
    if set(values) != names:
        raise ValueError(f"the shape has the settings {', '.join(sorted(values))}, not {', '.join(sorted(names))}")
    for name, value in values.items():
        whole = isinstance(getattr(usual, name), int)
        most = _MOST_LAYERS if name == "layers" else _WIDEST if whole else 1
        if isinstance(value, bool) or not isinstance(value, int if whole else int | float) or not 0 <= value <= most:
            raise ValueError(f"the shape has no valid number for {name}")
    return dict(values)
