"""Whether a stage has an item for a worker, now or possibly later."""

from collections.abc import Collection

from chorale.engine.running import RunningStage, Study
from chorale.store import Tx, assignees, offering


def has_room(tx: Tx, stage: RunningStage, worker_id: int) -> bool:
    """Whether a stage has an item for a worker, without taking it. A round always has items for everybody."""
    return stage.round_size is not None or offering.room_for(tx, stage.id, worker_id, stage.kept_apart)


def more_may_come(study: Study, stage: RunningStage, closed: frozenset[str], wanting: Collection[int]) -> bool:
    """Whether this stage, or a source stage, still needs judgments. A round closed by a gate needs none."""
    names = [stage.name]
    for name in names:
        source_stage = study.stage(name)
        if closed and not closed.isdisjoint(source_stage.closed_by):
            continue
        if source_stage.id in wanting:
            return True
        names += [source for source in source_stage.settings.sources if source not in names]
    return False


def more_may_come_to(
    tx: Tx, study: Study, stage: RunningStage, worker_id: int, closed: frozenset[str], wanting: Collection[int]
) -> bool:
    """Whether the stage may have an item for this worker later. Items assigned to other people do not count."""
    if stage.is_assigned and not assignees.may_come(tx, stage.id, worker_id):
        return False
    return more_may_come(study, stage, closed, wanting)
