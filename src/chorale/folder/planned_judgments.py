"""The number of judgments a stage needs from people, by its items, its rule, and the model that answers first."""

from collections.abc import Mapping
from typing import NamedTuple

from chorale.model import StageSettings
from chorale.model.stage_settings import SampledJudgments


class PlannedJudgments(NamedTuple):
    expected: int
    """The minimum number that completes all items that go to people."""
    most: int
    """The number if all items go to people and need the maximum."""
    asked: float | None
    """The fraction of items that go to people, if a model answers first and the fraction is known."""


def planned_judgments(stage: StageSettings, coming: Mapping[str, int], unsure: float | None = None) -> PlannedJudgments:
    """The plan of a stage, by the number of its items from each source stage.

    `unsure` is the measured fraction of items with a low confidence of the model that answers first; without it, the
    study file's `expected` counts.
    """
    items = sum(coming.values())
    more = stage.judgments.sample
    extra = 0 if more is None else _sampled(more, coming) * (more.judgments - stage.judgments.min)
    asked = _asked(stage, unsure)
    return PlannedJudgments(
        round((1.0 if asked is None else asked) * (items * stage.judgments.min + extra)),
        items * stage.judgments.max + max(0, extra),
        asked,
    )


def _asked(stage: StageSettings, unsure: float | None) -> float | None:
    rule = stage.models
    if rule is None or rule.role != "first":
        return None
    low = rule.expected if unsure is None else unsure
    return None if low is None else low + (1 - low) * rule.audit


def _sampled(more: SampledJudgments, coming: Mapping[str, int]) -> int:
    """The number of sampled items: a share of all items, or a number from each source stage."""
    if more.items is None:
        return round((more.share or 0.0) * sum(coming.values()))
    return sum(min(more.items, count) for count in coming.values())
