"""One worker: their whole record, and what the owner does about it."""

import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Form, Path, Request, Response

from chorale.engine import managing
from chorale.engine.managing import Act
from chorale.engine.running import Study
from chorale.model import Refusal, UserError
from chorale.model.money import minor_units
from chorale.monitor.worker_record import WorkerRecord, worker_record
from chorale.store import Tx
from chorale.web.console.charts import Trend, trend_chart
from chorale.web.console.frame import NO_NUL, Console, back_to
from chorale.web.console.workers import LONGEST_MESSAGE, Key, Reason, ShortText
from chorale.web.links import OWNER, VIEWER

LAST_LINES = 50

Pseudonym = Annotated[str, Path(pattern=r"^w-[a-z0-9]{1,30}$")]


def worker_routes(console: Console) -> APIRouter:
    router = APIRouter()
    router.routes += _seen(console).routes
    router.routes += _done(console).routes
    return router


def _record(tx: Tx, study: Study, pseudonym: str) -> WorkerRecord:
    return worker_record(tx, study, managing.worker_called(tx, pseudonym))


async def _page(console: Console, request: Request, pseudonym: str, code: int = 200, **context: Any) -> Response:
    record = await console.site.read(_record, pseudonym)
    quality = [
        Trend("Gold right", [part.right for part in record.parts]),
        Trend("Agrees with the items' results", [part.agreement for part in record.parts]),
    ]
    return console.page(
        request,
        "worker",
        code,
        **{
            "pseudonym": pseudonym,
            "found": record,
            "stages_by_name": console.site.study.stages,
            "last_lines": LAST_LINES,
            "form_key": secrets.token_urlsafe(12),
            "qualifications": managing.qualifications_known(console.site.study),
            "longest_message": LONGEST_MESSAGE,
            "identities": None,
            "quality": quality,
            "quality_chart": trend_chart(
                f"Quality of {pseudonym} over their latest answers", quality, ("earlier", "latest")
            ),
            "typed": {},
            **context,
        },
    )


def _seen(console: Console) -> APIRouter:
    router = console.router(OWNER, VIEWER)

    @router.get("/workers/{pseudonym}")
    async def worker(request: Request, pseudonym: Pseudonym) -> Response:
        return await _page(console, request, pseudonym)

    return router


def _done(console: Console) -> APIRouter:
    """What owners do to a worker. Each act has a reason and is written down."""
    router = console.router(OWNER)
    _add_contacts(router, console)
    _add_standing(router, console)

    @router.post("/workers/{pseudonym}/identity")
    async def identity(request: Request, pseudonym: Pseudonym, key: Key, reason: Reason = "") -> Response:
        try:
            act = Act(request.state.staff.name, reason, key)
            shown = await console.site.write(managing.reveal, pseudonym, act)
        except UserError as error:
            return await _page(console, request, pseudonym, 422, problem=error.message)
        return await _page(console, request, pseudonym, identities=shown)

    return router


def _add_contacts(router: APIRouter, console: Console) -> None:
    site = console.site

    @router.post("/workers/{pseudonym}/message")
    async def message(
        request: Request,
        pseudonym: Pseudonym,
        key: Key,
        title: ShortText = "",
        body: Annotated[str, Form(max_length=LONGEST_MESSAGE, pattern=NO_NUL)] = "",
        reason: Reason = "",
    ) -> Response:
        try:
            act = Act(request.state.staff.name, reason, key)
            await site.write(managing.send, pseudonym, title, body, act)
        except UserError as error:
            typed = {"title": title, "body": body, "message_reason": reason}
            return await _page(console, request, pseudonym, 422, problem=error.message, typed=typed)
        return back_to(f"/console/workers/{pseudonym}", "message-sent")

    @router.post("/workers/{pseudonym}/bonus")
    async def bonus(
        request: Request,
        pseudonym: Pseudonym,
        key: Key,
        amount: ShortText = "",
        stage: Annotated[str, Form(max_length=40)] = "",
        reason: Reason = "",
    ) -> Response:
        try:
            act = Act(request.state.staff.name, reason, key)
            units = minor_units(amount, site.study.settings.pay.currency)
            if units is None:
                raise UserError(f"{amount!r} is not an amount. Write it like 1.50.")
            await site.write(managing.give_bonus, pseudonym, site.study.stage(stage), units, act)
        except UserError as error:
            typed = {"amount": amount, "stage": stage, "bonus_reason": reason}
            return await _page(console, request, pseudonym, 422, problem=error.message, typed=typed)
        return back_to(f"/console/workers/{pseudonym}", "bonus")


def _add_standing(router: APIRouter, console: Console) -> None:
    site = console.site

    @router.post("/workers/{pseudonym}/qualify")
    async def qualify(
        request: Request, pseudonym: Pseudonym, key: Key, name: ShortText = "", reason: Reason = ""
    ) -> Response:
        try:
            act = Act(request.state.staff.name, reason, key)
            done = await site.write(managing.qualify, pseudonym, name, act)
        except UserError as error:
            return await _page(console, request, pseudonym, 422, problem=error.message)
        return back_to(f"/console/workers/{pseudonym}", "qualified" if done else "was-qualified")

    @router.post("/workers/{pseudonym}/disqualify")
    async def disqualify(
        request: Request, pseudonym: Pseudonym, key: Key, what: ShortText = "", reason: Reason = ""
    ) -> Response:
        """End somebody's work in a stage ("stage:NAME"), or take a qualification away ("qualification:NAME")."""
        kind, _, name = what.partition(":")
        try:
            act = Act(request.state.staff.name, reason, key)
            if kind == "stage":
                await site.write(managing.end_work, pseudonym, site.study.stage(name), act)
            elif kind == "qualification":
                await site.write(managing.take_qualification, pseudonym, name, act)
            else:
                raise Refusal("nothing_chosen", "Choose what is to end.", 422)
        except UserError as error:
            return await _page(console, request, pseudonym, 422, problem=error.message)
        return back_to(f"/console/workers/{pseudonym}", "disqualified")
