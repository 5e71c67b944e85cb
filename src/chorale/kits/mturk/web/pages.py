"""Worker pages: list, preview, accept and submit HITs."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from chorale.kits.mturk.api.answers import Fields, fields_of_address
from chorale.kits.mturk.api.names import NOT_ACCEPTED, worker_id
from chorale.kits.mturk.api.questions import External, Page, Question, QuestionForm, origin_of, read_question
from chorale.kits.mturk.market import market_stage, qualifying, working
from chorale.kits.mturk.market.working import HitView
from chorale.kits.mturk.store.hits import HitTypeRow
from chorale.kits.mturk.web.expecting import expected_time
from chorale.kits.mturk.web.frames import SANDBOX, SUBMIT_PATH, form_html, frame_height, framed, page_html, shell_html
from chorale.model import Refusal, StagePay
from chorale.model.wording import worded
from chorale.present.language import Language
from chorale.web.pay_words import hourly_text, time_text
from chorale.web.security import CONTENT_SECURITY_POLICY
from chorale.web.serving import Site
from chorale.web.worker import what_follows

IdInPath = Annotated[str, Path(min_length=1, max_length=64, pattern=r"^[A-Z0-9]+$")]
MOST_FIELDS = 500
_SUBMITTED_POLICY = "sandbox allow-scripts; default-src 'none'; script-src *; style-src *; frame-ancestors 'self'"


def add_hit_pages(router: APIRouter, site: Site) -> None:
    """Pages for workers. A study without HITs has only the pages that frames need."""
    _add_frames(router, site)
    if market_stage(site.study) is not None:
        _add_lists(router, site)
        _add_work(router, site)
        _add_qualifications(router, site)


def facts(site: Site, kind: HitTypeRow, question: Question) -> dict[str, Any]:
    """List entry of a HIT type, based on the question of one HIT."""
    expected = expected_time(question)
    return {
        "expected": time_text(expected, None, site.study.language),
        "hourly": hourly_text(StagePay(per_judgment=kind.reward), expected, None, site.study),
        "title": kind.title,
        "description": kind.description,
        "reward": site.study.language.money(kind.reward, site.study.settings.pay.currency),
        "time": spoken(kind.assignment_seconds, site.study.language),
        "type": kind.name,
    }


def spoken(seconds: int, language: Language) -> str:
    """A duration in words, in the largest unit that represents it (almost) exactly.

    >>> [spoken(seconds, Language()) for seconds in (90, 5400, 3600, 172800, 100_000)]
    ['90 seconds', '90 minutes', '1 hour', '2 days', '28 hours']
    """
    days, hours, minutes = (_count_of(seconds, length) for length in (86_400, 3_600, 60))
    if days:
        return language.say_count(days, "{count} day", "{count} days")
    if hours:
        return language.say_count(hours, "{count} hour", "{count} hours")
    if minutes:
        return language.say_count(minutes, "{count} minute", "{count} minutes")
    return language.say_count(seconds, "{count} second", "{count} seconds")


def _count_of(seconds: int, length: int) -> int:
    """The duration in this unit; 0 if it would not be accurate."""
    return round(seconds / length) if seconds >= length and (seconds % length == 0 or seconds >= 10 * length) else 0


def _add_lists(router: APIRouter, site: Site) -> None:
    @router.get("/hits", response_class=HTMLResponse, include_in_schema=False)
    async def hits(request: Request) -> Response:
        """The list of tasks."""
        board = await site.read_as(request, working.board)
        return site.pages.page(
            "mturk/hits.html",
            barred=board.barred,
            held=[{**facts(site, hit.type, read_question(hit.question)), "hit": hit.name} for _, hit in board.held],
            offers=[
                {
                    **facts(site, offer.offered.type, read_question(offer.offered.question)),
                    "count": offer.offered.count,
                    "hit": offer.offered.first,
                    "lacking": offer.lacking,
                }
                for offer in board.offers
            ],
        )

    @router.get("/projects/{name}/tasks", include_in_schema=False)
    async def project(request: Request, name: IdInPath) -> Response:
        """URL of a group as on Mechanical Turk's worker site."""
        return await _group(site, request, name)

    @router.get("/mturk/preview", include_in_schema=False)
    async def preview(
        request: Request, group: Annotated[str, Query(alias="groupId", max_length=64, pattern=r"^[A-Z0-9]+$")]
    ) -> Response:
        """URL of a group as printed by scripts."""
        return await _group(site, request, group)

    @router.post("/hits/next/{name}", include_in_schema=False)
    async def accept_next(request: Request, name: IdInPath) -> Response:
        """Accepts another HIT of the same type."""
        hit = await site.write_as(request, working.accept_next, name)
        return RedirectResponse("/hits" if hit is None else f"/hits/{hit}", 303)


async def _group(site: Site, request: Request, name: str) -> Response:
    """Redirects to the next HIT of a group, or to the list if none is available."""
    hit = await site.read_as(request, working.hit_of_group, name)
    return RedirectResponse("/hits" if hit is None else f"/hits/{hit}", 303)


def _add_work(router: APIRouter, site: Site) -> None:
    @router.get("/hits/{name}", response_class=HTMLResponse, include_in_schema=False)
    async def hit_page(request: Request, name: IdInPath) -> Response:
        """A HIT for preview or work."""
        view = await site.read_as(request, working.look_at, name)
        pseudonym = site.claim(request).pseudonym
        assignment = view.assignment
        state = "look" if assignment is None else assignment.state
        address, sandbox = _frame_of(site, request, view, pseudonym)
        page = site.pages.page(
            "mturk/hit.html",
            hit={**facts(site, view.hit.type, view.question), "id": name},
            state=state,
            assignment=assignment,
            server_now=site.study.clock(),
            owner=pseudonym,
            lacking=view.lacking,
            barred=view.barred,
            another=view.another,
            follows=None if state in ("look", "accepted") else await _what_follows(site, request),
            address=address if view.may_look and state in ("look", "accepted") else None,
            sandbox=sandbox,
            height=frame_height(getattr(view.question, "height", 0)),
        )
        source = view.question.origin if isinstance(view.question, External) else "'self'"
        # This site answers the submission in the same frame.
        page.headers["Content-Security-Policy"] = f"{CONTENT_SECURITY_POLICY}; frame-src 'self' {source}"
        return page

    @router.post("/hits/{name}/accept", include_in_schema=False)
    async def accept(request: Request, name: IdInPath) -> Response:
        await site.write_as(request, working.accept, name)
        return RedirectResponse(f"/hits/{name}", 303)

    @router.post("/hits/assignments/{name}/return", include_in_schema=False)
    async def give_back(request: Request, name: IdInPath) -> Response:
        await site.write_as(request, working.give_back, name)
        return RedirectResponse("/hits", 303)


async def _what_follows(site: Site, request: Request) -> dict[str, Any] | None:
    """Other destinations for a worker after a HIT."""
    stage = market_stage(site.study)
    return None if stage is None else await site.read(what_follows, site.claim(request).worker_id, stage.name)


def _frame_of(site: Site, request: Request, view: HitView, pseudonym: str) -> tuple[str, str]:
    """The URL of a HIT's frame, and its permissions."""
    values = _values(site, request, view, pseudonym)
    if isinstance(view.question, External):
        elsewhere = view.question.origin not in (origin_of(site.base_url(request)), origin_of(str(request.base_url)))
        # A page of another site may keep its origin. A page of this site may not, because it would have full access to
        # the surrounding page.
        return view.question.address(values), f"{SANDBOX} allow-same-origin" if elsewhere else SANDBOX
    return External(site.url(f"/mturk/frame/{view.hit.name}"), 0).address(values), SANDBOX


def _values(site: Site, request: Request, view: HitView, pseudonym: str) -> dict[str, str]:
    values = {"assignmentId": NOT_ACCEPTED, "hitId": view.hit.name}
    if view.assignment is not None:
        values |= {
            "assignmentId": view.assignment.name,
            "workerId": worker_id(pseudonym),
            "turkSubmitTo": site.base_url(request),
        }
    return values


def _add_frames(router: APIRouter, site: Site) -> None:
    @router.get("/mturk/shell", response_class=HTMLResponse, include_in_schema=False)
    async def shell() -> Response:
        """An empty frame for layouts."""
        return framed(shell_html())

    @router.get("/mturk/frame/{name}", response_class=HTMLResponse, include_in_schema=False)
    async def frame(request: Request, name: IdInPath) -> Response:
        """The frame of a HIT: its page or form."""
        view = await site.read_as(request, working.may_see, name)
        if isinstance(view.question, Page):
            return framed(page_html(view.question, site.root, site.pages))
        if isinstance(view.question, QuestionForm):
            assignment = view.assignment.name if view.assignment else NOT_ACCEPTED
            return framed(form_html(view.question, assignment, site.root, site.pages.language))
        raise Refusal("not_found", "Page not found.", 404)

    @router.api_route(SUBMIT_PATH, methods=["GET", "POST"], include_in_schema=False)
    async def submit(request: Request) -> Response:
        """Stores the answer of a frame. Frames have no session, so the assignment ID is the only authentication.

        Older pages on other sites send the answer in the URL, with a link or redirect.
        """
        if request.method == "GET":
            fields = fields_of_address(request.url.query)
        else:
            form = await request.form(max_files=0, max_fields=MOST_FIELDS)
            fields = [(key, value) for key, value in form.multi_items() if isinstance(value, str)]
        name = request.query_params.get("assignmentId") or dict(fields).get("assignmentId", "")
        try:
            await _take(site, name, fields)
            page = site.pages.page("mturk/submitted.html", refused=None)
        except Refusal as refusal:
            page = site.pages.page("mturk/submitted.html", refusal.status, refused=refusal.message)
        page.headers.update({"Content-Security-Policy": _SUBMITTED_POLICY, "X-Frame-Options": "SAMEORIGIN"})
        return page


async def _take(site: Site, name: str, fields: Fields) -> None:
    """Stores the submission of an assignment or test."""
    if any(_is_unstorable(text) for pair in fields for text in pair):
        raise Refusal(
            "invalid_answer", worded("Your answer contains characters that can't be stored. Remove them."), 422
        )
    taken = name != NOT_ACCEPTED and (
        await site.write(working.submit, name, fields) or await site.write(qualifying.submit, name, fields)
    )
    if not taken:
        raise Refusal("not_found", worded("Accept the task before you submit it."), 404)


def _is_unstorable(text: str) -> bool:
    return "\x00" in text or any("\ud800" <= sign <= "\udfff" for sign in text)


def _add_qualifications(router: APIRouter, site: Site) -> None:
    @router.get("/hits/qualifications/{name}", response_class=HTMLResponse, include_in_schema=False)
    async def qualification(request: Request, name: IdInPath) -> Response:
        view = await site.read_as(request, qualifying.look_at, name)
        asked = view.request
        testing = asked is not None and asked.state == "testing" and view.type.test is not None
        page = site.pages.page(
            "mturk/qualification.html",
            wanted=view,
            kind=view.type,
            testing=testing,
            address=f"/mturk/test/{name}?assignmentId={asked.name}" if testing and asked is not None else None,
            owner=site.claim(request).pseudonym,
            sandbox=SANDBOX,
            height=frame_height(0),
            time=spoken(view.type.test_seconds, site.study.language) if view.type.test_seconds else None,
        )
        page.headers["Content-Security-Policy"] = f"{CONTENT_SECURITY_POLICY}; frame-src 'self'"
        return page

    @router.post("/hits/qualifications/{name}", include_in_schema=False)
    async def ask(request: Request, name: IdInPath) -> Response:
        await site.write_as(request, qualifying.ask, name)
        return RedirectResponse(f"/hits/qualifications/{name}", 303)

    @router.get("/mturk/test/{name}", response_class=HTMLResponse, include_in_schema=False)
    async def test(request: Request, name: IdInPath) -> Response:
        form, request_id = await site.read_as(request, qualifying.test_of, name)
        return framed(form_html(form, request_id, site.root, site.pages.language))
