"""Where the study stands, and what its owner does about it: pausing, inviting, looking at the ledger and the record."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Form, Query, Request, Response
from markupsafe import Markup

from chorale.engine import control
from chorale.engine.arrivals import arrival_url
from chorale.engine.running import Study
from chorale.model import Entry, EntryKind, Refusal, StageState, UserError
from chorale.monitor.alarm import Alarm
from chorale.monitor.event_words import in_words
from chorale.monitor.overview import AgreementPart, overview
from chorale.monitor.status import has_seen_arms
from chorale.store import Tx, calls, events, ledger
from chorale.store.console import bonuses
from chorale.store.stages import StageCounts, stage_tallies
from chorale.web.console.charts import Trend, trend_chart
from chorale.web.console.flow import flow
from chorale.web.console.frame import Console, Reason, back_to
from chorale.web.console.texts import minute, share
from chorale.web.links import OWNER, new_invitations, new_staff_link
from chorale.web.worker import StageInPath

MOST_INVITATIONS = 500
EVENTS_PER_PAGE = 100
LEDGER_LINES = 200


async def _overview(console: Console, request: Request, code: int = 200, **context: Any) -> Response:
    study = console.site.study
    progress = await console.site.read(overview)
    settings = study.settings
    agreement = Trend("", [part.agreement for part in progress.agreement])
    return console.live_page(
        request,
        "overview",
        code,
        **{
            "now": progress,
            "flow": flow(study, progress.stages, progress.passed),
            "titles": Counter(stage.title for stage in progress.stages),
            "alarm_links": partial(alarm_links, role=request.state.staff.role),
            "agreement": agreement,
            "agreement_chart": _agreement_chart(progress.agreement, agreement),
            "minimum_hourly": settings.pay.minimum_hourly,
            "arrival": settings.arrival,
            "open_by_url": console.site.open_by_url,
            "arrival_url": arrival_url(console.site.base_url(request), settings.arrival),
            "most_invitations": MOST_INVITATIONS,
            "made": None,
            "links_problem": None,
            **context,
        },
    )


def _agreement_chart(parts: Sequence[AgreementPart], trend: Trend) -> Markup | None:
    if not parts:
        return None
    title = f"How far answers to the same item agree over time, now {share(trend.last)}"
    return trend_chart(title, [trend], (minute(parts[0].at), minute(parts[-1].at)))


def alarm_links(alarm: Alarm, role: str) -> list[tuple[str, str]]:
    """Where somebody can look into an alarm, or do something about it: paths and what they are called."""
    owner = role == OWNER
    match alarm.kind:
        case "wage":
            stages = alarm.stages or ("",)
            query = {"order": "wage", "direction": "up"}
            named = [(f"Workers of {name}" if name else "Workers by wage", name) for name in stages]
            return [
                (f"/console/workers?{urlencode({**query, **({'stage': name} if name else {})})}", words)
                for words, name in named
            ]
        case "gold-wrong" | "gold-easy" if owner:
            return [(f"/console/gold/{name}", f"Gold desk of {name}") for name in alarm.stages]
        case "starved" if owner:
            return [("#people", "Bring people in")]
        case "gate" if owner:
            return [("/console/gates", "Gates"), ("/console/ledger", "Ledger")]
        case "budget" | "gate":
            return [("/console/ledger", "Ledger")]
    return []


def add_overview_routes(console: Console) -> None:
    study = console.site.study

    @console.to_see.get("")
    async def show(request: Request) -> Response:
        return await _overview(console, request)

    @console.for_owner.post("/stages/{name}/state")
    async def set_state(
        request: Request, name: StageInPath, state: Annotated[StageState, Form()], reason: Reason = ""
    ) -> Response:
        stage = study.stage(name)
        try:
            await console.site.write(control.set_stage_state, stage, state, request.state.staff.name, reason)
        except Refusal as refusal:
            return await _overview(console, request, refusal.status, problem=refusal.message)
        return back_to("/console", "paused" if state is StageState.PAUSED else "resumed")


def add_link_routes(console: Console) -> None:
    router, site = console.for_owner, console.site

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
            path = await site.write(new_staff_link, site.sessions, "expert", name, request.state.staff.name)
        except UserError as error:
            return await _overview(console, request, 422, links_problem=error.message)
        links = [site.base_url(request) + path]
        return await _overview(console, request, made={"what": "expert", "name": name, "links": links})


def _ledger(tx: Tx, study: Study) -> tuple[dict[str, int], list[StageCounts], list[Entry]]:
    counts = stage_tallies(tx, study.round_sizes, study.also_working)
    paid, fees, bonus = sum(one.paid for one in counts), sum(one.fees for one in counts), bonuses(tx)
    called = sum(row.booked for row in calls.costs(tx))
    totals = {
        EntryKind.BASE.value: paid - bonus,
        EntryKind.BONUS.value: bonus,
        EntryKind.FEE.value: fees - called,
        EntryKind.MODEL.value: called,
    }
    return totals, counts, list(ledger.ledger_lines(tx, limit=LEDGER_LINES))


# What the record can be searched for; kinds that are not listed here can still be asked for by address.
EVENT_KINDS = (
    *("arrived", "consented", "entered", "returned", "expired", "dropped"),
    *("labelled", "reopened", "drawn", "sampled", "begun", "derived", "withdrawn", "brought back"),
    *("passed", "not passed", "qualified", "arm", "gate closed", "message sent", "budget reached"),
    *("made gold", "retired gold", "corrected gold", "gold graded again"),
    *("reinstated", "sent to expert", "expert answered"),
    *("message written", "bonus given", "disqualified", "identity shown", "arms shown"),
    *("paused", "resumed", "settings", "exported", "set up", "password changed", "invited"),
    *("expert invited", "expert came", "viewer invited", "viewer came", "link revoked"),
)
EventKind = Annotated[str, Query(max_length=40, pattern="^[a-z ]*$")]


def add_record_routes(console: Console) -> None:
    router = console.to_see

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
        kinds = (kind,) if kind else ()
        # One more than is shown: whether there is another page.
        recent = await console.site.read(
            lambda tx, study: in_words(tx, study, events.recent(tx, EVENTS_PER_PAGE + 1, before=before, kinds=kinds))
        )
        shown = recent[:EVENTS_PER_PAGE]
        older = shown[-1].id if len(recent) > EVENTS_PER_PAGE else None
        return console.page(
            request,
            "events",
            events=shown,
            older=older,
            before=before,
            kind=kind,
            kinds=EVENT_KINDS,
            arms_seen=await console.site.read(has_seen_arms, request.state.staff.name),
        )
