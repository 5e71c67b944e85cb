"""Payments: who is owed what, paying them, payout files and receipts."""

import asyncio
import os
import tempfile
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal, get_args

from fastapi import Form, Path, Request, Response

from chorale.engine import payouts, recruiting
from chorale.engine.failed_payments import mark
from chorale.engine.payout_addresses import addresses_for
from chorale.engine.payouts import PROLIFIC, PayoutResult
from chorale.engine.paypal_payouts import ID_VARIABLE, SECRET_VARIABLE, pay_by_paypal, paypal_from_environment
from chorale.engine.running import Study
from chorale.engine.simulation import has_simulated_people
from chorale.engine.unknown_payouts import accept_unknown_payouts, refusal_to_pay
from chorale.exchange import payout_files
from chorale.exchange.payout_files import PLAIN, FileFormat
from chorale.files.tables import write_csv
from chorale.model import Refusal, UserError
from chorale.store import Tx, events, submissions
from chorale.store import payments as store_payments
from chorale.store.payments import FILE, PAYPAL, SENT, SETTLED, UNFINISHED
from chorale.web.console.export import Download
from chorale.web.console.frame import Console, Reason, back_to, on_mistake
from chorale.web.console.paging import PageNumber, Paging
from chorale.web.console.recruiting import prolific_of
from chorale.web.console.workers import WorkerId
from chorale.web.serving import Site

PATH = "/console/payments"
ROWS = 25
Way = Literal["prolific", "paypal", "file"]
Order = Literal["worker", "owed"]
PayoutInPath = Annotated[int, Path(ge=1, le=2**53)]
_FORMATS: dict[str, str] = {
    "plain": "Plain CSV file",
    "paypal": "PayPal mass payment file",
    "wise": "Wise batch file",
    "gift-card": "Gift-card order",
}


@dataclass(frozen=True, slots=True)
class PayWay:
    """One way to pay people, and what it pays now."""

    way: Way
    format: FileFormat
    name: str
    people: int
    amount: int


def _has_paypal() -> bool:
    return all(os.environ.get(name, "").strip() for name in (ID_VARIABLE, SECRET_VARIABLE))


def _ways(tx: Tx, study: Study, *, retry: bool) -> list[PayWay]:
    """How people can be paid now, leaving out ways that would pay nobody."""
    ways = []
    if submissions.studies(tx):
        due = [one for one in payouts.books(tx, study).due if one.submission is not None and one.why_not is None]
        begun, amount = _unfinished(tx, PROLIFIC)
        amount += sum(one.account.owed for one in due)
        ways.append(PayWay("prolific", PLAIN, "Bonuses on Prolific", begun + len(due), amount))
    asked_for = {address.method for address in addresses_for(tx).values()}
    if _has_paypal():
        begun, amount = _unfinished(tx, PAYPAL)
        people, new = payout_files.to_pay(tx, study, "paypal", retry=retry) if "paypal" in asked_for else (0, 0)
        ways.append(PayWay("paypal", "paypal", "PayPal", begun + people, amount + new))
    ways += [
        PayWay("file", how, _FORMATS[how], *payout_files.to_pay(tx, study, how, retry=retry))
        for how in get_args(FileFormat)
        if how == PLAIN or how in asked_for
    ]
    return [one for one in ways if one.people]


def _unfinished(tx: Tx, platform: str) -> tuple[int, int]:
    """The people in started but unconfirmed payouts, and their total amount. Paying completes these payouts."""
    rows = store_payments.payouts(tx, platform=platform, states=UNFINISHED)
    return sum(len(store_payments.payments_in(tx, row.id)) for row in rows), sum(row.amount for row in rows)


def _state(tx: Tx, study: Study, page: int, find: str, order: Order) -> dict[str, Any]:
    books = payouts.books(tx, study)
    due = [one for one in books.due if find.strip().lower() in one.account.worker]
    if order == "owed":
        due.sort(key=lambda one: -one.account.owed)
    paging = Paging(page, len(due), ROWS)
    every_payout = len(store_payments.payouts(tx))
    return {
        "books": books,
        "due": paging.rows(due),
        "paging": paging,
        "listing": {"find": find, "order": order},
        "receipts": payout_files.receipts(tx, newest=ROWS),
        "payout_count": every_payout,
        "ways": _ways(tx, study, retry=False),
        "retried": _ways(tx, study, retry=True) if store_payments.failures(tx) else [],
        "restored": refusal_to_pay(tx),
        "simulated": has_simulated_people(tx),
        "has_rewards": bool(books.rewarded or submissions.studies(tx)),
    }


async def _page(
    console: Console,
    request: Request,
    code: int = 200,
    page: int = 1,
    find: str = "",
    order: Order = "worker",
    **context: Any,
) -> Response:
    shown = {"under": PATH, "has_file": _has_file, **await console.site.read(_state, page, find, order)}
    return console.page(request, "payments", code, **{**shown, **context})


def _has_file(receipt: dict[str, Any]) -> bool:
    return str(receipt["by"]).endswith(FILE) and receipt["state"] in (SENT, SETTLED)


def add_payment_routes(console: Console) -> None:
    site = console.site

    @console.to_see.get("/payments")
    async def payments(
        request: Request, page: PageNumber = 1, find: WorkerId = "", order: Order = "worker"
    ) -> Response:
        return await _page(console, request, page=page, find=find, order=order)

    @console.for_owner.post("/payments/pay")
    async def pay(
        request: Request,
        way: Annotated[Way, Form()],
        file_format: Annotated[FileFormat, Form(alias="format")] = "plain",
        retry: Annotated[bool, Form()] = False,
        compared: Annotated[bool, Form()] = False,
        amount: Annotated[int | None, Form(ge=0)] = None,
    ) -> Response:
        """Show the amount to pay; pay when exactly this amount is confirmed."""
        on_mistake(_page, console, request)
        if way == PROLIFIC and amount is not None:
            # Newly approved submissions change the amount, so they are imported first.
            await asyncio.to_thread(recruiting.sync, site.study, prolific_of(site))
        ways = await site.read(_ways, retry=retry)
        chosen = next((one for one in ways if (one.way, one.format) == (way, file_format)), None)
        chosen = chosen or next((one for one in ways if one.way == way == "prolific"), None)
        if chosen is None:
            return back_to(PATH, "paid-nothing")
        refusal = await site.read(lambda tx, _: refusal_to_pay(tx))
        if amount != chosen.amount or (refusal is not None and not compared):
            return console.page(request, "pay", under=PATH, chosen=chosen, retry=retry, restored=refusal, was=amount)
        if refusal is not None:
            await site.write(accept_unknown_payouts, request.state.staff.name)
        if way == "file":
            number = await site.write(_plan_file, file_format, request.state.staff.name, amount, retry=retry)
            return back_to(PATH, "paid-nothing") if number is None else back_to(PATH, "pay-file", number)
        result = await asyncio.to_thread(_pay, site, way, retry=retry)
        if result.in_doubt or result.refused or result.unreported:
            return await _page(console, request, problem=_in_words(result))
        return back_to(PATH, f"paid-{way}" if result.sent else "paid-nothing", len(result.sent))

    @console.for_owner.get("/payments/{number}/file")
    async def download(request: Request, number: PayoutInPath) -> Response:
        """The file of a payout, the same however often it is downloaded."""
        path = await asyncio.to_thread(_written_file, site.study, number, request.state.staff.name)
        return Download(path, filename=path.name, media_type="text/csv; charset=utf-8")

    @console.for_owner.post("/payments/mark")
    async def mark_paid(
        request: Request,
        number: Annotated[int, Form(ge=1, le=2**53)],
        failed: Annotated[str, Form(max_length=10_000)] = "",
        reason: Reason = "",
    ) -> Response:
        """Record a payout by file as paid, except for the workers whose payments failed."""
        on_mistake(_page, console, request)
        workers_named = failed.replace(",", " ").split()
        why = {} if not reason.strip() else {"reason": reason.strip()}
        await site.write(lambda tx, study: mark(tx, study, number, workers_named, request.state.staff.name, **why))
        return back_to(PATH, "payout-marked")


def _plan_file(tx: Tx, study: Study, how: FileFormat, by: str, amount: int, *, retry: bool) -> int | None:
    """Plan a payout of this amount by file, in one transaction; returns its number. Its file can be downloaded."""
    number = payout_files.plan_file(tx, study, how, retry=retry)
    if number is not None:
        if sum(line.amount for line in payout_files.lines_of(tx, number)) != amount:
            raise UserError("The amount has changed since you confirmed it. No file was made. Confirm the new amount.")
        payout_files.file_written(tx, study, number)
        events.record(tx, study.clock(), "payout", {"payout": number, "state": SENT, "format": how, "by": by})
    return number


def _pay(site: Site, way: Way, *, retry: bool) -> PayoutResult:
    if way == "paypal":
        with paypal_from_environment() as paypal:
            return pay_by_paypal(site.study, paypal, retry=retry)
    return payouts.pay_by_prolific(site.study, prolific_of(site))


def _in_words(result: PayoutResult) -> str:
    doubts = [
        f"It is uncertain whether payout {row.id} was paid. Check again in a few minutes." for row in result.in_doubt
    ]
    refused = [f"{reason.rstrip('.')}. No payment was made. Try again later." for reason in result.refused]
    unreported = [
        f"{reason.rstrip('.')}. Chorale will check again later which payments have arrived."
        for reason in result.unreported
    ]
    return " ".join([*doubts, *refused, *unreported])


def _written_file(study: Study, number: int, by: str) -> FilePath:
    formats = {payout_files.platform_of(how): how for how in get_args(FileFormat)}

    def read(tx: Tx) -> tuple[FileFormat, list[payout_files.ToPay]]:
        row = next((one for one in store_payments.payouts(tx) if one.id == number), None)
        if row is None or row.platform not in formats:
            raise Refusal("not_found", f"Payout {number} has no file. The payments page lists every payout.", 404)
        events.record(tx, study.clock(), "payout file downloaded", {"payout": number, "by": by})
        return formats[row.platform], payout_files.lines_of(tx, number)

    how, lines = study.store.write(read).result()
    rows = payout_files.rows_for(how, lines, study.settings.study.title)
    if not rows:
        raise UserError(
            f"The file of payout {number} would be empty: all its payments failed, or were made in another way."
        )
    path = FilePath(tempfile.mkdtemp(prefix="chorale-payout-")) / f"payout-{number}-{how}.csv"
    write_csv([*rows[0]], rows, path, header=how not in payout_files.WITHOUT_HEADER)
    return path
