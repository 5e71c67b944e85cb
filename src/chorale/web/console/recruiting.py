"""Where people come from, and what they are owed."""

from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import Form, Request, Response

from chorale.engine import arrivals, payouts, recruiting
from chorale.engine.running import Study
from chorale.exchange import payout_files
from chorale.store import Tx, events, invitations, submissions, workers
from chorale.store.invitations import InvitationRow
from chorale.store.submissions import SubmissionRow
from chorale.store.workers import PanelCounts
from chorale.web.console.frame import WHY_NEEDED, Console, Reason, back_to

MOST_LINKS = 200
MOST_WAITING = 50
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
    waiting: list[tuple[SubmissionRow, bool]]
    """Submissions somebody has to decide about, and whether enough was done in them."""
    imported: bool
    """Whether the work was done elsewhere, so that nobody came here."""


def _recruitment(tx: Tx, study: Study) -> Recruitment:
    links = invitations.newest(tx, MOST_LINKS)
    waiting = submissions.submissions(tx, status="AWAITING REVIEW", limit=MOST_WAITING)
    return Recruitment(
        workers.panel_counts(tx),
        links,
        invitations.count(tx),
        recruiting.summary(tx),
        [(row, recruiting.did_enough(tx, study, row)) for row in waiting],
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
        return console.page(request, "recruiting", found=now, arrival=arrival, arrival_url=url)

    @console.to_see.get("/recruiting/paying")
    async def paying(request: Request) -> Response:
        return console.page(request, "paying", most_due=MOST_DUE, **await site.read(_paid))

    @console.for_owner.post("/recruiting/revoke")
    async def revoke(request: Request, number: Annotated[int, Form(ge=1, le=2**53)], reason: Reason = "") -> Response:
        if not reason.strip():
            return console.problem(request, 422, WHY_NEEDED)
        if not await site.write(arrivals.revoke, number, request.state.staff.name, reason.strip()):
            return console.problem(request, 404, f"There is no valid link with the number {number}.")
        return back_to("/console/recruiting", "link-revoked")
