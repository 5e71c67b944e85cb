"""When an item has enough judgments, and whether its result is released."""

from functools import cache
from typing import NamedTuple

from chorale.model import JudgmentSettings


class ItemDecision(NamedTuple):
    wanted: int
    """How many judgments the item asks for now."""
    complete: bool
    released: bool


def rule_for(rule: JudgmentSettings, sampled: bool) -> JudgmentSettings:
    """What holds for an item: the stage's rule, or the number for those drawn to get another."""
    if not sampled or rule.sample is None:
        return rule
    return _exactly(rule.sample.judgments)


@cache
def _exactly(judgments: int) -> JudgmentSettings:
    return JudgmentSettings(min=judgments, max=judgments)


def decide_item(
    rule: JudgmentSettings, counted: int, confidence: float, release: float, *, stable: bool = False
) -> ItemDecision:
    """Decide an item by its counted judgments and the confidence of their leading answer.

    A fixed number is the case `min == max`. Otherwise one more judgment is asked for, after the minimum, as long as the
    confidence is short of `until`, or, where the stage goes by `stable`, as long as the order of what people choose
    still changes. Where it goes by both, either is enough.
    """
    sure = (rule.until is not None and confidence >= rule.until) or (rule.stable is not None and stable)
    enough = counted >= rule.min and (sure or (rule.until is None and rule.stable is None))
    if enough or counted >= rule.max:
        return ItemDecision(wanted=counted, complete=True, released=confidence >= release)
    return ItemDecision(wanted=max(rule.min, min(counted + 1, rule.max)), complete=False, released=False)
