"""Stages: adding them, changing their state, and counting their progress."""

from collections import defaultdict
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from sqlalchemy import ColumnElement, Connection, Select, and_, case, func, insert, literal_column, or_, select, update

from chorale.model import ItemState, Stage, StageState, Standing
from chorale.store.identity_schema import item_assignee
from chorale.store.prepared import Prepared
from chorale.store.schema import assignment, event, gold, item, item_source, participation, response, setting, stage
from chorale.store.workers import models

Also = Sequence[ColumnElement[bool]]
"""Conditions for participations that count as work without an answer."""


@dataclass(frozen=True, slots=True)
class StageCounts:
    """The progress of a stage."""

    stage_id: int
    name: str
    state: str
    items: int
    """Number of items to be judged, without items that are only gold."""
    complete: int
    released: int
    withdrawn: int
    judgments: int
    """Counted judgments."""
    discarded: int
    """Production responses that do not count: their worker was removed, or their item withdrawn."""
    gold_items: int
    gold_answers: int
    live: int
    workers: int
    """Number of workers with answers or other work of a kit."""
    dropped: int
    paid: int
    fees: int
    answers: int
    """Number of all answers: judgments, gold, and rounds."""


def stage_counts(tx: Connection, also: Also = ()) -> list[StageCounts]:
    """The progress of every stage, counted from its items and answers."""
    items, responses = _by_stage(tx, _ITEMS), _by_stage(tx, _RESPONSES)
    return _counts(tx, also, lambda stage_id: _Done(*items[stage_id], *responses[stage_id]))


def stage_tallies(tx: Connection, rounds: Collection[int], also: Also = ()) -> list[StageCounts]:
    """The progress of every stage from stored counts, without reading answers.

    `rounds` are the ids of rounds: all of their answers are graded, and none is a production answer.
    """
    states: dict[int, dict[tuple[str, bool], int]] = defaultdict(dict)
    for stage_id, state, released, count in tx.execute(_STATES):
        states[stage_id][str(state), bool(released)] = count
    produced, bare, gone = _by_stage(tx, _PRODUCED), _by_stage(tx, _BARE_GOLD), _by_stage(tx, _JUDGMENTS_WITHDRAWN)

    def done(stage_id: int) -> _Done:
        counts, [only_gold] = states[stage_id], bare[stage_id]
        given, counted, gold_answers, answers = produced[stage_id]
        withdrawn = sum(count for (state, _), count in counts.items() if state == ItemState.WITHDRAWN)
        complete = sum(count for (state, _), count in counts.items() if state == ItemState.COMPLETE)
        return _Done(
            sum(counts.values()) - withdrawn - only_gold,
            complete - only_gold,
            counts.get((ItemState.COMPLETE, True), 0),
            withdrawn,
            counted - gone[stage_id][0],
            given,
            0 if stage_id in rounds else gold_answers,
            answers,
        )

    return _counts(tx, also, done)


class _Done(NamedTuple):
    """The work done in a stage."""

    items: int
    complete: int
    released: int
    withdrawn: int
    judgments: int
    production: int
    gold_answers: int
    answers: int


def _counts(tx: Connection, also: Also, done: Callable[[int], _Done]) -> list[StageCounts]:
    """The progress of every stage from the work done."""
    people, golds, live = _by_stage(tx, _people(also)), _by_stage(tx, _GOLDS), _by_stage(tx, _LIVE)
    rows = []
    for row in tx.execute(select(stage).order_by(stage.c.position)):
        *items, judgments, production, gold_answers, answers = done(row.id)
        gold_counts = production - judgments, *golds[row.id], gold_answers
        rows.append(
            StageCounts(
                *(row.id, row.name, row.state, *items, judgments, *gold_counts, *live[row.id], *people[row.id], answers)
            )
        )
    return rows


def finished(tx: Connection, rounds: Mapping[int, int]) -> dict[int, int]:
    """Number of workers who finished a round, by stage id; `rounds` has the number of questions in each."""
    query = select(participation.c.stage_id, participation.c.answered, func.count()).where(
        participation.c.stage_id.in_(rounds)
    )
    counts = dict.fromkeys(rounds, 0)
    for stage_id, answered, people in tx.execute(query.group_by(participation.c.stage_id, participation.c.answered)):
        counts[stage_id] += people if answered >= rounds[stage_id] else 0
    return counts


def released_by_stage(tx: Connection) -> dict[str, int]:
    """The number of accepted labels of each stage."""
    query = (
        select(stage.c.name, func.count())
        .join(item, item.c.stage_id == stage.c.id)
        .where(item.c.released, item.c.state == ItemState.COMPLETE)
        .group_by(stage.c.name)
    )
    return {str(name): int(count) for name, count in tx.execute(query)}


def _by_stage(tx: Connection, query: Select[Any]) -> Mapping[int, tuple[int, ...]]:
    """Sums and counts by stage; zeros for a stage without rows."""
    none = (0,) * (len(query.selected_columns) - 1)
    counts = {row[0]: tuple(int(value or 0) for value in row[1:]) for row in tx.execute(query)}
    return defaultdict(lambda: none, counts)


def _how_many(condition: Any, count: Any = 1) -> Any:
    return func.sum(case((condition, count), else_=0))


# Items that are only gold need no judgments.
_JUDGED = or_(item.c.wanted > 0, item.c.counted > 0)
_ITEMS: Select[Any] = select(
    item.c.stage_id,
    _how_many(and_(_JUDGED, item.c.state != ItemState.WITHDRAWN)),
    _how_many(and_(_JUDGED, item.c.state == ItemState.COMPLETE)),
    _how_many(and_(item.c.released, item.c.state == ItemState.COMPLETE)),
    _how_many(item.c.state == ItemState.WITHDRAWN),
    _how_many(item.c.state != ItemState.WITHDRAWN, item.c.counted),
).group_by(item.c.stage_id)
_RESPONSES: Select[Any] = select(
    response.c.stage_id, _how_many(response.c.kind == "production"), _how_many(response.c.kind == "gold"), func.count()
).group_by(response.c.stage_id)
_GOLDS: Select[Any] = select(gold.c.stage_id, func.count()).where(gold.c.active).group_by(gold.c.stage_id)
_LIVE: Select[Any] = (
    select(assignment.c.stage_id, func.count())
    .where(assignment.c.state == literal_column("'live'"))
    .group_by(assignment.c.stage_id)
)


def _people(also: Also) -> Select[Any]:
    of_people = participation.c.worker_id.not_in(models())
    return select(
        participation.c.stage_id,
        _how_many(and_(of_people, or_(participation.c.answered > 0, *also))),
        _how_many(and_(of_people, participation.c.standing == Standing.DROPPED)),
        func.sum(participation.c.earned),
        func.sum(participation.c.fees),
    ).group_by(participation.c.stage_id)


_STATES: Select[Any] = select(item.c.stage_id, item.c.state, item.c.released, func.count()).group_by(
    item.c.stage_id, item.c.state, item.c.released
)
_BARE_GOLD: Select[Any] = (
    select(gold.c.stage_id, func.count())
    .join(item, item.c.id == gold.c.item_id)
    .where(item.c.wanted == 0, item.c.counted == 0)
    .group_by(gold.c.stage_id)
)
_JUDGMENTS_WITHDRAWN: Select[Any] = (
    select(item.c.stage_id, func.sum(item.c.counted))
    .where(item.c.state == ItemState.WITHDRAWN)
    .group_by(item.c.stage_id)
)
_GIVEN = participation.c.answered - participation.c.gold_answered
_PRODUCED: Select[Any] = select(
    participation.c.stage_id,
    func.sum(_GIVEN),
    _how_many(participation.c.standing == Standing.ACTIVE, _GIVEN),
    func.sum(participation.c.gold_answered),
    func.sum(participation.c.answered),
).group_by(participation.c.stage_id)


_BEFORE_WORK = ("paused", "resumed", "items assigned")
"""Events of a stage that happen before anybody works in it."""


_LOGGED = select(event.c.stage_id).where(event.c.stage_id.is_not(None))


def logged_names(tx: Connection) -> list[str]:
    """The stages that the activity log names, in order."""
    query = select(stage.c.name).where(stage.c.id.in_(_LOGGED)).order_by(stage.c.position, stage.c.id)
    return list(tx.execute(query).scalars())


def is_untouched(tx: Connection) -> bool:
    """Whether nobody has seen any stage or item yet."""
    logged = or_(event.c.stage_id.is_not(None), event.c.item_id.is_not(None))
    traces = (
        select(participation.c.stage_id).limit(1),
        select(event.c.id).where(logged, event.c.kind.not_in(_BEFORE_WORK)).limit(1),
    )
    return all(tx.execute(query).first() is None for query in traces)


def clear(tx: Connection, tasks: Mapping[str, tuple[str, int]]) -> None:
    """Delete items, gold and stages that are not among these tasks by stage name, unless the activity log names them.

    The remaining stages keep their ids: another server may use them.
    """
    for table in (gold, item_source, item_assignee, item):
        tx.execute(table.delete())
    for row in all_stages(tx):
        task, version = tasks.get(row.name, (None, 0))
        if task == row.task:
            continue
        tx.execute(stage.delete().where(stage.c.id == row.id, stage.c.id.not_in(_LOGGED)))
        if task is not None:
            tx.execute(update(stage).where(stage.c.id == row.id).values(task=task, task_version=version))
    tx.execute(setting.delete().where(setting.c.key == "seed"))


_STAGES = Prepared(select(stage).order_by(stage.c.position))


def all_stages(tx: Connection) -> list[Stage]:
    return [Stage(*row) for row in _STAGES.all(tx)]


_PAUSED = Prepared(select(stage.c.id).where(stage.c.state == literal_column("'paused'")))


def paused_stages(tx: Connection) -> frozenset[int]:
    return frozenset(_PAUSED.column(tx))


def add_stage(tx: Connection, name: str, position: int, task: str, task_version: int) -> int:
    return int(
        tx.execute(
            insert(stage)
            .values(name=name, position=position, task=task, task_version=task_version, state=StageState.OPEN)
            .returning(stage.c.id)
        ).scalar_one()
    )


def set_stage_state(tx: Connection, stage_id: int, state: StageState) -> bool:
    """Change the state; False if it is unchanged."""
    return bool(
        tx.execute(update(stage).where(stage.c.id == stage_id, stage.c.state != state).values(state=state)).rowcount
    )
