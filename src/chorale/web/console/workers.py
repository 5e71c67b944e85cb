"""Workers of a stage: a list to filter and sort, looking up one of them, and writing to all."""

import secrets
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import quote, urlencode

from fastapi import Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from chorale.engine import managing
from chorale.engine.managing import Act
from chorale.engine.running import RunningStage, Study
from chorale.monitor.status import gold_of
from chorale.protocol import counts_parts, hourly_wage
from chorale.store.listing import WorkersWanted, workers_page
from chorale.store.participations import ParticipationSummary
from chorale.store.workers import find_by_pseudonym
from chorale.web.console.frame import NO_NUL, Console, Reason, on_mistake
from chorale.web.console.paging import PageNumber, Paging

WORKERS_PER_PAGE = 25
LONGEST_MESSAGE = 20_000

StageName = Annotated[str, Query(max_length=40)]
WorkerId = Annotated[str, Query(max_length=60, pattern=NO_NUL)]
WorkerOrder = Literal[
    "worker", "status", "gold", "judgments", "answers", "earned", "time", "wage", "entered", "standing", "trust"
]
_EARLIER_ORDERS = {"standing": "status", "trust": "gold"}
"""Names of columns in addresses of earlier versions."""
Direction = Literal["up", "down"]
Key = Annotated[str, Form(pattern=r"^[\w-]{8,60}$")]
ShortText = Annotated[str, Form(max_length=200, pattern=NO_NUL)]


@dataclass(frozen=True, slots=True)
class WorkerLine:
    row: ParticipationSummary
    gold: tuple[int, int]
    """The numbers of correct and of all answers to gold; of their parts, if the stage counts parts."""
    wage: int | None


def chosen_stage(study: Study, name: str) -> RunningStage:
    return study.stage(name) if name else next(iter(study.stages.values()))


@dataclass(frozen=True, slots=True)
class Listing:
    """The filters and the order of the list of workers."""

    stage: RunningStage
    order: str = "entered"
    direction: Direction = "up"
    status: str = ""
    find: str = ""
    page: int = 1

    def wanted(self) -> WorkersWanted:
        return WorkersWanted(
            self.stage.id,
            self.order,
            downwards=self.direction == "down",
            status=self.status,
            find=self.find,
            gold_by_part=counts_parts(self.stage.settings.gold),
            size=WORKERS_PER_PAGE,
            page=self.page,
        )


async def _list(console: Console, request: Request, listing: Listing, code: int = 200, **context: Any) -> Response:
    study = console.site.study
    listed = await console.site.read(lambda tx, _: workers_page(tx, listing.wanted()))
    return console.live_page(
        request,
        "workers",
        code,
        **{
            "under": "/console/workers",
            "chosen": listing.stage,
            "lines": [
                WorkerLine(row, gold_of(study, row), hourly_wage(row.earned, row.worked_ms)) for row in listed.rows
            ],
            "active": listed.active,
            "listing": listing,
            "paging": Paging(listing.page, listed.total, WORKERS_PER_PAGE),
            "minimum_hourly": study.settings.pay.minimum_hourly,
            "form_key": secrets.token_urlsafe(12),
            "qualifications": managing.qualifications_known(study),
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
        status: Literal["", "active", "dropped"] = "",
        page: PageNumber = 1,
        find: WorkerId = "",
        called: WorkerId = "",
    ) -> Response:
        """The list. Addresses of earlier versions use `called`, and other names of some columns."""
        sought = (find or called).strip().lower()
        column = _EARLIER_ORDERS.get(order, order)
        listing = Listing(chosen_stage(study, stage), column, direction, status, sought, page)
        # A whole ID leads to its worker, whatever stage they work in.
        asks_for_page = bool(sought) and "part" not in request.query_params
        if asks_for_page and await console.site.read(lambda tx, _: find_by_pseudonym(tx, sought)) is not None:
            return RedirectResponse(f"/console/workers/{quote(sought)}", 303)
        return await _list(console, request, listing)


def add_worker_list_actions(console: Console) -> None:
    router, site = console.for_owner, console.site

    @router.post("/workers/find")
    async def find(request: Request, key: Key, panel_id: ShortText = "", reason: Reason = "") -> Response:
        """Find the worker that a platform ID belongs to."""
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
        """Send one message to every active worker of a stage."""
        chosen = site.study.stage(stage)
        typed = {"title": title, "body": body, "message_reason": reason}
        on_mistake(_list, console, request, Listing(chosen), typed=typed)
        act = Act(request.state.staff.name, reason, key)
        sent = await site.write(managing.send_to_all, chosen, title, body, act)
        return RedirectResponse(
            f"/console/workers?{urlencode({'stage': stage, 'done': 'all-written', 'n': sent})}", 303
        )
