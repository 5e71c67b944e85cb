"""Model folders of strangers: sizes that would fill the memory are refused before a network is made."""

from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any

import pytest

from chorale.files.model_folders import check_shapes, checked_sizes


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


def test_weights_of_another_shape_are_refused() -> None:
    needed = {"word.weight": SimpleNamespace(shape=(10_000_000, 4096)), "bias": SimpleNamespace(shape=(3,))}
    small = {"word.weight": SimpleNamespace(shape=(5, 8)), "bias": SimpleNamespace(shape=(3,))}
    check_shapes(small, {**small, "more": SimpleNamespace(shape=())})
    with pytest.raises(ValueError, match=r"word.weight has the shape \(5, 8\), not \(10000000, 4096\)"):
        check_shapes(needed, small)
    with pytest.raises(ValueError, match="no weights for bias"):
        check_shapes(needed, {"word.weight": needed["word.weight"]})
