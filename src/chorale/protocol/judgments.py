"""When an item has enough judgments, whether more would change anything, and whether its label is accepted."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from chorale.model import ItemState, JudgmentSettings
from chorale.model.plural import plural

LEADING = 1 / 3
"""Only options chosen by at least this share are ranked: the order of rare options varies randomly."""


class ItemDecision(NamedTuple):
    wanted: int
    """The number of judgments the item needs now."""
    complete: bool
    released: bool
    waits: bool = False
    """Whether a model answers before people are asked."""

    @property
    def state(self) -> ItemState:
        if self.complete:
            return ItemState.COMPLETE
        return ItemState.WAITING if self.waits else ItemState.OPEN


def rule_for(rule: JudgmentSettings, sampled: bool) -> JudgmentSettings:
    """The rule for an item: the stage's, or the number for items of the random sample."""
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

    A fixed number is the case `min == max`. Otherwise, after the minimum, one more judgment is requested as long as the
    confidence is below `until` or, with `stable`, the ranking of options still changes. With both, either condition is
    enough.
    """
    sure = (rule.until is not None and confidence >= rule.until) or (rule.stable is not None and stable)
    enough = counted >= rule.min and (sure or (rule.until is None and rule.stable is None))
    if enough or counted >= rule.max:
        return ItemDecision(wanted=counted, complete=True, released=confidence >= release)
    return ItemDecision(wanted=max(rule.min, min(counted + 1, rule.max)), complete=False, released=False)


def why_so_many_judgments(
    rule: JudgmentSettings, counted: int, confidence: float | None, *, complete: bool, sampled: bool
) -> str:
    """A sentence on why an item gets its number of judgments; empty if all items of the stage get the same.

    >>> why_so_many_judgments(JudgmentSettings(min=2, max=5, until=0.8), 2, 1.0, complete=True, sampled=False)
    'No more judgments are needed: the confidence has reached 0.8.'
    """
    if sampled and rule.sample is not None:
        return f"Randomly sampled to get {plural(rule.sample.judgments, 'judgment', 'judgments')}."
    if rule.min == rule.max:
        return ""
    if not complete:
        fewest = plural(rule.min, "judgment", "judgments")
        return f"At least {fewest}, then one at a time {_until(rule)}; {rule.max:,} at most."
    if rule.until is not None and confidence is not None and confidence >= rule.until:
        return f"No more judgments are needed: the confidence has reached {rule.until:g}."
    if counted >= rule.max:
        return f"No more judgments are needed: the maximum of {rule.max:,} is reached."
    stable = "No more judgments are needed: the ranking of the options is stable."
    return stable if rule.stable is not None else ""


def _until(rule: JudgmentSettings) -> str:
    ways = [f"the confidence reaches {rule.until:g}"] if rule.until is not None else []
    ways += ["the ranking of the options is stable"] if rule.stable is not None else []
    return f"until {' or '.join(ways)}"


def ranking(chosen: Iterable[Sequence[str]]) -> tuple[frozenset[str], ...]:
    """The options that at least a third chose, most frequent first; equally frequent options are grouped.

    >>> [sorted(level) for level in ranking([["a", "b"], ["a"], ["b"], ["a", "c"]])]
    [['a'], ['b']]
    """
    answers = [tuple(dict.fromkeys(answer)) for answer in chosen]
    counts = Counter(option for answer in answers for option in answer)
    levels: dict[int, set[str]] = {}
    for option, count in counts.items():
        if count >= LEADING * len(answers):
            levels.setdefault(count, set()).add(option)
    return tuple(frozenset(levels[count]) for count in sorted(levels, reverse=True))


def ranking_is_stable(chosen: Sequence[Sequence[str]], over: int) -> bool:
    """Whether the ranking has not changed during the last `over` answers.

    `chosen` has the options of each answer, in the order of submission. With too few answers, it is not stable.

    >>> ranking_is_stable([["a"], ["a", "b"], ["a"], ["a"], ["a"]], over=1)
    True
    >>> ranking_is_stable([["a"], ["b"], ["b"], ["b"]], over=3)
    False
    """
    if len(chosen) <= over:
        return False
    now = ranking(chosen)
    return all(ranking(chosen[:-back]) == now for back in range(1, over + 1))
