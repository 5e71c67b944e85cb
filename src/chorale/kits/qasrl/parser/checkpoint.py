"""Where a training stands, as a file: it can be stopped after any epoch, and goes on as if it had not been."""

import json
from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from chorale.files.source import refused
from chorale.files.tables import replacing
from chorale.kits.qasrl.parser.learning import Learning

PROGRESS = "training.safetensors"
_OPTIMIZER = "optimizer"


def save_progress(learning: Learning, signature: str, folder: Path) -> None:
    """The weights, what the optimiser keeps of each, and the losses so far."""
    state = {f"network.{name}": value for name, value in learning.network.state_dict().items()}
    for number, kept in learning.optimizer.state_dict()["state"].items():
        state |= {f"{_OPTIMIZER}.{number}.{name}": value for name, value in kept.items()}
    folder.mkdir(parents=True, exist_ok=True)
    with replacing(folder / PROGRESS) as draft:
        about = {"signature": signature, "losses": json.dumps(learning.losses)}
        save_file({name: value.cpu().contiguous() for name, value in state.items()}, draft, metadata=about)


def resume(learning: Learning, signature: str, folder: Path) -> None:
    """Go on from the file, if there is one; it must be of the same data and settings."""
    path = folder / PROGRESS
    if not path.exists():
        return
    delete = "Delete it to start anew, or name another folder"
    try:
        with safe_open(path, "pt") as file:
            about = file.metadata() or {}
            if about.get("signature") != signature:
                raise refused(path, None, "is of a training with other data or settings", delete)
            state = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118 - it is no mapping
        network = {name.removeprefix("network."): value for name, value in state.items() if name.startswith("network.")}
        learning.network.load_state_dict(network)
        kept: dict[int, dict[str, object]] = {}
        for name, value in state.items():
            part, _, rest = name.partition(".")
            if part == _OPTIMIZER:
                number, _, what = rest.partition(".")
                kept.setdefault(int(number), {})[what] = value
        learning.optimizer.load_state_dict({**learning.optimizer.state_dict(), "state": kept})
        learning.losses = list(map(float, json.loads(about["losses"])))
    except (SafetensorError, KeyError, ValueError, TypeError, RuntimeError) as error:
        raise refused(path, None, "can't be read as a training", delete, str(error)[:200]) from None


def forget(folder: Path) -> None:
    (folder / PROGRESS).unlink(missing_ok=True)
