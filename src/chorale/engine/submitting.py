"""Accepting an answer: stored, graded, paid and counted once, in one transaction."""

from collections.abc import Mapping
from functools import partial
from math import ceil
from typing import Any, NamedTuple

from chorale.contract import AnswerError, GradeResult
from chorale.engine import paying
from chorale.engine.entering import admission
from chorale.engine.first_answers import check_first, invalid_answer
from chorale.engine.gates import decide_about
from chorale.engine.leases import own_assignment
from chorale.engine.offering import WorkerProgress
from chorale.engine.places import take_again
from chorale.engine.running import RunningStage, Study
from chorale.engine.sessions import refuse_withdrawn
from chorale.engine.settling import read_judged, settle, take_in
from chorale.model import (
    Assignment,
    AssignmentKind,
    AssignmentState,
    GoldRecord,
    Judgment,
    Participation,
    Refusal,
    Standing,
)
from chorale.model.wording import counted, joined, worded
from chorale.protocol import (
    Facts,
    State,
    always,
    for_late_answer,
    gold_after,
    never,
    removal_reason,
    review_worker,
    trust,
)
from chorale.protocol.situation_words import message
from chorale.store import Tx, assignees, assignments, events, grades, items, labels, lengths, participations, responses
from chorale.store.assignments import Assigned
from chorale.store.codec import answer_from_text, as_text, frozen_from_text
from chorale.store.credentials import credentials_of
from chorale.store.gold import GoldAnswer, gold_answer
from chorale.store.gold_supply import replace_on_gold
from chorale.store.judged import JudgedGroup
from chorale.store.sessions import SessionClaim


class SubmitOutcome(NamedTuple):
    """The reply to a submission."""

    status: str
    """accepted, or already_submitted."""
    explanation: str | None
    standing: Standing
    progress: WorkerProgress
    details: Mapping[str, Any] | None = None
    """The comparison with the expert's answer, in practice."""
    right: bool | None = None
    """Whether it was correct, in practice. Elsewhere this is not shown, since it would reveal gold."""
    response_id: int | None = None
    """The stored response; not shown to workers."""
    stage_id: int = 0
    stopped_counting: bool = False
    """Whether the worker was removed because of this answer; not shown to workers, who may be informed later."""


class _Graded(NamedTuple):
    result: GradeResult
    explanation: str
    gold: Any


class _Removed(NamedTuple):
    """A worker's status, and the number of answers after which they learn of their removal."""

    standing: Standing
    after: int

    def shown(self, answered: int) -> Standing:
        """The status shown to the worker after this number of answers."""
        return self.standing if answered >= self.after else Standing.ACTIVE


# Used for every answer: a lookup takes a third of the time of `Standing(…)`.
_STANDINGS = {standing.value: standing for standing in Standing}


def submit(
    tx: Tx,
    study: Study,
    worker_id: int,
    token: str,
    raw_answer: Any,
    idempotency_key: str,
    duration_ms: int | None,
    session: SessionClaim | None = None,
    *,
    unpaid: bool = False,
) -> SubmitOutcome:
    """Accept an answer once, however often it is sent. The session, if given, must be valid. Models are `unpaid`."""
    held = own_assignment(tx, study, worker_id, token, session)
    assignment, record = held.assignment, held.record
    stage = study.stage_by_id(assignment.stage_id)
    if assignment.state == AssignmentState.SUBMITTED:
        return _as_before(tx, stage, held)
    item, answer, text = _parsed(tx, stage, assignment.item_id, raw_answer)
    check_first(tx, stage, token, answer)
    _renew_if_ended(tx, study, stage, assignment, record)
    gold = _gold_of(tx, assignment)
    judged = _read_judged(tx, study, stage, held)
    now = study.clock()
    duration = _duration(stage, assignment, now, duration_ms)
    version = stage.task.version
    response_id = responses.add_response(tx, assignment, text, version, now, duration, idempotency_key)
    assignments.end_assignment(tx, assignment, AssignmentState.SUBMITTED, now)
    graded = None if gold is None else _grade(tx, stage, gold, response_id, answer, now)
    correct = graded is None or stage.is_correct(graded.result.score)
    after = None
    if graded is not None:
        after = gold_after(record.gold, stage.gold_marks(graded.result.score), stage.settings.gold)
    paid = paying.NOTHING if unpaid else _pay(tx, study, stage, held, token, response_id, answer, after, now)
    participations.count_answer(
        tx, stage.id, worker_id, earned=paid.earned, fees=paid.fee, exact_fees=paid.exact_fee, worked_ms=duration
    )
    removed = _Removed(_STANDINGS[record.standing], record.removed_after)
    if after is not None:
        removed = _note_gold(tx, study, stage, record, after)
    if judged is not None:
        _settle(tx, study, stage, held, judged, response_id, text)
    elif assignment.kind == AssignmentKind.PRODUCTION:
        labels.count_judgment(tx, assignment.item_id)
        take_in(tx, study, stage, held, response_id, answer)
    if stage.round_size is not None and record.answered + 1 >= stage.round_size:
        decide_about(tx, study, stage, record.worker_id)
    wrong = graded if not correct and _tells(stage, assignment.kind) else None
    return SubmitOutcome(
        "accepted",
        wrong.explanation if wrong else None,
        removed.shown(record.answered + 1),
        WorkerProgress(record.answered + 1, record.earned + paid.earned),
        _compared(stage, assignment.kind, item, answer, wrong.gold) if wrong else None,
        wrong is None if assignment.kind == AssignmentKind.TRAINING else None,
        response_id,
        stage.id,
        removed.standing != record.standing,
    )


def _duration(stage: RunningStage, assignment: Assignment, now: int, measured_ms: int | None) -> int:
    """The duration of an answer; Refusal if it is below the stage's minimum."""
    elapsed = max(0, now - assignment.leased_at)
    rule = stage.settings.sense
    if rule.refuse and rule.min_seconds is not None and elapsed < rule.min_seconds * 1000:
        words = counted(
            ceil(rule.min_seconds),
            "This question takes at least {count} second to read and answer. Please read it again, then submit your "
            "answer.",
            "This question takes at least {count} seconds to read and answer. Please read it again, then submit your "
            "answer.",
        )
        raise Refusal("invalid_answer", words, 422)
    return elapsed if measured_ms is None else min(max(0, measured_ms), elapsed)


def _parsed(tx: Tx, stage: RunningStage, item_id: int, raw_answer: Any) -> tuple[Any, Any, str]:
    """The item (if the task needs it) and the answer in canonical form, also as text."""
    task = stage.task
    try:
        if task.shape.misfit is None and task.shape.canonical is None and task.explaining.feedback is None:
            return None, *stage.parsed(raw_answer)
        _, item = items.content_of(tx, item_id)
        answer = task.shape.parse_answer(raw_answer, item)
        return item, answer, as_text(answer)
    except AnswerError as error:
        raise invalid_answer(error) from None


def _pay(
    tx: Tx,
    study: Study,
    stage: RunningStage,
    held: Assigned,
    token: str,
    response_id: int,
    answer: Any,
    after: GoldRecord | None,
    now: int,
) -> paying.Booked:
    """Book the earnings of an answer. `after` is the worker's gold record after it, if it was gold."""
    assignment, record = held.assignment, held.record
    amounts = paying.earned_by(
        stage,
        study.settings.pay.currency,
        response_id,
        stage.task.grading.parts(answer),
        after if assignment.kind == AssignmentKind.GOLD else None,
        0 if stage.settings.pay.by_length is None else lengths.words_of(tx, token),
    )
    amounts += paying.for_round(tx, stage, record.worker_id, response_id, record.answered + 1)
    return paying.book(tx, study, stage, record, amounts, now)


def _read_judged(tx: Tx, study: Study, stage: RunningStage, held: Assigned) -> JudgedGroup | None:
    """Read the data to settle the item, if this answer can decide it. Called before anything is written."""
    assignment, record = held.assignment, held.record
    if assignment.kind != AssignmentKind.PRODUCTION:
        return None
    fewest = stage.fewest
    # One judgment may be enough to decide the item.
    waits = record.standing == Standing.ACTIVE and fewest != (1, 1)
    if waits and assignments.needs_more(tx, held, *fewest):
        return None
    return read_judged(tx, study, stage, assignment.group_key, assignment.item_id, record.worker_id)


def _settle(
    tx: Tx, study: Study, stage: RunningStage, held: Assigned, judged: JudgedGroup, response_id: int, answer: str
) -> None:
    """Settle the item from earlier judgments and this answer, if it counts."""
    record, item_id = held.record, held.assignment.item_id
    if record.standing == Standing.ACTIVE:
        trusted = labels.trust_in(record.gold, stage.settings.gold)
        judgment = Judgment(judged.answering, answer_from_text(answer), trusted, response_id)
        judged.judgments[item_id] = (*judged.judgments[item_id], judgment)
    settle(tx, study, stage, judged, answered=True)


def _compared(stage: RunningStage, kind: str, item: Any, answer: Any, gold: Any) -> Mapping[str, Any] | None:
    """The form's comparison of an answer with the expert's: only in practice, never for gold in production."""
    show = stage.task.explaining.feedback
    if show is None or kind != AssignmentKind.TRAINING:
        return None
    return show(item, answer, gold)


def _tells(stage: RunningStage, kind: str) -> bool:
    """Whether wrong answers are explained at once: in practice, and for gold if the study file says so."""
    gold = stage.settings.gold
    return kind == AssignmentKind.TRAINING or (gold is not None and gold.feedback == "at once")


def _as_before(tx: Tx, stage: RunningStage, held: Assigned) -> SubmitOutcome:
    """The reply to the first submission of the answer."""
    record = held.record
    given = responses.response_to(tx, held.assignment.id)
    if given is None:
        raise RuntimeError("a submitted assignment without a response")
    wrong = given.score is not None and not stage.is_correct(given.score) and _tells(stage, given.kind)
    return SubmitOutcome(
        "already_submitted",
        given.explanation if wrong else None,
        _Removed(_STANDINGS[record.standing], record.removed_after).shown(record.answered),
        WorkerProgress(record.answered, record.earned),
        _compared_before(tx, stage, held, frozen_from_text(given.answer)) if wrong else None,
        not wrong if given.kind == AssignmentKind.TRAINING else None,
        stage_id=stage.id,
    )


def _compared_before(tx: Tx, stage: RunningStage, held: Assigned, answer: Any) -> Mapping[str, Any] | None:
    gold = None if stage.task.explaining.feedback is None else gold_answer(tx, held.assignment.item_id)
    if gold is None:
        return None
    _, item = items.content_of(tx, held.assignment.item_id)
    return _compared(stage, held.assignment.kind, item, answer, frozen_from_text(gold.answer))


def _renew_if_ended(tx: Tx, study: Study, stage: RunningStage, assignment: Assignment, record: Participation) -> None:
    """Accept a late answer if its place is still free and its worker could get the item now."""
    if assignment.state == AssignmentState.LIVE:
        return
    # Their item was returned when they withdrew, or had expired before.
    refuse_withdrawn(tx, record.worker_id)
    now = for_late_answer(_facts(tx, study, stage, record, assignment))
    if now.state is not State.AVAILABLE:
        words = message(now, study.titles, never)
        raise Refusal("lease_ended", joined(worded("Your time for this question is up."), words))
    if assignment.state == AssignmentState.RETURNED or not take_again(
        tx, study, stage, assignment.item_id, assignment.kind
    ):
        raise Refusal(
            "lease_ended",
            worded("Your time for this question is up, and someone else has it now. Continue with the next one."),
        )
    participations.uncount_skip(tx, stage.id, record.worker_id)


def _facts(tx: Tx, study: Study, stage: RunningStage, record: Participation, held: Assignment) -> Facts:
    """The facts about the sender of a late answer. Taking the place shows whether it is free."""
    credentials = credentials_of(tx, record.worker_id)
    return Facts(
        partial(admission, tx, study, stage, record.worker_id, credentials),
        partial(assignees.is_for, tx, held.item_id, record.worker_id) if stage.is_assigned else always,
        partial(paying.is_covered, tx, study, stage),
        never,
        removal=removal_reason(
            record.standing, record.answered, record.removed_after, has_gold=stage.settings.gold is not None
        ),
        answered=record.answered,
        round_size=stage.round_size,
        max_per_worker=stage.settings.max_per_worker,
        ended=not credentials.closed.isdisjoint(stage.closed_by),
    )


def _gold_of(tx: Tx, assignment: Assignment) -> GoldAnswer | None:
    """The gold that an answer is graded by; None if the assignment is not gold."""
    if assignment.kind == AssignmentKind.PRODUCTION:
        return None
    gold = gold_answer(tx, assignment.item_id)
    if gold is None:
        raise RuntimeError("a gold assignment without its gold")
    return gold


def _grade(tx: Tx, stage: RunningStage, gold: GoldAnswer, response_id: int, answer: Any, now: int) -> _Graded:
    """Grade an answer by gold."""
    expected = frozen_from_text(gold.answer)
    result = stage.task.grading.grade(answer, expected)
    grades.add_grade(tx, response_id, "gold", result.score, result.reasons, now)
    return _Graded(result, gold.explanation, expected)


def _note_gold(tx: Tx, study: Study, stage: RunningStage, record: Participation, after: GoldRecord) -> _Removed:
    """Update a worker's gold record after an answer to gold, and decide whether they are removed."""
    rule, standing, removed_after = stage.settings.gold, _STANDINGS[record.standing], record.removed_after
    if rule is not None and standing is Standing.ACTIVE:
        verdict = review_worker(after, rule)
        if verdict.dropped:
            standing = Standing.DROPPED
            grace = 0 if rule.feedback == "at once" else study.secrets.randrange(rule.grace + 1)
            removed_after = record.answered + 1 + grace
            evidence = {**verdict.evidence, "grace": grace}
            events.record(tx, study.clock(), "dropped", evidence, stage_id=stage.id, worker_id=record.worker_id)
    # The labels they contributed to may change. A worker without errors keeps the same trust.
    changed = standing != record.standing or trust(after, rule) != trust(record.gold, rule)
    participations.note_gold(tx, stage.id, record.worker_id, after, standing, removed_after, trust_changed=changed)
    if standing != record.standing:
        replace_on_gold(tx, stage.id, record.worker_id)
    return _Removed(standing, removed_after)
