"""Automatic actions of a running study: closing gates and taking samples."""

from collections.abc import Sequence

from chorale.engine.drawing_answers import draw_answers
from chorale.engine.gates import close_ready_gates
from chorale.engine.offering_room import more_may_come
from chorale.engine.running import RunningStage, Study
from chorale.engine.settling import derive_from_group, settle_group
from chorale.engine.waiting import end_waiting, is_waiting
from chorale.model import StageSettings
from chorale.store import Tx, events, labels, offering, participations, positions, settings, stages
from chorale.store.gates import closed_gates

LONGEST_GRACE_MS = 3_600_000
"""How long a removed worker who requests no more items is still admitted to other stages."""


def advance(tx: Tx, study: Study) -> list[str]:
    """Do what is due and describe it in words. Idempotent."""
    participations.end_grace(tx, study.clock() - LONGEST_GRACE_MS)
    done = [f"gate {name} closed" for name in close_ready_gates(tx, study)]
    closed, wanting = closed_gates(tx), offering.stages_with_open_items(tx)
    if drawn := draw_answers(tx, study, closed, wanting):
        done += drawn
        wanting = offering.stages_with_open_items(tx)
    if begun := begin_waiting(tx, study, closed, wanting):
        done += begun
        wanting = offering.stages_with_open_items(tx)
    return done + draw_samples(tx, study, closed, wanting)


def begin_waiting(tx: Tx, study: Study, closed: frozenset[str], wanting: frozenset[int]) -> list[str]:
    """Create the items of stages whose source stages are done; describe the result in words."""
    done = []
    for stage in study.stages.values():
        if not is_waiting(tx, stage):
            continue
        paused = stages.paused_stages(tx)
        sources = [study.stage(name) for name in stage.settings.sources]
        if any(each.id not in paused and more_may_come(study, each, closed, wanting) for each in sources):
            continue
        groups = {each.name: labels.judged_groups(tx, each.id) for each in sources}
        if not any(groups.values()):
            continue  # everything is paused before the first answer
        end_waiting(tx, stage)
        events.record(tx, study.clock(), "begun", {"from": [each.name for each in sources]}, stage_id=stage.id)
        for each in sources:
            for group in groups[each.name]:
                derive_from_group(tx, study, each, group)
        done.append(f"{stage.name} has begun")
    return done


def draw_samples(tx: Tx, study: Study, closed: frozenset[str], wanting: frozenset[int]) -> list[str]:
    """Sample the items that get more judgments.

    Each source stage is sampled once it is done, so that every item has the same probability.
    """
    done = []
    sampled = [stage for stage in study.stages.values() if stage.settings.judgments.sample is not None]
    if not sampled:
        return []
    # A sample never changes, so it need not be looked up again.
    drawn_before: set[str] = study.memory.setdefault("drawn samples", set())
    notes = [
        (note, stage, source)
        for stage in sampled
        for source in stage.settings.sources or ("",)
        if (note := f"sampled:{stage.name}:{source}") not in drawn_before
    ]
    if not notes:
        return []
    for note, stage, source in notes:
        begun = stage.settings.items is not None and stage.settings.items.wait and not is_waiting(tx, stage)
        if source and not begun and more_may_come(study, study.stage(source), closed, wanting):
            continue
        if settings.setting_value(tx, note) is not None:
            drawn_before.add(note)
            continue
        items = labels.items_from(tx, stage.id, study.stage(source).id if source else None)
        if items:
            settings.set_setting(tx, note, "drawn")
            drawn = drawn_items(study, stage.settings, items)
            _ask_for_more(tx, study, stage, source, items, drawn)
            done.append(f"{len(drawn)} items of {stage.name} sampled")
            wanting = offering.stages_with_open_items(tx)
    return done


def drawn_items(
    study: Study, stage: StageSettings, items: Sequence[tuple[int, str, str]]
) -> Sequence[tuple[int, str, str]]:
    """The random sample of the items: the same on every call."""
    rule = stage.judgments.sample
    if rule is None:
        return ()
    seed = study.settings.study.seed
    count = rule.items if rule.items is not None else round((rule.share or 0.0) * len(items))
    return sorted(items, key=lambda item: positions.drawn_share(seed, f"{stage.name}:more", item[1]))[:count]


def _ask_for_more(
    tx: Tx,
    study: Study,
    stage: RunningStage,
    source: str,
    of: Sequence[tuple[int, str, str]],
    drawn: Sequence[tuple[int, str, str]],
) -> None:
    labels.mark_sampled(tx, [item_id for item_id, _, _ in drawn])
    evidence = {
        "from": source or "the file",
        "of": len(of),
        "last": max(item_id for item_id, _, _ in of),
        "items": [key for _, key, _ in drawn],
    }
    events.record(tx, study.clock(), "sampled", evidence, stage_id=stage.id)
    for item_id, _, group in drawn:
        settle_group(tx, study, stage, group, only=item_id)
