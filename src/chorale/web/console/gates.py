"""Gates and their messages: who would pass, closing a round, reading feedback before it goes out."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Path, Request, Response

from chorale.model import GateSettings, Refusal
from chorale.protocol import GateVerdict, decide_gate
from chorale.store import Tx, gates
from chorale.store.gates import MessageRow, VerdictRow
from chorale.study import Study
from chorale.study.entering import arrive_as_expert
from chorale.study.gates import GateStatus, close_gate, gate_statuses, send_message, survey
from chorale.study.running import RunningGate
from chorale.web.console.frame import NO_NUL, Console, back_to
from chorale.web.links import EXPERT, OWNER
from chorale.web.pages import markdown
from chorale.web.worker import StageInPath, signed_in_worker

LONGEST_MESSAGE = 20_000


def gate_routes(console: Console) -> APIRouter:
    router = APIRouter()
    router.include_router(_for_owners(console))
    router.include_router(_for_experts(console))
    return router


@dataclass(frozen=True, slots=True)
class GateView:
    """A gate, what it has decided, and what it would decide if it closed now."""

    settings: GateSettings
    status: GateStatus
    given: list[VerdictRow]
    coming: list[GateVerdict]


def _gate(study: Study, name: str) -> RunningGate:
    found = study.gates.get(name)
    if found is None:
        raise Refusal("no_such_gate", "This study has no such gate. Go back to the list of gates.", 404)
    return found


def _gates(tx: Tx, study: Study) -> list[GateView]:
    return [
        GateView(
            study.gates[status.name].settings,
            status,
            gates.verdicts(tx, status.name),
            decide_gate(study.gates[status.name].settings, survey(tx, study, study.gates[status.name]).candidates)
            if status.state == "open"
            else [],
        )
        for status in gate_statuses(tx, study)
    ]


def _for_owners(console: Console) -> APIRouter:
    router = console.router(OWNER)
    site = console.site

    @router.get("/gates")
    async def all_gates(request: Request) -> Response:
        found = await site.read(_gates)
        return console.page(request, "gates", gates=found, currency=site.study.settings.pay.currency)

    @router.post("/gates/{name}/close")
    async def close(
        request: Request, name: StageInPath, reason: Annotated[str, Form(max_length=1000, pattern=NO_NUL)] = ""
    ) -> Response:
        await site.write(close_gate, _gate(site.study, name), request.state.staff.name, reason.strip())
        return back_to("/console/gates", "gate-closed")

    return router


def _for_experts(console: Console) -> APIRouter:
    router = console.router(OWNER, EXPERT)
    site = console.site

    @router.get("/messages")
    async def drafts(request: Request) -> Response:
        found = await site.read(_drafts)
        shown = [(draft, markdown(draft.body)) for draft in found]
        return console.page(request, "messages", drafts=shown, longest=LONGEST_MESSAGE)

    @router.post("/messages/{number}/send")
    async def send(
        request: Request,
        number: Annotated[int, Path(ge=1, le=2**53)],
        body: Annotated[str, Form(max_length=LONGEST_MESSAGE, pattern=NO_NUL)] = "",
    ) -> Response:
        if not body.strip():
            raise Refusal("empty", "The message is empty. Write something, or leave it unsent.", 422)
        sent = await site.write(send_message, number, body, request.state.staff.name)
        return back_to("/console/messages", "message-sent" if sent else "message-was-sent")

    @router.post("/work")
    async def work_as_expert(request: Request) -> Response:
        """Go to the stages that are for experts, as a worker of one's own."""
        worker = await site.write(arrive_as_expert, request.state.staff.name)
        return signed_in_worker(site, worker)

    return router


def _drafts(tx: Tx, _study: Study) -> list[MessageRow]:
    return list(gates.drafts(tx))
