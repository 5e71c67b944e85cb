"""A model card in Markdown: the trained model, its data and its training."""

from collections.abc import Iterator, Mapping
from typing import Any

_SCORES = ("held_out", "epochs", "losses")


def model_card(title: str, command: str, use: str, about: Mapping[str, Any]) -> str:
    """The card of a model, from the description saved with its weights."""
    training = about["training"]
    numbers = dict(_numbers(training, ""))
    parts = [
        f"# {title[0].upper()}{title[1:]}",
        f"Trained with `{command}`. {use}",
        "## Data",
        _table("file", "SHA-256, first digits", training.get("data", {})),
        "## Results",
        _table("measure", "value", {name: value for name, value in numbers.items() if name.startswith(_SCORES)}),
        "## Settings",
        _table("setting", "value", {name: value for name, value in numbers.items() if not name.startswith(_SCORES)}),
        "## Identity",
        f"- Signature: `{about['signature']}`\n- SHA-256 of `model.safetensors`: `{about['weights']}`",
        "The same data, settings and versions give the same weights on a CPU. Nothing in this folder is executed.",
    ]
    return "\n\n".join(part for part in parts if part) + "\n"


def _numbers(value: Any, name: str) -> Iterator[tuple[str, Any]]:
    """The values of nested settings, named by their paths."""
    if name == "data":
        return
    if isinstance(value, Mapping):
        for key, part in value.items():
            yield from _numbers(part, f"{name} {key}".strip())
    elif isinstance(value, list | tuple):
        for number, part in enumerate(value, 1):
            yield from _numbers(part, f"{name} {number}".strip())
    elif value is not None:
        yield name, value


def _table(left: str, right: str, rows: Mapping[str, Any]) -> str:
    lines = [f"| {_cell(name)} | {_cell(value)} |" for name, value in rows.items()]
    return "\n".join([f"| {left} | {right} |", "| --- | --- |", *lines]) if lines else "None recorded."


def _cell(value: Any) -> str:
    text = f"{value:.4g}" if isinstance(value, float) else str(value)
    return text.replace("\\", "\\\\").replace("|", "\\|").replace("\n", " ")
