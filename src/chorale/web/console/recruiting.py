"""Recruiting: invitation links, studies on Prolific, and where people came from."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from fastapi import Form, Request, Response

from chorale.engine import arrivals, publishing, recruiting
from chorale.engine.running import Study
from chorale.engine.simulation import has_simulated_people
from chorale.folder.panel_notes import has_way_back, uses_platform
from chorale.model import UserError
from chorale.model.panels import PANELS
from chorale.platforms.prolific import Prolific
from chorale.store import Tx, events, invitations, submissions, workers
from chorale.store.invitations import REUSABLE, SINGLE, InvitationRow
from chorale.store.workers import PanelCounts
from chorale.web.console.frame import NO_NUL, Console, Reason, back_to
from chorale.web.console.paging import PageNumber, Paging
from chorale.web.links import new_invitations
from chorale.web.serving import Site

PATH = "/console/recruiting"
LINKS_PER_PAGE = 25
MOST_INVITATIONS = 500


@dataclass(frozen=True, slots=True)
class Recruitment:
    """How people were recruited, and who joined."""

    sources: list[PanelCounts]
    links: list[InvitationRow]
    """The newest first."""
    link_count: int
    studies: list[dict[str, Any]]
    waiting: int
    """Submissions that wait for a decision."""
    imported: bool
    """Whether the work was done elsewhere, so that nobody joined here."""
    simulated: bool
    """Whether the people are simulated, so that nobody else should join."""


def _recruitment(tx: Tx, _study: Study, page: int) -> Recruitment:
    counts = submissions.counts(tx)
    return Recruitment(
        workers.panel_counts(tx),
        invitations.newest(tx, LINKS_PER_PAGE, (page - 1) * LINKS_PER_PAGE),
        invitations.count(tx),
        recruiting.summary(tx),
        sum(count for (_, status), count in counts.items() if status == "AWAITING REVIEW"),
        bool(events.recent(tx, 1, kinds=("imported",))),
        has_simulated_people(tx),
    )


async def _page(console: Console, request: Request, code: int = 200, page: int = 1, **context: Any) -> Response:
    site = console.site
    now = await site.read(_recruitment, page)
    arrival, rule = site.study.settings.arrival, site.study.settings.prolific
    made = {one["study"] for one in now.studies if one["state"] != "draft"}
    return console.page(
        request,
        "recruiting",
        code,
        **{
            "under": PATH,
            "recruited": now,
            "paging": Paging(page, now.link_count, LINKS_PER_PAGE),
            "arrival": arrival,
            "arrival_url": arrivals.arrival_url(site.base_url(request), arrival) if site.open_by_url else None,
            "uses_platform": uses_platform(site.study.settings),
            "publishes": rule is not None,
            # On a platform that is not known, people may enter a code by hand.
            "has_way_back": has_way_back(site.study.settings)
            or (arrival.panel not in PANELS and arrival.completion_code is not None),
            "asks_prolific": site.prolific is not None,
            "token_variable": recruiting.TOKEN_VARIABLE,
            "unpublished": [one for one in (() if rule is None else rule.study) if one.name not in made],
            "most_invitations": MOST_INVITATIONS,
            "made": None,
            "typed": {},
            **context,
        },
    )


def add_recruiting_routes(console: Console) -> None:
    site = console.site

    @console.to_see.get("/recruiting")
    async def overview(request: Request, page: PageNumber = 1) -> Response:
        return await _page(console, request, page=page)

    @console.for_owner.post("/invitations")
    async def invite(
        request: Request,
        n: Annotated[str, Form(max_length=20)] = "",
        kind: Annotated[Literal["single", "reusable"], Form()] = "single",
        stage: Annotated[str, Form(max_length=40)] = "",
    ) -> Response:
        """Make links for one person each, or one link for several people."""
        if not (n.isascii() and n.isdigit() and 1 <= int(n) <= MOST_INVITATIONS):
            problem = f"{n!r} is not a number from 1 to {MOST_INVITATIONS}."
            return await _page(console, request, 422, problem=problem, typed={"n": n, "kind": kind, "stage": stage})
        to_stage = site.study.stage(stage).name if stage else None
        several = kind == "reusable"
        paths = await site.write(
            new_invitations,
            site.sessions,
            1 if several else int(n),
            request.state.staff.name,
            kind=REUSABLE if several else SINGLE,
            stage=to_stage,
            most=int(n) if several else None,
        )
        links = [site.base_url(request) + path for path in paths]
        return await _page(console, request, made={"links": links, "most": int(n) if several else None})

    _add_study_routes(console)


StudyName = Annotated[str, Form(min_length=1, max_length=80, pattern=NO_NUL)]


def _add_study_routes(console: Console) -> None:
    """Publishing, pausing, starting and stopping studies on Prolific. Actions that cost money need a confirmation."""
    site = console.site

    @console.for_owner.post("/recruiting/study")
    async def transition(
        request: Request,
        study: StudyName,
        action: Annotated[Literal["PAUSE", "START", "STOP"], Form()],
        reason: Reason = "",
    ) -> Response:
        by = request.state.staff.name
        await asyncio.to_thread(publishing.transition, site.study, prolific_of(site), study, action, by, reason.strip())
        return back_to(PATH, f"study-{action.lower()}")

    @console.for_owner.post("/recruiting/sync")
    async def sync(request: Request) -> Response:  # noqa: ARG001
        await asyncio.to_thread(recruiting.sync, site.study, prolific_of(site))
        return back_to(PATH, "synced")

    @console.for_owner.post("/recruiting/publish")
    async def publish(
        request: Request,
        study: StudyName,
        places: Annotated[int | None, Form(ge=1, le=100_000)] = None,
        cost: Annotated[int | None, Form(ge=0)] = None,
    ) -> Response:
        """Publish a study, or give it more places, once its cost is confirmed."""
        client, base = prolific_of(site), _reachable(site.base_url(request))
        wanted = publishing.asked_for(site.study, study)
        if places is not None:
            wanted = wanted.model_copy(update={"places": places})
        drafted = await asyncio.to_thread(publishing.draft, site.study, client, wanted, base)
        if not drafted.needs_asking:
            message = f"{study} is already published with {drafted.remote.places} places. Enter a larger number."
            return console.problem(request, 422, message) if cost is None else back_to(PATH, "published")
        if cost != drafted.total:
            line = publishing.cost_line(drafted, wanted)
            return console.page(request, "publish", under=PATH, wanted=wanted, drafted=drafted, line=line, was=cost)
        await asyncio.to_thread(publishing.publish, site.study, client, wanted, drafted)
        return back_to(PATH, "places", wanted.places) if drafted.is_published else back_to(PATH, "published")


def _reachable(base: str) -> str:
    if urlsplit(base).hostname in ("127.0.0.1", "localhost", "::1"):
        raise UserError(
            "People on Prolific cannot reach this computer. Start the site with its public address: "
            "`chorale serve --public-url https://study.example.org`."
        )
    return base


def prolific_of(site: Site) -> Prolific:
    if site.prolific is None:
        raise UserError(
            "The site has no token for Prolific. Start it with the token in the environment variable "
            f"{recruiting.TOKEN_VARIABLE}."
        )
    return site.prolific
