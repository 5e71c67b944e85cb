"""Everything about one worker: work, quality over time, pay, messages and events."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean, median

from chorale.engine.running import Study
from chorale.engine.visit import parts_for
from chorale.folder.feedback import mean_criteria
from chorale.model import AssignmentKind, Entry, Event, GradedAnswer, ItemState, Message, Response, Worker
from chorale.monitor.event_words import in_words
from chorale.monitor.field_gold import GoldCounts, gold_counts
from chorale.monitor.status import gold_of, trust_of
from chorale.protocol import Situation, hourly_wage
from chorale.store import Tx, console, events, ledger, participations
from chorale.store.grades import graded_answers
from chorale.store.messages import messages_to
from chorale.store.participations import ParticipationSummary
from chorale.store.responses import all_responses

LOOKED_AT = 500
"""How many of the latest answers quality over time is computed from."""
SHOWN = 50
PARTS = 20
LEAST_IN_PART = 3


@dataclass(frozen=True, slots=True)
class StageRecord:
    row: ParticipationSummary
    trust: float
    gold: tuple[int, int]
    """The numbers of correct and of all answers to gold; of their parts, if the stage counts parts."""
    wage: int | None
    agreement: float | None
    """Mean agreement of their latest answers with the final labels of complete items."""
    compared: int
    """The number of these items."""
    fields: list[tuple[str, float, int]]
    """For each compared field: its name, the mean agreement, and the number of items."""
    gold_fields: GoldCounts
    median_ms: int | None
    usual_ms: int | None
    """Mean time of others per answer."""
    is_round: bool
    marks: Mapping[str, float]
    """Mean grade by criterion."""
    graded: int
    """Number of graded answers."""
    situation: Situation | None
    """What they may do there now, and why; None if the stage is hidden from them."""


@dataclass(frozen=True, slots=True)
class RecordPart:
    """Consecutive answers."""

    first: int
    last: int
    right: float | None
    agreement: float | None


@dataclass(frozen=True, slots=True)
class WorkerRecord:
    standings: list[StageRecord]
    events: list[Event]
    lines: list[Entry]
    responses: list[Response]
    """The latest answers, newest first."""
    parts: list[RecordPart]
    """The latest answers in order, in small groups."""
    qualifications: list[tuple[str, int, Event | None]]
    """Name, since when, and the event with the reason."""
    messages: Sequence[Message]

    def why(self, stage: str, kind: str) -> Event | None:
        """The event that admitted the worker to a stage, or removed them from it."""
        return next((event for event in self.events if event.stage == stage and event.kind == kind), None)


def worker_record(tx: Tx, study: Study, worker: Worker) -> WorkerRecord:
    name = worker.pseudonym
    since = console.answered_since(tx, worker.id, LOOKED_AT)
    given = list(all_responses(tx, pseudonym=name, after=since))
    log = in_words(tx, study, events.recent(tx, 1000, pseudonym=name))
    usual = console.usual_durations(tx, worker.id)
    graded: dict[int, list[GradedAnswer]] = {}
    of_others = {study.stage(name).id for stage in study.stages.values() for name in stage.settings.graded_stages}
    for answer in graded_answers(tx, sorted(of_others), worker.id) if of_others else ():
        graded.setdefault(answer.stage_id, []).append(answer)
    now = {part.stage.name: part.situation for part in parts_for(tx, study, worker.id)}
    return WorkerRecord(
        [
            _stage_record(study, row, given, graded.get(study.stage(row.stage).id, ()), usual, now.get(row.stage))
            for row in participations.participation_summaries(tx, pseudonym=name)
        ],
        log,
        list(ledger.ledger_lines(tx, limit=SHOWN, pseudonym=name)),
        given[::-1][:SHOWN],
        quality_over_time(study, given),
        [(held, at, _reason_for(log, held)) for held, at in console.qualifications_of(tx, worker.id)],
        messages_to(tx, worker.id),
    )


def _reason_for(log: Sequence[Event], name: str) -> Event | None:
    """Why a worker has a qualification: the decision of the gate, or the reason of the team."""
    given = next((one for one in log if one.kind == "qualified" and one.evidence.get("qualification") == name), None)
    if given is not None and "gate" in given.evidence:
        gate = given.evidence["gate"]
        return next((one for one in log if one.kind == "passed" and one.evidence.get("gate") == gate), given)
    return given


def _stage_record(
    study: Study,
    row: ParticipationSummary,
    given: Sequence[Response],
    graded: Sequence[GradedAnswer],
    usual: dict[str, int],
    now: Situation | None,
) -> StageRecord:
    here = [one for one in given if one.stage == row.stage]
    near = [value for one in here if (value := _nearness(study, one)) is not None]
    return StageRecord(
        row,
        trust_of(study, row),
        gold_of(study, row),
        hourly_wage(row.earned, row.worked_ms),
        fmean(near) if near else None,
        len(near),
        _field_nearness(study, here),
        gold_counts(study.stage(row.stage).task.shape.fields, [(one.answer, one.gold_answer) for one in here]),
        round(median(one.duration_ms for one in here)) if here else None,
        usual.get(row.stage),
        study.stage(row.stage).round_size is not None,
        mean_criteria(graded),
        len(graded),
        now,
    )


def _nearness(study: Study, given: Response) -> float | None:
    """The agreement of an answer with the final label of its item; None without a final label."""
    if given.kind != AssignmentKind.PRODUCTION or given.item_state != ItemState.COMPLETE or given.item_label is None:
        return None
    return 1 - study.stage(given.stage).task.combining.distance(given.answer, given.item_label)


def _field_nearness(study: Study, given: Sequence[Response]) -> list[tuple[str, float, int]]:
    if not given:
        return []
    nearness = []
    for field in study.stage(given[0].stage).task.shape.compared:
        apart = [
            distance
            for one in given
            if _nearness(study, one) is not None and (distance := field.between(one.answer, one.item_label)) is not None
        ]
        if apart:
            nearness.append((field.name, 1 - fmean(apart), len(apart)))
    return nearness


def quality_over_time(study: Study, given: Sequence[Response]) -> list[RecordPart]:
    """Gold accuracy and agreement with final labels, in groups of consecutive answers."""
    size = max(LEAST_IN_PART, -(-len(given) // PARTS))
    parts = []
    for start in range(0, len(given), size):
        some = given[start : start + size]
        right = [float(study.stage(one.stage).is_correct(one.gold_score)) for one in some if one.gold_score is not None]
        near = [value for one in some if (value := _nearness(study, one)) is not None]
        parts.append(
            RecordPart(
                some[0].submitted_at,
                some[-1].submitted_at,
                fmean(right) if right else None,
                fmean(near) if near else None,
            )
        )
    return parts
