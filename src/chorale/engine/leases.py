"""Items that workers hold: returning them, keeping them for longer, and expiry."""

from collections.abc import Collection

from chorale.engine import sessions
from chorale.engine.places import take_again
from chorale.engine.running import RunningStage, Study
from chorale.model import Assignment, AssignmentState, Refusal
from chorale.model.wording import worded
from chorale.store import Tx, assignees, assignments, events, participations
from chorale.store.assignments import Assigned, Lease
from chorale.store.sessions import SessionClaim

# WCAG 2.2 requires that a time limit can be extended at least ten times (success criterion 2.2.1).
MOST_EXTENSIONS = 10


def own_assignment(tx: Tx, study: Study, worker_id: int, token: str, session: SessionClaim | None = None) -> Assigned:
    """A worker's current or earlier assignment, by its token."""
    assigned = assignments.assigned(tx, token, session)
    if assigned is None and session is not None:
        sessions.check(tx, study, session)
    # Another worker's assignment looks exactly like a missing one.
    if assigned is None or assigned.assignment.worker_id != worker_id:
        raise Refusal("not_found", worded("This question is not open to you. Continue with the next one."), 404)
    return assigned


def skip(tx: Tx, study: Study, worker_id: int, token: str) -> None:
    """Return an item that its worker skips, if they have skips left.

    Skipping it again changes nothing. With unlimited skips, workers could see all items without answering, and exchange
    information about them.
    """
    held = own_assignment(tx, study, worker_id, token)
    assignment, record = held.assignment, held.record
    stage = study.stage_by_id(assignment.stage_id)
    if assignment.state == AssignmentState.LIVE:
        if stage.skips_left(record.answered, record.skipped) == 0:
            raise Refusal("no_skips_left", _NO_SKIPS_LEFT)
        participations.count_skip(tx, stage.id, worker_id)
    give_back(tx, study, worker_id, token)


_NO_SKIPS_LEFT = worded(
    "You have used all your skips for now. Answer this question as well as you can: more answers give you more skips. "
    "You can also stop here. Everything you submitted is saved."
)


def already_answered() -> Refusal:
    words = worded("You have already answered this question. Continue with the next one.")
    return Refusal("already_submitted", words)


def give_back(tx: Tx, study: Study, worker_id: int, token: str) -> None:
    """Return an item unanswered, so that another worker gets it. Returning it again changes nothing."""
    assignment = own_assignment(tx, study, worker_id, token).assignment
    if assignment.state == AssignmentState.SUBMITTED:
        raise already_answered()
    if assignment.state != AssignmentState.LIVE:
        return
    assignments.end_assignment(tx, assignment, AssignmentState.RETURNED, study.clock())
    _record(tx, study.clock(), "returned", assignment)


def give_back_everything(tx: Tx, study: Study, worker_id: int, stages: Collection[str] | None = None) -> int:
    """Return all items of a worker who has left, in these stages or in all; returns how many."""
    among = {stage.id for stage in study.stages.values() if stages is None or stage.name in stages}
    tokens = [token for stage_id, token in assignments.tokens_held(tx, worker_id) if stage_id in among]
    given_back = 0
    for token in tokens:
        try:
            give_back(tx, study, worker_id, token)
            given_back += 1
        except Refusal as refusal:
            # Another process has just accepted an answer: there is nothing to return.
            if refusal.code != "already_submitted":
                raise
    if stages is None:
        hooks = (part.give_back for part in study.work_parts.values())
        given_back += sum(hook(tx, study, worker_id) for hook in hooks if hook is not None)
    return given_back


def extend(tx: Tx, study: Study, worker_id: int, token: str) -> int:
    """Restart the time limit for a worker who needs more time; returns the new end.

    In total, a worker can hold an item for eleven times the time limit.
    """
    assignment = own_assignment(tx, study, worker_id, token).assignment
    if assignment.state != AssignmentState.LIVE:
        raise Refusal("lease_ended", worded("Your time for this question is up. Continue with the next one."))
    minutes = study.stage_by_id(assignment.stage_id).settings.lease_minutes
    lease_ms = int(minutes * 60_000)
    expires_at = min(study.clock() + lease_ms, assignment.leased_at + (1 + MOST_EXTENSIONS) * lease_ms)
    assignments.set_expiry(tx, assignment.id, expires_at)
    return expires_at


def expire_leases(tx: Tx, study: Study) -> int:
    """End assignments whose time limit has passed; returns how many.

    Expired items count as skipped: workers with more skips than allowed get the expired item again. Otherwise, they
    could still see all items without answering.
    """
    now = study.clock()
    expired = assignments.expired_assignments(tx, now)
    for assignment in expired:
        assignments.end_assignment(tx, assignment, AssignmentState.EXPIRED, now)
        participations.count_skip(tx, assignment.stage_id, assignment.worker_id)
        _record(tx, now, "expired", assignment, leased_at=assignment.leased_at, expires_at=assignment.expires_at)
    return len(expired)


def lease_again(tx: Tx, study: Study, stage: RunningStage, worker_id: int, now: int, expires_at: int) -> Lease | None:
    """Assign an item again to a worker who did not answer it, if it still has a place for them.

    In a round, this is the first item that they skipped or let expire; elsewhere the latest that expired.
    """
    ended = assignments.unanswered(tx, stage.id, worker_id)
    if stage.round_size is None:
        ended = [row for row in reversed(ended) if row.is_open]
    for row in ended:
        if stage.is_assigned and not assignees.is_for(tx, row.item_id, worker_id):
            continue
        if take_again(tx, study, stage, row.item_id, row.kind):
            participations.uncount_skip(tx, stage.id, worker_id)
            return assignments.renew(tx, row, now, expires_at)
    return None


def _record(tx: Tx, at: int, kind: str, held: Assignment, **evidence: int) -> None:
    of = {"stage_id": held.stage_id, "worker_id": held.worker_id, "item_id": held.item_id}
    events.record(tx, at, kind, evidence, **of)
