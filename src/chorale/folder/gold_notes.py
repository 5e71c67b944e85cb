"""What to know about a stage's gold before people come: can it remove anybody, can workers recognise it."""

import json
from collections.abc import Mapping

from chorale.folder.checking.content import StageContent
from chorale.protocol import gold_needed


def parts_of_gold(content: StageContent) -> int:
    """How many gold answers one gold row is."""
    gold = content.settings.gold
    return content.task.grading.gold_parts if gold is not None and gold.unit == "part" else 1


def about_gold(content: StageContent, coming: Mapping[str, int], people: int) -> list[str | None]:
    """Notes on the gold of a stage, by how many items come from where and how many people the study is planned for."""
    return [
        _gold_is_scarce(content, sum(coming.values())),
        _gold_removes_few(content, coming, people),
        _gold_is_explained(content),
        _gold_among_items(content),
    ]


def _gold_removes_few(content: StageContent, coming: Mapping[str, int], people: int) -> str | None:
    """Gold that most people meet too little of to be removed by it, where all share the work."""
    rule, gold = content.settings.judgments, content.settings.gold
    if gold is None or gold.share == 0:
        return None
    more = rule.sample
    judgments = sum(
        count * rule.min + (0 if more is None else min(count, more.items or 0) * (more.judgments - rule.min))
        for count in coming.values()
    )
    met = judgments * gold.share / (1 - gold.share) / max(1, people) * parts_of_gold(content)
    if met >= gold.after:
        return None
    return (
        f"gold removes few people in stage {content.settings.name}: if {people:,} people share the work, each gives "
        f"about {met:.2g} gold answers, and the minimum accuracy applies from {gold.after} on (gold.after). Bring more "
        "items, raise gold.share, or lower gold.after"
    )


def _gold_among_items(content: StageContent) -> str | None:
    """Who meets the same thing twice learns which one was gold."""
    view = content.task.form.shown
    shown = {json.dumps(view(item.payload), sort_keys=True) for item in content.items}
    same = [gold.item.key for gold in content.gold if json.dumps(view(gold.item.payload), sort_keys=True) in shown]
    if not same:
        return None
    return f"{len(same)} gold rows of stage {content.settings.name} say the same as an item: {', '.join(same[:5])}"


def _gold_is_scarce(content: StageContent, groups: int) -> str | None:
    """Gold that more workers meet than meet an item can be recognised by that."""
    stage = content.settings
    if stage.gold is None or stage.gold.share == 0 or not content.gold:
        return None
    items = len(content.items) or groups
    needed = gold_needed(items, stage.gold.share)
    if len(content.gold) >= needed:
        return None
    least = stage.judgments.min
    shown = items * least * stage.gold.share / (1 - stage.gold.share) / len(content.gold)
    fitting = len(content.gold) / (items + len(content.gold))
    return (
        f"the gold of stage {stage.name} is scarce: each of its {len(content.gold):,} rows is shown to about "
        f"{shown:,.0f} workers, and an item to {least:,}. Workers who compare notes can recognise gold that comes more "
        f"often. Write {needed:,} rows, or set gold.share to {fitting:.2f} or less"
    )


def _gold_is_explained(content: StageContent) -> str | None:
    """An explanation after a wrong answer says that the item was gold."""
    gold = content.settings.gold
    if gold is None or gold.feedback == "none":
        return None
    return (
        f"workers in stage {content.settings.name} see the explanation of gold they answer wrongly, and so learn which "
        'items are gold. Set gold.feedback = "none", and explain in a practice round'
    )
