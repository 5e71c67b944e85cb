"""A worker's own progress: answers and time, by part and day.

It must not reveal gold. So gold and other items are counted together, also in the number of assigned items: the
difference would be the number of gold items. Correct answers are counted only in practice, where every answer gets
immediate feedback.
"""

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, date, datetime
from math import ceil
from typing import NamedTuple

from chorale.engine.running import RunningStage, Study
from chorale.engine.visit import StageVisit
from chorale.engine.work import start_page
from chorale.store import Tx, assignees, own_work
from chorale.store.own_work import DAY_MS, DayOfWork
from chorale.store.watching import gold_turns


@dataclass(frozen=True, slots=True)
class Day:
    day: date
    """In UTC."""
    answers: int
    worked_ms: int


class AssignedItems(NamedTuple):
    """The number of items assigned to a worker."""

    items: int
    is_estimate: bool
    """Whether gold is included."""


@dataclass(frozen=True, slots=True)
class PartProgress:
    visit: StageVisit
    worked_ms: int
    first: date | None
    last: date | None
    correct: tuple[int, int] | None
    """Correct answers and all answers, if feedback is immediate."""
    assigned: AssignedItems | None
    """Items assigned to this worker by name."""

    @property
    def seconds_each(self) -> int | None:
        """The mean time per answer."""
        return round(self.worked_ms / self.visit.answered / 1000) if self.visit.answered else None


@dataclass(frozen=True, slots=True)
class OwnProgress:
    pseudonym: str
    parts: tuple[PartProgress, ...]
    """The parts they have started or can do."""
    days: tuple[Day, ...]
    """The newest first."""
    earned: int

    @property
    def answers(self) -> int:
        return sum(day.answers for day in self.days)

    @property
    def worked_ms(self) -> int:
        return sum(day.worked_ms for day in self.days)


def own_progress(tx: Tx, study: Study, worker_id: int) -> OwnProgress | None:
    """A worker's progress so far; None if there is no such worker."""
    visit = start_page(tx, study, worker_id)
    if visit is None:
        return None
    work, graded = own_work.days_of_work(tx, worker_id), own_work.graded_answers(tx, worker_id)
    assigned = assignees.count_for(tx, worker_id) if any(part.stage.is_assigned for part in visit.stages) else {}
    rows = {stage_id: turns.gold for stage_id, turns in gold_turns(tx).items()} if assigned else {}
    parts = []
    for part in visit.stages:
        days = [row for row in work if row.stage_id == part.stage.id]
        if days or part.counts:
            correct = graded.get(part.stage.id) if gives_feedback(part.stage) else None
            own = None
            if part.stage.is_assigned:
                own = _with_gold(part.stage, assigned.get(part.stage.id, 0), rows.get(part.stage.id, 0))
            parts.append(_part(part, days, None if correct is None else (correct[1], correct[0]), own))
    return OwnProgress(visit.worker.pseudonym, tuple(parts), _days(work), visit.earned)


def _with_gold(stage: RunningStage, items: int, most: int) -> AssignedItems:
    """The number of items plus the number of gold items expected among them, which is at most the available gold."""
    share = 0.0 if stage.settings.gold is None else stage.settings.gold.share
    gold = min(most, ceil(items * share / (1 - share)))
    return AssignedItems(items + gold, is_estimate=gold > 0)


def gives_feedback(stage: RunningStage) -> bool:
    """Whether every answer in a stage gets immediate feedback: then counts of correct answers reveal nothing new."""
    return stage.settings.round is not None and stage.settings.round.feedback == "at once"


def _part(
    part: StageVisit, days: list[DayOfWork], correct: tuple[int, int] | None, assigned: AssignedItems | None
) -> PartProgress:
    first, last = (_date(days[-1].day), _date(days[0].day)) if days else (None, None)
    return PartProgress(part, sum(row.worked_ms for row in days), first, last, correct, assigned)


def _days(work: list[DayOfWork]) -> tuple[Day, ...]:
    answers, worked = Counter[int](), Counter[int]()
    for row in work:
        answers[row.day] += row.answers
        worked[row.day] += row.worked_ms
    return tuple(Day(_date(day), answers[day], worked[day]) for day in sorted(answers, reverse=True))


def _date(day: int) -> date:
    return datetime.fromtimestamp(day * DAY_MS / 1000, UTC).date()
