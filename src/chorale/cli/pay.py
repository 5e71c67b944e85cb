"""`chorale pay`"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from chorale.cli.arguments import BY, AsJson, Database, StudyFolder
from chorale.cli.asking import prolific
from chorale.cli.output import print_json, print_line
from chorale.cli.parameters import Option
from chorale.cli.progress import patiently
from chorale.cli.terminal import show
from chorale.engine import payouts, recruiting
from chorale.engine.failed_payments import mark
from chorale.engine.payout_addresses import KEY_VARIABLE, unreadable_addresses
from chorale.engine.payouts import Books, PayoutResult
from chorale.engine.paypal_payouts import pay_by_paypal, paypal_from_environment
from chorale.engine.running import Study
from chorale.engine.simulation import has_simulated_people
from chorale.engine.started import started_study
from chorale.engine.unknown_payouts import accept_unknown_payouts, refusal_to_pay
from chorale.exchange import payout_files
from chorale.exchange.payout_files import PLAIN, FileFormat, ToPay
from chorale.files.tables import write_csv
from chorale.files.targets import check_target, writing
from chorale.metrics.options import Force
from chorale.model import UserError, money_text
from chorale.model.plural import plural
from chorale.monitor.payouts import books_as_json, books_line, books_table, receipts_table
from chorale.store import Tx, submissions
from chorale.store.workers import find_worker

SHORTEST_WAIT = 10
"""Minutes. Another process may have a request in progress, and Prolific takes a few minutes to pay."""


PaymentFile = Annotated[
    Path | None,
    Option(help="Write a CSV file with the recipients and amounts of payments that Prolific does not make."),
]
ResendAfter = Annotated[
    int | None,
    Option(
        metavar="MINUTES",
        min=SHORTEST_WAIT,
        help="Request uncertain bonuses again if Prolific reports none of them this many minutes after the request. "
        "Check Prolific's own page first.",
    ),
]
AfterRestore = Annotated[
    bool,
    Option(
        help="After a restore: pay, although payouts made after the backup are unknown. First look for these "
        "payouts in the platform's list or your own records."
    ),
]
FormatName = Annotated[
    FileFormat,
    Option(
        "--format",
        help="Format of --file: plain, or the format that PayPal, Wise or a vendor of gift cards needs: paypal, "
        "wise or gift-card.",
    ),
]
PaidPayout = Annotated[
    int | None,
    Option(
        metavar="NUMBER",
        help="Mark the payout with this number as paid: a payout by file, or an uncertain payout by PayPal. "
        "--receipts shows the numbers.",
    ),
]
FailedWorkers = Annotated[
    list[str] | None, Option(metavar="WORKER", help="With --paid: a worker whose payment failed. Repeatable.")
]


def pay(
    directory: StudyFolder,
    yes: Annotated[bool, Option(help="Pay. Without this option, the payments are only shown.")] = False,
    file: PaymentFile = None,
    force: Force = False,
    resend: ResendAfter = None,
    after_restore: AfterRestore = False,
    file_format: FormatName = PLAIN,
    paypal: Annotated[
        bool, Option(help="Pay people with a PayPal address through PayPal Payouts. Needs --yes.")
    ] = False,
    retry: Annotated[
        bool, Option(help="Retry failed payments, even to people who have not changed their payment address.")
    ] = False,
    paid: PaidPayout = None,
    failed: FailedWorkers = None,
    receipts: Annotated[bool, Option(help="List all payouts and exit.")] = False,
    db: Database = None,
    as_json: AsJson = False,
) -> None:
    """Pay workers what they are owed, exactly once: by Prolific bonuses, by PayPal, or with a file of payments."""
    check_target(file, "--file", force=force, endings=(".csv",))
    if failed and paid is None:
        raise UserError("--failed needs --paid: name the payout in which these payments failed.")
    with started_study(directory, db) as study:
        if receipts:
            _show_receipts(study, as_json=as_json)
            return
        if paid is not None:
            _mark(study, paid, failed or [], as_json=as_json)
            return
        if yes:
            _check_restored(study, accept=after_restore)
        ways = _Ways(file, file_format, paypal, retry, resend)
        done = _pay(study, ways, quiet=as_json) if yes else None
        books = study.store.read(lambda tx: payouts.books(tx, study)).result()
        simulated = study.store.look(has_simulated_people)
    _show_books(books, done, simulated=simulated, as_json=as_json)


@dataclass(frozen=True, slots=True)
class _Ways:
    """The payment methods chosen for this run."""

    file: Path | None
    format: FileFormat
    paypal: bool
    retry: bool
    resend: int | None


def _show_books(books: Books, done: dict[str, Any] | None, *, simulated: bool, as_json: bool) -> None:
    if as_json:
        print_json({**books_as_json(books), "done": done})
        return
    if books.due:
        show(books_table(books))
    print_line(books_line(books))
    if simulated:
        print_line("All people in this study are simulated, so nobody is paid.")
    elif done is None and books.now:
        more = " --file pay.csv" if any(one.by_file for one in books.due) else ""
        print_line(f"Nothing was paid. Add --yes{more} to pay what can be paid now.")


def _show_receipts(study: Study, *, as_json: bool) -> None:
    payouts_made = study.store.read(payout_files.receipts).result()
    if as_json:
        print_json({"payouts": payouts_made})
    elif payouts_made:
        show(receipts_table(payouts_made))
    else:
        print_line("No payouts yet. `chorale pay DIR` lists what people are owed, and with --yes it pays.")


def _mark(study: Study, number: int, failed: list[str], *, as_json: bool) -> None:
    """Mark the payments of a file as paid or failed."""
    people = study.store.write(lambda tx: mark(tx, study, number, failed, BY)).result()
    if as_json:
        print_json({"payout": number, "paid": people, "failed": failed})
    else:
        print_line(
            f"Payout {number}: {people:,} marked as paid, {len(failed):,} as failed. Failed payments are owed again."
        )


def _check_restored(study: Study, *, accept: bool) -> None:
    """Refuse to pay if payouts may have been made that the restored backup does not contain."""
    if accept:
        study.store.write(lambda tx: accept_unknown_payouts(tx, study, BY)).result()
    elif (refusal := study.store.read(refusal_to_pay).result()) is not None:
        raise UserError(f"{refusal} Check the platform's list or your own records, then add --after-restore.")


def _pay(study: Study, ways: _Ways, *, quiet: bool) -> dict[str, Any]:
    """Pay everything that can be paid now, and print the results."""
    currency = study.settings.pay.currency
    by_prolific = bool(study.store.read(submissions.studies).result())
    paid: dict[str, Any] = {"prolific": None, "paypal": None, "file": None}
    if by_prolific:
        with prolific() as client, patiently("contacting Prolific"):
            # Rewards of approved submissions are already paid, so import approvals first.
            recruiting.sync(study, client)
            paid["prolific"] = _result(payouts.pay_by_prolific(study, client, ways.resend), "Prolific", currency, quiet)
    if ways.paypal:
        with paypal_from_environment() as paypal, patiently("contacting PayPal"):
            paid["paypal"] = _result(pay_by_paypal(study, paypal, retry=ways.retry), "PayPal", currency, quiet)
    paid["unreadable_addresses"] = _unreadable(study, quiet=quiet)
    paid["unwritten_files"] = _unwritten(study, ways, quiet=quiet)
    others, held_back = _by_file(study, ways)
    paid["failed_held_back"] = held_back
    if ways.file is not None:
        paid["file"] = written = _write_file(study, ways.file, ways)
        if written is not None and not quiet:
            amount = money_text(written["amount"], currency)
            print_line(
                f"{ways.file} lists {plural(written['people'], 'person', 'people')} to be paid {amount} in total "
                f"(payout {written['payout']}). When they are paid, run this command with --paid {written['payout']}."
            )
    elif others and not by_prolific and not ways.paypal:
        raise UserError(
            f"Nobody was paid: {_many(others)} to be paid with a file. Add --file pay.csv to write this file."
        )
    elif others and not quiet:
        print_line(f"{_many(others)} still to be paid: add --file pay.csv to write a payment file for them.")
    if held_back and not quiet:
        print_line(
            f"Failed payments on hold until their workers enter another address: {held_back:,}. Add --retry to try "
            "them again at the same address."
        )
    return paid


def _by_file(study: Study, ways: _Ways) -> tuple[int, int]:
    """The number of people to pay by a file now, and the number with failed payments on hold."""

    def count(tx: Tx) -> tuple[int, int]:
        now = payout_files.people_to_pay(tx, study, ways.format, retry=ways.retry)
        return now, payout_files.people_to_pay(tx, study, ways.format, retry=True) - now

    return study.store.read(count).result()


def _unreadable(study: Study, *, quiet: bool) -> list[str]:
    """The workers whose payout address can't be decrypted; also printed, unless quiet."""

    def read(tx: Tx) -> list[str]:
        people = (find_worker(tx, number) for number in unreadable_addresses(tx))
        return sorted(one.pseudonym for one in people if one is not None)

    names = study.store.read(read).result()
    if names and not quiet:
        print_line(
            f"The payout addresses of {', '.join(names)} can't be decrypted and were not used. Set {KEY_VARIABLE} to "
            "its value at the time they were entered. If it is lost, ask people to enter their addresses again."
        )
    return names


def _unwritten(study: Study, ways: _Ways, *, quiet: bool) -> list[int]:
    """Payouts planned for files in other formats; also printed, unless quiet."""
    unwritten = study.store.read(lambda tx: payout_files.unwritten_files(tx, ways.format)).result()
    for number, how in unwritten if not quiet else ():
        print_line(
            f"The file of payout {number} was not written, so nobody in this payout has been paid. Run this again "
            f"with --file pay.csv --format {how}."
        )
    return [number for number, _ in unwritten]


def _result(done: PayoutResult, platform: str, currency: str, quiet: bool) -> dict[str, Any]:
    """The result of paying through a platform; also printed, unless quiet."""
    if not quiet:
        _print_paid(done, platform, currency)
    return {
        "sent": [row.id for row in done.sent],
        "amount": done.amount,
        "in_doubt": [row.id for row in done.in_doubt],
        "refused": done.refused,
        "unreported": done.unreported,
    }


def _many(people: int) -> str:
    return "1 person is" if people == 1 else f"{people:,} people are"


def _print_paid(done: PayoutResult, platform: str, currency: str) -> None:
    if done.sent:
        people = "payout" if len(done.sent) == 1 else "payouts"
        print_line(f"{platform} pays {money_text(done.amount, currency)} in {len(done.sent)} {people}.")
    for row in done.in_doubt:
        doubt = f"Payout {row.id} ({money_text(row.amount, currency)}): it is uncertain whether {platform} received it"
        if platform == "Prolific":
            print_line(
                f"{doubt}, so it is not requested again. Run this again in a few minutes. If Prolific's own page does "
                "not show it, add --resend 30."
            )
        else:
            print_line(
                f"{doubt}. Run this again in a few minutes: PayPal never pays the same payout twice in 30 days. If "
                "that does not help, check on PayPal's page which payments were made, and mark the payout: "
                f"--paid {row.id} --failed WORKER."
            )
    for reason in done.refused:
        print_line(f"{reason} Nothing was paid; the next run tries again.")
    for reason in done.unreported:
        print_line(f"{reason} The next run checks again which payments have arrived.")


def _write_file(study: Study, file: Path, ways: _Ways) -> dict[str, Any] | None:
    """Record the payout, write the file, then mark it as written. If this is interrupted, the next run continues.

    Return None if nobody is to be paid by such a file.
    """

    def plan(tx: Tx) -> tuple[int | None, list[ToPay]]:
        # In one transaction, so that nobody can change their payment method in between.
        number = payout_files.plan_file(tx, study, ways.format, retry=ways.retry)
        return number, [] if number is None else payout_files.lines_of(tx, number)

    number, lines = study.store.write(plan).result()
    if number is None:
        return None
    rows = payout_files.rows_for(ways.format, lines, study.settings.study.title)
    with writing(file, "--file"):
        write_csv([*rows[0]], rows, file, header=ways.format not in payout_files.WITHOUT_HEADER, private=True)
    if not study.store.write(lambda tx: payout_files.file_written(tx, study, number)).result():
        raise UserError(
            f"Another command wrote payout {number} at the same moment, so {file} has the same payments as its file. "
            "Use one of the two, and delete the other."
        )
    return {"payout": number, "people": len(lines), "amount": sum(line.amount for line in lines)}
