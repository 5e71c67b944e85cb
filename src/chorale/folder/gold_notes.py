"""Notes on a stage's gold before launch: whether it can remove anybody, and whether workers can recognise it."""

import json
from collections.abc import Mapping

from chorale.folder.checking.content import StageContent
from chorale.model.plural import plural
from chorale.protocol import gold_needed

RECOGNISABLE = "Workers who exchange information can recognise gold"


def parts_of_gold(content: StageContent) -> int:
    """The number of gold answers that an answer to one gold item counts as."""
    gold = content.settings.gold
    return content.task.grading.gold_parts if gold is not None and gold.unit == "part" else 1


def planned_gold_share(content: StageContent, groups: int) -> float:
    """The fraction of gold in workers' items: less than `gold.share` where gold is scarce and not reused."""
    gold = content.settings.gold
    if gold is None:
        return 0.0
    return gold.share if gold.reuse else min(gold.share, _lasting_share(content, groups))


def about_gold(
    content: StageContent, coming: Mapping[str, int], people: int, *, warned: bool = False
) -> list[str | None]:
    """Notes on the gold of a stage, by its number of items from each source and the planned number of people.

    `warned` means that a stronger note about removals is shown already.
    """
    return [
        _gold_is_scarce(content, sum(coming.values())),
        None if warned else _gold_removes_few(content, coming, people),
        _gold_is_explained(content),
        _removal_shows_gold(content),
        _gold_among_items(content),
    ]


def _gold_removes_few(content: StageContent, coming: Mapping[str, int], people: int) -> str | None:
    """A note if most people see too little gold to be removed by it, when all share the work."""
    rule, gold = content.settings.judgments, content.settings.gold
    if gold is None or gold.share == 0:
        return None
    more = rule.sample
    judgments = sum(
        count * rule.min + (0 if more is None else min(count, more.items or 0) * (more.judgments - rule.min))
        for count in coming.values()
    )
    share = planned_gold_share(content, sum(coming.values()))
    met = judgments * share / (1 - share) / max(1, people) * parts_of_gold(content)
    if met >= gold.after:
        return None
    return (
        f"few people in stage {content.settings.name} can be removed: if {people:,} people share the work, each gives "
        f"about {met:.2g} gold answers. The minimum accuracy applies after {gold.after} (gold.after). Add items or "
        "gold, raise gold.share, or lower gold.after"
    )


def _gold_among_items(content: StageContent) -> str | None:
    """A note on gold that equals an item: people who see both learn which one was gold."""
    view = content.task.form.shown
    shown = {json.dumps(view(item.payload), sort_keys=True) for item in content.items}
    same = [gold.item.key for gold in content.gold if json.dumps(view(gold.item.payload), sort_keys=True) in shown]
    if not same:
        return None
    return (
        f"{plural(len(same), 'gold item looks', 'gold items look')} the same as an item of stage "
        f"{content.settings.name}: {', '.join(same[:5])}. Remove one of each pair, or workers learn which "
        "items are gold"
    )


def _gold_is_scarce(content: StageContent, groups: int) -> str | None:
    """A note on gold that is shown to more workers than items are, and so can be recognised."""
    stage = content.settings
    if stage.gold is None or stage.gold.share == 0 or not content.gold:
        return None
    items = len(content.items) or groups
    needed = gold_needed(items, stage.gold.share)
    if len(content.gold) >= needed:
        return None
    lasting = _lasting_share(content, groups)
    if not stage.gold.reuse:
        return (
            f"too little gold in stage {stage.name}: {len(content.gold):,} gold items for {items:,} items. To keep "
            f"gold secret, only about {100 * lasting:.2g}% of a worker's items are gold, instead of the "
            f"{100 * stage.gold.share:g}% that gold.share sets. Write {needed:,} gold items in total to reach "
            "gold.share"
        )
    least = stage.judgments.min
    shown = items * least * stage.gold.share / (1 - stage.gold.share) / len(content.gold)
    return (
        f"too little gold in stage {stage.name}: about {shown:,.0f} workers see each of its {len(content.gold):,} "
        f"gold items, but other items are seen by only {least:,}. {RECOGNISABLE}, because of gold.reuse = true. "
        f"Write {needed:,} gold items in total, or leave gold.reuse out: then about {100 * lasting:.2g}% of a "
        "worker's items are gold"
    )


def _lasting_share(content: StageContent, groups: int) -> float:
    """The share of gold that lasts for the whole stage if no gold item is shown more often than an item."""
    return len(content.gold) / max(1, (len(content.items) or groups) + len(content.gold))


def _gold_is_explained(content: StageContent) -> str | None:
    """A note on explanations after wrong answers, which reveal gold."""
    gold = content.settings.gold
    if gold is None or gold.feedback == "none":
        return None
    return (
        f"an explanation after a wrong answer reveals which items are gold (gold.feedback in stage "
        f'{content.settings.name}). {RECOGNISABLE}. Set gold.feedback = "none", and explain in a practice round'
    )


HIDING_GRACE = 20
"""Minimum `gold.grace` that hides which item was gold: the chance of a correct guess, 1/21, is below 0.05."""


def _removal_shows_gold(content: StageContent) -> str | None:
    """A note on removals soon after the gold answer that caused them, which reveal gold."""
    gold = content.settings.gold
    if gold is None or gold.share == 0 or gold.floor == 0 or gold.feedback != "none" or gold.grace >= HIDING_GRACE:
        return None
    last = "last answer" if gold.grace == 0 else f"last {gold.grace + 1} answers"
    verb = "is" if gold.grace == 0 else "include one"
    return (
        f"in stage {content.settings.name}, a removal reveals which item was gold: the worker's {last} before the "
        f"removal {verb} to a gold item (gold.grace = {gold.grace}). "
        f"{RECOGNISABLE}. Set gold.grace to {HIDING_GRACE} or more"
    )
