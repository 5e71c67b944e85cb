"""Where the study stands, and what its owner does about it: pausing, inviting, looking at the ledger and the record."""

import re
import secrets
from typing import Annotated, Any

from fastapi import APIRouter, Form, Query, Request, Response

from chorale.model import StageState, UserError
from chorale.store import Tx, events, people, results
from chorale.store.events import EventRow
from chorale.store.results import LedgerLine
from chorale.study import Study, control
from chorale.study.status import Status, status
from chorale.web.console.frame import Console, back_to
from chorale.web.staff import EXPERT, OWNER, expert_link_path, invitation_path
from chorale.web.worker import StageInPath

MOST_INVITATIONS = 500
RECENT_EVENTS = 12
EVENTS_PER_PAGE = 100
LEDGER_LINES = 200
EXPERT_NAME = re.compile(r"[\w.@+-][\w .@+'-]{0,58}[\w.@+-]|\w")


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
            "arrival_url": arrival_url(console, request),
            "most_invitations": MOST_INVITATIONS,
            "made": None,
            "links_problem": None,
            **context,
        },
    )


def arrival_url(console: Console, request: Request) -> str:
    """What to paste into the panel; it puts its own values in for what stands between %."""
    arrival = console.site.study.settings.arrival
    names = (arrival.worker_parameter, arrival.study_parameter, arrival.session_parameter)
    placeholders = ("PROLIFIC_PID", "STUDY_ID", "SESSION_ID")
    query = "&".join(f"{name}={{{{%{value}%}}}}" for name, value in zip(names, placeholders, strict=True))
    return f"{_public(request)}/join?{query}"


def _public(request: Request) -> str:
    return str(request.base_url).rstrip("/")


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
        ids = [secrets.token_urlsafe(12) for _ in range(int(n))]
        await site.write(_note_invitations, len(ids), request.state.staff.name)
        links = [_public(request) + invitation_path(site.sessions, invitation) for invitation in ids]
        return await _overview(console, request, made={"what": "invitations", "links": links})

    @router.post("/experts")
    async def expert_link(request: Request, name: Annotated[str, Form(max_length=60)] = "") -> Response:
        name = name.strip()
        try:
            await site.write(_note_expert_link, name, request.state.staff.name)
        except UserError as error:
            return await _overview(console, request, 422, links_problem=error.message)
        links = [_public(request) + expert_link_path(site.sessions, name)]
        return await _overview(console, request, made={"what": "expert", "name": name, "links": links})


def _note_invitations(tx: Tx, study: Study, n: int, by: str) -> None:
    # The links themselves are kept nowhere: each is the key to somebody's work.
    events.record(tx, study.clock(), "invited", {"by": by, "invitations": n})


def _note_expert_link(tx: Tx, study: Study, name: str, by: str) -> None:
    if not EXPERT_NAME.fullmatch(name):
        raise UserError("An expert's name has letters, digits, spaces and . @ + ' - in it, 60 at most.")
    known = people.find_requester(tx, name)
    if known is not None and known.role != EXPERT:
        raise UserError(f"{name!r} is the owner's name. Give the expert another one.")
    events.record(tx, study.clock(), "expert invited", {"by": by, "expert": name})


def _ledger(tx: Tx, _study: Study) -> tuple[dict[str, int], list[results.StageCounts], list[LedgerLine]]:
    return results.ledger_totals(tx), results.stage_counts(tx), list(results.ledger(tx, limit=LEDGER_LINES))


def _events(tx: Tx, _study: Study, before: int | None, kind: str) -> list[EventRow]:
    # One more than is shown tells whether there is another page.
    return events.recent(tx, EVENTS_PER_PAGE + 1, before=before, kinds=(kind,) if kind else ())


# What the record can be searched for; kinds that are not listed here can still be asked for by address.
EVENT_KINDS = (
    *("arrived", "consented", "entered", "returned", "expired", "dropped"),
    *("labelled", "reopened", "derived", "withdrawn", "brought back"),
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
