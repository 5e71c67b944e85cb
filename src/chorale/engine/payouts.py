"""Paying people what the ledger owes, exactly once.

A payout is stored with its recipients and amounts before anything is sent to a platform. Each new state is stored
before the next request:

- planned: nothing was requested yet.
- set up: Prolific has the bonuses, but pays nothing yet.
- paying: the payment is being requested. After a crash in this state, it is unknown whether the request was sent. It
  must not be sent twice, so only Prolific's reports can resolve it.
- sent: Prolific accepted the payout or reports some of its payments, or the file of payments was written.
- settled: Prolific reports all payments, or somebody has marked the payout as paid.

Only one process can move a payout to its next state, and only the process that moved it to `paying` sends the request.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from chorale.engine.publishing import checked_currency
from chorale.engine.running import Study
from chorale.engine.simulation import refuse_simulated
from chorale.model import UserError
from chorale.platforms.prolific import MOST_AT_ONCE, InDoubtError, Prolific, RefusedError, has_arrived
from chorale.platforms.prolific.planning import CLOSED, OPEN, SCREENED_OUT
from chorale.store import Tx, events, locks, payments, submissions
from chorale.store.erased import ERASED
from chorale.store.payments import (
    PAYING,
    PLANNED,
    SENT,
    SET_UP,
    SETTLED,
    NewPayment,
    PaymentRow,
    PayoutRow,
    WorkerMoney,
)
from chorale.store.submissions import SubmissionRow

PROLIFIC = "prolific"
MINUTE = 60_000


@dataclass(frozen=True, slots=True)
class DuePayment:
    """A person who is owed money, payable now or not yet."""

    account: WorkerMoney
    submission: SubmissionRow | None
    """The submission through which Prolific pays them."""
    why_not: str | None = None

    @property
    def by_prolific(self) -> bool:
        return self.submission is not None or self.account.panel == PROLIFIC

    @property
    def by_file(self) -> bool:
        """Whether they can be paid by a file now."""
        return self.why_not is None and self.submission is None


@dataclass(frozen=True, slots=True)
class Books:
    """Everybody's balance, exact to the minor unit."""

    currency: str
    due: tuple[DuePayment, ...]
    accounts: tuple[WorkerMoney, ...]
    fees: int
    """Fees of the platform, which are not part of payouts."""

    @property
    def earned(self) -> int:
        return sum(account.earned for account in self.accounts)

    @property
    def rewarded(self) -> int:
        return sum(account.rewarded for account in self.accounts)

    @property
    def paid(self) -> int:
        return sum(account.paid for account in self.accounts)

    @property
    def owed(self) -> int:
        return sum(account.owed for account in self.accounts)

    @property
    def ahead(self) -> int:
        return sum(account.ahead for account in self.accounts)

    @property
    def now(self) -> int:
        """The payments that are possible now."""
        return sum(one.account.owed for one in self.due if one.why_not is None)


def books(tx: Tx, study: Study) -> Books:
    """Everybody's earnings, payments and balance: `earned + ahead = rewarded + paid + owed`."""
    from_ledger = payments.accounts(tx)
    of_worker: dict[int, list[SubmissionRow]] = {}
    for submission in submissions.submissions(tx):
        if submission.worker_id is not None:
            of_worker.setdefault(submission.worker_id, []).append(submission)
    uses_prolific = bool(submissions.studies(tx))
    due = [
        _due(account, of_worker.get(account.worker_id, []), uses_prolific) for account in from_ledger if account.owed
    ]
    fees = payments.fees(tx)
    return Books(study.settings.pay.currency, tuple(due), tuple(from_ledger), fees)


_NOT_REPORTED = (
    "Prolific has not reported their submission yet: synchronise first (`chorale sync`, or Recruiting in the console)"
)


def _due(account: WorkerMoney, own: Sequence[SubmissionRow], uses_prolific: bool) -> DuePayment:
    """Whether and how a person can be paid now."""
    if account.external_id.startswith(ERASED):
        return DuePayment(account, None, "their identity was erased")
    if account.panel != PROLIFIC or not uses_prolific:
        return DuePayment(account, None)
    reported = [one for one in own if one.reported_at is not None]
    if not reported:
        # Anybody can forge an id that looks like Prolific's, so Prolific must confirm it.
        return DuePayment(account, None, _NOT_REPORTED)
    if account.on_the_way:
        # Two pending bonuses could not be distinguished in Prolific's reports.
        return DuePayment(account, None, "their last bonus has not arrived yet")
    if any(one.status in OPEN for one in reported):
        return DuePayment(account, None, "their submission is not approved yet")
    closed = {one.external_id for one in reported if one.status in CLOSED or _is_known_screenout(one)}
    strange = sorted(
        one.status.lower() for one in reported if one.external_id not in closed and one.status != "REJECTED"
    )
    if strange:
        return DuePayment(
            account, None, f"Prolific reports their submission as {strange[0]} and may have paid for it: check there"
        )
    payable = [one for one in reported if one.external_id in closed]
    if not payable:
        return DuePayment(account, None, "their submission was rejected")
    return DuePayment(
        account, max(payable, key=lambda submission: (submission.arrived_at or 0, submission.external_id))
    )


def _is_known_screenout(submission: SubmissionRow) -> bool:
    """Whether Prolific paid a known fixed amount for a screened-out submission."""
    return submission.status == SCREENED_OUT and submission.rewarded > 0


# Prolific


@dataclass
class PayoutResult:
    """The result of paying."""

    sent: list[PayoutRow] = field(default_factory=list)
    in_doubt: list[PayoutRow] = field(default_factory=list)
    refused: list[str] = field(default_factory=list)
    unreported: list[str] = field(default_factory=list)
    """Error messages for payouts whose state the platform could not report."""

    @property
    def amount(self) -> int:
        return sum(one.amount for one in self.sent)


def pay_by_prolific(study: Study, client: Prolific, resend_after: int | None = None) -> PayoutResult:
    """Complete earlier payouts, then pay what is due.

    `resend_after` applies to uncertain payouts: if Prolific reports nothing this many minutes after the request, it is
    sent again.
    """
    study.store.look(refuse_simulated)
    done = PayoutResult()
    for begun in study.store.look(lambda tx: payments.payouts(tx, platform=PROLIFIC, states=payments.UNFINISHED)):
        _carry_on(study, client, begun.id, resend_after, done)
    confirm(study, client)
    # Amounts in an uncertain payout are no longer owed, so other payments can continue.
    for payout_id in _plan(study, client):
        _carry_on(study, client, payout_id, None, done)
    return done


def _plan(study: Study, client: Prolific) -> list[int]:
    """Store the recipients and amounts.

    Existing bonuses on Prolific are read first, to recognise new ones afterwards.
    """
    before = {
        (submission.external_id, account.paid): client.submission(submission.external_id).bonuses
        for account, submission in study.store.look(lambda tx: _payable(tx, study))
    }

    if before:
        checked_currency(study, client)

    def write_down(tx: Tx) -> list[int]:
        locks.lock(tx, locks.Alone.PLANS_PAYMENTS)
        lines: dict[str, list[NewPayment]] = {}
        # Checked again: if another process was faster, the bonuses read before are out of date.
        for account, submission in _payable(tx, study):
            bonuses = before.get((submission.external_id, account.paid))
            if bonuses is not None:
                line = NewPayment(
                    account.worker_id, account.owed, account.newest_entry, submission.external_id, bonuses
                )
                lines.setdefault(submission.panel_study, []).append(line)
        return [
            add_payout(tx, study, PROLIFIC, name, several[start : start + MOST_AT_ONCE])
            for name, several in sorted(lines.items())
            for start in range(0, len(several), MOST_AT_ONCE)
        ]

    return study.store.do(write_down) if before else []


def _payable(tx: Tx, study: Study) -> list[tuple[WorkerMoney, SubmissionRow]]:
    """People who can be paid through Prolific now, sorted by pseudonym, with their submissions."""
    due = books(tx, study).due
    return [(one.account, one.submission) for one in due if one.submission is not None and one.why_not is None]


def add_payout(
    tx: Tx,
    study: Study,
    platform: str,
    name: str | None,
    lines: Sequence[NewPayment],
    *,
    again: Sequence[PaymentRow] = (),
    external_id: str | None = None,
) -> int:
    now, currency = study.clock(), study.settings.pay.currency
    payout_id = payments.add_payout(tx, platform, name, currency, lines, now, again=again, external_id=external_id)
    amount = sum(line.amount for line in lines) + sum(line.amount for line in again)
    evidence = {"payout": payout_id, "people": len(lines) + len(again), "amount": amount}
    events.record(tx, now, "payout planned", evidence)
    return payout_id


def _carry_on(study: Study, client: Prolific, payout_id: int, resend_after: int | None, done: PayoutResult) -> None:
    """Move a payout through as many states as possible."""
    row = study.store.look(lambda tx: payments.payout_numbered(tx, payout_id))
    lines = study.store.look(lambda tx: payments.payments_in(tx, payout_id))
    if row.state == PLANNED:
        row = _set_up(study, client, row, lines)
    if row.state == PAYING and not _settle_doubt(study, client, row, lines, resend_after):
        done.in_doubt.append(row)
        return
    row = study.store.look(lambda tx: payments.payout_numbered(tx, payout_id))
    if row.state == SET_UP and row.sent_at is not None and _note_reported(study, client, lines):
        # An earlier request has succeeded after all.
        move(study, row.id, SET_UP, SENT)
        row = study.store.look(lambda tx: payments.payout_numbered(tx, payout_id))
    if row.state == SET_UP:
        _ask_to_pay(study, client, row, done)
    elif row.state in (SENT, SETTLED):
        done.sent.append(row)


def _set_up(study: Study, client: Prolific, row: PayoutRow, lines: Sequence[PaymentRow]) -> PayoutRow:
    """Set up the bonuses on Prolific. This can be repeated safely: Prolific pays nothing until it is requested."""
    remote = study.store.look(lambda tx: submissions.study_called(tx, row.panel_study or ""))
    if remote is None or remote.external_id is None:
        raise RuntimeError("a payout for a study that does not exist on Prolific")
    bonuses = client.set_up_bonuses(remote.external_id, [(one.submission_id or "", one.amount) for one in lines])
    if bonuses.amount is not None and bonuses.amount != row.amount:
        raise UserError(
            f"Prolific read the bonuses as {bonuses.amount} instead of {row.amount} minor units in total. Nothing "
            "was paid. Check that the study's currency is the one in study.toml."
        )
    move(study, row.id, PLANNED, SET_UP, external_id=bonuses.id, charged=bonuses.total)
    return study.store.look(lambda tx: payments.payout_numbered(tx, row.id))


def _ask_to_pay(study: Study, client: Prolific, row: PayoutRow, done: PayoutResult) -> None:
    if not move(study, row.id, SET_UP, PAYING, sent_at=study.clock()):
        return  # another process was faster and is handling it
    asked = study.store.look(lambda tx: payments.payout_numbered(tx, row.id))
    try:
        client.pay_bonuses(row.external_id or "")
    except InDoubtError:
        done.in_doubt.append(asked)
        return
    except RefusedError as error:
        # The request was rejected, so nothing was paid and it can be repeated.
        move(study, row.id, PAYING, SET_UP)
        done.refused.append(error.message)
        return
    except UserError:
        move(study, row.id, PAYING, SET_UP)
        raise
    move(study, row.id, PAYING, SENT)
    done.sent.append(study.store.look(lambda tx: payments.payout_numbered(tx, row.id)))


def _settle_doubt(
    study: Study, client: Prolific, row: PayoutRow, lines: Sequence[PaymentRow], resend_after: int | None
) -> bool:
    """Find out whether an uncertain payout was paid; False if still unknown."""
    if _note_reported(study, client, lines):
        move(study, row.id, PAYING, SENT)
        return True
    waited = study.clock() - (row.sent_at or 0)
    if resend_after is None or waited < resend_after * MINUTE:
        return False
    evidence = {"payout": row.id, "waited_ms": waited}
    study.store.do(lambda tx: events.record(tx, study.clock(), "payout asked for again", evidence))
    return move(study, row.id, PAYING, SET_UP)


def confirm(study: Study, client: Prolific) -> int:
    """Match payouts with Prolific's reports; returns how many are now complete."""
    settled = 0
    for row in study.store.look(lambda tx: payments.payouts(tx, platform=PROLIFIC, states=(PAYING, SENT))):
        lines = study.store.look(lambda tx, row=row: payments.payments_in(tx, row.id))  # type: ignore[misc]
        reported = _note_reported(study, client, lines)
        if reported and row.state == PAYING:
            move(study, row.id, PAYING, SENT)
        if reported == len(lines):
            settled += move(study, row.id, SENT, SETTLED, settled_at=study.clock())
    return settled


def _note_reported(study: Study, client: Prolific, lines: Sequence[PaymentRow]) -> int:
    """Record how many of a payout's payments Prolific reports."""
    known = [one for one in lines if one.reported_at is not None]
    new = [
        line
        for line in lines
        if line.reported_at is None
        and has_arrived(line.bonuses_before, line.amount, client.submission(line.submission_id or "").bonuses)
    ]
    study.store.do(lambda tx: payments.note_reported(tx, [one.id for one in new], study.clock()))
    return len(known) + len(new)


def move(study: Study, payout_id: int, before: str, after: str, **changes: Any) -> bool:
    """Move a payout to its next state; False if another process already has."""

    def moving(tx: Tx) -> bool:
        moved = payments.move_payout(tx, payout_id, before, after, **changes)
        if moved:
            events.record(tx, study.clock(), "payout", {"payout": payout_id, "state": after})
        return moved

    return study.store.do(moving)
