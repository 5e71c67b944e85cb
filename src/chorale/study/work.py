"""What workers do in a stage: enter it, get an item, submit it, give it back.

Each function is one transaction: load, decide, append.
"""

import json
from base64 import urlsafe_b64encode
from dataclasses import dataclass
from typing import Any

from chorale.model import (
    AssignmentKind,
    AssignmentState,
    GoldRecord,
    Refusal,
    StageState,
    Standing,
)
from chorale.protocol import gold_after, gold_due, review_worker
from chorale.store import Tx, events, gates, labels, work
from chorale.store.setup import as_text
from chorale.store.work import AssignmentRow, Lease, ParticipationRow
from chorale.study import paying
from chorale.study.entering import admission, is_conditional, why_locked
from chorale.study.gates import decide_about
from chorale.study.running import RunningStage, Study
from chorale.study.settling import derive_from_group, passes_answers_on, settle_group
from chorale.tasks import AnswerError, GradeResult, Seeds

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
    arrangement: dict[str, Any] | None = None
    """The order of things on this worker's page, if the task has one."""


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
    "round": "You have finished this part. You will hear how you did, here on your start page.",
}


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
        return _offer(study, stage, found.pseudonym, held, progress)
    barred = _barred(tx, study, stage, found, record)
    if barred is not None:
        return barred
    if not paying.allows(tx, study, stage):
        return _nothing("paused", progress)
    lease = _lease_next(tx, study, stage, record)
    if lease is None and expire_leases(tx, study):
        lease = _lease_next(tx, study, stage, record)
    if lease is None:
        return _nothing(nothing_left(tx, study, stage), progress)
    return _offer(study, stage, found.pseudonym, lease, progress)


def _barred(tx: Tx, study: Study, stage: RunningStage, found: work.Situation, record: ParticipationRow) -> Offer | None:
    """Why somebody who is in the stage gets no item now, if they do not."""
    progress = Progress(record.answered, record.earned)
    if found.stage_state == StageState.PAUSED:
        return _nothing("paused", progress)
    if found.dropped_somewhere or is_conditional(stage):
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
    if work.enter(tx, stage.id, worker_id, secret_number(study), secret_number(study), study.clock()):
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


def secret_number(study: Study) -> int:
    """Where a worker's gold comes. Kept with the participation: whoever knew it could tell which items are gold."""
    return study.secrets.getrandbits(62)


def _new_token(study: Study) -> str:
    """What an assignment is called in addresses: nobody can guess it."""
    return urlsafe_b64encode(study.secrets.randbytes(15)).decode()


def _lease_next(tx: Tx, study: Study, stage: RunningStage, record: ParticipationRow) -> Lease | None:
    now = study.clock()
    until = now + int(stage.settings.lease_minutes * 60_000)
    found = _round_item(tx, stage, record) if stage.round_size is not None else _stage_item(tx, stage, record)
    if found is not None:
        return work.lease(tx, _new_token(study), stage.id, record.worker_id, *found, now, until)
    if stage.round_size is not None and record.answered < stage.round_size:
        # A round is the same for everybody: what somebody has put aside comes again when all else is done.
        return work.lease_again(tx, stage.id, record.worker_id, now, until)
    return None


def _round_item(
    tx: Tx, stage: RunningStage, record: ParticipationRow
) -> tuple[work.OfferedItem, AssignmentKind] | None:
    """The next item of a round: everybody gets the same, from a place of their own on."""
    rule = stage.settings.round
    if rule is None or stage.round_size is None or record.answered >= stage.round_size:
        return None
    offered = work.next_gold(tx, stage.id, record.worker_id, record.gold_cursor)
    if offered is None:
        return None
    return offered, AssignmentKind.TRAINING if rule.feedback == "at once" else AssignmentKind.QUALIFICATION


def _stage_item(
    tx: Tx, stage: RunningStage, record: ParticipationRow
) -> tuple[work.OfferedItem, AssignmentKind] | None:
    """The next item of a stage, or gold in its place."""
    gold = stage.settings.gold
    offered = work.next_item(
        tx,
        stage.id,
        record.worker_id,
        record.item_cursor,
        not_from_own=stage.not_from_own,
        not_seen_later=stage.not_seen_later,
    )
    if offered is None:
        # Gold alone would be work for nothing: it stops with the last item.
        return None
    if gold is not None and gold_due(record.seed, record.served, gold.share):
        unseen = work.next_gold(tx, stage.id, record.worker_id, record.gold_cursor)
        if unseen is not None:
            return unseen, AssignmentKind.GOLD
    return offered, AssignmentKind.PRODUCTION


def nothing_left(tx: Tx, study: Study, stage: RunningStage) -> str:
    """What it means that a stage has no item for somebody: round, wait or done."""
    if stage.round_size is not None:
        return "round"
    return "wait" if more_may_come(tx, study, stage) else "done"


def more_may_come(tx: Tx, study: Study, stage: RunningStage) -> bool:
    """Whether this stage, or one it is derived from, still wants judgments. A round that is over wants none."""
    closed = gates.closed_gates(tx) if study.gates else frozenset()
    found = [stage.name]
    wanting = []
    for name in found:
        each = study.stage(name)
        if not closed.intersection(each.closed_by):
            wanting.append(each.id)
            found += [source for source in each.settings.sources if source not in found]
    return work.has_open_items(tx, wanting)


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
        item = None if stage.task.misfit is None else work.payload_of(tx, assignment.item_id)
        answer = stage.task.parse_answer(raw_answer, item)
    except AnswerError as error:
        raise Refusal("invalid_answer", f"This answer can't be taken: {error}", 422) from None
    _renew_if_ended(tx, study, stage, assignment, record)
    now = study.clock()
    elapsed = max(0, now - assignment.leased_at)
    duration = elapsed if duration_ms is None else min(max(0, duration_ms), elapsed)
    response_id = work.add_response(tx, assignment, as_text(answer), stage.task.version, now, duration, idempotency_key)
    work.end_assignment(tx, assignment, AssignmentState.SUBMITTED, now)
    graded = _grade(tx, stage, assignment, response_id, answer, now)
    after = _gold_after(stage, record, graded)
    amounts = paying.earned_by(
        stage,
        study.settings.pay.currency,
        response_id,
        stage.task.parts(answer),
        after if assignment.kind == AssignmentKind.GOLD else None,
    )
    if stage.round_size is not None and record.answered + 1 == stage.round_size and stage.settings.pay.finished:
        amounts.append(paying.for_finishing(stage, response_id))
    paid = paying.book(tx, study, stage, record, amounts, now)
    standing = _review(tx, study, stage, record, after if graded else None)
    work.count_answer(
        tx,
        stage.id,
        worker_id,
        gold_answered=after.answered - record.gold_answered,
        gold_right=after.right - record.gold_right,
        gold_recent=after.recent,
        earned=paid.earned,
        fees=paid.fee,
        exact_fees=paid.exact_fee,
        worked_ms=duration,
        standing=standing,
        trust_changed=graded is not None,
    )
    if assignment.kind == AssignmentKind.PRODUCTION:
        if not (standing is Standing.ACTIVE and labels.count_judgment(tx, assignment.item_id, *stage.fewest)):
            settle_group(tx, study, stage, assignment.group_key, only=assignment.item_id)
        elif passes_answers_on(study, stage):
            derive_from_group(tx, study, stage, assignment.group_key)
    if stage.round_size is not None and record.answered + 1 >= stage.round_size:
        decide_about(tx, study, stage, worker_id)
    wrong = graded is not None and graded.result.score < 1 and _tells(assignment.kind)
    return Outcome(
        "accepted",
        graded.explanation if graded is not None and wrong else None,
        standing,
        Progress(record.answered + 1, record.earned + paid.earned),
    )


def _tells(kind: str) -> bool:
    """Whether somebody hears at once that they were wrong: in practice and in production, not in a test."""
    return kind != AssignmentKind.QUALIFICATION


def _gold_after(stage: RunningStage, record: ParticipationRow, graded: "_Graded | None") -> GoldRecord:
    """A worker's gold record after an answer."""
    if graded is None:
        return record.gold
    return gold_after(record.gold, graded.result.score >= 1, stage.settings.gold)


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
    wrong = given.score is not None and given.score < 1 and _tells(given.kind)
    return Outcome(
        "already_submitted",
        given.explanation if wrong else None,
        Standing(record.standing),
        Progress(record.answered, record.earned),
    )


def _renew_if_ended(
    tx: Tx, study: Study, stage: RunningStage, assignment: AssignmentRow, record: ParticipationRow
) -> None:
    """Let a late answer in as long as its place is still free and its worker could be given the item now."""
    if assignment.state == AssignmentState.LIVE:
        return
    limits = [limit for limit in (stage.settings.max_per_worker, stage.round_size) if limit is not None]
    barred = (
        record.standing == Standing.DROPPED
        or any(record.answered >= limit for limit in limits)
        or not admission(tx, study, stage, record.worker_id).allowed
        or not paying.allows(tx, study, stage)
    )
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
    if assignment.kind == AssignmentKind.PRODUCTION:
        return None
    gold = work.gold_answer(tx, assignment.item_id)
    if gold is None:
        raise RuntimeError("a gold assignment without its gold")
    result = stage.task.grade(answer, json.loads(gold.answer))
    work.add_grade(tx, response_id, "gold", result.score, result.reasons, now)
    return _Graded(result, gold.explanation)


def _review(tx: Tx, study: Study, stage: RunningStage, record: ParticipationRow, after: GoldRecord | None) -> Standing:
    """Whether a worker stays, by their gold after the answer they have just given; None if it was not gold."""
    rule = stage.settings.gold
    if after is None or rule is None or record.standing == Standing.DROPPED:
        return Standing(record.standing)
    verdict = review_worker(after, rule)
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


def _nothing(status: str, progress: Progress) -> Offer:
    return Offer(status, MESSAGES[status], progress)


def _offer(study: Study, stage: RunningStage, pseudonym: str, lease: Lease, progress: Progress) -> Offer:
    payload = json.loads(lease.payload)
    arrangement = None
    if stage.task.arrange is not None:
        seeds = Seeds.of(study.settings.study.seed, stage.name, pseudonym, lease.item_key)
        arrangement = stage.task.arrange(payload, seeds)
    return Offer("item", "", progress, lease, stage.task.view(payload), arrangement)
