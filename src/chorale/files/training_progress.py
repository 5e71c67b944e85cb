"""The state of a training as a file, so that an interrupted training can continue after its last complete epoch."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from chorale.files.model_folders import PROGRESS
from chorale.files.source import refused
from chorale.files.tables import replacing

_NETWORK, _OPTIMIZER, _KEPT = "network", "optimizer", "kept"


class SavedProgress(NamedTuple):
    """The saved state of a training, besides the weights."""

    epochs: list[Any]
    """The record of each complete epoch, such as its loss."""
    kept: dict[str, Any]
    """Tensors that the training asked to keep."""


def save_progress(
    folder: Path,
    signature: str,
    network: Any,
    optimizer: Any,
    epochs: list[Any],
    kept: Mapping[str, Any] | None = None,
) -> None:
    """Write the weights, the state of the optimiser, the record of the epochs, and tensors to keep."""
    state = {f"{_NETWORK}.{name}": value for name, value in network.state_dict().items()}
    for number, values in optimizer.state_dict()["state"].items():
        state |= {f"{_OPTIMIZER}.{number}.{name}": value for name, value in values.items()}
    state |= {f"{_KEPT}.{name}": value for name, value in (kept or {}).items()}
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / PROGRESS) as draft:
        about = {"signature": signature, "epochs": json.dumps(epochs)}
        # Copies, because safetensors refuses two names for one tensor.
        save_file({name: value.cpu().clone().contiguous() for name, value in state.items()}, draft, metadata=about)


def resume(folder: Path, signature: str, network: Any, optimizer: Any) -> SavedProgress | None:
    """Load the saved state into network and optimiser. None if the folder has none.

    A state for other data or settings is refused.
    """
    path = folder / PROGRESS
    if not path.exists():
        return None
    delete = "Delete it to start from the beginning, or name another folder"
    try:
        with safe_open(path, "pt") as file:
            about = file.metadata() or {}
            if about.get("signature") != signature:
                raise refused(path, None, "belongs to a training run with other data or settings", delete)
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
        network.load_state_dict(_named(state, _NETWORK))
        by_number: dict[int, dict[str, Any]] = {}
        for name, value in _named(state, _OPTIMIZER).items():
            number, _, part = name.partition(".")
            by_number.setdefault(int(number), {})[part] = value
        optimizer.load_state_dict({**optimizer.state_dict(), "state": by_number})
        return SavedProgress(list(json.loads(about["epochs"])), _named(state, _KEPT))
    except (SafetensorError, KeyError, ValueError, TypeError, RuntimeError) as error:
        raise refused(path, None, "is not a saved training state", delete, str(error)[:200]) from None


def forget(folder: Path) -> None:
    """Delete the saved state of a training that is complete."""
    (folder / PROGRESS).unlink(missing_ok=True)


def _named(state: Mapping[str, Any], part: str) -> dict[str, Any]:
    return {name.removeprefix(f"{part}."): value for name, value in state.items() if name.startswith(f"{part}.")}
