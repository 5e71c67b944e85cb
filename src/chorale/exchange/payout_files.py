"""Payouts by a file, for whoever pays the people that no platform pays; and the receipts of all payouts."""

from dataclasses import dataclass
from typing import Any

from chorale.engine.payouts import add_payout, books
from chorale.engine.running import Study
from chorale.store import Tx, invitations, locks, payments
from chorale.store.payments import FILE, PLANNED, SENT, NewPayment


@dataclass(frozen=True, slots=True)
class ToPay:
    """A line of a file for whoever pays people."""

    payout: int
    worker: str
    panel: str
    id: str
    """What the panel calls them, or the address their link was sent to."""
    amount: int
    currency: str


def plan_file(tx: Tx, study: Study) -> int | None:
    """Write down who is to be paid by a file; its number. One that was not finished comes first, as it was."""
    locks.lock(tx, locks.Alone.PLANS_PAYMENTS)
    begun = payments.payouts(tx, platform=FILE, states=(PLANNED,))
    if begun:
        return begun[0].id
    due = [one for one in books(tx, study).due if one.by_file]
    lines = [NewPayment(one.account.worker_id, one.account.owed, one.account.newest_entry) for one in due]
    return add_payout(tx, study, FILE, None, lines) if lines else None


def people_to_pay(tx: Tx, study: Study) -> int:
    """How many the next file has."""
    begun = payments.payouts(tx, platform=FILE, states=(PLANNED,))
    if begun:
        return len(payments.payments_in(tx, begun[0].id))
    return sum(one.by_file for one in books(tx, study).due)


def lines_of(tx: Tx, payout_id: int) -> list[ToPay]:
    """What stands in the file of a payout, the same whenever it is asked for."""
    row = payments.payout_numbered(tx, payout_id)
    accounts = {one.worker_id: one for one in payments.accounts(tx)}
    addresses = invitations.addresses_of(tx)
    lines = []
    for payment in payments.payments_in(tx, payout_id):
        account = accounts[payment.worker_id]
        known_as = addresses.get(account.external_id, account.external_id)
        lines.append(ToPay(row.id, payment.worker, account.panel, known_as, payment.amount, row.currency))
    return lines


def file_written(tx: Tx, study: Study, payout_id: int) -> bool:
    """Note that the file is there; False if that was noted before."""
    return payments.move_payout(tx, payout_id, PLANNED, SENT, sent_at=study.clock())


def receipts(tx: Tx, newest: int | None = None) -> list[dict[str, Any]]:
    """Every payout there was, or the newest, with what everybody got. No platform's id of a person is in it."""
    rows = payments.payouts(tx)
    return [
        {
            "payout": row.id,
            "by": row.platform,
            "study": row.panel_study,
            "state": row.state,
            "reference": row.external_id,
            "amount": row.amount,
            "charged": row.charged,
            "currency": row.currency,
            "made_at": row.made_at,
            "sent_at": row.sent_at,
            "settled_at": row.settled_at,
            "payments": [
                {"worker": payment.worker, "amount": payment.amount, "up_to_entry": payment.up_to_entry}
                for payment in payments.payments_in(tx, row.id)
            ],
        }
        for row in (rows if newest is None else rows[: -newest - 1 : -1])
    ]
