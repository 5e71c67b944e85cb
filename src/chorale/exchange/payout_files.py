"""Payout files for people who are not paid by a platform: a plain table, or the formats of PayPal, Wise and others."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

from chorale.engine.failed_payments import due_by_hand, new_payments, payable_lines, to_try_again, unfailed
from chorale.engine.payout_addresses import PayoutAddress, addresses_for
from chorale.engine.payouts import add_payout
from chorale.engine.running import Study
from chorale.model import money_number
from chorale.store import Tx, invitations, locks, payments
from chorale.store.payments import FILE, PLANNED, SENT, NewPayment, PaymentRow

FileFormat = Literal["plain", "paypal", "wise", "gift-card"]
PLAIN: FileFormat = "plain"
MOST_IN_A_FILE: Mapping[FileFormat, int] = {"paypal": 5000, "wise": 1000}
"""Maximum number of payments per file of PayPal and Wise."""
WITHOUT_HEADER: frozenset[FileFormat] = frozenset({"paypal"})


@dataclass(frozen=True, slots=True)
class ToPay:
    """A line of a payout file."""

    payout: int
    worker: str
    panel: str
    id: str
    """Their panel ID, or the address their link was sent to."""
    link: int | None
    """The number of their link, as in `chorale invite --list`."""
    method: str
    pay_to: str
    """Their payment method and address, if they have entered one."""
    name: str
    amount: int
    currency: str


def platform_of(how: FileFormat) -> str:
    """The platform name stored with payouts by such a file."""
    return FILE if how == PLAIN else f"{how} {FILE}"


def plan_file(tx: Tx, study: Study, how: FileFormat = PLAIN, *, retry: bool = False) -> int | None:
    """Plan a payout by file; returns its number.

    An unfinished payout by file is completed first. People who have changed their payment method since are left out,
    and their amounts are owed again.
    """
    locks.lock(tx, locks.Alone.PLANS_PAYMENTS)
    for begun in payments.payouts(tx, platform=platform_of(how), states=(PLANNED,)):
        if how == PLAIN or payable_lines(tx, study, begun.id, how):
            return begun.id
    lines, again = _next_file(tx, study, how, retry=retry)
    return add_payout(tx, study, platform_of(how), None, lines, again=again) if lines or again else None


def _next_file(tx: Tx, study: Study, how: FileFormat, *, retry: bool) -> tuple[list[NewPayment], list[PaymentRow]]:
    """The new payments and the retries in the next file, together up to its maximum."""
    due = due_by_hand(tx, study)
    addresses = addresses_for(tx, None if how == PLAIN else how)
    if how != PLAIN:
        due = [one for one in due if one.account.worker_id in addresses]
    new, again = new_payments(due), to_try_again(tx, due, addresses, everybody=retry)
    most = MOST_IN_A_FILE.get(how, len(new) + len(again))
    return new[: most - len(again[:most])], again[:most]


def people_to_pay(tx: Tx, study: Study, how: FileFormat = PLAIN, *, retry: bool = False) -> int:
    """Number of people in the next file."""
    return to_pay(tx, study, how, retry=retry)[0]


def to_pay(tx: Tx, study: Study, how: FileFormat = PLAIN, *, retry: bool = False) -> tuple[int, int]:
    """Number of people in the next file, and their total amount."""
    addresses = addresses_for(tx)
    for begun in payments.payouts(tx, platform=platform_of(how), states=(PLANNED,)):
        lines = [line for line in unfailed(tx, begun.id) if how == PLAIN or _wants(addresses, line, how)]
        if lines:
            return len(lines), sum(line.amount for line in lines)
    new, again = _next_file(tx, study, how, retry=retry)
    return len(new) + len(again), sum(line.amount for line in new) + sum(line.amount for line in again)


def _wants(addresses: Mapping[int, PayoutAddress], line: PaymentRow, how: FileFormat) -> bool:
    return line.worker_id in addresses and addresses[line.worker_id].method == how


def unwritten_files(tx: Tx, how: FileFormat) -> list[tuple[int, str]]:
    """Planned payouts in other file formats that have no written file: the number and format of each."""
    rows = payments.payouts(tx, states=(PLANNED,))
    formats: dict[str, FileFormat] = {platform_of(other): other for other in get_args(FileFormat) if other != how}
    return [(row.id, formats[row.platform]) for row in rows if row.platform in formats]


def lines_of(tx: Tx, payout_id: int) -> list[ToPay]:
    """The lines of a payout's file, the same on every call."""
    row = payments.payout_numbered(tx, payout_id)
    accounts = {one.worker_id: one for one in payments.accounts(tx)}
    sent_to, numbers, left = invitations.addresses_of(tx), invitations.numbers_of(tx), addresses_for(tx)
    lines = []
    for payment in unfailed(tx, payout_id):
        account = accounts[payment.worker_id]
        nonce = account.external_id.partition(":")[0]
        known_as = sent_to.get(account.external_id, account.external_id)
        to = left.get(payment.worker_id) or PayoutAddress("", "", "", 0)
        who = (row.id, payment.worker, account.panel, known_as, numbers.get(nonce))
        lines.append(ToPay(*who, to.method, to.email, to.name, payment.amount, row.currency))
    return lines


def rows_for(how: FileFormat, lines: Sequence[ToPay], note: str) -> list[dict[str, Any]]:
    """The rows of a file, by column."""
    make = {"paypal": _for_paypal, "wise": _for_wise, "gift-card": _for_gift_cards}.get(how)
    return [_plain(line) if make is None else make(line, note) for line in lines]


def _plain(line: ToPay) -> dict[str, Any]:
    fields = {name: getattr(line, name) for name in ToPay.__slots__}
    return {
        **fields,
        "link": "" if line.link is None else line.link,
        "amount": money_number(line.amount, line.currency),
    }


def _for_paypal(line: ToPay, note: str) -> dict[str, Any]:
    return {
        "Recipient identifier": line.pay_to,
        "Payment amount": money_number(line.amount, line.currency),
        "Currency": line.currency,
        "Customer ID": line.worker,
        "Note to recipient": note,
        "Recipient wallet": "PAYPAL",
    }


def _for_wise(line: ToPay, note: str) -> dict[str, Any]:
    return {
        "name": line.name,
        "recipientEmail": line.pay_to,
        "paymentReference": f"{note[:20]} {line.worker}",
        "receiverType": "PERSON",
        "amountCurrency": "target",
        "amount": money_number(line.amount, line.currency),
        "sourceCurrency": line.currency,
        "targetCurrency": line.currency,
    }


def _for_gift_cards(line: ToPay, note: str) -> dict[str, Any]:
    return {
        "name": line.name or line.worker,
        "email": line.pay_to,
        "amount": money_number(line.amount, line.currency),
        "currency": line.currency,
        "reference": f"{line.payout}-{line.worker}",
        "message": note,
    }


def file_written(tx: Tx, study: Study, payout_id: int) -> bool:
    """Mark the file as written; False if it already was."""
    return payments.move_payout(tx, payout_id, PLANNED, SENT, sent_at=study.clock())


def receipts(tx: Tx, newest: int | None = None) -> list[dict[str, Any]]:
    """All payouts, or the newest, with every payment. Platform IDs of people are not included."""
    rows, failures = payments.payouts(tx), payments.failures(tx)
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
                {
                    "worker": payment.worker,
                    "amount": payment.amount,
                    "up_to_entry": payment.up_to_entry,
                    "arrived_at": payment.reported_at if (payment.id, row.id) not in failures else None,
                    "failed": failures.get((payment.id, row.id), (None,))[0],
                }
                for payment in payments.payments_in(tx, row.id)
            ],
        }
        for row in (rows if newest is None else rows[: -newest - 1 : -1])
    ]
