"""From many answers to one: one algorithm a file.

Names that need NumPy are loaded when they are first used: a server that only weighs votes starts without it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from chorale.metrics.aggregation.confidence import Share, trust_weighted_share

if TYPE_CHECKING:
    from chorale.metrics.aggregation.estimators import GLAD, MACE, DawidSkene, MajorityVote, OneCoinDawidSkene, Wawa
    from chorale.metrics.aggregation.methods import MethodOptions, aggregate
    from chorale.metrics.aggregation.result import Aggregation
    from chorale.metrics.aggregation.trust import trust_from_gold

_HOMES = {
    "Aggregation": "result",
    "DawidSkene": "estimators",
    "GLAD": "estimators",
    "MACE": "estimators",
    "MajorityVote": "estimators",
    "MethodOptions": "methods",
    "OneCoinDawidSkene": "estimators",
    "Wawa": "estimators",
    "aggregate": "methods",
    "trust_from_gold": "trust",
}

__all__ = [
    "GLAD",
    "MACE",
    "Aggregation",
    "DawidSkene",
    "MajorityVote",
    "MethodOptions",
    "OneCoinDawidSkene",
    "Share",
    "Wawa",
    "aggregate",
    "trust_from_gold",
    "trust_weighted_share",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
