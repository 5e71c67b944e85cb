"""Console pages about HITs: the list, a preview, answers, and reviews."""

import secrets
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from chorale.engine.managing import Act
from chorale.engine.running import Study
from chorale.kits.mturk.api.answers import fields_in
from chorale.kits.mturk.api.names import NOT_ACCEPTED
from chorale.kits.mturk.api.questions import External, Page, QuestionForm, read_question
from chorale.kits.mturk.api.requirements import SYSTEM_TYPES, unchecked
from chorale.kits.mturk.market import bulk, market_of, market_stage
from chorale.kits.mturk.market.bulk import Deed, Review
from chorale.kits.mturk.market.stage import layout_id
from chorale.kits.mturk.market.wages import is_low
from chorale.kits.mturk.store import assignments, hits, keys, qualifications
from chorale.kits.mturk.store.assignments import AssignmentRow
from chorale.kits.mturk.store.hits import HitRow
from chorale.kits.mturk.store.keys import KeyRow
from chorale.kits.mturk.web.frames import SANDBOX, form_html, frame_height, framed, page_html
from chorale.kits.mturk.web.keys import key_routes
from chorale.kits.mturk.web.pages import IdInPath, facts
from chorale.model import Refusal, UserError
from chorale.model.money import minor_units
from chorale.protocol import WageSummary, wage_summary
from chorale.store import Tx
from chorale.web.console.frame import NO_NUL, Console, Reason, on_mistake
from chorale.web.links import OWNER, VIEWER
from chorale.web.security import CONTENT_SECURITY_POLICY
from chorale.web.staff import staff_only

HITS_PATH = "/console/recruiting/hits"
HITS_PER_PAGE = 50
ANSWERS_PER_PAGE = 50
_FINISHED = ("submitted", "approved", "rejected")
_DONE = {
    "approve": "Approved, and booked in the ledger: {n}.",
    "reject": "Rejected: {n}. The workers get a message with the reason.",
    "bonus": "Bonuses booked in the ledger: {n}. The workers get a message with the reason.",
}
Before = Annotated[int | None, Query(ge=1, le=2**53)]
FormKey = Annotated[str, Form(pattern=r"^[\w-]{8,60}$")]
Chosen = Annotated[list[str] | None, Form(max_length=bulk.MOST_AT_ONCE)]
HitName = Annotated[str, Form(max_length=64, pattern=r"^[A-Z0-9]*$")]
Amount = Annotated[str, Form(max_length=12, pattern=NO_NUL)]


@dataclass(frozen=True, slots=True)
class ListedHit:
    row: HitRow
    status: str
    wage: WageSummary
    low: bool
    """Whether the wage is below the study's minimum."""
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ListedHits:
    shown: list[ListedHit]
    older: int | None
    keys: list[KeyRow]
    layout: str
    """HITLayoutId of the study's own layout; empty without one."""
    waiting: int


@dataclass(frozen=True, slots=True)
class SubmittedAssignment:
    """A submitted assignment with its answers."""

    row: AssignmentRow
    title: str
    fields: dict[str, str]
    bonus: int


@dataclass(frozen=True, slots=True)
class SubmittedPage:
    hit: ListedHit | None
    requirements: tuple[str, ...]
    shown: list[SubmittedAssignment]
    after: int | None
    """Start of the next page."""
    waiting: int


def _described(tx: Tx, study: Study, rows: list[HitRow]) -> list[ListedHit]:
    market = market_of(tx, study)
    paid = assignments.paid_and_worked(tx, list({row.type.id for row in rows}))
    wages = {row.type.id: wage_summary(paid.get(row.type.id, [])) for row in rows}
    return [
        ListedHit(
            row,
            row.status(market.now),
            wages[row.type.id],
            is_low(market, wages[row.type.id]),
            unchecked(row.type.requirements, counted=market.counts_approvals),
        )
        for row in rows
    ]


def _listed(tx: Tx, study: Study, before: int | None) -> ListedHits:
    # One extra row, to know whether there are older ones.
    rows = hits.newest_hits(tx, HITS_PER_PAGE + 1, before, now=market_of(tx, study).now)
    shown = rows[:HITS_PER_PAGE]
    older = shown[-1].id if len(rows) > HITS_PER_PAGE else None
    stage = market_stage(study)
    layout = "" if stage is None else layout_id(stage)
    return ListedHits(_described(tx, study, shown), older, keys.keys(tx), layout, assignments.count_waiting(tx))


def _hit(tx: Tx, name: str) -> HitRow:
    hit = hits.hit_called(tx, name)
    if hit is None:
        raise Refusal("not_found", "HIT not found. Go back to the list of HITs.", 404)
    return hit


def _hit_called(tx: Tx, _study: Study, name: str) -> HitRow:
    return _hit(tx, name)


def _answers(tx: Tx, study: Study, name: str | None, after: int | None) -> SubmittedPage:
    """The answers to a HIT or, without a name, all answers to review."""
    hit = None if name is None else _hit(tx, name)
    most = ANSWERS_PER_PAGE + 1
    if hit is None:
        rows, waiting = assignments.waiting(tx, most, after), assignments.count_waiting(tx)
    else:
        rows, waiting = assignments.of_hit(tx, hit.id, _FINISHED, most, after), hit.unreviewed
    shown = rows[:ANSWERS_PER_PAGE]
    bonuses = assignments.bonuses_on(tx, [row.id for row in shown])
    titles = {number: one.type.title for number, one in hits.hits_numbered(tx, [row.hit_id for row in shown]).items()}
    answered = [
        SubmittedAssignment(
            row, titles[row.hit_id], fields_in(row.answer) if row.answer else {}, bonuses.get(row.id, 0)
        )
        for row in shown
    ]
    return SubmittedPage(
        None if hit is None else _described(tx, study, [hit])[0],
        () if hit is None else _requirements(tx, hit),
        answered,
        shown[-1].id if len(rows) > ANSWERS_PER_PAGE else None,
        waiting,
    )


def _requirements(tx: Tx, hit: HitRow) -> tuple[str, ...]:
    """The requirements of a HIT in words."""
    words = []
    for rule in hit.type.requirements:
        known = qualifications.type_called(tx, rule["QualificationTypeId"])
        name = SYSTEM_TYPES.get(rule["QualificationTypeId"]) or (known.title if known else rule["QualificationTypeId"])
        places = ["-".join(place.values()) for place in rule.get("LocaleValues") or ()]
        values = ", ".join([*map(str, rule.get("IntegerValues") or ()), *places])
        words.append(f"{name}: {rule['Comparator']} {values}".strip())
    return tuple(words)


def console_routes(console: Console) -> APIRouter:
    router = console.router(OWNER, VIEWER)
    _add_lists(router, console)
    _add_preview(router, console)
    _add_reviewing(router, console)
    router.routes += key_routes(console, _hits_page).routes
    return router


def _check_has_hits(study: Study) -> None:
    if market_stage(study) is None:
        raise Refusal("not_found", "This study has no HITs.", 404)


async def _answers_page(
    console: Console, request: Request, name: str | None, after: int | None = None, code: int = 200, **context: Any
) -> Response:
    _check_has_hits(console.site.study)
    listed = await console.site.read(_answers, name, after)
    shown = {
        "listed": listed,
        "name": name or "",
        "form_key": secrets.token_urlsafe(12),
        "typed": {},
        "most_at_once": bulk.MOST_AT_ONCE,
    }
    said = {} if (notice := _notice(request)) is None else {"notice": notice}
    return console.page(request, "mturk/answers.html", code, **{**shown, **said, **context})


def _notice(request: Request) -> str | None:
    count = request.query_params.get("n", "")
    # The URL is user input, so only numbers from it are shown on the page.
    text = _DONE.get(request.query_params.get("reviewed", ""))
    return text.format(n=count) if text and count.isascii() and count.isdigit() and len(count) < 9 else None


async def _hits_page(
    console: Console, request: Request, before: int | None = None, code: int = 200, **context: Any
) -> Response:
    _check_has_hits(console.site.study)
    shown = {"listed": await console.site.read(_listed, before), "made": None, "key_name": ""}
    return console.page(request, "mturk/console.html", code, under=HITS_PATH, **{**shown, **context})


def _add_lists(router: APIRouter, console: Console) -> None:
    @router.get("/recruiting/hits")
    async def listed_hits(request: Request, before: Before = None) -> Response:
        return await _hits_page(console, request, before)

    @router.get("/recruiting/hits/answers")
    async def answers_to_review(request: Request, after: Before = None) -> Response:
        return await _answers_page(console, request, None, after)

    @router.get("/recruiting/hits/{name}")
    async def answers_of_hit(request: Request, name: IdInPath, after: Before = None) -> Response:
        return await _answers_page(console, request, name, after)


def _add_preview(router: APIRouter, console: Console) -> None:
    site = console.site

    @router.get("/recruiting/hits/{name}/preview")
    async def preview(name: IdInPath) -> Response:
        """Preview of a HIT as workers see it before accepting."""
        hit = await site.read(_hit_called, name)
        question = read_question(hit.question)
        inside = question if isinstance(question, External) else External(site.url(f"{HITS_PATH}/{name}/frame"), 0)
        elsewhere = isinstance(question, External)
        page = site.pages.page(
            "mturk/hit.html",
            hit={**facts(site, hit.type, question), "id": name},
            state="look",
            barred="Preview: workers see this page before they accept. It cannot be submitted here.",
            back=(f"{HITS_PATH}/{name}", "Back to the console"),
            assignment=None,
            server_now=site.study.clock(),
            owner="console",
            lacking=(),
            another=False,
            address=inside.address({"assignmentId": NOT_ACCEPTED, "hitId": name}),
            sandbox=f"{SANDBOX} allow-same-origin" if elsewhere else SANDBOX,
            height=frame_height(getattr(question, "height", 0)),
        )
        source = question.origin if isinstance(question, External) else "'self'"
        page.headers["Content-Security-Policy"] = f"{CONTENT_SECURITY_POLICY}; frame-src 'self' {source}"
        return page

    @router.get("/recruiting/hits/{name}/frame")
    async def frame(name: IdInPath) -> Response:
        question = read_question((await site.read(_hit_called, name)).question)
        if isinstance(question, Page):
            return framed(page_html(question, site.root))
        if isinstance(question, QuestionForm):
            return framed(form_html(question, NOT_ACCEPTED, site.root))
        raise Refusal("not_found", "This HIT is a page on another site.", 404)


def _add_reviewing(router: APIRouter, console: Console) -> None:
    site = console.site
    owner_only = [Depends(staff_only(site, OWNER))]

    def read(deed: Deed, chosen: list[str] | None, hit: str, everything: str, amount: str, reason: str) -> Review:
        if not chosen and not everything:
            raise UserError("Select at least one answer.")
        units = minor_units(amount, site.study.settings.pay.currency) if deed == "bonus" else 0
        if units is None:
            raise UserError(f"{amount!r} is not a valid amount. Write it like 1.50.")
        return Review(deed, () if everything else tuple(chosen or ()), hit or None, units, reason)

    @router.post("/recruiting/hits/answers/confirm", dependencies=owner_only)
    async def confirm(
        request: Request,
        key: FormKey,
        deed: Annotated[Deed, Form()],
        chosen: Chosen = None,
        hit: HitName = "",
        everything: Annotated[str, Form(max_length=3)] = "",
        amount: Amount = "",
        reason: Reason = "",
    ) -> Response:
        """Shows the effects and cost of a review before it is carried out."""
        typed = {"chosen": chosen or [], "amount": amount, "reason": reason, "everything": everything}
        on_mistake(_answers_page, console, request, hit or None, typed=typed)
        review = read(deed, chosen, hit, everything, amount, reason)
        planned = await site.read(bulk.plan, review)
        return console.page(request, "mturk/confirm.html", review=review, planned=planned, name=hit, form_key=key)

    @router.post("/recruiting/hits/answers", dependencies=owner_only)
    async def carry_out(
        request: Request,
        key: FormKey,
        deed: Annotated[Deed, Form()],
        chosen: Chosen = None,
        hit: HitName = "",
        amount: Annotated[int, Form(ge=0, le=10**12)] = 0,
        reason: Reason = "",
    ) -> Response:
        on_mistake(_answers_page, console, request, hit or None)
        review = Review(deed, tuple(chosen or ()), hit or None, amount, reason)
        act = Act(request.state.staff.name, reason.strip() or "reviewed in the console", key)
        done = await site.write(bulk.carry_out, review, act)
        return RedirectResponse(f"{HITS_PATH}/{hit or 'answers'}?reviewed={deed}&n={done}", 303)
