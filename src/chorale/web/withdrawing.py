"""Withdrawing: a page where workers have their data erased, in two steps."""

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from chorale.engine import forgetting
from chorale.engine.entering import EXPERTS_PANEL
from chorale.engine.forgetting import BY_WORKER, Unpaid, unpaid
from chorale.engine.running import Study
from chorale.model import Refusal
from chorale.model.wording import worded
from chorale.store import Tx, erasing, workers
from chorale.web.serving import Site


def add_withdrawal_routes(router: APIRouter, site: Site) -> None:
    study = site.study
    removes = study.settings.retention.withdrawn_answers == "remove"

    @router.get("/withdraw", response_class=HTMLResponse, include_in_schema=False)
    async def ask(request: Request) -> Response:
        """The page that explains withdrawing. Nothing has happened yet."""
        gone, to_pay = await site.read_as(request, _standing_of)
        if gone:
            return RedirectResponse("/", 303)
        return site.pages.page("worker/withdraw.html", removes_answers=removes, **_pay_words(site, to_pay))

    @router.post("/withdraw", include_in_schema=False)
    async def withdraw(request: Request, sure: Annotated[str, Form()] = "") -> Response:
        if sure != "yes":
            raise Refusal("not_sure", worded("Tick the box if you want to withdraw. Nothing has changed so far."), 422)
        await site.write_as(request, _withdraw, forgetting.ErasureRequest(BY_WORKER, answers=removes))
        if removes:
            await asyncio.to_thread(forgetting.finish, study)
        return RedirectResponse("/", 303)


def _withdraw(tx: Tx, study: Study, worker_id: int, asked: forgetting.ErasureRequest) -> None:
    if workers.panel_of(tx, worker_id) == EXPERTS_PANEL:
        raise Refusal(
            "not_open", worded("Experts can't withdraw here. Write to the address at the bottom of the page."), 403
        )
    forgetting.erase(tx, study, worker_id, asked)


def _standing_of(tx: Tx, _study: Study, worker_id: int) -> tuple[bool, Unpaid | None]:
    """Whether a worker has withdrawn, and what is still to be paid to them."""
    worker = workers.find_worker(tx, worker_id)
    return worker is not None and worker.consent_version == erasing.WITHDRAWN, unpaid(tx, worker_id)


def _pay_words(site: Site, to_pay: Unpaid | None) -> dict[str, Any]:
    """The amount that a worker is owed, if any, and whether their ID is kept until they are paid."""
    owed = 0 if to_pay is None else to_pay.owed
    currency = site.study.settings.pay.currency
    return {"owed": site.study.language.money(owed, currency) if owed else None, "is_unpaid": to_pay is not None}


async def withdrawn_page(site: Site, request: Request) -> Response:
    """The page for workers who have withdrawn or were erased."""
    _, to_pay = await site.read_as(request, _standing_of)
    return site.pages.page("worker/withdrawn.html", **_pay_words(site, to_pay))
