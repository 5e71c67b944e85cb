"""Tables about recruiting and paying, for terminals."""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from typing import Any

from rich.table import Table

from chorale.engine.payouts import Books
from chorale.model import money_text
from chorale.present.terminal import add_row, table_of
from chorale.store.invitations import InvitationRow
from chorale.store.submissions import SubmissionRow


def books_table(books: Books) -> Table:
    """Balances due, and how they are paid."""
    table = table_of(
        "worker", "source", "earned#", "paid by Prolific reward#", "paid in payouts#", "owed#", "payment method"
    )
    for due in books.due:
        account = due.account
        how = (
            f"cannot be paid: {due.why_not}"
            if due.why_not
            else "Prolific"
            if due.submission is not None
            else "file or PayPal"
        )
        amounts = (account.earned, account.rewarded, account.paid, account.owed)
        texts = [money_text(amount, books.currency) for amount in amounts]
        add_row(table, account.worker, account.panel, *texts, how)
    return table


def books_as_json(books: Books) -> dict[str, Any]:
    """Balances as JSON values, in minor units."""
    return {
        **{name: getattr(books, name) for name in ("currency", "earned", "rewarded", "paid", "owed", "ahead", "fees")},
        "payable_now": books.now,
        "due": [
            {
                "worker": due.account.worker,
                "panel": due.account.panel,
                "owed": due.account.owed,
                "by": "prolific" if due.submission is not None else None if due.why_not else "file",
                "why_not": due.why_not,
            }
            for due in books.due
        ],
    }


def books_line(books: Books) -> str:
    """The totals in one line."""
    amounts = {"earned": books.earned, "paid by Prolific rewards": books.rewarded, "in payouts": books.paid}
    amounts |= {"owed": books.owed} | ({"paid in advance": books.ahead} if books.ahead else {})
    texts = [f"{what} {money_text(amount, books.currency)}" for what, amount in amounts.items()]
    line = ", ".join(texts)
    return f"{line[0].upper()}{line[1:]}."


def receipts_table(receipts: Iterable[Mapping[str, Any]]) -> Table:
    """Every payout."""
    table = table_of(
        *("payout#", "paid through", "study", "people#", "amount#", "charged, with fees#", "state", "sent (UTC)"),
        "reference",
    )
    for receipt in receipts:
        currency = receipt["currency"]
        charged = "" if receipt["charged"] is None else money_text(receipt["charged"], currency)
        add_row(
            table,
            receipt["payout"],
            receipt["by"],
            receipt["study"] or "",
            len(receipt["payments"]),
            money_text(receipt["amount"], currency),
            charged,
            receipt["state"],
            _when(receipt["sent_at"]),
            receipt["reference"] or "",
        )
    return table


def recruiting_table(studies: Iterable[Mapping[str, Any]]) -> Table:
    """Every study on Prolific, and its submissions."""
    table = table_of("study", "state", "places#", "submissions")
    for recruited in studies:
        counts = ", ".join(f"{count} {status.lower()}" for status, count in recruited["submissions"].items())
        add_row(table, recruited["study"], recruited["state"], recruited["places"], counts or "none yet")
    return table


def waiting_table(rows: Iterable[SubmissionRow], enough: Mapping[str, bool]) -> Table:
    """Submissions that await approval."""
    table = table_of("worker", "study", "status", "complete", "code")
    for row in rows:
        done = "yes" if enough.get(row.external_id) else "no"
        add_row(
            table, row.worker or "(never opened the site)", row.panel_study, row.status.lower(), done, row.code or ""
        )
    return table


def invitations_table(rows: Iterable[InvitationRow]) -> Table:
    """Invitation links, without their secret part."""
    table = table_of("number#", "kind", "stage", "opened by#", "made (UTC)", "state")
    for row in rows:
        opened = f"{row.uses} of {row.most}" if row.most is not None else str(row.uses)
        state = "valid" if row.revoked_at is None else f"revoked {_when(row.revoked_at)}"
        add_row(table, row.id, row.kind, row.stage or "", opened, _when(row.made_at), state)
    return table


def _when(at: int | None) -> str:
    return "" if at is None else datetime.fromtimestamp(at / 1000, UTC).strftime("%Y-%m-%d %H:%M")
