"""Check payouts and the currency of the ledger, and list payments that can't be checked here."""

from collections import Counter
from collections.abc import Callable, Iterator

from chorale.engine.ledger_currency import currencies, currency_at, opened_with
from chorale.engine.running import Study
from chorale.engine.settings_history import History
from chorale.model.money import money_text
from chorale.model.plural import plural
from chorale.store import Tx, ledger, payments, workers


def currency_differences(tx: Tx, study: Study) -> Iterator[str]:
    """Settings, entries and payouts whose currency differs from the ledger's."""
    opened = opened_with(tx)
    if opened is None:
        return
    if study.settings.pay.currency != opened.currency:
        yield f"ledger: opened in {opened.currency}, but the study file has {study.settings.pay.currency}"
    versions = currencies(tx)
    if {currency for _, currency in versions} - {opened.currency}:
        named = Counter(currency_at(versions, at) for at, _, _ in ledger.amounts(tx))
        for currency, count in sorted(named.items()):
            if currency != opened.currency:
                entries = plural(count, "entry was made", "entries were made")
                yield f"ledger: opened in {opened.currency}, and {entries} while the study file had {currency}"
    for row in payments.payouts(tx):
        if row.currency != opened.currency:
            yield f"payout {row.id}: is in {row.currency}, but the ledger is in {opened.currency}"


def fees_then(tx: Tx, study: Study, history: History) -> Callable[[str, int], float]:
    """The platform's fee for a worker's earnings at a given time, in percent.

    0 for people who did not come from the platform.
    """
    panels = workers.panels(tx) if study.fees_by_platform else None

    def fee_then(worker: str, at: int) -> float:
        then = history.study_at(at)
        return then.pay.fee_percent if panels is None or panels.get(worker) == then.arrival.panel else 0

    return fee_then


def payment_differences(tx: Tx) -> Iterator[str]:
    """Payouts that differ from the sum of their payments, and people who were paid more than they earned."""
    rows = payments.payouts(tx)
    for row in rows:
        total = sum(one.amount for one in payments.payments_in(tx, row.id))
        if total != row.amount:
            planned, added = money_text(row.amount, row.currency), money_text(total, row.currency)
            yield f"payout {row.id}: {planned} in total, but its payments add up to {added}"
    opened = opened_with(tx)
    # A damaged database may have payments, but neither payouts nor a ledger.
    currency = opened.currency if opened is not None else rows[0].currency if rows else ""
    for payment in payments.covered(tx):
        if payment.paid > payment.earned:
            name = f"worker {payment.worker}: payment {payment.payment_id}"
            paid, earned = (money_text(amount, currency) for amount in (payment.paid, payment.earned))
            yield f"{name} brings the total paid to {paid}, but only {earned} had been earned"


def unchecked_payments(tx: Tx) -> Iterator[str]:
    """Payouts whose arrival can only be confirmed outside Chorale."""
    rows = payments.payouts(tx)
    by_file = sum(row.platform.endswith(payments.FILE) for row in rows)
    if by_file:
        yield f"whether the amounts of {plural(by_file, 'payout file', 'payout files')} were paid"
    asked = sum(row.state == payments.PAYING for row in rows)
    if asked:
        yield f"whether {plural(asked, 'payout', 'payouts')} requested from Prolific or PayPal took place"
