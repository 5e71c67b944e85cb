"""Workers' pages and API: consent, overview and work."""

import asyncio
import json
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path as FilePath
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Form, Path, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import Markup

from chorale.contract import Task
from chorale.engine import entering, settling, work
from chorale.engine.bonuses import bonuses_of
from chorale.engine.expected_time import ExpectedTime, expected_time, expected_times
from chorale.engine.finishing import finish_of
from chorale.engine.running import RunningStage, Study, no_such_stage
from chorale.engine.sessions import ERASED
from chorale.engine.work import Offer, Visit, WorkerProgress
from chorale.folder.reading import StageContent
from chorale.model import Refusal, Standing
from chorale.model.problems import UnavailableError
from chorale.model.wording import worded
from chorale.present.language import translated_html
from chorale.protocol import Ending
from chorale.store import Tx, workers
from chorale.store.assignments import Lease
from chorale.store.erasing import WITHDRAWN
from chorale.store.messages import note_read
from chorale.web.arriving import add_arrival_routes
from chorale.web.bodies import (
    REFUSALS,
    ExtendedBody,
    FirstAnswer,
    OfferBody,
    OutcomeBody,
    ReturnedBody,
    RevealedBody,
    Submission,
)
from chorale.web.home import following, home_context
from chorale.web.links import QUEUE
from chorale.web.mailing import add_unsubscribe_routes
from chorale.web.media import add_media_routes, dressed, dressed_details, worker_address
from chorale.web.own_progress import add_progress_routes
from chorale.web.pages import SENTENCES, Pages, markdown, packed, packed_text
from chorale.web.parts import HomeCard, SitePart
from chorale.web.pay_words import bonus_texts, screenout_text, work_facts
from chorale.web.payment import add_payment_routes
from chorale.web.security import content_policy
from chorale.web.serving import Site, nobody
from chorale.web.sessions import WORKER_COOKIE
from chorale.web.team import add_team_routes, has_team
from chorale.web.withdrawing import add_withdrawal_routes, withdrawn_page

REPLY_STEP_S = 0.02
"""Replies to answers are delayed to a multiple of this time."""
TokenInPath = Annotated[str, Path(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
StageInPath = Annotated[str, Path(min_length=1, max_length=40, pattern=r"^[a-z][a-z0-9-]*$")]


def add_worker_routes(router: APIRouter, site: Site, parts: Sequence[SitePart] = ()) -> None:
    """Add all routes for workers, pages and API. The busiest come first."""
    _add_interface(router, site)
    _add_time_limits(router, site)
    add_arrival_routes(router, site)
    add_team_routes(router, site)
    add_progress_routes(router, site)
    add_withdrawal_routes(router, site)
    add_payment_routes(router, site)
    add_unsubscribe_routes(router, site)
    add_media_routes(router, site)
    _add_scripts(router, site)
    _add_pages(router, site, parts)


def _add_pages(router: APIRouter, site: Site, parts: Sequence[SitePart]) -> None:
    study, pages = site.study, site.pages
    makers = [part.home_card for part in parts if part.home_card is not None]

    def _cards(tx: Tx, study: Study, worker_id: int) -> list[HomeCard]:
        return [card for make in makers if (card := make(tx, study, worker_id)) is not None]

    async def current_visit(request: Request) -> Visit | Refusal:
        """A worker's view of the study, or the refusal if they are not signed in."""
        try:
            visit = await site.read_as(request, work.start_page)
        except Refusal as refusal:
            return refusal
        return visit or nobody()

    @router.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def home(request: Request) -> Response:
        visit = await current_visit(request)
        if isinstance(visit, Refusal) and visit.message == ERASED:
            return pages.page("worker/withdrawn.html", owed=None, is_unpaid=False)
        if isinstance(visit, Refusal):
            if visit.code == "signed_out" and await site.is_member_here(request):
                return RedirectResponse("/sign-in", 303)  # from there, the server-wide sign-in leads back here
            return _signed_out_page(site, request, visit, signs_in=await site.read(has_team))
        if visit.panel == entering.EXPERTS_PANEL:
            return RedirectResponse(QUEUE, 303)
        if visit.worker.consent_version == WITHDRAWN:
            return await withdrawn_page(site, request)
        if not study.has_consent(visit.worker.consent_version):
            agreed = visit.worker.consented_at is not None
            return pages.page("worker/consent.html", consent_html=markdown(study.consent.text), agreed_before=agreed)
        if any(message.read_at is None for message in visit.messages):
            await site.write(lambda tx, study: note_read(tx, visit.worker.id, study.clock()))
        cards = await site.read(_cards, visit.worker.id) if makers else []
        finish = await site.read(finishing, visit)
        bonuses = await site.read(bonuses_of, visit.worker.id) if visit.earned else None
        times = await site.read(expected_times)
        return pages.page("worker/home.html", 200, **{**home_context(study, visit, times, cards, bonuses), **finish})

    @router.post("/consent", include_in_schema=False)
    async def consent(request: Request, agree: Annotated[str, Form()] = "") -> Response:
        if agree != "yes":
            raise Refusal(
                "no_consent", worded("Tick the box if you agree to take part. You can only continue if you agree."), 422
            )
        await site.write_as(request, entering.consent)
        return RedirectResponse("/", 303)

    @router.get("/stages/{name}", response_class=HTMLResponse, include_in_schema=False)
    async def work_page(request: Request, name: StageInPath) -> Response:
        stage = study.stage(name)
        visit = await current_visit(request)
        if isinstance(visit, Refusal) or not study.has_consent(visit.worker.consent_version):
            return RedirectResponse("/", 303)
        if not visit.knows(stage):
            raise no_such_stage()
        return _work_page(site, stage, visit, await site.read(expected_time, stage))


def add_sentences_route(router: APIRouter, pages_of: Callable[[Request], Pages]) -> None:
    """Add the route of the script with translations."""

    @router.get(SENTENCES, include_in_schema=False)
    async def sentences(request: Request) -> Response:
        return packed_text(pages_of(request).sentences, request.headers, _MEDIA_TYPES[".js"])


def _add_scripts(router: APIRouter, site: Site) -> None:
    study = site.study
    add_sentences_route(router, lambda _request: site.pages)

    @router.get("/tasks/{name}/{file}", include_in_schema=False)
    async def task_file(request: Request, name: StageInPath, file: str) -> Response:
        """Serve the module of a task, modules it imports, and its style sheet."""
        for stage in study.stages.values():
            if stage.task.name == name and file in files_of(stage.task):
                return sent_file(request, stage.task, file)
        raise Refusal("not_found", worded("This file does not exist."), 404)


def _signed_out_page(site: Site, request: Request, why: Refusal, *, signs_in: bool) -> Response:
    """The page for people who are not signed in: how to join, why a session ended, and unsent answers."""
    claim = site.sessions.worker(request.cookies.get(WORKER_COOKIE))
    template = "worker/landing.html" if site.study.settings.arrival.landing else "worker/gone.html"
    return site.pages.page(
        template,
        ended=None if claim is None else site.pages.language.translated(why.message),
        owner="" if claim is None else claim.pseudonym,
        signs_in=signs_in,
    )


def _work_page(site: Site, stage: RunningStage, visit: Visit, expected: ExpectedTime) -> Response:
    """The work page of a stage."""
    [part] = (part for part in visit.stages if part.stage.name == stage.name)
    at_desk = visit.panel == entering.EXPERTS_PANEL
    return form_page(
        site.pages,
        stage,
        {
            "next_url": f"/api/stages/{stage.name}/next",
            "submit_url_pattern": "/api/assignments/{id}/submit",
            "first_url_pattern": "/api/assignments/{id}/first",
            "return_url_pattern": "/api/assignments/{id}/return",
            "extend_url_pattern": "/api/assignments/{id}/extend",
        },
        worker=visit.worker,
        answers=part.of,
        # For experts, guidelines are shown next to every question.
        first_visit=not part.entered and not at_desk,
        home=QUEUE if at_desk else "/",
        at_desk=at_desk,
        facts=[] if at_desk else work_facts(stage, expected, site.study),
        bonuses=bonus_texts(stage.settings.pay, site.study.settings.pay.currency, site.pages.language),
        counts_writing=site.study.settings.writing is not None and not at_desk,
    )


def form_page(pages: Pages, stage: RunningStage | StageContent, api: Mapping[str, str], **context: Any) -> Response:
    """The work page of a stage, with the URLs for requesting items and sending answers."""
    form = stage.task.form
    page = pages.page(
        "worker/work.html",
        stage=stage.settings,
        guidelines_html=markdown(stage.guidelines),
        form_html=Markup(translated_html(form.html, pages.language.say)),  # noqa: S704 - part of the task's package
        task_module_url=f"/tasks/{stage.task.name}/{form.module.name}" if form.module else None,
        task_style_url=f"/tasks/{stage.task.name}/{form.style.name}" if form.style else None,
        api=api,
        framed=form.framed,
        **context,
    )
    if form.framed or form.media:
        page.headers["Content-Security-Policy"] = content_policy(
            framed=form.framed, media=bool(form.media), hosts=form.hosts
        )
    return page


_MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css"}


def sent_file(request: Request, task: Task, file: str) -> Response:
    """A file of a task's form."""
    path = files_of(task)[file]
    return packed(path, request.headers, _MEDIA_TYPES[path.suffix], {})


def files_of(task: Task) -> dict[str, FilePath]:
    """The files of a task that a browser may request, by name, so that no other path can be reached."""
    modules = () if task.form.module is None else task.form.module.parent.glob("*.js")
    style = () if task.form.style is None else (task.form.style,)
    return {path.name: path for path in (*modules, *style, *task.form.shared)}


def finishing(tx: Tx, study: Study, visit: Visit) -> dict[str, str | None]:
    """How a worker returns to their platform: code, URL and kind of ending; all None until the worker may return."""
    finish = finish_of(tx, study, visit)
    if finish is None:
        return {"completion_code": None, "completion_url": None, "ending": None, "screenout_pay": None}
    early, arrival = finish.ending is not Ending.COMPLETED, study.settings.arrival
    url = arrival.screenout_url if early and arrival.screenout_url is not None else arrival.completion_url
    if early and url is not None and url == arrival.completion_url and "{code}" not in url:
        # The URL itself confirms completion. A URL with only their ID grants credit, even for partial work.
        url = None if finish.ending is Ending.NOT_PASSED or "{worker}" not in url else url
    if url is not None and "{worker}" in url:
        # Their own platform ID, which only their page contains.
        url = url.replace("{worker}", quote((workers.identity_of(tx, visit.worker.id) or ("", ""))[1], safe=""))
    if url is not None and "{code}" in url:
        url = None if finish.code is None else url.replace("{code}", finish.code)
    words = screenout_text(finish, study) if early else None
    return {"completion_code": finish.code, "completion_url": url, "ending": finish.ending, "screenout_pay": words}


def what_follows(tx: Tx, study: Study, worker_id: int, here: str) -> dict[str, Any] | None:
    """The next step after a stage: a message, the next part, or back to their platform."""
    visit = work.start_page(tx, study, worker_id)
    if visit is None or visit.panel == entering.EXPERTS_PANEL:
        return None
    return following(study.language, visit, lambda: finish_of(tx, study, visit) is not None, here)


def _assignment(site: Site, stage: RunningStage, offer: Offer, lease: Lease, worker_id: int) -> dict[str, Any]:
    """An item with its time limit and pay, for the page."""
    study = site.study
    return {
        "id": lease.token,
        "item": None
        if offer.view is None
        else dressed(stage.task.form, offer.view, partial(worker_address, site, worker_id)),
        "arrangement": offer.arrangement,
        "suggestion": offer.suggestion,
        "first": None if offer.first is None else {"fields": offer.first.fields, "answer": offer.first.answer},
        "expires_at": lease.expires_at,
        "server_now": study.clock(),
        "pay_text": None if offer.pay is None else study.language.money(offer.pay, study.settings.pay.currency),
    }


def _add_interface(router: APIRouter, site: Site) -> None:
    study = site.study
    currency = study.settings.pay.currency

    def progress(of: WorkerProgress) -> dict[str, Any]:
        return {"answered": of.answered, "earned": of.earned, "earned_text": study.language.money(of.earned, currency)}

    @router.post("/api/stages/{name}/next", response_model=OfferBody, responses=REFUSALS)
    async def next_item(request: Request, name: StageInPath) -> Response:
        """The next item to judge. Repeated requests return the same item until it is answered."""
        session, stage = site.claim(request), study.stage(name)
        offer = await site.write(work.next_item, stage, session.worker_id, session)
        if offer.status == "locked" and not await site.read(work.knows_of, stage, session.worker_id):
            raise no_such_stage()
        message = study.language.translated(offer.message)
        body: dict[str, Any] = {"status": offer.status, "message": message, "progress": progress(offer.progress)}
        if offer.lease is not None:
            body["assignment"] = _assignment(site, stage, offer, offer.lease, session.worker_id)
            body["skips_left"] = offer.skips_left
        else:
            ahead = await site.read(what_follows, session.worker_id, stage.name)
            body["following"] = None if ahead is None else {**ahead, "url": site.url(ahead["url"])}
        return _json(body)

    @router.post("/api/assignments/{token}/submit", response_model=OutcomeBody, responses=REFUSALS)
    async def submit(request: Request, token: TokenInPath, body: Submission) -> Response:
        """Submit an answer. After status 200, it is on disk; sending it again changes nothing."""
        began = time.monotonic()
        session = site.claim(request)
        given = (token, body.answer, body.key, body.duration_ms)
        written = None if body.writing is None else body.writing.numbers()
        outcome = await site.write(work.submit, session.worker_id, *given, session, written)
        if outcome.status == "accepted" and outcome.standing is Standing.DROPPED:
            await _settle(site)
        await _next_step(began)
        return _json(
            {
                "status": outcome.status,
                "feedback": None
                if outcome.explanation is None
                else {
                    "explanation": outcome.explanation,
                    "details": dressed_details(
                        outcome.details,
                        partial(worker_address, site, session.worker_id),
                        site.study.language.translated,
                    ),
                },
                "right": outcome.right,
                "standing": outcome.standing,
                "progress": progress(outcome.progress),
            }
        )

    @router.post("/api/assignments/{token}/first", response_model=RevealedBody, responses=REFUSALS)
    async def first(request: Request, token: TokenInPath, body: FirstAnswer) -> Response:
        """Store the first answer of a form in two steps. After status 200, it is on disk and can't change."""
        session = site.claim(request)
        revealed = await site.write(work.answer_first, session.worker_id, token, body.answer, session)
        return _json({"status": revealed.status, "first": revealed.first, "item": revealed.view})


def _add_time_limits(router: APIRouter, site: Site) -> None:
    @router.post("/api/assignments/{token}/extend", response_model=ExtendedBody, responses=REFUSALS)
    async def extend(request: Request, token: TokenInPath) -> Response:
        """Request more time: the time limit restarts."""
        expires_at = await site.write_as(request, work.extend, token)
        return _json({"status": "extended", "assignment": {"expires_at": expires_at, "server_now": site.study.clock()}})

    @router.post("/api/assignments/{token}/return", response_model=ReturnedBody, responses=REFUSALS)
    async def give_back(request: Request, token: TokenInPath) -> Response:
        """Skip an item: return it unanswered, for another worker."""
        await site.write_as(request, work.skip, token)
        return _json({"status": "returned"})


async def _settle(site: Site) -> None:
    """Update labels after a removal. If the database is unavailable, the next sweep does it."""
    try:
        await asyncio.to_thread(settling.settle_everything, site.study)
    except UnavailableError as error:
        site.outages.failed(error)


async def _next_step(began: float) -> None:
    """Wait for the next time step, so that response times do not reveal whether an item was gold."""
    await asyncio.sleep(-(time.monotonic() - began) % REPLY_STEP_S)


def _json(body: dict[str, Any]) -> Response:
    return Response(json.dumps(body, ensure_ascii=False), media_type="application/json")
