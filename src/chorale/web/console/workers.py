"""Workers: how everybody does, finding one of them, and writing to all of a stage."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlencode

from fastapi import Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from chorale.engine import managing
from chorale.engine.managing import Act
from chorale.engine.running import RunningStage, Study
from chorale.model import Standing
from chorale.monitor.status import trust_of
from chorale.protocol import hourly_wage
from chorale.store import Tx, participations
from chorale.store.participations import ParticipationSummary
from chorale.store.workers import find_by_pseudonym
from chorale.web.console.frame import NO_NUL, Console, Reason, on_mistake

WORKERS_PER_PAGE = 100
LONGEST_MESSAGE = 20_000

PageNumber = Annotated[int, Query(ge=1, le=1_000_000)]
StageName = Annotated[str, Query(max_length=40)]
WorkerOrder = Literal["worker", "standing", "trust", "gold", "judgments", "earned", "time", "wage", "entered"]
Direction = Literal["up", "down"]
Key = Annotated[str, Form(pattern=r"^[\w-]{8,60}$")]
ShortText = Annotated[str, Form(max_length=200, pattern=NO_NUL)]


@dataclass(frozen=True, slots=True)
class WorkerLine:
    row: ParticipationSummary
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


def chosen_stage(study: Study, name: str) -> RunningStage:
    return study.stage(name) if name else next(iter(study.stages.values()))


def _workers(tx: Tx, study: Study, stage: RunningStage) -> list[WorkerLine]:
    return [
        WorkerLine(row, trust_of(study, row), hourly_wage(row.earned, row.worked_ms))
        for row in participations.participation_summaries(tx, stage_name=stage.name)
    ]


@dataclass(frozen=True, slots=True)
class Listing:
    """Which workers, in which order."""

    stage: RunningStage
    order: WorkerOrder = "entered"
    direction: Direction = "up"
    page: int = 1


async def _list(console: Console, request: Request, listing: Listing, code: int = 200, **context: Any) -> Response:
    lines = await console.site.read(_workers, listing.stage)
    lines.sort(key=WORKER_ORDERS[listing.order], reverse=listing.direction == "down")
    start = (listing.page - 1) * WORKERS_PER_PAGE
    return console.live_page(
        request,
        "workers",
        code,
        **{
            "chosen": listing.stage,
            "lines": lines[start : start + WORKERS_PER_PAGE],
            "active": sum(line.row.standing == Standing.ACTIVE for line in lines),
            "order": listing.order,
            "direction": listing.direction,
            "paging": Paging(listing.page, len(lines), WORKERS_PER_PAGE),
            "minimum_hourly": console.site.study.settings.pay.minimum_hourly,
            "form_key": secrets.token_urlsafe(12),
            "longest_message": LONGEST_MESSAGE,
            "typed": {},
            **context,
        },
    )


def add_worker_list_routes(console: Console) -> None:
    study = console.site.study

    @console.to_see.get("/workers")
    async def workers(
        request: Request,
        stage: StageName = "",
        order: WorkerOrder = "entered",
        direction: Direction = "up",
        page: PageNumber = 1,
        called: Annotated[str, Query(max_length=60, pattern=NO_NUL)] = "",
    ) -> Response:
        listing = Listing(chosen_stage(study, stage), order, direction, page)
        name = called.strip().lower()
        # Whoever is not found stays in the address; the list below goes on changing all the same.
        if not name or "part" in request.query_params:
            return await _list(console, request, listing)
        if await console.site.read(lambda tx, _: find_by_pseudonym(tx, name)) is not None:
            return RedirectResponse(f"/console/workers/{quote(name)}", 303)
        problem = f"No worker is called {called.strip()}. Names look like w-abc2345xyz; whole ones are found."
        return await _list(console, request, listing, 404, problem=problem, typed={"called": called})


def add_worker_list_actions(console: Console) -> None:
    router, site = console.for_owner, console.site

    @router.post("/workers/find")
    async def find(request: Request, key: Key, panel_id: ShortText = "", reason: Reason = "") -> Response:
        """Find whom a panel's id belongs to: people write with that one."""
        typed = {"panel_id": panel_id, "find_reason": reason}
        on_mistake(_list, console, request, Listing(chosen_stage(site.study, "")), typed=typed)
        who = await site.write(managing.recognise, panel_id, Act(request.state.staff.name, reason, key))
        return RedirectResponse(f"/console/workers/{who}", 303)

    @router.post("/workers/message")
    async def message(
        request: Request,
        key: Key,
        stage: Annotated[str, Form(max_length=40)] = "",
        title: ShortText = "",
        body: Annotated[str, Form(max_length=LONGEST_MESSAGE, pattern=NO_NUL)] = "",
        reason: Reason = "",
    ) -> Response:
        """Write the same to everybody who works in a stage."""
        chosen = site.study.stage(stage)
        typed = {"title": title, "body": body, "message_reason": reason}
        on_mistake(_list, console, request, Listing(chosen), typed=typed)
        act = Act(request.state.staff.name, reason, key)
        sent = await site.write(managing.send_to_all, chosen, title, body, act)
        return RedirectResponse(
            f"/console/workers?{urlencode({'stage': stage, 'done': 'all-written', 'n': sent})}", 303
        )
