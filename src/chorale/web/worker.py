"""Workers: arriving, consenting, and the work itself."""

import asyncio
import json
import logging
import time
from collections.abc import Sequence
from pathlib import Path as FilePath
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import APIRouter, Form, Path, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse
from markupsafe import Markup
from pydantic import BaseModel, ConfigDict, Field, field_validator

from chorale.contract import Task
from chorale.engine import entering, recruiting, settling, work
from chorale.engine.bonuses import WorkerBonuses, adds_later, bonuses_of
from chorale.engine.running import RunningStage, Study, no_such_stage
from chorale.engine.work import Progress, Visit
from chorale.model import Refusal, Standing, money_text
from chorale.model.problems import UnavailableError
from chorale.protocol.situation_words import places_text
from chorale.store import Tx, workers
from chorale.store.codec import storage_problem
from chorale.store.erasing import WITHDRAWN
from chorale.store.messages import note_read
from chorale.web.arriving import add_arrival_routes
from chorale.web.links import DESK
from chorale.web.pages import markdown
from chorale.web.parts import HomeCard, SitePart
from chorale.web.pay_words import bonus_texts, pay_text
from chorale.web.security import CONTENT_SECURITY_POLICY
from chorale.web.serving import Site, nobody
from chorale.web.sessions import WORKER_COOKIE
from chorale.web.withdrawing import add_withdrawal_routes, withdrawn_page

log = logging.getLogger("chorale.web")
REPLY_STEP_S = 0.02
"""Replies to answers come a multiple of this after the answer."""
TokenInPath = Annotated[str, Path(min_length=1, max_length=64, pattern=r"^[A-Za-z0-9_-]+$")]
StageInPath = Annotated[str, Path(min_length=1, max_length=40, pattern=r"^[a-z][a-z0-9-]*$")]


class Submission(BaseModel):
    """An answer to an item."""

    model_config = ConfigDict(extra="forbid")

    key: str = Field(
        pattern=r"^[A-Za-z0-9_-]{8,64}$", description="Made once per answer; sending it again is harmless."
    )
    answer: Any = Field(description="Shaped by the task of the stage.")
    duration_ms: int | None = Field(default=None, ge=0, le=10**12, description="How long the item was in view.")

    @field_validator("answer")
    @classmethod
    def _storable(cls, value: Any) -> Any:
        if problem := storage_problem(value):
            raise ValueError(problem)
        return value


class ProgressBody(BaseModel):
    answered: int
    earned: int
    earned_text: str


class AssignmentBody(BaseModel):
    id: str
    item: dict[str, Any]
    arrangement: dict[str, Any] | None = None
    expires_at: int
    server_now: int
    pay_text: str | None = None
    """What this item pays, where that goes by its length."""


class OfferBody(BaseModel):
    status: Literal["item", "wait", "done", "paused", "dropped", "limit", "locked", "round"]
    message: str
    progress: ProgressBody
    assignment: AssignmentBody | None = None
    skips_left: int | None = None
    """How many more items may be skipped, this one included; any number if null."""


class FeedbackBody(BaseModel):
    explanation: str
    details: dict[str, Any] | None = None
    """How the answer compares with the expert's, for the form's module to show; in practice rounds only."""


class OutcomeBody(BaseModel):
    status: Literal["accepted", "already_submitted"]
    feedback: FeedbackBody | None
    right: bool | None
    """Whether the answer was right; shown in practice rounds only."""
    standing: Literal["active", "dropped"]
    progress: ProgressBody


class ReturnedBody(BaseModel):
    status: Literal["returned"]


class LeaseBody(BaseModel):
    expires_at: int
    server_now: int


class ExtendedBody(BaseModel):
    status: Literal["extended"]
    assignment: LeaseBody


class ErrorDetail(BaseModel):
    code: str
    message: str


class ErrorBody(BaseModel):
    error: ErrorDetail


REFUSALS: dict[int | str, dict[str, Any]] = {
    status: {"model": ErrorBody} for status in (400, 401, 403, 404, 409, 410, 413, 422)
}


def add_worker_routes(router: APIRouter, site: Site, parts: Sequence[SitePart] = ()) -> None:
    """Every route of the worker's, pages and interface. The busiest come first."""
    _add_interface(router, site)
    add_arrival_routes(router, site)
    add_withdrawal_routes(router, site)
    _add_pages(router, site, parts)


def _add_pages(router: APIRouter, site: Site, parts: Sequence[SitePart]) -> None:
    study, pages = site.study, site.pages
    makers = [part.home_card for part in parts if part.home_card is not None]

    def _cards(tx: Tx, study: Study, worker_id: int) -> list[HomeCard]:
        return [card for make in makers if (card := make(tx, study, worker_id)) is not None]

    async def current_visit(request: Request) -> Visit | Refusal:
        """A worker's view of the study, or why they are nobody here."""
        try:
            visit = await site.read_as(request, work.start_page)
        except Refusal as refusal:
            return refusal
        return visit or nobody()

    @router.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def home(request: Request) -> Response:
        visit = await current_visit(request)
        if isinstance(visit, Refusal):
            return _signed_out_page(site, request, visit)
        if visit.panel == entering.EXPERTS_PANEL:
            return RedirectResponse(DESK, 303)
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
        return pages.page("worker/home.html", 200, **{**_home_context(site, visit, cards, bonuses), **finish})

    @router.post("/consent", include_in_schema=False)
    async def consent(request: Request, agree: Annotated[str, Form()] = "") -> Response:
        if agree != "yes":
            raise Refusal("no_consent", "Tick the box if you agree to take part. Without it you can't go on.", 422)
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
        return _work_page(site, stage, visit)

    @router.get("/tasks/{name}/{file}", include_in_schema=False)
    async def task_file(name: StageInPath, file: str) -> Response:
        """The module of a task, the modules beside it that it imports, and its style sheet."""
        for stage in study.stages.values():
            path = _files_of(stage.task).get(file) if stage.task.name == name else None
            if path is not None:
                return Response(path.read_text("utf-8"), media_type=_MEDIA_TYPES[path.suffix])
        raise Refusal("not_found", "There is no such file.", 404)


def _signed_out_page(site: Site, request: Request, why: Refusal) -> Response:
    """How to get in; for somebody who was in, what ended their session, and answers that their browser still holds."""
    claim = site.sessions.worker(request.cookies.get(WORKER_COOKIE))
    template = "worker/landing.html" if site.study.settings.arrival.landing else "worker/gone.html"
    return site.pages.page(
        template, ended=None if claim is None else why.message, owner="" if claim is None else claim.pseudonym
    )


def _work_page(site: Site, stage: RunningStage, visit: Visit) -> Response:
    """The page a stage's items are answered on."""
    entered = any(part.entered for part in visit.stages if part.stage.name == stage.name)
    at_desk = visit.panel == entering.EXPERTS_PANEL
    page = site.pages.page(
        "worker/work.html",
        worker=visit.worker,
        stage=stage.settings,
        guidelines_html=markdown(stage.guidelines),
        form_html=Markup(stage.task.form.html),  # noqa: S704 - part of the task's package
        task_module_url=f"/tasks/{stage.task.name}/{stage.task.form.module.name}" if stage.task.form.module else None,
        task_style_url=f"/tasks/{stage.task.name}/{stage.task.form.style.name}" if stage.task.form.style else None,
        api={
            "next_url": f"/api/stages/{stage.name}/next",
            "submit_url_pattern": "/api/assignments/{id}/submit",
            "return_url_pattern": "/api/assignments/{id}/return",
            "extend_url_pattern": "/api/assignments/{id}/extend",
        },
        # Experts have what is to be read beside every question.
        first_visit=not entered and not at_desk,
        home=DESK if at_desk else "/",
        framed=stage.task.form.framed,
        at_desk=at_desk,
        bonuses=bonus_texts(stage.settings.pay, site.study.settings.pay.currency),
    )
    if stage.task.form.framed:
        page.headers["Content-Security-Policy"] = f"{CONTENT_SECURITY_POLICY}; frame-src 'self'"
    return page


_MEDIA_TYPES = {".js": "text/javascript", ".css": "text/css"}


def _files_of(task: Task) -> dict[str, FilePath]:
    """The files of a task that a browser may ask for. Looked up by name, so that no name leads anywhere else."""
    modules = () if task.form.module is None else task.form.module.parent.glob("*.js")
    style = () if task.form.style is None else (task.form.style,)
    return {path.name: path for path in (*modules, *style, *task.form.shared)}


def _home_context(site: Site, visit: Visit, cards: Sequence[HomeCard], bonuses: WorkerBonuses | None) -> dict[str, Any]:
    currency = site.study.settings.pay.currency
    return {
        "worker": visit.worker,
        "messages": [
            {"title": message.title, "html": markdown(message.body), "new": message.read_at is None}
            for message in visit.messages
        ],
        "awaited": visit.awaited,
        "cards": cards,
        "earned_total": money_text(visit.earned, currency),
        # Shown whether a bonus is to come or not: otherwise the note would reveal it.
        "added_later": adds_later(part.stage for part in visit.stages),
        "bonuses": bonuses,
        "stages": [
            {
                "name": part.stage.name,
                "title": part.stage.settings.title,
                "summary": part.stage.task.summary,
                "state": part.state,
                "reason": part.message,
                "places": places_text(part.situation.places),
                "answered": part.answered,
                "earned": money_text(part.earned, currency),
                "pay": pay_text(part.stage.settings, currency),
                "url": f"/stages/{part.stage.name}",
                "guidelines_url": f"/stages/{part.stage.name}#guidelines",
            }
            for part in visit.stages
            # A stage that has no items of its own is there for the tasks of scripts.
            if not (part.stage.task.form.framed and part.state == "finished" and not part.answered)
        ],
    }


def finishing(tx: Tx, study: Study, visit: Visit) -> dict[str, str | None]:
    """The code and the address with which a worker goes back to their panel; none before they have done enough."""
    arrival = study.settings.arrival
    nothing: dict[str, str | None] = {"completion_code": None, "completion_url": None}
    if visit.panel != arrival.panel:
        return nothing
    done, out, seen = arrival.completion_code, arrival.screenout_code, visit
    joined = recruiting.codes_for(tx, study, visit.worker.id) if study.settings.prolific is not None else None
    if joined is not None:
        name, done, out = joined
        seen = visit.within(recruiting.stages_of(study, name))
    if not seen.may_finish(arrival.finish_after):
        return nothing
    code, url = (out if seen.screened_out else None) or done, arrival.completion_url
    if url is not None and "{worker}" in url:
        # Their own id, which they came with: nobody else's page has it.
        url = url.replace("{worker}", quote((workers.identity_of(tx, visit.worker.id) or ("", ""))[1], safe=""))
    if url is not None and "{code}" in url:
        url = None if code is None else url.replace("{code}", code)
    return {"completion_code": code, "completion_url": url}


def _add_interface(router: APIRouter, site: Site) -> None:
    study = site.study
    currency = study.settings.pay.currency

    def progress(of: Progress) -> dict[str, Any]:
        return {"answered": of.answered, "earned": of.earned, "earned_text": money_text(of.earned, currency)}

    @router.post("/api/stages/{name}/next", response_model=OfferBody, responses=REFUSALS)
    async def next_item(request: Request, name: StageInPath) -> Response:
        """The next item to judge. Asking again before answering gives the same one."""
        session, stage = site.claim(request), study.stage(name)
        offer = await site.write(work.next_item, stage, session.worker_id, session)
        if offer.status == "locked" and not await site.read(work.knows_of, stage, session.worker_id):
            raise no_such_stage()
        body: dict[str, Any] = {"status": offer.status, "message": offer.message, "progress": progress(offer.progress)}
        if offer.lease is not None:
            body["assignment"] = {
                "id": offer.lease.token,
                "item": offer.view,
                "arrangement": offer.arrangement,
                "expires_at": offer.lease.expires_at,
                "server_now": study.clock(),
                "pay_text": None if offer.pay is None else money_text(offer.pay, currency),
            }
            body["skips_left"] = offer.skips_left
        return _json(body)

    @router.post("/api/assignments/{token}/submit", response_model=OutcomeBody, responses=REFUSALS)
    async def submit(request: Request, token: TokenInPath, body: Submission) -> Response:
        """Submit an answer. When this answers 200, the answer is on disk; sending it again changes nothing."""
        began = time.monotonic()
        session = site.claim(request)
        given = (token, body.answer, body.key, body.duration_ms)
        outcome = await site.write(work.submit, session.worker_id, *given, session)
        if outcome.status == "accepted" and outcome.standing is Standing.DROPPED:
            await _settle(site)
        await _next_step(began)
        return _json(
            {
                "status": outcome.status,
                "feedback": None
                if outcome.explanation is None
                else {"explanation": outcome.explanation, "details": outcome.details},
                "right": outcome.right,
                "standing": outcome.standing,
                "progress": progress(outcome.progress),
            }
        )

    @router.post("/api/assignments/{token}/extend", response_model=ExtendedBody, responses=REFUSALS)
    async def extend(request: Request, token: TokenInPath) -> Response:
        """Ask for more time: the lease begins anew."""
        expires_at = await site.write_as(request, work.extend, token)
        return _json({"status": "extended", "assignment": {"expires_at": expires_at, "server_now": study.clock()}})

    @router.post("/api/assignments/{token}/return", response_model=ReturnedBody, responses=REFUSALS)
    async def give_back(request: Request, token: TokenInPath) -> Response:
        """Skip an item: give it back unanswered; somebody else will get it."""
        await site.write_as(request, work.skip, token)
        return _json({"status": "returned"})


async def _settle(site: Site) -> None:
    """Settle what a removal changes. The answer is on disk: without a database, the next sweep that has one does it."""
    try:
        await asyncio.to_thread(settling.settle_everything, site.study)
    except UnavailableError as error:
        site.outages.failed(error)


async def _next_step(began: float) -> None:
    """Wait for the next step: gold is graded and an item counted, and how long that took must not show."""
    await asyncio.sleep(-(time.monotonic() - began) % REPLY_STEP_S)


def _json(body: dict[str, Any]) -> Response:
    return Response(json.dumps(body, ensure_ascii=False), media_type="application/json")
