"""A random sample of each worker's answers: the items of a stage that has `items.per_worker`.

A worker's answers can be sampled only when no more will follow: the worker has reached the limit, or the stage assigns
nothing more because it is finished or paused. They are sampled once. Answers added later, in a resumed stage, are not
sampled.
"""

from collections.abc import Iterable

from chorale.engine.offering_room import more_may_come
from chorale.engine.running import RunningStage, Study
from chorale.engine.settling import derive_answers
from chorale.store import Tx, drawing, events, participations, positions, stages
from chorale.store.gates import closed_gates


def draw_answers(tx: Tx, study: Study, closed: frozenset[str], wanting: frozenset[int]) -> list[str]:
    """Sample the answers of workers who are done; describe the result in words.

    `closed` are the closed gates, and `wanting` the stages that still need judgments.
    """
    takers = study.taking_some
    if not takers:
        return []
    paused = stages.paused_stages(tx)
    done = []
    for later in takers:
        if not closed.isdisjoint(later.closed_by):
            continue  # the gate of these grades has already decided
        for name in later.settings.sources:
            source = study.stage(name)
            ended = source.id in paused or not more_may_come(study, source, closed, wanting)
            at_least = 1 if ended else source.settings.max_per_worker
            if at_least is None:
                continue
            people = sum(
                _draw_from(tx, study, later, source, worker_id)
                for worker_id in drawing.people_to_draw_from(tx, later.id, source.id, at_least)
            )
            if people:
                done.append(f"answers of {people} people in {name} sampled for {later.name}")
    return done


def not_drawn_from(tx: Tx, study: Study) -> dict[str, int]:
    """The number of people, by stage, whose answers are still to be sampled."""
    closed = closed_gates(tx)
    waiting: dict[str, set[int]] = {}
    for later in study.taking_some:
        if closed.isdisjoint(later.closed_by):
            for name in later.settings.sources:
                waiting.setdefault(name, set()).update(drawing.people_to_draw_from(tx, later.id, study.stage(name).id))
    return {name: len(people) for name, people in waiting.items() if people}


def drawn_answers(seed: int, later: str, count: int, given: Iterable[int]) -> list[int]:
    """The random sample of a worker's answers: the same on every call.

    >>> drawn_answers(7, "grading", 2, [11, 12, 15, 21]) == drawn_answers(7, "grading", 2, [21, 15, 12, 11])
    True
    """

    def place(response_id: int) -> tuple[float, int]:
        return positions.drawn_share(seed, f"{later}:each", str(response_id)), response_id

    return sorted(sorted(given, key=place)[:count])


def _draw_from(tx: Tx, study: Study, later: RunningStage, source: RunningStage, worker_id: int) -> bool:
    # Another server may be sampling from them at the same time.
    participations.participation_of(tx, source.id, worker_id, lock=True)
    if drawing.is_drawn_from(tx, later.id, source.id, worker_id):
        return False
    given = drawing.answers_given(tx, source.id, worker_id)
    seed, count = study.settings.study.seed, later.per_worker or 0
    drawn = drawn_answers(seed, later.name, count, given)
    items = sorted(item_id for response_id, item_id in given.items() if response_id in drawn)
    if not derive_answers(tx, study, later, source, items, drawn):
        return False
    evidence = {"from": source.name, "of": list(given), "answers": drawn}
    events.record(tx, study.clock(), "drawn", evidence, stage_id=later.id, worker_id=worker_id)
    return True
