"""What workers do: arrive, consent, enter a stage, get an item, submit it, give it back.

Each function is one transaction: load, decide, append.
"""

import json
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from chorale.model import (
    AssignmentKind,
    AssignmentState,
    EntryKind,
    GoldRecord,
    Refusal,
    StageState,
    Standing,
    money_text,
)
from chorale.protocol import Admission, fee_due, fee_on, gold_due, may_enter, review_worker
from chorale.store import Tx, events, labels, people, work
from chorale.store.setup import as_text
from chorale.store.work import AssignmentRow, Lease, ParticipationRow
from chorale.study.running import RunningStage, Study
from chorale.study.settling import settle_group
from chorale.tasks import AnswerError, GradeResult

EXPIRE_AT_ONCE = 500
# Being able to extend a time limit ten times over is what WCAG 2.2 asks for (success criterion 2.2.1).
MOST_LEASES = 10


@dataclass(frozen=True, slots=True)
class Progress:
    answered: int
    earned: int


@dataclass(frozen=True, slots=True)
class Offer:
    """What a worker gets when they ask for the next item."""

    status: str
    """item, wait, done, paused, dropped, limit or locked."""
    message: str
    progress: Progress
    lease: Lease | None = None
    view: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a worker hears after submitting."""

    status: str
    """accepted, or already_submitted."""
    explanation: str | None
    standing: Standing
    progress: Progress


MESSAGES = {
    "wait": "There is nothing for you to do right now. More may come up as others go on, so look in again.",
    "done": "All done. There is nothing left to do in this part. Thank you!",
    "paused": "This part is paused for the moment. What you sent is saved and paid; look in again later.",
    "dropped": (
        "Thank you for your work. Too many of your answers differed from the ones we are sure of, so this part ends "
        "here for you. You are paid for everything you sent."
    ),
    "limit": "You have done as many of these as one person may. Thank you!",
}


def arrive(tx: Tx, study: Study, panel: str, external_id: str, visit: Mapping[str, str]) -> people.WorkerRow:
    """The worker behind a panel's id. `visit` is what else the panel said; it is kept with the id, apart."""
    worker, new = people.arrive(tx, panel, external_id, visit, study.clock())
    if new:
        events.record(tx, study.clock(), "arrived", {"panel": panel}, worker_id=worker.id)
    return worker


def consent(tx: Tx, study: Study, worker_id: int) -> None:
    if people.consent(tx, worker_id, study.clock()):
        text = sha256(study.consent.encode()).hexdigest()
        events.record(tx, study.clock(), "consented", {"consent": text}, worker_id=worker_id)


def admission(tx: Tx, study: Study, stage: RunningStage, worker_id: int) -> Admission:
    """Whether a worker may work in a stage, and why. Asked before every item: what let them in may no longer hold."""
    rule = stage.settings.entry
    dropped_from = work.dropped_from(tx, worker_id)
    record = None
    if rule.qualified_in is not None:
        earlier = work.participation_of(tx, study.stage(rule.qualified_in).id, worker_id)
        record = None if earlier is None else earlier.gold
    return may_enter(rule, record, dropped_from)


def next_item(tx: Tx, study: Study, stage: RunningStage, worker_id: int) -> Offer:
    """The item a worker is to judge next; the one they already have, if they have one."""
    found = work.situation(tx, stage.id, worker_id)
    if found is None:
        raise Refusal("signed_out", "You are not signed in. Open the link you were given again.", 401)
    if found.consented_at is None:
        raise Refusal("no_consent", "Please read and accept the consent form first.", 403)
    record = work.participation_of(tx, stage.id, worker_id, lock=True)
    if record is None:
        if found.stage_state == StageState.PAUSED:
            return _nothing("paused", Progress(0, 0))
        entered = _enter(tx, study, stage, worker_id)
        if isinstance(entered, Offer):
            return entered
        record = entered
    progress = Progress(record.answered, record.earned)
    if record.standing == Standing.DROPPED:
        return _nothing("dropped", progress)
    # Also for somebody who has only just entered: another tab of theirs may have been first.
    if (held := work.live_lease(tx, stage.id, worker_id)) is not None:
        return _offer(stage, held, progress)
    barred = _barred(tx, study, stage, found, record)
    if barred is not None:
        return barred
    lease = _lease_next(tx, study, stage, record)
    if lease is None and expire_leases(tx, study):
        lease = _lease_next(tx, study, stage, record)
    if lease is None:
        return _nothing("wait" if more_may_come(tx, study, stage) else "done", progress)
    return _offer(stage, lease, progress)


def _barred(tx: Tx, study: Study, stage: RunningStage, found: work.Situation, record: ParticipationRow) -> Offer | None:
    """Why somebody who is in the stage gets no item now, if they do not."""
    progress = Progress(record.answered, record.earned)
    if found.stage_state == StageState.PAUSED:
        return _nothing("paused", progress)
    if found.dropped_somewhere or stage.settings.entry.qualified_in is not None:
        decided = admission(tx, study, stage, record.worker_id)
        if not decided.allowed:
            return Offer("locked", why_locked(study, decided), progress)
    limit = stage.settings.max_per_worker
    if limit is not None and record.answered >= limit:
        return _nothing("limit", progress)
    return None


def _enter(tx: Tx, study: Study, stage: RunningStage, worker_id: int) -> ParticipationRow | Offer:
    decided = admission(tx, study, stage, worker_id)
    if not decided.allowed:
        return Offer("locked", why_locked(study, decided), Progress(0, 0))
    if work.enter(tx, stage.id, worker_id, secret_number(), secret_number(), study.clock()):
        events.record(
            tx,
            study.clock(),
            "entered",
            {"reason": decided.reason, **decided.evidence},
            stage_id=stage.id,
            worker_id=worker_id,
        )
    record = work.participation_of(tx, stage.id, worker_id, lock=True)
    if record is None:
        raise RuntimeError("a participation vanished in its own transaction")
    return record


def secret_number() -> int:
    """Where a worker's gold comes. Kept with the participation: whoever knew it could tell which items are gold."""
    return secrets.randbits(62)


def _lease_next(tx: Tx, study: Study, stage: RunningStage, record: ParticipationRow) -> Lease | None:
    gold = stage.settings.gold
    kind = AssignmentKind.PRODUCTION
    offered = work.next_item(
        tx,
        stage.id,
        record.worker_id,
        record.item_cursor,
        exclude_contributors=stage.excludes_contributors,
    )
    if offered is None:
        # Gold alone would be work for nothing: it stops with the last item.
        return None
    if gold is not None and gold_due(record.seed, record.served, gold.share):
        unseen = work.next_gold(tx, stage.id, record.worker_id, record.gold_cursor)
        if unseen is not None:
            offered, kind = unseen, AssignmentKind.GOLD
    now = study.clock()
    return work.lease(
        tx,
        secrets.token_urlsafe(15),
        stage.id,
        record.worker_id,
        offered,
        kind,
        now,
        now + int(stage.settings.lease_minutes * 60_000),
    )


def more_may_come(tx: Tx, study: Study, stage: RunningStage) -> bool:
    """Whether this stage, or one it is derived from, still wants judgments."""
    ids = []
    name: str | None = stage.name
    while name is not None:
        earlier = study.stage(name)
        ids.append(earlier.id)
        name = earlier.settings.items.from_
    return work.has_open_items(tx, ids)


def submit(
    tx: Tx,
    study: Study,
    worker_id: int,
    token: str,
    raw_answer: Any,
    idempotency_key: str,
    duration_ms: int | None,
) -> Outcome:
    """Take an answer: once, however often it is sent."""
    assignment = _own_assignment(tx, worker_id, token)
    stage = study.stage_by_id(assignment.stage_id)
    record = work.participation_of(tx, stage.id, worker_id)
    if record is None:
        raise RuntimeError("an assignment without a participation")
    if assignment.state == AssignmentState.SUBMITTED:
        return _as_before(tx, assignment, record)
    try:
        answer = stage.task.parse_answer(raw_answer)
    except AnswerError as error:
        raise Refusal("invalid_answer", f"This answer can't be taken: {error}", 422) from None
    _renew_if_ended(tx, stage, assignment, record)
    now = study.clock()
    elapsed = max(0, now - assignment.leased_at)
    duration = elapsed if duration_ms is None else min(max(0, duration_ms), elapsed)
    response_id = work.add_response(tx, assignment, as_text(answer), stage.task.version, now, duration, idempotency_key)
    work.end_assignment(tx, assignment, AssignmentState.SUBMITTED, now)
    graded = _grade(tx, stage, assignment, response_id, answer, now)
    paid = _pay(tx, study, stage, record, response_id, now)
    standing = _review(tx, study, stage, record, graded)
    work.count_answer(
        tx,
        stage.id,
        worker_id,
        gold_answered=1 if graded else 0,
        gold_right=1 if graded and graded.result.score >= 1 else 0,
        earned=paid.base,
        fees=paid.fee,
        exact_fees=paid.exact_fee,
        worked_ms=duration,
        standing=standing,
        trust_changed=graded is not None,
    )
    if assignment.kind == AssignmentKind.PRODUCTION and not (
        standing is Standing.ACTIVE and labels.count_judgment(tx, assignment.item_id, stage.settings.judgments.min)
    ):
        settle_group(tx, study, stage, assignment.group_key, only=assignment.item_id)
    wrong = graded is not None and graded.result.score < 1
    return Outcome(
        "accepted",
        graded.explanation if graded is not None and wrong else None,
        standing,
        Progress(record.answered + 1, record.earned + paid.base),
    )


@dataclass(frozen=True, slots=True)
class _Graded:
    result: GradeResult
    explanation: str


def _own_assignment(tx: Tx, worker_id: int, token: str) -> AssignmentRow:
    assignment = work.assignment_by_token(tx, token)
    # Somebody else's assignment looks exactly like one that does not exist.
    if assignment is None or assignment.worker_id != worker_id:
        raise Refusal("not_found", "This item is not yours, or no longer exists. Ask for the next one.", 404)
    return assignment


def _as_before(tx: Tx, assignment: AssignmentRow, record: ParticipationRow) -> Outcome:
    given = work.response_to(tx, assignment.id)
    if given is None:
        raise RuntimeError("a submitted assignment without a response")
    wrong = given.score is not None and given.score < 1
    return Outcome(
        "already_submitted",
        given.explanation if wrong else None,
        Standing(record.standing),
        Progress(record.answered, record.earned),
    )


def _renew_if_ended(tx: Tx, stage: RunningStage, assignment: AssignmentRow, record: ParticipationRow) -> None:
    """Let a late answer in as long as its place is still free and its worker could be given the item now."""
    if assignment.state == AssignmentState.LIVE:
        return
    limit = stage.settings.max_per_worker
    barred = record.standing == Standing.DROPPED or (limit is not None and record.answered >= limit)
    is_production = assignment.kind == AssignmentKind.PRODUCTION
    if (
        barred
        or assignment.state == AssignmentState.RETURNED
        or (is_production and not work.take_place(tx, assignment.item_id))
    ):
        raise Refusal(
            "lease_ended",
            "Your time for this one was over and somebody else has taken it. Go on with the next one.",
        )


def _grade(
    tx: Tx, stage: RunningStage, assignment: AssignmentRow, response_id: int, answer: Any, now: int
) -> _Graded | None:
    if assignment.kind != AssignmentKind.GOLD:
        return None
    gold = work.gold_answer(tx, assignment.item_id)
    if gold is None:
        raise RuntimeError("a gold assignment without its gold")
    result = stage.task.grade(answer, json.loads(gold.answer))
    work.add_grade(tx, response_id, "gold", result.score, result.reasons, now)
    return _Graded(result, gold.explanation)


@dataclass(frozen=True, slots=True)
class _Paid:
    base: int
    fee: int
    exact_fee: int


def _pay(tx: Tx, study: Study, stage: RunningStage, record: ParticipationRow, response_id: int, now: int) -> _Paid:
    """Book the base pay of a response, and the panel's fee on it."""
    base = stage.settings.pay.per_judgment
    if base:
        work.add_entry(
            tx,
            f"response:{response_id}:base",
            now,
            record.worker_id,
            stage.id,
            EntryKind.BASE,
            base,
            f"a judgment in {stage.name}, {money_text(base, study.settings.pay.currency)} each",
        )
    percent = study.settings.pay.fee_percent
    exact_fee = fee_on(base, percent)
    fee = fee_due(record.exact_fees + exact_fee, record.fees)
    if fee:
        work.add_entry(
            tx,
            f"response:{response_id}:fee",
            now,
            record.worker_id,
            stage.id,
            EntryKind.FEE,
            fee,
            f"{percent:g}% on this and the payments before, as far as not booked yet",
        )
    return _Paid(base, fee, exact_fee)


def _review(tx: Tx, study: Study, stage: RunningStage, record: ParticipationRow, graded: _Graded | None) -> Standing:
    rule = stage.settings.gold
    if graded is None or rule is None or record.standing == Standing.DROPPED:
        return Standing(record.standing)
    right = record.gold_right + (1 if graded.result.score >= 1 else 0)
    verdict = review_worker(GoldRecord(right, record.gold_answered + 1), rule)
    if not verdict.dropped:
        return Standing.ACTIVE
    events.record(tx, study.clock(), "dropped", dict(verdict.evidence), stage_id=stage.id, worker_id=record.worker_id)
    return Standing.DROPPED


def give_back(tx: Tx, study: Study, worker_id: int, token: str) -> None:
    """Return an item unanswered; somebody else gets it. Returning twice is once."""
    assignment = _own_assignment(tx, worker_id, token)
    if assignment.state == AssignmentState.SUBMITTED:
        raise Refusal("already_submitted", "You have already answered this one. Go on with the next one.")
    if assignment.state != AssignmentState.LIVE:
        return
    work.end_assignment(tx, assignment, AssignmentState.RETURNED, study.clock())
    events.record(
        tx,
        study.clock(),
        "returned",
        {},
        stage_id=assignment.stage_id,
        worker_id=worker_id,
        item_id=assignment.item_id,
    )


def extend(tx: Tx, study: Study, worker_id: int, token: str) -> int:
    """Begin a lease anew for a worker who needs more time; when it ends now. It can last ten times its time in all."""
    assignment = _own_assignment(tx, worker_id, token)
    if assignment.state != AssignmentState.LIVE:
        raise Refusal("lease_ended", "Your time for this one is over. Go on with the next one.")
    minutes = study.stage_by_id(assignment.stage_id).settings.lease_minutes
    lease_ms = int(minutes * 60_000)
    expires_at = min(study.clock() + lease_ms, assignment.leased_at + MOST_LEASES * lease_ms)
    work.set_expiry(tx, assignment.id, expires_at)
    return expires_at


def expire_leases(tx: Tx, study: Study) -> int:
    """End leases whose time is over; how many."""
    now = study.clock()
    expired = work.expired_assignments(tx, now, EXPIRE_AT_ONCE)
    for assignment in expired:
        work.end_assignment(tx, assignment, AssignmentState.EXPIRED, now)
        events.record(
            tx,
            now,
            "expired",
            {"leased_at": assignment.leased_at, "expires_at": assignment.expires_at},
            stage_id=assignment.stage_id,
            worker_id=assignment.worker_id,
            item_id=assignment.item_id,
        )
    return len(expired)


def why_locked(study: Study, decided: Admission) -> str:
    """Why a worker may not work in a stage, with the titles they know."""
    reason = decided.reason
    for stage in study.stages.values():
        reason = reason.replace(f"`{stage.name}`", f"“{stage.settings.title}”")
    return f"This part is not open to you: {reason}."


def _nothing(status: str, progress: Progress) -> Offer:
    return Offer(status, MESSAGES[status], progress)


def _offer(stage: RunningStage, lease: Lease, progress: Progress) -> Offer:
    return Offer("item", "", progress, lease, stage.task.view(json.loads(lease.payload)))
