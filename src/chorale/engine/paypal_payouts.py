"""Paying by PayPal Payouts, with the states planned, paying, sent and settled.

A payout gets its `sender_batch_id` before any request. A payout found in the state *paying* is requested again with the
same id: PayPal then pays it or returns the existing batch. PayPal forgets ids after 30 days, so older payouts are not
requested again. A rejected payout becomes planned again: PayPal has not accepted it.
"""

import os
import secrets
from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from chorale.engine.failed_payments import (
    DAY,
    NO_ADDRESS,
    arrived,
    due_by_hand,
    history,
    new_payments,
    note_failed,
    payable_lines,
    to_try_again,
    unfailed,
)
from chorale.engine.payout_addresses import addresses_for
from chorale.engine.payouts import PayoutResult, add_payout
from chorale.engine.running import Study
from chorale.engine.simulation import refuse_simulated
from chorale.model import UserError
from chorale.platforms.paypal import (
    ADDRESS,
    MOST_AT_ONCE,
    REMEMBERED_DAYS,
    PayPal,
    PayPalBatch,
    PayPalItem,
    PayPalRefusedError,
)
from chorale.platforms.prolific import InDoubtError, RefusedError
from chorale.store import Tx, events, locks, payments
from chorale.store.payments import PAYING, PAYPAL, PLANNED, SENT, SETTLED, PaymentRow, PayoutRow

ID_VARIABLE, SECRET_VARIABLE, ADDRESS_VARIABLE = "PAYPAL_CLIENT_ID", "PAYPAL_SECRET", "CHORALE_PAYPAL_URL"
MARGIN_DAYS = 2
REFUSED = "refused"
REFUSED_ADDRESS = "PayPal does not accept the address."
DENIED = "PayPal denied the payout."


def paypal_from_environment() -> PayPal:
    """A client for PayPal, with the id and secret from the environment. They are not stored."""
    client_id, secret = (os.environ.get(name, "").strip() for name in (ID_VARIABLE, SECRET_VARIABLE))
    if not client_id or not secret:
        raise UserError(
            f"Paying by PayPal needs the environment variables {ID_VARIABLE} and {SECRET_VARIABLE}. "
            "Set them to the client ID and the secret from PayPal's developer pages."
        )
    return PayPal(client_id, secret, os.environ.get(ADDRESS_VARIABLE, ADDRESS))


def pay_by_paypal(study: Study, client: PayPal, *, retry: bool = False) -> PayoutResult:
    """Complete earlier payouts, record PayPal's reports, then pay people who chose PayPal.

    `retry` repeats all failed payments, even to unchanged addresses.
    """
    study.store.look(refuse_simulated)
    client.sign_in()
    done = PayoutResult()
    for begun in study.store.look(lambda tx: payments.payouts(tx, platform=PAYPAL, states=(PLANNED, PAYING))):
        _carry_on(study, client, begun.id, done)
    sent = study.store.look(lambda tx: payments.payouts(tx, platform=PAYPAL, states=(SENT,)))
    _note_all(study, client, [(row.id, row.external_id or "") for row in sent], done)
    for payout_id in study.store.do(lambda tx: _plan(tx, study, retry=retry)):
        _carry_on(study, client, payout_id, done)
    return done


def _plan(tx: Tx, study: Study, *, retry: bool) -> list[int]:
    locks.lock(tx, locks.Alone.PLANS_PAYMENTS)
    addresses = addresses_for(tx, PAYPAL)
    due = [one for one in due_by_hand(tx, study) if one.account.worker_id in addresses]
    lines, again = new_payments(due), to_try_again(tx, due, addresses, everybody=retry)
    made = []
    for start in range(0, max(len(lines), len(again)), MOST_AT_ONCE // 2):
        part = slice(start, start + MOST_AT_ONCE // 2)
        made.append(
            add_payout(
                tx, study, PAYPAL, None, lines[part], again=again[part], external_id=f"chorale-{secrets.token_hex(12)}"
            )
        )
    return made


class _Ask(NamedTuple):
    """A request to PayPal."""

    row: PayoutRow
    items: list[PayPalItem]
    left_out: list[PaymentRow]
    """Payments whose address has been erased since an earlier request."""


def _carry_on(study: Study, client: PayPal, payout_id: int, done: PayoutResult) -> None:
    """Request a payout from PayPal, or repeat the request."""
    ask = study.store.do(lambda tx: _begin(tx, study, payout_id))
    if ask.row.state != PAYING:
        return
    if not ask.items:
        done.in_doubt.append(ask.row)
        return
    try:
        batch = client.pay(ask.row.external_id or "", ask.items, f"Payment for “{study.settings.study.title}”")
    except InDoubtError:
        done.in_doubt.append(ask.row)
    except PayPalRefusedError as error:
        refused = error
        back, failed = study.store.do(lambda tx: _take_back(tx, study, payout_id, refused.receivers))
        if failed:
            _carry_on(study, client, payout_id, done)
        elif back:
            done.refused.append(error.message)
        else:
            done.in_doubt.append(ask.row)
    else:
        if study.store.do(lambda tx: _take_note(tx, study, ask, batch)):
            _note_all(study, client, [(payout_id, batch.id)], done)
        done.sent.append(study.store.look(lambda tx: payments.payout_numbered(tx, payout_id)))


def _begin(tx: Tx, study: Study, payout_id: int) -> _Ask:
    """Store the request before it is sent. Without items, nothing is sent."""
    now, row = study.clock(), payments.payout_numbered(tx, payout_id)
    addresses, left_out = addresses_for(tx, PAYPAL), list[PaymentRow]()
    if row.state == PLANNED:
        lines = payable_lines(tx, study, payout_id, PAYPAL)
        if lines:
            payments.move_payout(tx, payout_id, PLANNED, PAYING, sent_at=now)
    elif row.state == PAYING and now - (row.sent_at or 0) <= (REMEMBERED_DAYS - MARGIN_DAYS) * DAY:
        everything = unfailed(tx, payout_id)
        lines = [line for line in everything if line.worker_id in addresses]
        left_out = [line for line in everything if line.worker_id not in addresses]
    else:
        lines = []
    if lines:
        events.record(tx, now, "payout", {"payout": payout_id, "state": PAYING})
    items = [PayPalItem(str(line.id), addresses[line.worker_id].email, line.amount, row.currency) for line in lines]
    return _Ask(payments.payout_numbered(tx, payout_id), items, left_out)


def _take_back(tx: Tx, study: Study, payout_id: int, receivers: frozenset[str]) -> tuple[bool, bool]:
    """Record that PayPal rejected a payout; returns whether it is planned again, and whether payments failed.

    It is not planned again while another request for it is unanswered: PayPal may have accepted that one.
    """
    events.record(tx, study.clock(), "payout", {"payout": payout_id, "state": REFUSED})
    states = Counter(event.evidence["state"] for event in history(tx, payout_id))
    if states[PAYING] > states[REFUSED] or not payments.move_payout(tx, payout_id, PAYING, PLANNED, sent_at=None):
        return False, False
    refused = [line for line in unfailed(tx, payout_id) if str(line.id) in receivers]
    for line in refused:
        note_failed(tx, study, line, payout_id, REFUSED_ADDRESS)
    return True, bool(refused)


def _take_note(tx: Tx, study: Study, ask: _Ask, batch: PayPalBatch) -> bool:
    """Record that PayPal has accepted a payout; False if another process has already recorded it."""
    if not payments.move_payout(tx, ask.row.id, PAYING, SENT, external_id=batch.id):
        return False
    events.record(tx, study.clock(), "payout", {"payout": ask.row.id, "state": SENT})
    # An existing batch may contain them, from an earlier request.
    for line in ask.left_out if batch.is_new else ():
        note_failed(tx, study, line, ask.row.id, NO_ADDRESS)
    return True


def _note_all(study: Study, client: PayPal, batches: Iterable[tuple[int, str]], done: PayoutResult) -> None:
    """Record PayPal's reports on batches. A batch that can't be read is looked up again next time."""
    for payout_id, batch in batches:
        try:
            _note(study, client, payout_id, batch)
        except RefusedError as error:
            done.unreported.append(error.message)
        except InDoubtError as error:
            done.unreported.append(error.message)
            return


def _note(study: Study, client: PayPal, payout_id: int, batch: str) -> None:
    """Record which payments of a payout arrived or failed. It is settled once the result of every payment is known."""
    report = client.report(batch)
    reported = report.arrived | report.under_way

    def note(tx: Tx) -> None:
        lines = unfailed(tx, payout_id)
        arrived(tx, study, [line for line in lines if str(line.id) in report.arrived])
        for line in lines:
            reason = report.failed.get(str(line.id), DENIED if report.is_denied else None)
            if reason is not None and str(line.id) not in reported:
                note_failed(tx, study, line, payout_id, reason)
        missing = [line for line in unfailed(tx, payout_id) if str(line.id) not in report.arrived]
        if report.is_complete and not missing:
            charged = _charged(tx, payout_id, report.fees)
            payments.move_payout(tx, payout_id, SENT, SETTLED, settled_at=study.clock(), charged=charged)

    study.store.do(note)


def _charged(tx: Tx, payout_id: int, fees: int | None) -> int | None:
    return None if fees is None else payments.payout_numbered(tx, payout_id).amount + fees
