"""Withdrawing: a page where workers have their data erased, in two steps."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from chorale.engine import forgetting
from chorale.engine.entering import EXPERTS_PANEL
from chorale.engine.forgetting import BY_WORKER, unpaid
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
        gone, owed = await site.read_as(request, _standing_of)
        if gone:
            return RedirectResponse("/", 303)
        owed_text = study.language.money(owed, study.settings.pay.currency) if owed else None
        return site.pages.page("worker/withdraw.html", removes_answers=removes, owed=owed_text)

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


def _standing_of(tx: Tx, _study: Study, worker_id: int) -> tuple[bool, int]:
    """Whether a worker has withdrawn, and what they are owed."""
    worker, to_pay = workers.find_worker(tx, worker_id), unpaid(tx, worker_id)
    return worker is not None and worker.consent_version == erasing.WITHDRAWN, 0 if to_pay is None else to_pay.owed


async def withdrawn_page(site: Site, request: Request) -> Response:
    """The page for workers who have withdrawn or were erased."""
    _, owed = await site.read_as(request, _standing_of)
    owed_text = site.study.language.money(owed, site.study.settings.pay.currency) if owed else None
    return site.pages.page("worker/withdrawn.html", owed=owed_text)
