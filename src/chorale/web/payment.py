"""The payment page: a worker's payout address, and their payments so far."""

from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from chorale.engine.forgetting import unpaid
from chorale.engine.payout_addresses import METHODS, address_of, leave_address
from chorale.engine.running import Study
from chorale.model import Refusal, UserError
from chorale.model.wording import worded
from chorale.store import Tx, payments, payout_addresses, workers
from chorale.store.payments import PaymentRow
from chorale.web.serving import Site

PAYMENT = "/payment"
Field = Annotated[str, Form(max_length=300)]


def add_payment_routes(router: APIRouter, site: Site) -> None:
    """Routes of the payment page, if the study file has payment methods."""
    methods = site.study.settings.pay.methods
    if not methods:
        return

    @router.get(PAYMENT, response_class=HTMLResponse, include_in_schema=False)
    async def show(request: Request) -> Response:
        context = await site.read_as(request, _payment)
        choices = [(name, METHODS[name]) for name in methods]
        return site.pages.page("worker/payment.html", methods=choices, asks_name="wise" in methods, **context)

    @router.post(PAYMENT, include_in_schema=False)
    async def leave(request: Request, method: Field = "", email: Field = "", name: Field = "") -> Response:
        await site.write_as(request, leave_address, method, email, name)
        return RedirectResponse(PAYMENT, 303)

    @router.post(f"{PAYMENT}/erase", include_in_schema=False)
    async def erase(request: Request) -> Response:
        await site.write_as(request, _erase)
        return RedirectResponse(PAYMENT, 303)


def _payment(tx: Tx, _study: Study, worker_id: int) -> dict[str, Any]:
    if workers.find_worker(tx, worker_id) is None:
        raise Refusal("signed_out", worded("You are not signed in. Open your link again."), 401)
    try:
        address = address_of(tx, worker_id)
    except UserError:
        # The requester sees the reason when paying; the worker can only enter the address again.
        address = None
    lines = payments.payments_to(tx, worker_id)
    failed = {line.id for line in payments.failed_payments(tx, worker_id)}
    made_at = {number: payments.payout_numbered(tx, number).made_at for number in {line.payout_id for line in lines}}
    to_pay = unpaid(tx, worker_id)

    def state(line: PaymentRow) -> str:
        return "failed" if line.id in failed else "on its way" if line.reported_at is None else "arrived"

    return {
        "address": address,
        "owed": 0 if to_pay is None else to_pay.owed,
        "payments": [
            {
                "amount": line.amount,
                "day": datetime.fromtimestamp((line.reported_at or made_at[line.payout_id]) / 1000, UTC).date(),
                "state": state(line),
                "number": line.id,
            }
            for line in lines
        ],
    }


def _erase(tx: Tx, _study: Study, worker_id: int) -> None:
    payout_addresses.erase(tx, worker_id)
