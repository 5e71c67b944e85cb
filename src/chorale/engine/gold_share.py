"""The share of gold that workers get: the study file's, or as much as possible without repeating any."""

from chorale.engine.running import RunningStage, Study
from chorale.model import GoldSettings
from chorale.protocol import GoldPlan, gold_needed, gold_plan
from chorale.store import Tx
from chorale.store.gold_supply import gold_and_items, gold_left

COUNT_AGAIN_MS = 30_000
"""How long the counts of gold and items are cached: counting reads the whole stage."""
LOOK_AGAIN = 20
"""The remaining gold and items are counted again after 1/LOOK_AGAIN of the remaining items have been assigned."""

NO_GOLD = GoldPlan(0.0)


def planned_gold(tx: Tx, study: Study, stage: RunningStage, rule: GoldSettings) -> GoldPlan:
    """The share and choice of gold from here on. Called for every item; the counts are refreshed from time to time."""
    if rule.share == 0:
        return NO_GOLD
    if rule.reuse and not _is_enough(tx, study, stage, rule):
        return GoldPlan(rule.share, repeats=True)
    remembered = f"gold left:{stage.name}"
    plan: GoldPlan | None
    plan, times = study.memory.get(remembered, (None, 0))
    if plan is None or times <= 0:
        left = gold_left(tx, stage.id)
        plan, times = gold_plan(rule.share, left, stage.settings.judgments.min), left.items // LOOK_AGAIN
    study.memory[remembered] = plan, times - 1
    return plan


def _is_enough(tx: Tx, study: Study, stage: RunningStage, rule: GoldSettings) -> bool:
    """Whether there is enough gold to show none of it to more workers than an item."""
    remembered, now = f"gold is enough:{stage.name}", study.clock()
    since, enough = study.memory.get(remembered, (None, False))
    if since is None or not since <= now < since + COUNT_AGAIN_MS:
        gold, items = gold_and_items(tx, stage.id)
        enough = gold >= gold_needed(items, rule.share)
        study.memory[remembered] = now, enough
    return bool(enough)
