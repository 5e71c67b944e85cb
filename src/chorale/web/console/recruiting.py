"""Where people come from, and what they are owed."""

import asyncio
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Form, Request, Response

from chorale.engine import arrivals, payouts, publishing, recruiting
from chorale.engine.failed_payments import mark
from chorale.engine.running import Study
from chorale.exchange import payout_files
from chorale.model import UserError
from chorale.platforms.prolific import Prolific
from chorale.store import Tx, events, invitations, submissions, workers
from chorale.store.invitations import InvitationRow
from chorale.store.workers import PanelCounts
from chorale.web.console.frame import NO_NUL, WHY_NEEDED, Console, Reason, back_to
from chorale.web.serving import Site

MOST_LINKS = 200
MOST_PAYOUTS = 50
MOST_DUE = 200


@dataclass(frozen=True, slots=True)
class Recruitment:
    """How people were found, and who came."""

    sources: list[PanelCounts]
    links: list[InvitationRow]
    """The newest first."""
    link_count: int
    studies: list[dict[str, Any]]
    waiting: int
    """Submissions somebody has to decide about."""
    imported: bool
    """Whether the work was done elsewhere, so that nobody came here."""


def _recruitment(tx: Tx, _study: Study) -> Recruitment:
    links = invitations.newest(tx, MOST_LINKS)
    counts = submissions.counts(tx)
    return Recruitment(
        workers.panel_counts(tx),
        links,
        invitations.count(tx),
        recruiting.summary(tx),
        sum(count for (_, status), count in counts.items() if status == "AWAITING REVIEW"),
        bool(events.recent(tx, 1, kinds=("imported",))),
    )


def _paid(tx: Tx, study: Study) -> dict[str, Any]:
    return {"books": payouts.books(tx, study), "receipts": payout_files.receipts(tx, newest=MOST_PAYOUTS)}


def add_recruiting_routes(console: Console) -> None:
    site = console.site

    @console.to_see.get("/recruiting")
    async def overview(request: Request) -> Response:
        now = await site.read(_recruitment)
        arrival = site.study.settings.arrival
        url = arrivals.arrival_url(site.base_url(request), arrival) if site.open_by_url else None
        return console.page(
            request, "recruiting", found=now, arrival=arrival, arrival_url=url, asks_prolific=site.prolific is not None
        )

    @console.to_see.get("/recruiting/paying")
    async def paying(request: Request) -> Response:
        return console.page(request, "paying", most_due=MOST_DUE, **await site.read(_paid))

    @console.for_owner.post("/recruiting/paying/mark")
    async def mark_paid(
        request: Request,
        number: Annotated[int, Form(ge=1, le=2**53)],
        failed: Annotated[str, Form(max_length=10_000)] = "",
        reason: Reason = "",
    ) -> Response:
        """A payout by a file has arrived, but for some."""
        workers_named = failed.replace(",", " ").split()
        why = {} if not reason.strip() else {"reason": reason.strip()}
        try:
            await site.write(lambda tx, study: mark(tx, study, number, workers_named, request.state.staff.name, **why))
        except UserError as error:
            return console.problem(request, 422, error.message)
        return back_to("/console/recruiting/paying", "payout-marked")

    _add_study_routes(console)

    @console.for_owner.post("/recruiting/revoke")
    async def revoke(request: Request, number: Annotated[int, Form(ge=1, le=2**53)], reason: Reason = "") -> Response:
        if not reason.strip():
            return console.problem(request, 422, WHY_NEEDED)
        if not await site.write(arrivals.revoke, number, request.state.staff.name, reason.strip()):
            return console.problem(request, 404, f"There is no valid link with the number {number}.")
        return back_to("/console/recruiting", "link-revoked")


StudyName = Annotated[str, Form(min_length=1, max_length=80, pattern=NO_NUL)]


def _add_study_routes(console: Console) -> None:
    """Pausing, starting and stopping studies on Prolific, and raising their places: what costs money is asked twice."""
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
        return back_to("/console/recruiting", f"study-{action.lower()}")

    @console.for_owner.post("/recruiting/places")
    async def places(
        request: Request,
        study: StudyName,
        places: Annotated[int, Form(ge=1, le=100_000)],
        cost: Annotated[int | None, Form(ge=0)] = None,
    ) -> Response:
        client = prolific_of(site)
        wanted = publishing.asked_for(site.study, study).model_copy(update={"places": places})
        drafted = await asyncio.to_thread(publishing.draft, site.study, client, wanted, site.base_url(request))
        if not drafted.is_published or not drafted.adds:
            now = drafted.remote.places
            return console.problem(
                request, 422, f"{study} has {now} places, or is not published. Give a larger number."
            )
        if cost != drafted.total:
            line = publishing.cost_line(drafted, wanted)
            return console.page(request, "places", study_name=study, places=places, drafted=drafted, line=line)
        await asyncio.to_thread(publishing.publish, site.study, client, wanted, drafted)
        return back_to("/console/recruiting", "places", places)


def prolific_of(site: Site) -> Prolific:
    if site.prolific is None:
        raise UserError(
            f"The site has no token for Prolific. Start it with the token in the variable {recruiting.TOKEN_VARIABLE}."
        )
    return site.prolific
