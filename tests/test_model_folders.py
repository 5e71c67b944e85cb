"""Model folders of strangers: sizes that would fill the memory are refused before a network is made."""

from dataclasses import dataclass
from typing import Any

import pytest

from chorale.files.model_folders import checked_sizes


@dataclass(frozen=True)
class Shape:
    hidden: int = 128
    layers: int = 1
    dropout: float = 0.4


USUAL = {"hidden": 128, "layers": 1, "dropout": 0.4}


def test_usual_sizes_are_read() -> None:
    assert checked_sizes(USUAL, Shape()) == USUAL


@pytest.mark.parametrize(
    "change",
    [
        {"layers": 4096},
        {"layers": 1.5},
        {"hidden": 10**9},
        {"hidden": -1},
        {"hidden": True},
        {"hidden": "128"},
        {"dropout": float("nan")},
        {"more": 1},
    ],
)
def test_sizes_that_fill_the_memory_are_refused(change: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="shape"):
        checked_sizes({**USUAL, **change}, Shape())
