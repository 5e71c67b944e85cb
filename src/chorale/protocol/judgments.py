"""When an item has enough judgments, whether more would change anything, and whether its label is accepted."""

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from chorale.model import ItemState, JudgmentSettings

LEADING = 1 / 3
"""Options that at least this share chose are those whose order counts: what few chose goes up and down by chance."""


class ItemDecision(NamedTuple):
    wanted: int
    """How many judgments the item asks for now."""
    complete: bool
    released: bool
    waits: bool = False
    """Whether a model is to answer before people are asked."""

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
        return f"Randomly sampled to get {rule.sample.judgments:,}."
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


def ranking(chosen: Iterable[Sequence[str]]) -> tuple[frozenset[str], ...]:
    """The options that at least a third chose, the most frequent first; those chosen equally often together.

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
    """Whether the order has been the same after each of the last `over` answers and before them.

    `chosen` has the options of each answer, in the order they came. With too few answers to tell it is not.

    >>> ranking_is_stable([["a"], ["a", "b"], ["a"], ["a"], ["a"]], over=1)
    True
    >>> ranking_is_stable([["a"], ["b"], ["b"], ["b"]], over=3)
    False
    """
    if len(chosen) <= over:
        return False
    now = ranking(chosen)
    return all(ranking(chosen[:-back]) == now for back in range(1, over + 1))
