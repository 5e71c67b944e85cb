"""One worker: work, quality, messages and pay; bonuses, qualifications and removal."""

import secrets
from typing import Annotated, Any

from fastapi import Form, Path, Request, Response

from chorale.engine import managing
from chorale.engine.managing import Act
from chorale.model import Refusal, UserError
from chorale.model.money import minor_units
from chorale.monitor.worker_record import worker_record
from chorale.monitor.writing import worker_evidence
from chorale.web.console.charts import Trend, trend_chart
from chorale.web.console.frame import NO_NUL, Console, Reason, back_to, on_mistake
from chorale.web.console.workers import LONGEST_MESSAGE, Key, ShortText
from chorale.web.pages import markdown

LAST_LINES = 10

Pseudonym = Annotated[str, Path(pattern=r"^(?:w-[a-z0-9]{1,30}|model:[A-Za-z0-9._-]{1,60})$")]


async def _page(console: Console, request: Request, pseudonym: str, code: int = 200, **context: Any) -> Response:
    record = await console.site.read(lambda tx, study: worker_record(tx, study, managing.worker_called(tx, pseudonym)))
    writing = await console.site.read(worker_evidence, pseudonym) if console.site.study.settings.writing else None
    quality = [
        Trend("Gold accuracy", [part.right for part in record.parts]),
        Trend("Agreement with final labels", [part.agreement for part in record.parts]),
    ]
    return console.page(
        request,
        "worker",
        code,
        **{
            "under": "/console/workers",
            "pseudonym": pseudonym,
            "record": record,
            "messages": [(message, markdown(message.body)) for message in record.messages],
            "stages_by_name": console.site.study.stages,
            "last_lines": LAST_LINES,
            "form_key": secrets.token_urlsafe(12),
            "qualifications": managing.qualifications_known(console.site.study),
            "longest_message": LONGEST_MESSAGE,
            "identities": None,
            "writing": writing,
            "quality": quality,
            "quality_chart": trend_chart(
                f"Quality of {pseudonym} over their latest answers", quality, ("earlier", "latest")
            ),
            "typed": {},
            **context,
        },
    )


def add_worker_routes(console: Console) -> None:
    """Everything about one worker. Every action needs a reason and is logged."""
    site = console.site

    @console.to_see.get("/workers/{pseudonym}")
    async def worker(request: Request, pseudonym: Pseudonym) -> Response:
        return await _page(console, request, pseudonym)

    @console.for_owner.post("/workers/{pseudonym}/identity")
    async def identity(request: Request, pseudonym: Pseudonym, key: Key, reason: Reason = "") -> Response:
        on_mistake(_page, console, request, pseudonym)
        shown = await site.write(managing.reveal, pseudonym, Act(request.state.staff.name, reason, key))
        return await _page(console, request, pseudonym, identities=shown)

    @console.for_owner.post("/workers/{pseudonym}/message")
    async def message(
        request: Request,
        pseudonym: Pseudonym,
        key: Key,
        title: ShortText = "",
        body: Annotated[str, Form(max_length=LONGEST_MESSAGE, pattern=NO_NUL)] = "",
        reason: Reason = "",
    ) -> Response:
        typed = {"title": title, "body": body, "message_reason": reason}
        on_mistake(_page, console, request, pseudonym, typed=typed)
        await site.write(managing.send, pseudonym, title, body, Act(request.state.staff.name, reason, key))
        return back_to(f"/console/workers/{pseudonym}", "message-sent")

    @console.for_owner.post("/workers/{pseudonym}/bonus")
    async def bonus(
        request: Request,
        pseudonym: Pseudonym,
        key: Key,
        amount: ShortText = "",
        stage: Annotated[str, Form(max_length=40)] = "",
        reason: Reason = "",
    ) -> Response:
        typed = {"amount": amount, "stage": stage, "bonus_reason": reason}
        on_mistake(_page, console, request, pseudonym, typed=typed)
        act = Act(request.state.staff.name, reason, key)
        units = minor_units(amount, site.study.settings.pay.currency)
        if units is None:
            raise UserError(f"{amount!r} is not an amount. Example: 1.50.")
        await site.write(managing.give_bonus, pseudonym, site.study.stage(stage), units, act)
        return back_to(f"/console/workers/{pseudonym}", "bonus")


def add_status_routes(console: Console) -> None:
    router, site = console.for_owner, console.site

    @router.post("/workers/{pseudonym}/qualify")
    async def qualify(
        request: Request, pseudonym: Pseudonym, key: Key, name: ShortText = "", reason: Reason = ""
    ) -> Response:
        on_mistake(_page, console, request, pseudonym)
        done = await site.write(managing.qualify, pseudonym, name, Act(request.state.staff.name, reason, key))
        return back_to(f"/console/workers/{pseudonym}", "qualified" if done else "was-qualified")

    @router.post("/workers/{pseudonym}/disqualify")
    async def disqualify(
        request: Request, pseudonym: Pseudonym, key: Key, what: ShortText = "", reason: Reason = ""
    ) -> Response:
        """Remove a worker from a stage ("stage:NAME"), or revoke a qualification ("qualification:NAME")."""
        on_mistake(_page, console, request, pseudonym)
        kind, _, name = what.partition(":")
        act = Act(request.state.staff.name, reason, key)
        if kind == "stage":
            await site.write(managing.end_work, pseudonym, site.study.stage(name), act)
            done = "removed"
        elif kind == "qualification":
            await site.write(managing.take_qualification, pseudonym, name, act)
            done = "disqualified"
        else:
            raise Refusal("nothing_chosen", "Choose a stage or a qualification.", 422)
        return back_to(f"/console/workers/{pseudonym}", done)
