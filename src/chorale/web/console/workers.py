"""Workers: how everybody does, one worker's whole record, and what the owner does about it."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Form, Path, Query, Request, Response

from chorale.model import Refusal, UserError
from chorale.model.money import minor_units
from chorale.protocol import hourly_wage
from chorale.store import Tx, standing_rows
from chorale.store.standing_rows import WorkerStanding
from chorale.study import RunningStage, Study, managing
from chorale.study.managing import Act
from chorale.study.status import trust_of
from chorale.study.worker_record import WorkerRecord, worker_record
from chorale.web.console.charts import line_chart
from chorale.web.console.frame import NO_NUL, Console, back_to
from chorale.web.links import OWNER, VIEWER

WORKERS_PER_PAGE = 100
LAST_LINES = 50
LONGEST_MESSAGE = 20_000

PageNumber = Annotated[int, Query(ge=1, le=1_000_000)]
StageName = Annotated[str, Query(max_length=40)]
Pseudonym = Annotated[str, Path(pattern=r"^w-[a-z0-9]{1,30}$")]
WorkerOrder = Literal["worker", "standing", "trust", "gold", "judgments", "earned", "time", "wage", "entered"]
Direction = Literal["up", "down"]
Key = Annotated[str, Form(pattern=r"^[\w-]{8,60}$")]
Reason = Annotated[str, Form(max_length=1000, pattern=NO_NUL)]
ShortText = Annotated[str, Form(max_length=200, pattern=NO_NUL)]


@dataclass(frozen=True, slots=True)
class WorkerLine:
    row: WorkerStanding
    trust: float
    wage: int | None


WORKER_ORDERS: dict[str, Callable[[WorkerLine], Any]] = {
    "worker": lambda line: line.row.worker,
    "standing": lambda line: line.row.standing,
    "trust": lambda line: line.trust,
    "gold": lambda line: line.row.gold_answered,
    "judgments": lambda line: line.row.answered,
    "earned": lambda line: line.row.earned,
    "time": lambda line: line.row.worked_ms,
    "wage": lambda line: -1 if line.wage is None else line.wage,
    "entered": lambda line: line.row.entered_at,
}


@dataclass(frozen=True, slots=True)
class Paging:
    number: int
    total: int
    size: int

    @property
    def last(self) -> int:
        return max(1, -(-self.total // self.size))


def worker_routes(console: Console) -> APIRouter:
    router = APIRouter()
    router.include_router(_seen(console))
    router.include_router(_done(console))
    return router


def chosen_stage(study: Study, name: str) -> RunningStage:
    return study.stage(name) if name else next(iter(study.stages.values()))


def _workers(tx: Tx, study: Study, stage: RunningStage) -> list[WorkerLine]:
    return [
        WorkerLine(row, trust_of(study, row), hourly_wage(row.earned, row.worked_ms))
        for row in standing_rows.worker_standings(tx, stage_name=stage.name)
    ]


def _record(tx: Tx, study: Study, pseudonym: str) -> WorkerRecord:
    return worker_record(tx, study, managing.worker_called(tx, pseudonym))


async def _page(console: Console, request: Request, pseudonym: str, code: int = 200, **told: Any) -> Response:
    found = await console.site.read(_record, pseudonym)
    return console.page(
        request,
        "worker",
        code,
        **{
            "pseudonym": pseudonym,
            "found": found,
            "last_lines": LAST_LINES,
            "form_key": secrets.token_urlsafe(12),
            "qualifications": managing.qualifications_known(console.site.study),
            "longest_message": LONGEST_MESSAGE,
            "identities": None,
            "charts": {
                "right": line_chart([(part.last, part.right) for part in found.parts]),
                "agreement": line_chart([(part.last, part.agreement) for part in found.parts]),
            },
            "typed": {},
            **told,
        },
    )


def _seen(console: Console) -> APIRouter:
    router = console.router(OWNER, VIEWER)
    study = console.site.study

    @router.get("/workers")
    async def workers(
        request: Request,
        stage: StageName = "",
        order: WorkerOrder = "entered",
        direction: Direction = "up",
        page: PageNumber = 1,
    ) -> Response:
        chosen = chosen_stage(study, stage)
        lines = await console.site.read(_workers, chosen)
        lines.sort(key=WORKER_ORDERS[order], reverse=direction == "down")
        start = (page - 1) * WORKERS_PER_PAGE
        return console.live_page(
            request,
            "workers",
            chosen=chosen,
            lines=lines[start : start + WORKERS_PER_PAGE],
            order=order,
            direction=direction,
            paging=Paging(page, len(lines), WORKERS_PER_PAGE),
            minimum_hourly=study.settings.pay.minimum_hourly,
        )

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
