"""Who is owed what, and what was paid: payouts are written down before they are made, and never change."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, case, func, insert, select, update

from chorale.model import EntryKind
from chorale.store.codec import as_ordered_text, from_text
from chorale.store.recruiting_schema import payment, payout, submission
from chorale.store.schema import entry, worker, worker_identity

PLANNED, SET_UP, PAYING, SENT, SETTLED = "planned", "set up", "paying", "sent", "settled"
FILE = "file"
"""The platform of payouts that somebody makes by hand, from a file."""
UNFINISHED = (PLANNED, SET_UP, PAYING)


@dataclass(frozen=True, slots=True)
class Account:
    """A worker's money: earned by the ledger, and paid in one way or another."""

    worker_id: int
    worker: str
    panel: str
    external_id: str
    earned: int
    newest_entry: int
    rewarded: int
    """By the platform, for submissions it approved."""
    paid: int
    """In payouts, those under way included."""
    on_the_way: int = 0
    """Payments among them that the platform does not report yet."""

    @property
    def owed(self) -> int:
        return max(0, self.earned - self.rewarded - self.paid)

    @property
    def ahead(self) -> int:
        """Paid beyond what the ledger says: a reward is the same for everybody."""
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


def accounts(tx: Connection) -> list[Account]:
    """Everybody who has earned something or was paid, in the order of their pseudonyms."""
    earned = (
        select(
            entry.c.worker_id,
            func.sum(case((entry.c.kind == EntryKind.FEE, 0), else_=entry.c.amount)).label("earned"),
            func.max(entry.c.id).label("newest"),
        )
        .group_by(entry.c.worker_id)
        .subquery()
    )
    rewarded = (
        select(submission.c.worker_id, func.sum(submission.c.rewarded).label("rewarded"))
        .group_by(submission.c.worker_id)
        .subquery()
    )
    unreported = (payout.c.platform == "prolific") & payment.c.reported_at.is_(None)
    paid = (
        select(
            payment.c.worker_id,
            func.sum(payment.c.amount).label("paid"),
            func.sum(case((unreported, 1), else_=0)).label("on_the_way"),
        )
        .join(payout, payout.c.id == payment.c.payout_id)
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
        )
        .join(worker_identity, worker_identity.c.worker_id == worker.c.id)
        .outerjoin(earned, earned.c.worker_id == worker.c.id)
        .outerjoin(rewarded, rewarded.c.worker_id == worker.c.id)
        .outerjoin(paid, paid.c.worker_id == worker.c.id)
        .where((earned.c.earned.is_not(None)) | (rewarded.c.rewarded > 0) | (paid.c.paid.is_not(None)))
        .order_by(worker.c.pseudonym)
    )
    # PostgreSQL sums whole numbers to decimals.
    return [Account(*row[:4], *(int(number) for number in row[4:])) for row in tx.execute(query)]


def add_payout(
    tx: Connection, platform: str, study_name: str | None, currency: str, payments: Sequence[NewPayment], now: int
) -> int:
    """Write down what is about to be paid."""
    payout_id = tx.execute(
        insert(payout)
        .values(
            platform=platform,
            panel_study=study_name,
            state=PLANNED,
            currency=currency,
            amount=sum(one.amount for one in payments),
            made_at=now,
        )
        .returning(payout.c.id)
    ).scalar_one()
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
    """The oldest first."""
    query = select(payout).order_by(payout.c.id)
    if platform is not None:
        query = query.where(payout.c.platform == platform)
    if states:
        query = query.where(payout.c.state.in_(states))
    return [PayoutRow(*row) for row in tx.execute(query)]


def payout_numbered(tx: Connection, payout_id: int) -> PayoutRow:
    return PayoutRow(*tx.execute(select(payout).where(payout.c.id == payout_id)).one())


_PAYMENTS = select(
    *payment.c["id", "payout_id", "worker_id"],
    worker.c.pseudonym,
    *payment.c["amount", "up_to_entry", "submission_id", "bonuses_before", "reported_at"],
).join(worker, worker.c.id == payment.c.worker_id)


def payments_in(tx: Connection, payout_id: int) -> list[PaymentRow]:
    rows = tx.execute(_PAYMENTS.where(payment.c.payout_id == payout_id).order_by(payment.c.id))
    return [PaymentRow(*row[:7], tuple(from_text(row[7])), row[8]) for row in rows]


def move_payout(tx: Connection, payout_id: int, before: str, after: str, **changes: Any) -> bool:
    """Take a payout from one state to the next; False if it was not in that state, for somebody else has moved it."""
    query = update(payout).where(payout.c.id == payout_id, payout.c.state == before)
    return bool(tx.execute(query.values(state=after, **changes)).rowcount)


def note_reported(tx: Connection, payment_ids: Sequence[int], now: int) -> None:
    """The platform reports these payments itself."""
    if payment_ids:
        tx.execute(
            update(payment)
            .where(payment.c.id.in_(payment_ids), payment.c.reported_at.is_(None))
            .values(reported_at=now)
        )


def fees(tx: Connection) -> int:
    """What the ledger has booked as the panel's fees."""
    return int(tx.execute(select(func.sum(entry.c.amount)).where(entry.c.kind == EntryKind.FEE)).scalar() or 0)


@dataclass(frozen=True, slots=True)
class Covered:
    """A payment beside all that its worker had earned and been paid by then."""

    worker: str
    payment_id: int
    earned: int
    paid: int


def covered(tx: Connection) -> list[Covered]:
    """Every payment, and whether the ledger covers it and those before."""
    own = (entry.c.worker_id == payment.c.worker_id) & (entry.c.id <= payment.c.up_to_entry)
    earned = (
        select(func.coalesce(func.sum(entry.c.amount), 0))
        .where(own, entry.c.kind != EntryKind.FEE)
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
