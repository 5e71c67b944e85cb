"""Payments by file or by PayPal: which arrived, which failed, and who is paid again."""

from collections.abc import Collection, Mapping, Sequence

from chorale.engine.payout_addresses import PayoutAddress, addresses_for, erase_if_paid, unreadable_addresses
from chorale.engine.payouts import MINUTE, DuePayment, books
from chorale.engine.running import Study
from chorale.model import Event, MessageState, UserError
from chorale.store import Tx, events, payments
from chorale.store.messages import add_message
from chorale.store.payments import (
    FILE,
    PAYING,
    PAYPAL,
    PLANNED,
    SENT,
    SETTLED,
    NewPayment,
    PaymentRow,
    PayoutRow,
    failure_cause,
)

BY_HAND = "The payment did not arrive."
NO_ADDRESS = "There is no address to pay to."
MARKED_AFTER = 10
"""Minutes to wait after a request to PayPal: another process may still be sending it."""
RETURNED_DAYS = 32
"""After 30 days, PayPal returns payments that nobody has claimed."""
DAY = 24 * 60 * MINUTE
_EVENTS = 1_000_000


def due_by_hand(tx: Tx, study: Study) -> list[DuePayment]:
    """People who are owed money and are not paid through a platform."""
    return [one for one in books(tx, study).due if one.by_file]


def new_payments(due: Sequence[DuePayment]) -> list[NewPayment]:
    """Amounts owed that have not been in any payment yet."""
    return [
        NewPayment(one.account.worker_id, one.account.new, one.account.newest_entry) for one in due if one.account.new
    ]


def to_try_again(
    tx: Tx, due: Sequence[DuePayment], addresses: Mapping[int, PayoutAddress], *, everybody: bool
) -> list[PaymentRow]:
    """Failed payments to retry: those of people who have entered another address since, or all.

    This includes payments that failed because there was no address.
    """
    last: dict[int, tuple[int, str]] = {}
    for (payment_id, _), (reason, at) in payments.failures(tx).items():
        last[payment_id] = max((at, reason), last.get(payment_id, (0, "")))
    payable = {one.account.worker_id for one in due}

    def has_changed(row: PaymentRow) -> bool:
        at, reason = last[row.id]
        address = addresses.get(row.worker_id)
        return reason == NO_ADDRESS or (address is not None and address.left_at > at)

    failed = (row for row in payments.failed_payments(tx) if row.worker_id in payable)
    return [row for row in failed if everybody or has_changed(row)]


def mark(tx: Tx, study: Study, payout_id: int, failed: Collection[str], by: str, reason: str = BY_HAND) -> int:
    """Mark a payout by file, or an uncertain PayPal payout, as paid except for these workers; returns how many were
    paid. Raises UserError if there is no such payout, or a named worker is not in it. Idempotent. `reason` is kept only
    in the activity log, where it is erased with the worker.
    """
    row = next((row for row in payments.payouts(tx) if row.id == payout_id), None)
    if row is None or not (row.platform.endswith(FILE) or row.platform == PAYPAL):
        raise UserError(
            f"No payout by file or PayPal has the number {payout_id}. `chorale pay DIR --receipts` lists all payouts."
        )
    _check_markable(tx, study, row)
    if unknown := sorted({*failed} - {line.worker for line in payments.payments_in(tx, payout_id)}):
        raise UserError(
            f"Payout {payout_id} has no payment to {', '.join(unknown)}. Nothing was marked. Check the worker IDs."
        )
    if row.state == SETTLED:
        return 0
    lines = unfailed(tx, payout_id)
    paid = [line for line in lines if line.worker not in failed]
    arrived(tx, study, paid)
    for line in lines:
        if line.worker in failed:
            note_failed(tx, study, line, payout_id, BY_HAND, by=by, said=reason)
    now = study.clock()
    payments.move_payout(tx, payout_id, row.state, SETTLED, settled_at=now)
    evidence = {"payout": payout_id, "state": SETTLED, "by": by, "paid": len(paid), "failed": sorted(failed)}
    events.record(tx, now, "payout", evidence)
    return len(paid)


def _check_markable(tx: Tx, study: Study, row: PayoutRow) -> None:
    """Raise UserError if a payout can't be marked by hand, or not yet."""
    if row.platform != PAYPAL:
        if row.state not in (SENT, SETTLED):
            raise UserError(
                f"Payout {row.id} can't be marked: its state is {row.state}. Write its file first, with --yes --file."
            )
        return
    if row.state not in (PAYING, SENT):
        raise UserError(
            f"Payout {row.id} can't be marked: its state is {row.state}. A PayPal payout can be marked if its "
            "state is paying or sent."
        )
    asked_at = max((event.at for event in history(tx, row.id) if event.evidence["state"] == PAYING), default=0)
    if study.clock() - asked_at < MARKED_AFTER * MINUTE:
        raise UserError(
            f"Payout {row.id} was requested from PayPal less than {MARKED_AFTER} minutes ago. Wait, then check on "
            "PayPal's page which of its payments were made."
        )
    if row.state == SENT and study.clock() - (row.sent_at or 0) < RETURNED_DAYS * DAY:
        raise UserError(
            f"PayPal has payout {row.id} and reports which payments arrive. Run `chorale pay DIR --yes "
            f"--paypal` to record them. You can mark it {RETURNED_DAYS} days after it was sent, when PayPal has "
            "returned unclaimed payments."
        )


def history(tx: Tx, payout_id: int) -> list[Event]:
    """The changes of a payout's state, the newest first."""
    changes = events.recent(tx, _EVENTS, kinds=("payout",))
    return [event for event in changes if event.evidence.get("payout") == payout_id]


def unfailed(tx: Tx, payout_id: int) -> list[PaymentRow]:
    """The payments of a payout, except failed ones."""
    failed = payments.failed_in(tx, payout_id)
    return [line for line in payments.payments_in(tx, payout_id) if line.id not in failed]


def payable_lines(tx: Tx, study: Study, payout_id: int, method: str) -> list[PaymentRow]:
    """The payments of a planned payout whose recipients have an address.

    The others fail and are owed again. If no address can be decrypted, none fail: the key is missing.
    """
    addresses, unreadable, lines = addresses_for(tx, method), unreadable_addresses(tx), unfailed(tx, payout_id)
    payable = [line for line in lines if line.worker_id in addresses]
    if not payable and any(line.worker_id in unreadable for line in lines):
        return []
    for line in lines:
        if line.worker_id not in addresses:
            note_failed(tx, study, line, payout_id, NO_ADDRESS)
    if not payable and payments.move_payout(tx, payout_id, PLANNED, SETTLED, settled_at=study.clock()):
        events.record(tx, study.clock(), "payout", {"payout": payout_id, "state": SETTLED})
    return payable


def arrived(tx: Tx, study: Study, lines: Sequence[PaymentRow]) -> None:
    """Record that payments arrived, and erase the addresses of people who are fully paid."""
    payments.note_reported(tx, [line.id for line in lines], study.clock())
    erase_if_paid(tx, study, {line.worker_id for line in lines})


def note_failed(
    tx: Tx, study: Study, line: PaymentRow, payout_id: int, reason: str, *, by: str | None = None, said: str = ""
) -> None:
    """Record a failed payment and send its worker a message.

    The amount is owed again. `reason` is never erased, so it must not identify anybody; the text that staff `said` goes
    into the activity log, with their name.
    """
    now = study.clock()
    if not payments.note_failed(tx, line.id, payout_id, reason, now):
        return
    evidence = {"payout": payout_id, "payment": line.id, "reason": said or reason}
    if by is not None:
        evidence["by"] = by
    events.record(tx, now, "payment failed", evidence, worker_id=line.worker_id)
    say = study.language.say
    amount = study.language.money(line.amount, study.settings.pay.currency)
    body = say(
        "A payment of {amount} to you failed. You will still get the money: [check how you are paid](/payment).",
        amount=amount,
    )
    title = say("A payment failed")
    add_message(tx, line.worker_id, failure_cause(line.id, payout_id), now, title, body, MessageState.SENT)
