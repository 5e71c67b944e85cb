"""The operations of the API by name."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from chorale.engine.running import Study
from chorale.kits.mturk.api.errors import TurkError
from chorale.kits.mturk.api.requests import OPERATIONS, read_request
from chorale.kits.mturk.api.signing import SKEW_SECONDS
from chorale.kits.mturk.market import contacting, granting, making, notifying, policing, reviewing
from chorale.kits.mturk.market.stage import Market, market_of
from chorale.kits.mturk.store import keys
from chorale.store import Tx

Work = Callable[[Market, dict[str, Any]], dict[str, Any]]
READS = ("Get", "List")
PAYS = frozenset({"SendBonus"})
TWICE_MS = 2_000
"""Time in which a loop may repeat the same request."""

_WORK: Mapping[str, Work] = {
    "CreateHIT": making.create_hit,
    "CreateHITType": making.create_type,
    "CreateHITWithHITType": making.create_hit_with_type,
    "GetHIT": making.get_hit,
    "ListHITs": making.list_hits,
    "ListReviewableHITs": making.list_reviewable,
    "ListHITsForQualificationType": making.list_for_qualification,
    "UpdateExpirationForHIT": making.update_expiration,
    "UpdateHITReviewStatus": making.update_review_status,
    "UpdateHITTypeOfHIT": making.update_type,
    "DeleteHIT": making.delete_hit,
    "CreateAdditionalAssignmentsForHIT": making.add_places,
    "ListReviewPolicyResultsForHIT": policing.report,
    "ListAssignmentsForHIT": reviewing.list_assignments,
    "GetAssignment": reviewing.get_assignment,
    "GetFileUploadURL": reviewing.no_uploads,
    "ApproveAssignment": reviewing.approve,
    "RejectAssignment": reviewing.reject,
    "SendBonus": reviewing.send_bonus,
    "ListBonusPayments": reviewing.list_bonuses,
    "GetAccountBalance": reviewing.balance,
    "CreateQualificationType": granting.create_type,
    "UpdateQualificationType": granting.update_type,
    "GetQualificationType": granting.get_type,
    "DeleteQualificationType": granting.delete_type,
    "ListQualificationTypes": granting.list_types,
    "ListQualificationRequests": granting.list_requests,
    "AcceptQualificationRequest": granting.accept_request,
    "RejectQualificationRequest": granting.reject_request,
    "ListWorkersWithQualificationType": granting.list_holders,
    "GetQualificationScore": granting.get_score,
    "AssociateQualificationWithWorker": granting.associate,
    "DisassociateQualificationFromWorker": granting.disassociate,
    "NotifyWorkers": contacting.notify_workers,
    "CreateWorkerBlock": contacting.block,
    "DeleteWorkerBlock": contacting.unblock,
    "ListWorkerBlocks": contacting.list_blocks,
    "UpdateNotificationSettings": notifying.update_settings,
    "SendTestEventNotification": notifying.send_test,
}
if set(_WORK) != set(OPERATIONS):
    raise RuntimeError("operations and parameters do not match")


@dataclass(frozen=True, slots=True)
class Call:
    """A request with a verified signature."""

    operation: str
    body: Any
    signature: str
    invocation: str = ""
    """The SDK's ID of this attempt, if any. It is not signed."""

    @property
    def changes(self) -> bool:
        """Whether the request may change data. Such requests are carried out once."""
        return not self.operation.startswith(READS)


@dataclass(frozen=True, slots=True)
class Performed:
    """The response to a request."""

    body: dict[str, Any]
    warnings: tuple[str, ...] = ()
    """Warnings about results that the requester may not expect."""


def perform(tx: Tx, study: Study, call: Call) -> Performed:
    """Carries out a request."""
    request = read_request(call.operation, call.body)
    market = market_of(tx, study)
    if call.changes:
        refuse_replay(market, call, paid_twice=call.operation in PAYS and request["UniqueRequestToken"] is None)
    body = _WORK[call.operation](market, request)
    return Performed(body, tuple(market.warnings))


def refuse_replay(market: Market, call: Call, *, paid_twice: bool = False) -> None:
    """Carries out a request once.

    Signatures have a resolution of one second, so a loop that repeats a request within a second produces the same
    signature. For a short time, the repeat is accepted, unless the SDK marks it as the same attempt. Bonuses are paid
    only once.
    """
    keys.forget_signatures(market.tx, market.now - 4 * SKEW_SECONDS * 1000)
    first = keys.note_signature(market.tx, call.signature, market.now)
    attempt = f"{call.signature}:{call.invocation}"
    same = bool(call.invocation) and keys.note_signature(market.tx, attempt, market.now) is not None
    if first is not None and (same or paid_twice or market.now - first > TWICE_MS):
        raise replayed()


def replayed() -> TurkError:
    return TurkError(
        "AWS.NotAuthorized",
        "This request was already made. Sign it again to repeat it.",
        "InvalidSignatureException",
    )
