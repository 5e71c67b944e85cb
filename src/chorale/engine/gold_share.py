"""The share of gold that workers get: the study file's, or as much as possible without repeating any."""

from chorale.engine.running import RunningStage, Study
from chorale.model import GoldSettings
from chorale.protocol import GoldPlan, gold_needed, gold_plan
from chorale.store import Tx
from chorale.store.gold_supply import gold_and_items, gold_left, groups_by_progress

COUNT_AGAIN_MS = 30_000
"""How long the counts of gold and items are cached: counting reads the whole stage."""
LOOK_AGAIN = 20
"""The remaining gold and items are counted again after 1/LOOK_AGAIN of the remaining items have been assigned."""

NO_GOLD = GoldPlan(0.0)


def reuses_gold(study: Study, rule: GoldSettings) -> bool:
    """Whether a gold item may be shown to more workers than any other item."""
    return study.repeats_scarce_gold if rule.reuse is None else rule.reuse


def planned_gold(tx: Tx, study: Study, stage: RunningStage, rule: GoldSettings) -> GoldPlan:
    """The share of gold from here on, and which gold workers get.

    Called for every item; the counts are refreshed from time to time.
    """
    if rule.share == 0:
        return NO_GOLD
    if reuses_gold(study, rule) and not _is_enough(tx, study, stage, rule):
        return GoldPlan(rule.share, repeats=True)
    remembered = f"gold left:{stage.name}"
    plan: GoldPlan | None
    plan, times = study.memory.get(remembered, (None, 0))
    if plan is None or times <= 0:
        left, least = gold_left(tx, stage.id), stage.settings.judgments.min
        times = left.items // LOOK_AGAIN
        left = left._replace(items=left.items + round(_items_to_come(tx, study, stage) * least))
        plan = gold_plan(rule.share, left, least)
    study.memory[remembered] = plan, times - 1
    return plan


def _is_enough(tx: Tx, study: Study, stage: RunningStage, rule: GoldSettings) -> bool:
    """Whether there is enough gold that no gold item has to be shown to more workers than other items are."""
    remembered, now = f"gold is enough:{stage.name}", study.clock()
    since, enough = study.memory.get(remembered, (None, False))
    if since is None or not since <= now < since + COUNT_AGAIN_MS:
        gold, items = gold_and_items(tx, stage.id)
        enough = gold >= gold_needed(items, rule.share)
        study.memory[remembered] = now, enough
    return bool(enough)


def gold_set_size(tx: Tx, study: Study, stage: RunningStage) -> int:
    """The number of gold items in a set, which is the mean size of a group of items.

    Nobody sees two gold items of a set while other gold is left. Items of a group wait longer for workers than single
    items, so without sets gold would be complete sooner.
    """
    remembered, now = f"gold set size:{stage.name}", study.clock()
    since, size = study.memory.get(remembered, (None, 1))
    if since is None or not since <= now < since + COUNT_AGAIN_MS:
        _, items = gold_and_items(tx, stage.id)
        groups = groups_by_progress(tx, stage.id)
        size = max(1, round(items / max(1, groups.wanting + groups.complete)))
        study.memory[remembered] = now, size
    return int(size)


def queues_gold(study: Study, stage: RunningStage, rule: GoldSettings) -> bool:
    """Whether gold that somebody has seen is queued among the items of a stage, until enough workers have seen it.

    A stage whose items come from earlier stages gets them one by one, and waiting workers complete each at once. Gold
    that is not queued comes at different positions for each worker. It would be complete much later than other items,
    which would reveal it.
    """
    settings = stage.settings
    return bool(rule.share and settings.sources and settings.models is None and not reuses_gold(study, rule))


def _items_to_come(tx: Tx, study: Study, stage: RunningStage) -> float:
    """About how many items the stage will still get from earlier stages, judged by how many it got so far."""
    if not stage.settings.sources:
        return 0.0
    remembered, now = f"items to come:{stage.name}", study.clock()
    since, to_come = study.memory.get(remembered, (None, 0.0))
    if since is None or not since <= now < since + COUNT_AGAIN_MS:
        sources = [study.stage(name) for name in stage.settings.sources]
        progress = [groups_by_progress(tx, source.id) for source in sources]
        complete = sum(each.complete for each in progress)
        wanting = sum(each.wanting for each in progress) + sum(_items_to_come(tx, study, each) for each in sources)
        here = groups_by_progress(tx, stage.id)
        to_come = wanting * (here.complete + here.wanting) / complete if complete else 0.0
        study.memory[remembered] = now, to_come
    return float(to_come)
