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


def why_so_many_judgments(
    rule: JudgmentSettings, counted: int, confidence: float | None, *, complete: bool, sampled: bool
) -> str:
    """In words, why an item gets as many judgments as it does; nothing where all of its stage get as many.

    >>> why_so_many_judgments(JudgmentSettings(min=2, max=5, until=0.8), 2, 1.0, complete=True, sampled=False)
    'No more are asked for: the confidence has reached 0.8.'
    """
    if sampled and rule.sample is not None:
        return f"Drawn by chance to get {rule.sample.judgments:,}."
    if rule.min == rule.max:
        return ""
    if not complete:
        return f"At least {rule.min:,}, then one more {_until(rule)}; {rule.max:,} at most."
    if rule.until is not None and confidence is not None and confidence >= rule.until:
        return f"No more are asked for: the confidence has reached {rule.until:g}."
    if counted >= rule.max:
        return f"No more are asked for: {rule.max:,} is the most there are."
    stable = "No more are asked for: the order of what people choose has stayed the same."
    return stable if rule.stable is not None else ""


def _until(rule: JudgmentSettings) -> str:
    ways = [f"the confidence reaches {rule.until:g}"] if rule.until is not None else []
    ways += ["the order of what people choose stays the same"] if rule.stable is not None else []
    return f"until {' or '.join(ways)}"
