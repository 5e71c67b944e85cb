"""Assignments: get, approve, reject and pay bonuses."""

from datetime import timedelta
from typing import Any

from chorale.engine import paying
from chorale.kits.mturk.api import errors
from chorale.kits.mturk.api.requests import money_as_sent
from chorale.kits.mturk.market.making import as_sent
from chorale.kits.mturk.market.notifying import notify
from chorale.kits.mturk.market.stage import UNLIMITED, Market, as_seconds, page, turk_worker
from chorale.kits.mturk.store import assignments, hits, keys
from chorale.kits.mturk.store.assignments import AssignmentRow
from chorale.kits.mturk.store.hits import HitRow
from chorale.model import EntryKind, MessageState
from chorale.store import events, messages

Request = dict[str, Any]
Reply = dict[str, Any]
OVERRIDE_MS = int(timedelta(days=30).total_seconds() * 1000)
"""Time in which a rejection can be withdrawn."""


def assignment_as_sent(row: AssignmentRow, hit: HitRow) -> Reply:
    sent: Reply = {
        "AssignmentId": row.name,
        "WorkerId": turk_worker(row.pseudonym),
        "HITId": hit.name,
        "AssignmentStatus": row.state.capitalize(),
        "AcceptTime": as_seconds(row.accepted_at),
        "Deadline": as_seconds(row.deadline),
        "Answer": row.answer or "",
    }
    times = {
        "AutoApprovalTime": row.approve_at,
        "SubmitTime": row.submitted_at,
        "ApprovalTime": row.approved_at,
        "RejectionTime": row.rejected_at,
    }
    sent |= {name: as_seconds(moment) for name, moment in times.items() if moment is not None}
    if row.feedback:
        sent["RequesterFeedback"] = row.feedback
    return sent


def list_assignments(market: Market, request: Request) -> Reply:
    hit = market.hit(request["HITId"])
    states = [state.lower() for state in request["AssignmentStatuses"] or ("Submitted", "Approved", "Rejected")]
    shown, beside = page(
        request, "assignments", lambda limit, after: assignments.of_hit(market.tx, hit.id, states, limit, after)
    )
    return {**beside, "Assignments": [assignment_as_sent(row, hit) for row in shown]}


def get_assignment(market: Market, request: Request) -> Reply:
    row = market.assignment(request["AssignmentId"])
    hit = hits.hit_numbered(market.tx, row.hit_id)
    return {"Assignment": assignment_as_sent(row, hit), "HIT": as_sent(hit, market)}


def approve(market: Market, request: Request) -> Reply:
    row = market.assignment(request["AssignmentId"], lock=True)
    overriding = request["OverrideRejection"] and row.state == "rejected"
    if not overriding:
        _check_submitted(row)
    if overriding and market.now - (row.rejected_at or 0) > OVERRIDE_MS:
        raise errors.wrong_state("Assignment", "This assignment was rejected more than 30 days ago.")
    if overriding:
        market.covers(row.reward, 1)
        # The reason for a rejection does not apply to approved work.
        _correct_message(market, row)
    do_approve(market, row, request["RequesterFeedback"])
    return {}


def _correct_message(market: Market, row: AssignmentRow) -> None:
    """Sends a message that the rejection was withdrawn."""
    title = hits.hit_numbered(market.tx, row.hit_id).type.title
    body = f"Your work for “{title}” was rejected by mistake. It is now accepted and paid."
    cause = _rejection_cause(row.id, row.rejected_at or 0)
    messages.correct(market.tx, row.worker_id, cause, "Your work is accepted after all", body, market.now)
    evidence = {"assignment": row.name, "reason": row.feedback}
    events.record(
        market.tx, market.now, "rejection withdrawn", evidence, stage_id=market.stage.id, worker_id=row.worker_id
    )


def _rejection_cause(assignment_id: int, rejected_at: int) -> str:
    return f"mturk:rejected:{assignment_id}:{rejected_at}"


def do_approve(market: Market, row: AssignmentRow, feedback: str | None) -> None:
    """Approves an assignment and pays the promised reward."""
    market.count_time(row)
    assignments.change(market.tx, row.id, state="approved", approved_at=market.now, rejected_at=None, feedback=feedback)
    if row.reward:
        cause = f"mturk:assignment:{row.id}"
        market.pay(row.worker_id, cause, EntryKind.BASE, row.reward, f"assignment {row.name} was approved")
    hit = hits.hit_numbered(market.tx, row.hit_id)
    notify(market, hit.type, "AssignmentApproved", hit.name, row.name)


def reject(market: Market, request: Request) -> Reply:
    row = market.assignment(request["AssignmentId"], lock=True)
    _check_submitted(row)
    feedback = request["RequesterFeedback"]
    if not feedback.strip():
        # Mechanical Turk accepted it, and psiTurk sends it.
        market.warn("RequesterFeedback is empty, so the worker sees no reason. Add a reason.")
    do_reject(market, row, feedback)
    return {}


def _check_submitted(row: AssignmentRow) -> None:
    if row.state != "submitted":
        raise errors.wrong_state(
            "Assignment",
            f"This assignment is '{row.state.capitalize()}'. This operation can be called with a status of: Submitted",
        )


def do_reject(market: Market, row: AssignmentRow, feedback: str) -> None:
    """Rejects an assignment with a reason."""
    market.count_time(row)
    assignments.change(market.tx, row.id, state="rejected", rejected_at=market.now, feedback=feedback)
    hit = hits.hit_numbered(market.tx, row.hit_id)
    evidence = {"assignment": row.name, "hit": hit.name, "reason": feedback}
    events.record(
        market.tx, market.now, "assignment rejected", evidence, stage_id=market.stage.id, worker_id=row.worker_id
    )
    reason = f"The reason given:\n\n{_quoted(feedback)}" if feedback.strip() else "No reason was given."
    body = f"Your work for “{hit.type.title}” was not accepted. {reason}"
    send_message(market, row.worker_id, _rejection_cause(row.id, market.now), "Your work was not accepted", body)
    notify(market, hit.type, "AssignmentRejected", hit.name, row.name)


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in text.splitlines())


def send_message(market: Market, worker: int, cause: str, title: str, body: str) -> None:
    """Sends a message to the overview of a worker."""
    messages.add_message(market.tx, worker, cause, market.now, title, body, MessageState.SENT)


def send_bonus(market: Market, request: Request) -> Reply:
    token, amount = request["UniqueRequestToken"], request["BonusAmount"]
    if token is not None and keys.made_by(market.tx, "SendBonus", token, 0) is not None:
        raise errors.repeated(token)
    worker = market.worker(request["WorkerId"])
    row = market.assignment(request["AssignmentId"], lock=True)
    if row.worker_id != worker:
        raise errors.invalid("WorkerId", f"did not do assignment {row.name}")
    if amount < 1:
        raise errors.out_of_range("BonusAmount", "must be at least 0.01")
    market.covers(amount, 1)
    bonus = assignments.add_bonus(market.tx, row.id, worker, amount, request["Reason"], market.now)
    market.pay(worker, f"mturk:bonus:{bonus}", EntryKind.BONUS, amount, request["Reason"])
    body = f"You got a bonus. The reason given:\n\n{_quoted(request['Reason'])}"
    send_message(market, worker, f"mturk:bonus:{bonus}", "You got a bonus", body)
    if token is not None:
        keys.note_request(market.tx, "SendBonus", token, str(bonus), market.now)
    return {}


def list_bonuses(market: Market, request: Request) -> Reply:
    hit, assignment = request["HITId"], request["AssignmentId"]
    if (hit is None) == (assignment is None):
        raise errors.invalid("HITId", "or AssignmentId is required, but not both")
    if hit is not None:
        market.hit(hit)
    else:
        market.assignment(assignment)
    bonuses, beside = page(
        request,
        "bonuses",
        lambda limit, after: assignments.bonuses(market.tx, limit, after, hit_name=hit, assignment_name=assignment),
    )
    sent = [
        {
            "WorkerId": turk_worker(row.pseudonym),
            "BonusAmount": money_as_sent(row.amount),
            "AssignmentId": row.assignment,
            "Reason": row.reason,
            "GrantTime": as_seconds(row.at),
        }
        for row in bonuses
    ]
    return {**beside, "BonusPayments": sent}


def balance(market: Market, _request: Request) -> Reply:
    """The remaining budget of the study."""
    left = paying.left(market.tx, market.study)
    return {"AvailableBalance": money_as_sent(UNLIMITED if left is None else max(0, left))}


def no_uploads(_market: Market, _request: Request) -> Reply:
    raise errors.unsupported("File uploads to HITs are not supported.")
