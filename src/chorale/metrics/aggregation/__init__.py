"""Aggregates several answers into one, with one module per algorithm.

Names that need NumPy are loaded on first use, so that a server that only weights votes starts without it.
"""

from typing import TYPE_CHECKING

from chorale.lazy import attach
from chorale.metrics.aggregation.confidence import Share, trust_weighted_share

if TYPE_CHECKING:
    from chorale.metrics.aggregation.estimators import GLAD, MACE, DawidSkene, MajorityVote, OneCoinDawidSkene, Wawa
    from chorale.metrics.aggregation.methods import MethodOptions, aggregate
    from chorale.metrics.aggregation.pairwise_estimators import BradleyTerry, NoisyBradleyTerry
    from chorale.metrics.aggregation.result import Aggregation
    from chorale.metrics.aggregation.segmentation_estimators import (
        SegmentationEM,
        SegmentationMajorityVote,
        SegmentationRASA,
    )
    from chorale.metrics.aggregation.text_estimators import HRRASA, RASA, ROVER, ClosestToAverage, TextHRRASA, TextRASA
    from chorale.metrics.aggregation.trust import trust_from_gold
    from chorale.metrics.aggregation.weighted_vote_estimators import KOS, MMSR, ZeroBasedSkill

__getattr__, __dir__ = attach(
    __name__,
    {
        "estimators": ("DawidSkene", "GLAD", "MACE", "MajorityVote", "OneCoinDawidSkene", "Wawa"),
        "methods": ("MethodOptions", "aggregate"),
        "pairwise_estimators": ("BradleyTerry", "NoisyBradleyTerry"),
        "result": ("Aggregation",),
        "segmentation_estimators": ("SegmentationEM", "SegmentationMajorityVote", "SegmentationRASA"),
        "text_estimators": ("ClosestToAverage", "HRRASA", "RASA", "ROVER", "TextHRRASA", "TextRASA"),
        "trust": ("trust_from_gold",),
        "weighted_vote_estimators": ("KOS", "MMSR", "ZeroBasedSkill"),
    },
)

__all__ = [
    "GLAD",
    "HRRASA",
    "KOS",
    "MACE",
    "MMSR",
    "RASA",
    "ROVER",
    "Aggregation",
    "BradleyTerry",
    "ClosestToAverage",
    "DawidSkene",
    "MajorityVote",
    "MethodOptions",
    "NoisyBradleyTerry",
    "OneCoinDawidSkene",
    "SegmentationEM",
    "SegmentationMajorityVote",
    "SegmentationRASA",
    "Share",
    "TextHRRASA",
    "TextRASA",
    "Wawa",
    "ZeroBasedSkill",
    "aggregate",
    "trust_from_gold",
    "trust_weighted_share",
]
