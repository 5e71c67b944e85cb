"""Whether what was paid is what the ledger says, and no more."""

from collections.abc import Iterator

from chorale.store import Tx, payments


def payment_differences(tx: Tx) -> Iterator[str]:
    """Payouts that are not the sum of their payments, and people who were paid beyond what they earned."""
    for row in payments.payouts(tx):
        total = sum(one.amount for one in payments.payments_in(tx, row.id))
        if total != row.amount:
            yield f"payout {row.id}: {row.amount} in all, and {total} in its payments"
    for payment in payments.covered(tx):
        if payment.paid > payment.earned:
            name = f"worker {payment.worker}: payment {payment.payment_id}"
            yield f"{name} makes {payment.paid}, and the ledger said {payment.earned}"
