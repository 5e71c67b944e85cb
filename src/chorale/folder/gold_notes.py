"""What is to be known about a stage's gold before people come: whether workers could recognise it."""

import json

from chorale.folder.checking.content import StageContent
from chorale.protocol import gold_needed


def about_gold(content: StageContent, items: int) -> list[str | None]:
    """Notes on the gold of a stage that so many items can come to."""
    return [_gold_is_scarce(content, items), _gold_is_explained(content), _gold_among_items(content)]


def _gold_among_items(content: StageContent) -> str | None:
    """Who meets the same thing twice learns which one was gold."""
    view = content.task.form.view
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
