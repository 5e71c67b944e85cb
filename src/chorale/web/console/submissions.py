"""Submissions on Prolific: approve, reject, ask to return, withdraw a rejection, send a message."""

import asyncio
import secrets
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Form, Query, Request, Response

from chorale.engine import deciding, recruiting
from chorale.engine.deciding import Decision, Deed
from chorale.engine.running import Study
from chorale.model import Refusal, UserError
from chorale.platforms.prolific import CATEGORIES, SHORTEST_REASON
from chorale.store import Tx, submissions
from chorale.store.submissions import SubmissionRow
from chorale.web.console.frame import NO_NUL, Console, back_to, on_mistake
from chorale.web.console.paging import PageNumber, Paging
from chorale.web.console.recruiting import prolific_of
from chorale.web.console.workers import Key

PATH = "/console/recruiting/submissions"
PER_PAGE = 25
LONGEST_TEXT = 5000
Status = Literal["AWAITING REVIEW", "ACTIVE", "APPROVED", "REJECTED", "RETURNED", "TIMED-OUT", "SCREENED OUT", "ALL"]
Handles = Annotated[list[Annotated[str, Form(pattern="^[0-9a-f]{16}$")]] | None, Form(max_length=PER_PAGE)]
Text = Annotated[str, Form(max_length=LONGEST_TEXT, pattern=NO_NUL)]
Category = Annotated[str, Form(max_length=40)]
WorkerName = Annotated[str, Query(max_length=60, pattern=NO_NUL)]


@dataclass(frozen=True, slots=True)
class Listed:
    row: SubmissionRow
    handle: str
    did_enough: bool


def _listed(tx: Tx, study: Study, status: Status, page: int, worker: str) -> tuple[list[Listed], dict[str, int], int]:
    wanted = None if status == "ALL" else status
    rows = submissions.submissions(tx, status=wanted, pseudonym=worker, limit=PER_PAGE, offset=(page - 1) * PER_PAGE)
    counts: dict[str, int] = {}
    for (_, name), count in submissions.counts(tx).items():
        counts[name] = counts.get(name, 0) + count
    listed = [Listed(row, deciding.handle_of(row), recruiting.is_to_approve(tx, study, row)) for row in rows]
    counts["ALL"] = sum(counts.values())
    matching = len(submissions.submissions(tx, status=wanted, pseudonym=worker)) if worker else counts.get(status, 0)
    return listed, counts, matching


async def _list(
    console: Console, request: Request, status: Status, page: int = 1, code: int = 200, worker: str = "", **context: Any
) -> Response:
    if console.site.study.settings.prolific is None:
        raise Refusal("not_found", "This study does not recruit on Prolific.", 404)
    listed, counts, matching = await console.site.read(_listed, status, page, worker.strip())
    shown = {
        "under": PATH,
        "listed": listed,
        "worker": worker,
        "counts": counts,
        "status_shown": status,
        "paging": Paging(page, matching, PER_PAGE),
        "categories": CATEGORIES,
        "shortest_reason": SHORTEST_REASON,
        "longest_text": LONGEST_TEXT,
        "asks_prolific": console.site.prolific is not None,
        "token_variable": recruiting.TOKEN_VARIABLE,
        "form_key": secrets.token_urlsafe(12),
        "typed": {},
    }
    return console.page(request, "submissions", code, **{**shown, **context})


def add_submission_routes(console: Console) -> None:
    site = console.site

    @console.to_see.get("/recruiting/submissions")
    async def submitted(
        request: Request, status: Status = "AWAITING REVIEW", page: PageNumber = 1, worker: WorkerName = ""
    ) -> Response:
        return await _list(console, request, status, page, worker=worker)

    @console.for_owner.post("/recruiting/submissions/confirm")
    async def confirm(
        request: Request,
        key: Key,
        deed: Annotated[Deed, Form()],
        status: Annotated[Status, Form()] = "AWAITING REVIEW",
        chosen: Handles = None,
        text: Text = "",
        category: Category = "LOW_EFFORT",
    ) -> Response:
        """Show the people and the costs of a decision, to be confirmed."""
        typed = {"chosen": chosen or [], "text": text, "category": category}
        on_mistake(_list, console, request, status, typed=typed)
        decision = _decision(deed, chosen, text, category)
        planned = await site.read(lambda tx, _: deciding.plan_decision(tx, decision))
        return console.page(
            request, "submissions_confirm", decision=decision, planned=planned, status_shown=status, form_key=key
        )

    @console.for_owner.post("/recruiting/submissions")
    async def decide(
        request: Request,
        key: Key,
        deed: Annotated[Deed, Form()],
        status: Annotated[Status, Form()] = "AWAITING REVIEW",
        chosen: Handles = None,
        text: Text = "",
        category: Category = "LOW_EFFORT",
    ) -> Response:
        on_mistake(_list, console, request, status)
        decision = _decision(deed, chosen, text, category)
        client = prolific_of(site)
        done = await asyncio.to_thread(deciding.carry_out, site.study, client, decision, request.state.staff.name, key)
        return back_to(PATH, f"submissions-{deed}" if done else "already-done", done)


def _decision(deed: Deed, chosen: list[str] | None, text: str, category: str) -> Decision:
    if not chosen:
        raise UserError("Select at least one submission.")
    return Decision(deed, frozenset(chosen), text, category)
