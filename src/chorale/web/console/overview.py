"""Where the study stands, and what its owner does about it: pausing, inviting, looking at the ledger and the record."""

from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response

from chorale.model import StageState, UserError
from chorale.store import Tx, events, results
from chorale.store.events import EventRow
from chorale.store.results import LedgerLine
from chorale.study import Study, control
from chorale.study.status import Status, status
from chorale.web.console.frame import Console, back_to
from chorale.web.links import OWNER, arrival_url, new_expert_link, new_invitations
from chorale.web.worker import StageInPath

MOST_INVITATIONS = 500
RECENT_EVENTS = 12
EVENTS_PER_PAGE = 100
LEDGER_LINES = 200


def overview_routes(console: Console) -> APIRouter:
    router = console.router(OWNER)
    _add_overview(router, console)
    _add_links(router, console)
    _add_records(router, console)
    return router


def _now(tx: Tx, study: Study) -> tuple[Status, list[EventRow]]:
    return status(tx, study), events.recent(tx, RECENT_EVENTS)


async def _overview(console: Console, request: Request, code: int = 200, **context: Any) -> Response:
    found, recent = await console.site.read(_now)
    settings = console.site.study.settings
    return console.live_page(
        request,
        "overview",
        code,
        **{
            "status_now": found,
            "recent": recent,
            "titles": {stage.name: stage.settings.title for stage in console.site.study.stages.values()},
            "minimum_hourly": settings.pay.minimum_hourly,
            "arrival": settings.arrival,
            "arrival_url": arrival_url(console.site.base_url(request), settings.arrival),
            "most_invitations": MOST_INVITATIONS,
            "made": None,
            "links_problem": None,
            **context,
        },
    )


def _add_overview(router: APIRouter, console: Console) -> None:
    study = console.site.study

    @router.get("")
    async def overview(request: Request) -> Response:
        return await _overview(console, request)

    @router.post("/stages/{name}/state")
    async def set_state(request: Request, name: StageInPath, state: Annotated[StageState, Form()]) -> Response:
        await console.site.write(control.set_stage_state, study.stage(name), state, request.state.staff.name)
        return back_to("/console", "paused" if state is StageState.PAUSED else "resumed")


def _add_links(router: APIRouter, console: Console) -> None:
    site = console.site

    @router.post("/invitations")
    async def invite(request: Request, n: Annotated[str, Form(max_length=20)] = "") -> Response:
        if not (n.isascii() and n.isdigit() and 1 <= int(n) <= MOST_INVITATIONS):
            problem = f"{n!r} is not a number from 1 to {MOST_INVITATIONS}."
            return await _overview(console, request, 422, links_problem=problem)
        paths = await site.write(new_invitations, site.sessions, int(n), request.state.staff.name)
        links = [site.base_url(request) + path for path in paths]
        return await _overview(console, request, made={"what": "invitations", "links": links})

    @router.post("/experts")
    async def expert_link(request: Request, name: Annotated[str, Form(max_length=60)] = "") -> Response:
        name = name.strip()
        try:
            path = await site.write(new_expert_link, site.sessions, name, request.state.staff.name)
        except UserError as error:
            return await _overview(console, request, 422, links_problem=error.message)
        links = [site.base_url(request) + path]
        return await _overview(console, request, made={"what": "expert", "name": name, "links": links})


def _ledger(tx: Tx, _study: Study) -> tuple[dict[str, int], list[results.StageCounts], list[LedgerLine]]:
    return results.ledger_totals(tx), results.stage_counts(tx), list(results.ledger(tx, limit=LEDGER_LINES))


def _events(tx: Tx, _study: Study, before: int | None, kind: str) -> list[EventRow]:
    # One more than is shown tells whether there is another page.
    return events.recent(tx, EVENTS_PER_PAGE + 1, before=before, kinds=(kind,) if kind else ())


# What the record can be searched for; kinds that are not listed here can still be asked for by address.
EVENT_KINDS = (
    *("arrived", "consented", "entered", "returned", "expired", "dropped"),
    *("labelled", "reopened", "derived", "withdrawn", "brought back"),
    *("passed", "not passed", "qualified", "arm", "gate closed", "message sent", "budget reached"),
    *("made gold", "retired gold", "paused", "resumed", "settings", "exported"),
    *("set up", "password changed", "invited", "expert invited", "expert came"),
)
EventKind = Annotated[str, Query(max_length=40, pattern="^[a-z ]*$")]


def _add_records(router: APIRouter, console: Console) -> None:
    @router.get("/ledger")
    async def ledger(request: Request) -> Response:
        totals, counts, lines = await console.site.read(_ledger)
        return console.live_page(
            request,
            "ledger",
            totals=totals,
            counts=counts,
            lines=lines,
            most_lines=LEDGER_LINES,
            currency=console.site.study.settings.pay.currency,
        )

    @router.get("/events")
    async def record(
        request: Request, before: Annotated[int | None, Query(ge=1, le=2**53)] = None, kind: EventKind = ""
    ) -> Response:
        found = await console.site.read(_events, before, kind)
        shown = found[:EVENTS_PER_PAGE]
        older = shown[-1].id if len(found) > EVENTS_PER_PAGE else None
        return console.page(request, "events", events=shown, older=older, before=before, kind=kind, kinds=EVENT_KINDS)
