"""`chorale pay`"""

from dataclasses import asdict, fields
from pathlib import Path
from typing import Annotated, Any

from chorale.cli.arguments import BY, AsJson, Database, StudyFolder
from chorale.cli.asking import prolific
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.cli.progress import patiently
from chorale.cli.terminal import show
from chorale.engine import payouts, recruiting
from chorale.engine.payouts import PayoutResult
from chorale.engine.running import Study
from chorale.engine.started import started_study
from chorale.engine.unknown_payouts import accept_unknown_payouts, refusal_to_pay
from chorale.exchange import payout_files
from chorale.exchange.payout_files import ToPay
from chorale.files.tables import write_csv
from chorale.files.targets import check_target, writing
from chorale.metrics.options import Force
from chorale.model import UserError, money_number, money_text
from chorale.monitor.payouts import books_as_json, books_line, books_table, receipts_table
from chorale.store import submissions

SHORTEST_WAIT = 10
"""Minutes. A request may be under way in another process, and Prolific takes some to pay."""


def pay(
    directory: StudyFolder,
    yes: Annotated[bool, Option(help="Pay. Without it, only what would be paid is shown.")] = False,
    file: Annotated[
        Path | None, Option(help="CSV file for whoever pays the people that Prolific does not: whom, and how much.")
    ] = None,
    force: Force = False,
    resend: Annotated[
        int | None,
        Option(
            metavar="MINUTES",
            min=SHORTEST_WAIT,
            help="Ask again for bonuses of which it is not known whether they were paid, if Prolific reports none of "
            "them so many minutes after. Look at Prolific's own page first.",
        ),
    ] = None,
    after_restore: Annotated[
        bool, Option(help="Pay although payouts made after the backup are unknown. Compare them first.")
    ] = False,
    receipts: Annotated[bool, Option(help="Show every payout there was, and stop.")] = False,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Pay people what the ledger says, each amount once: Prolific's by bonuses, others by a file."""
    check_target(file, "--file", force=force, endings=(".csv",))
    with started_study(directory, db) as study:
        if receipts:
            payouts_made = study.store.read(payout_files.receipts).result()
            if as_json:
                print_json({"payouts": payouts_made})
            else:
                show(receipts_table(payouts_made))
            return
        if yes:
            _check_restored(study, accept=after_restore)
        paid = _pay(study, file, resend, quiet=as_json) if yes else None
        books = study.store.read(lambda tx: payouts.books(tx, study)).result()
    if as_json:
        print_json({**books_as_json(books), "done": paid})
        return
    if books.due:
        show(books_table(books))
    print_line(books_line(books))
    if paid is None and books.now:
        more = " --file pay.csv" if any(one.by_file for one in books.due) else ""
        print_line(f"Nothing was paid. Add --yes{more} to pay what can be paid now.")


def _check_restored(study: Study, *, accept: bool) -> None:
    """Refuse to pay where payouts may have been made that a restore has forgotten."""
    if accept:
        study.store.write(lambda tx: accept_unknown_payouts(tx, study, BY)).result()
    elif (refusal := study.store.read(refusal_to_pay).result()) is not None:
        raise UserError(refusal)


def _pay(study: Study, file: Path | None, resend: int | None, *, quiet: bool) -> dict[str, Any]:
    """Pay all that can be paid now, and say what came of it."""
    currency = study.settings.pay.currency
    by_prolific = bool(study.store.read(submissions.studies).result())
    paid: dict[str, Any] = {"prolific": None, "file": None}
    if by_prolific:
        with prolific() as client, patiently("talking to Prolific"):
            # What it approved is paid already, so that must be known first.
            recruiting.sync(study, client)
            done = payouts.pay_by_prolific(study, client, resend)
        paid["prolific"] = {
            "sent": [row.id for row in done.sent],
            "amount": done.amount,
            "in_doubt": [row.id for row in done.in_doubt],
            "refused": done.refused,
        }
        if not quiet:
            _print_paid(done, currency)
    others = study.store.read(lambda tx: payout_files.people_to_pay(tx, study)).result()
    if others and file is not None:
        paid["file"] = _write_file(study, file)
        if not quiet:
            written = paid["file"]
            amount = money_text(written["amount"], currency)
            print_line(
                f"{file} has {written['people']} people to be paid {amount} in all (payout {written['payout']})."
            )
    elif others and not by_prolific:
        raise UserError(f"Nobody was paid: {_many(others)} to be paid by a file. Name it with --file pay.csv.")
    elif others and not quiet:
        print_line(f"{_many(others)} not paid by Prolific: name a file for them with --file.")
    return paid


def _many(people: int) -> str:
    return "1 person is" if people == 1 else f"{people:,} people are"


def _print_paid(done: PayoutResult, currency: str) -> None:
    if done.sent:
        people = "payout" if len(done.sent) == 1 else "payouts"
        print_line(f"Prolific pays {money_text(done.amount, currency)} in {len(done.sent)} {people}.")
    for row in done.in_doubt:
        print_line(
            f"Payout {row.id} ({money_text(row.amount, currency)}): it is not known yet whether Prolific took it, so "
            "it is not asked for again. Run this again in some minutes. If Prolific's own page shows nothing of it, "
            "add --resend 30."
        )
    for reason in done.refused:
        print_line(f"{reason} Nothing of that was paid; it is tried again the next time.")


def _write_file(study: Study, file: Path) -> dict[str, Any]:
    """Write down who is to be paid, then the file, then that it is there: stopped anywhere, the next one goes on."""
    number = study.store.write(lambda tx: payout_files.plan_file(tx, study)).result()
    if number is None:
        return {"payout": None, "people": 0, "amount": 0}
    lines = study.store.read(lambda tx: payout_files.lines_of(tx, number)).result()
    rows = [{**asdict(line), "amount": money_number(line.amount, line.currency)} for line in lines]
    with writing(file, "--file"):
        write_csv([field.name for field in fields(ToPay)], rows, file)
    if not study.store.write(lambda tx: payout_files.file_written(tx, study, number)).result():
        raise UserError(
            f"Another command wrote payout {number} at the same moment, so {file} has the same payments as its file. "
            "Use one of the two, and delete the other."
        )
    return {"payout": number, "people": len(lines), "amount": sum(line.amount for line in lines)}
