"""When an item has enough judgments, and whether its result is released."""

from dataclasses import dataclass

from chorale.model import JudgmentSettings


@dataclass(frozen=True, slots=True)
class ItemDecision:
    wanted: int
    """How many judgments the item asks for now."""
    complete: bool
    released: bool


def rule_for(rule: JudgmentSettings, sampled: bool) -> JudgmentSettings:
    """What holds for an item: the stage's rule, or the number for those drawn to get another."""
    if not sampled or rule.sample is None:
        return rule
    return JudgmentSettings(min=rule.sample.judgments, max=rule.sample.judgments)


def decide_item(rule: JudgmentSettings, counted: int, confidence: float, release: float) -> ItemDecision:
    """Decide an item by its counted judgments and the confidence of their leading answer.

    A fixed number is the case `min == max`. Otherwise one more judgment is asked for, after the minimum, as long as the
    confidence is short of `until`.
    """
    enough = counted >= rule.min and (rule.until is None or confidence >= rule.until)
    if enough or counted >= rule.max:
        return ItemDecision(wanted=counted, complete=True, released=confidence >= release)
    return ItemDecision(wanted=max(rule.min, min(counted + 1, rule.max)), complete=False, released=False)
