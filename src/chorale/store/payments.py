"""Balances and payouts. Payouts are stored before they are made, and never change."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import ColumnElement, Connection, case, func, insert, or_, select, true, update

from chorale.model import EntryKind
from chorale.store.codec import as_ordered_text, from_text
from chorale.store.ledger import NOT_FOR_WORKERS
from chorale.store.recruiting_schema import payment, payment_failure, payment_retry, payout, submission
from chorale.store.schema import entry, worker, worker_identity

PLANNED, SET_UP, PAYING, SENT, SETTLED = "planned", "set up", "paying", "sent", "settled"
FILE = "file"
"""The platform name of payouts made by hand, from a file."""
PAYPAL = "paypal"
ELSEWHERE = "elsewhere"
"""The platform name of pay that people got before their work was imported."""
REPORTING = ("prolific", PAYPAL)
"""Platforms that report payments themselves."""
UNFINISHED = (PLANNED, SET_UP, PAYING)


@dataclass(frozen=True, slots=True)
class WorkerMoney:
    """A worker's earnings by the ledger, and payments."""

    worker_id: int
    worker: str
    panel: str
    external_id: str
    earned: int
    newest_entry: int
    rewarded: int
    """Rewards paid by the platform for approved submissions."""
    paid: int
    """Amount in payouts, including pending ones, without failed payments."""
    on_the_way: int = 0
    """The part of `paid` that the platform has not reported yet."""
    failed: int = 0
    """The amount of failed payments, which are retried unchanged."""

    @property
    def owed(self) -> int:
        return max(0, self.earned - self.rewarded - self.paid)

    @property
    def new(self) -> int:
        """The amount owed that has not been in any payment yet."""
        return max(0, self.owed - self.failed)

    @property
    def ahead(self) -> int:
        """The amount paid beyond the earnings, since a reward is the same for everybody."""
        return max(0, self.rewarded + self.paid - self.earned)


@dataclass(frozen=True, slots=True)
class PayoutRow:
    id: int
    platform: str
    panel_study: str | None
    state: str
    external_id: str | None
    currency: str
    amount: int
    charged: int | None
    made_at: int
    sent_at: int | None
    settled_at: int | None


@dataclass(frozen=True, slots=True)
class PaymentRow:
    id: int
    payout_id: int
    worker_id: int
    worker: str
    amount: int
    up_to_entry: int
    submission_id: str | None
    bonuses_before: tuple[int, ...]
    reported_at: int | None


@dataclass(frozen=True, slots=True)
class NewPayment:
    worker_id: int
    amount: int
    up_to_entry: int
    submission_id: str | None = None
    bonuses_before: Sequence[int] = ()


def _has_failed() -> ColumnElement[bool]:
    """A condition: the latest attempt of a payment failed."""

    def times(table: Any) -> Any:
        return select(func.count()).where(table.c.payment_id == payment.c.id).correlate(payment).scalar_subquery()

    failed: ColumnElement[bool] = times(payment_failure) > times(payment_retry)
    return failed


def accounts(tx: Connection, worker_id: int | None = None) -> list[WorkerMoney]:
    """The accounts of everybody with earnings or payments, or of one worker, sorted by pseudonym."""

    def wanted(column: ColumnElement[int]) -> ColumnElement[bool]:
        return true() if worker_id is None else column == worker_id

    earned = (
        select(
            entry.c.worker_id,
            func.sum(case((entry.c.kind.in_(NOT_FOR_WORKERS), 0), else_=entry.c.amount)).label("earned"),
            func.max(entry.c.id).label("newest"),
        )
        .where(wanted(entry.c.worker_id), entry.c.kind != EntryKind.MODEL)
        .group_by(entry.c.worker_id)
        .subquery()
    )
    rewarded = (
        select(submission.c.worker_id, func.sum(submission.c.rewarded).label("rewarded"))
        .where(wanted(submission.c.worker_id))
        .group_by(submission.c.worker_id)
        .subquery()
    )
    failed = _has_failed()
    unreported = payout.c.platform.in_(REPORTING) & payment.c.reported_at.is_(None)
    is_under_way = (unreported | (payout.c.state == PLANNED)) & ~failed
    paid = (
        select(
            payment.c.worker_id,
            func.sum(case((failed, 0), else_=payment.c.amount)).label("paid"),
            func.sum(case((is_under_way, 1), else_=0)).label("on_the_way"),
            func.sum(case((failed, payment.c.amount), else_=0)).label("failed"),
        )
        .join(payout, payout.c.id == payment.c.payout_id)
        .where(wanted(payment.c.worker_id))
        .group_by(payment.c.worker_id)
        .subquery()
    )
    query = (
        select(
            worker.c.id,
            worker.c.pseudonym,
            worker_identity.c.panel,
            worker_identity.c.external_id,
            func.coalesce(earned.c.earned, 0),
            func.coalesce(earned.c.newest, 0),
            func.coalesce(rewarded.c.rewarded, 0),
            func.coalesce(paid.c.paid, 0),
            func.coalesce(paid.c.on_the_way, 0),
            func.coalesce(paid.c.failed, 0),
        )
        .join(worker_identity, worker_identity.c.worker_id == worker.c.id)
        .outerjoin(earned, earned.c.worker_id == worker.c.id)
        .outerjoin(rewarded, rewarded.c.worker_id == worker.c.id)
        .outerjoin(paid, paid.c.worker_id == worker.c.id)
        .where(wanted(worker.c.id))
        .where((earned.c.earned.is_not(None)) | (rewarded.c.rewarded > 0) | (paid.c.paid.is_not(None)))
        .order_by(worker.c.pseudonym)
    )
    # PostgreSQL sums whole numbers to decimals.
    return [WorkerMoney(*row[:4], *(int(number) for number in row[4:])) for row in tx.execute(query)]


def add_payout(
    tx: Connection,
    platform: str,
    study_name: str | None,
    currency: str,
    payments: Sequence[NewPayment],
    now: int,
    *,
    again: Sequence[PaymentRow] = (),
    external_id: str | None = None,
) -> int:
    """Store a payout before it is made: new payments, and retries of failed ones."""
    payout_id = tx.execute(
        insert(payout)
        .values(
            platform=platform,
            panel_study=study_name,
            state=PLANNED,
            external_id=external_id,
            currency=currency,
            amount=sum(one.amount for one in payments) + sum(one.amount for one in again),
            made_at=now,
        )
        .returning(payout.c.id)
    ).scalar_one()
    retries = [{"payment_id": one.id, "payout_id": payout_id} for one in again]
    if retries:
        tx.execute(insert(payment_retry), retries)
    if not payments:
        return int(payout_id)
    tx.execute(
        insert(payment),
        [
            {
                "payout_id": payout_id,
                "worker_id": payment.worker_id,
                "amount": payment.amount,
                "up_to_entry": payment.up_to_entry,
                "submission_id": payment.submission_id,
                "bonuses_before": as_ordered_text(list(payment.bonuses_before)),
            }
            for payment in payments
        ],
    )
    return int(payout_id)


def payouts(tx: Connection, *, platform: str | None = None, states: Sequence[str] = ()) -> list[PayoutRow]:
    """All payouts, oldest first."""
    query = select(payout).order_by(payout.c.id)
    if platform is not None:
        query = query.where(payout.c.platform == platform)
    if states:
        query = query.where(payout.c.state.in_(states))
    return [PayoutRow(*row) for row in tx.execute(query)]


def newest_entry(tx: Connection) -> int:
    """The number of the newest entry of the ledger; 0 if there is none."""
    return int(tx.execute(select(func.max(entry.c.id))).scalar() or 0)


def payout_numbered(tx: Connection, payout_id: int) -> PayoutRow:
    return PayoutRow(*tx.execute(select(payout).where(payout.c.id == payout_id)).one())


_PAYMENTS = select(
    *payment.c["id", "payout_id", "worker_id"],
    worker.c.pseudonym,
    *payment.c["amount", "up_to_entry", "submission_id", "bonuses_before", "reported_at"],
).join(worker, worker.c.id == payment.c.worker_id)


def payments_in(tx: Connection, payout_id: int) -> list[PaymentRow]:
    """The payments of a payout: its own, and retries of earlier ones."""
    again = select(payment_retry.c.payment_id).where(payment_retry.c.payout_id == payout_id)
    return _payments(tx, or_(payment.c.payout_id == payout_id, payment.c.id.in_(again)))


def failed_payments(tx: Connection, worker_id: int | None = None) -> list[PaymentRow]:
    """Payments whose latest attempt failed, to everybody or to one worker."""
    own = true() if worker_id is None else payment.c.worker_id == worker_id
    return _payments(tx, own & _has_failed())


def payments_to(tx: Connection, worker_id: int) -> list[PaymentRow]:
    return _payments(tx, payment.c.worker_id == worker_id)


def _payments(tx: Connection, which: ColumnElement[bool]) -> list[PaymentRow]:
    rows = tx.execute(_PAYMENTS.where(which).order_by(payment.c.id))
    return [PaymentRow(*row[:7], tuple(from_text(row[7])), row[8]) for row in rows]


def failed_in(tx: Connection, payout_id: int) -> set[int]:
    """The payments that failed in a payout."""
    query = select(payment_failure.c.payment_id).where(payment_failure.c.payout_id == payout_id)
    return set(tx.execute(query).scalars())


def failures(tx: Connection) -> dict[tuple[int, int], tuple[str, int]]:
    """Reasons and times of failures, by payment and payout."""
    return {(row[0], row[1]): (row[2], row[3]) for row in tx.execute(select(payment_failure))}


def failure_cause(payment_id: int, payout_id: int) -> str:
    """The cause of the message about a failed payment."""
    return f"failed:{payout_id}:{payment_id}"


def failure_messages(tx: Connection) -> dict[tuple[str, str], int]:
    """Times of messages about failed payments, by worker and cause."""
    query = (
        select(worker.c.pseudonym, *payment_failure.c["payment_id", "payout_id", "at"])
        .join(payment, payment.c.id == payment_failure.c.payment_id)
        .join(worker, worker.c.id == payment.c.worker_id)
    )
    return {(row[0], failure_cause(row[1], row[2])): row[3] for row in tx.execute(query)}


def note_failed(tx: Connection, payment_id: int, payout_id: int, reason: str, now: int) -> bool:
    """Record a failed payment; False if that is already recorded, or it was reported as paid."""
    noted = select(payment_failure.c.at).where(
        payment_failure.c.payment_id == payment_id, payment_failure.c.payout_id == payout_id
    )
    arrived = select(payment.c.reported_at).where(payment.c.id == payment_id, payment.c.reported_at.is_not(None))
    if any(tx.execute(query).first() is not None for query in (noted, arrived)):
        return False
    tx.execute(insert(payment_failure).values(payment_id=payment_id, payout_id=payout_id, reason=reason, at=now))
    return True


def move_payout(tx: Connection, payout_id: int, before: str, after: str, **changes: Any) -> bool:
    """Move a payout to its next state; False if another process has already moved it."""
    query = update(payout).where(payout.c.id == payout_id, payout.c.state == before)
    return bool(tx.execute(query.values(state=after, **changes)).rowcount)


def note_reported(tx: Connection, payment_ids: Sequence[int], now: int) -> None:
    """Record that the platform has reported these payments."""
    if payment_ids:
        tx.execute(
            update(payment)
            .where(payment.c.id.in_(payment_ids), payment.c.reported_at.is_(None))
            .values(reported_at=now)
        )


def fees(tx: Connection) -> int:
    """The sum of the platform's fees in the ledger."""
    return int(tx.execute(select(func.sum(entry.c.amount)).where(entry.c.kind == EntryKind.FEE)).scalar() or 0)


@dataclass(frozen=True, slots=True)
class Covered:
    """A payment with its worker's earnings and payments up to then."""

    worker: str
    payment_id: int
    earned: int
    paid: int


def covered(tx: Connection) -> list[Covered]:
    """All payments, with the earnings that should cover this payment and all earlier ones."""
    own = (entry.c.worker_id == payment.c.worker_id) & (entry.c.id <= payment.c.up_to_entry)
    earned = (
        select(func.coalesce(func.sum(entry.c.amount), 0))
        .where(own, entry.c.kind.not_in(NOT_FOR_WORKERS))
        .correlate(payment)
        .scalar_subquery()
    )
    earlier = payment.alias("earlier")
    paid = (
        select(func.sum(earlier.c.amount))
        .where(earlier.c.worker_id == payment.c.worker_id, earlier.c.up_to_entry <= payment.c.up_to_entry)
        .correlate(payment)
        .scalar_subquery()
    )
    query = select(worker.c.pseudonym, payment.c.id, earned, paid).join(worker, worker.c.id == payment.c.worker_id)
    return [Covered(row[0], row[1], int(row[2]), int(row[3])) for row in tx.execute(query.order_by(payment.c.id))]
