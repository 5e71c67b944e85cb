"""The site of one study."""

import asyncio
import logging
import os
import signal
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, suppress
from itertools import count
from pathlib import Path

from fastapi import FastAPI, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

from chorale import __version__
from chorale.engine import arrivals, settling, work
from chorale.engine.advancing import advance
from chorale.engine.quality import review_workers
from chorale.engine.retention import act_daily
from chorale.engine.running import Study
from chorale.model import Refusal, UserError
from chorale.model.problems import UnavailableError
from chorale.model.wording import joined, worded
from chorale.platforms.prolific import Prolific
from chorale.registry import blaming, loaded_parts
from chorale.store import in_use
from chorale.store.in_use import OtherVersionError
from chorale.store.opening import revisions
from chorale.web.annotating import annotate_for_ever, keeps_annotating
from chorale.web.console import console_routes
from chorale.web.limits import CookieOwner, FairQueue
from chorale.web.links import signing_key, study_sessions
from chorale.web.logs import AccessLog, CodeName
from chorale.web.mailing import send_mail
from chorale.web.notifications import Notifications, add_notification_route, sync_for_ever
from chorale.web.outages import RETRY_AFTER_SECONDS, server_problem, unavailable
from chorale.web.pages import STATIC, Pages, StaticFilesForever, add_static
from chorale.web.parts import SitePart, refuse_clashes
from chorale.web.security import HEADERS, Guard
from chorale.web.serving import OtherAccounts, Site
from chorale.web.sessions import WORKER_COOKIE
from chorale.web.signed_links import SignedLinks, keys_of
from chorale.web.worker import add_worker_routes

SWEEP_SECONDS = 2.0
MAIL_SECONDS = 30
SWEEPS_PER_REVIEW = 5
SWEEPS_PER_RETENTION = 300
# The share of time that updates of labels after changed trust may take. In a large study, one update takes long
# enough to delay answers.
SETTLING_SHARE = 0.1
_TITLES = {
    401: worded("Please sign in"),
    403: worded("No access"),
    404: worded("Page not found"),
    405: worded("Page not found"),
    500: worded("Something went wrong"),
    503: worded("Not available at the moment"),
}
log = logging.getLogger("chorale.web")


def create_app(
    study: Study,
    *,
    public_url: str | None = None,
    prolific: Prolific | None = None,
    preview: bool | None = None,
    folder: Path | None = None,
    access_log: bool = False,
    requests_per_second: float = 0.0,
    root: str = "",
    other_accounts: OtherAccounts | None = None,
    sweeps: Callable[[], bool] = lambda: True,
) -> FastAPI:
    """The ASGI application of an open study.

    The caller closes the study. With `prolific`, arrivals from Prolific are verified, and the site synchronises with
    it. With `preview`, the site is only for this computer; this is the default without a public address. `folder` has
    the files of the study. `requests_per_second` is the limit per worker; 0 for no limit. `root` is the path of the
    study if it is one of several on a server (`web/several.py`), and `other_accounts` are those in the other studies.
    While `sweeps` is false, periodic work is left to the caller.
    """
    by_kit: dict[str, SitePart] = loaded_parts(lambda kit: kit.site, study.task_names)
    refuse_clashes(by_kit)
    parts = list(by_kit.values())
    site = Site(
        study,
        Pages(study, [part.templates for part in parts if part.templates is not None], root),
        study_sessions(study),
        public_url,
        prolific,
        *_arrivals(study, public_url, prolific, preview, folder),
        folder=folder,
        root=root,
        other_accounts=other_accounts,
    )
    notifications = Notifications()
    app = FastAPI(
        title=f"Chorale: {study.settings.study.title}",
        version=__version__,
        docs_url=None,
        redoc_url=None,
        lifespan=_sweeping(site, parts, notifications, folder, sweeps),
    )
    # Added directly to the application's router: an included router costs an additional look-up per request.
    add_worker_routes(app.router, site, parts)
    if study.settings.prolific is not None and study.settings.prolific.webhooks:
        add_notification_route(app.router, notifications)
    _add_routes_of_kits(app, site, by_kit)
    app.router.routes += console_routes(site, parts).routes
    mount_static(app, parts)
    if requests_per_second:
        _limit_requests(app, site, requests_per_second)
    app.add_middleware(Guard, from_frames=frozenset().union(*(part.from_frames for part in parts)))
    if access_log:
        app.add_middleware(AccessLog)
    _add_error_pages(app, site)
    app.state.site, app.state.parts = site, parts
    return app


def _limit_requests(app: FastAPI, site: Site, per_second: float) -> None:
    anybody_joins = site.open_by_url or site.study.settings.arrival.landing
    app.add_middleware(FairQueue, per_second=per_second, cookie_owner=_cookie_owner(site), limits_joining=anybody_joins)


def _add_routes_of_kits(app: FastAPI, site: Site, by_kit: Mapping[str, SitePart]) -> None:
    for kit, part in by_kit.items():
        if part.add_routes is not None:
            with blaming(f"part of the site of the kit `{kit}`"):
                part.add_routes(app.router, site)


def mount_static(app: FastAPI, parts: Iterable[SitePart]) -> None:
    """Serve the software's own static files, and those of kits."""
    for part in parts:
        if part.static is not None:
            add_static(part.name, part.static)
            app.mount(f"/static/{part.name}", StaticFilesForever(directory=part.static), name=f"static-{part.name}")
    app.mount("/static", StaticFilesForever(directory=STATIC), name="static")


def _cookie_owner(site: Site) -> CookieOwner:
    def owner(name: str, value: str) -> str | None:
        if name == WORKER_COOKIE:
            worker = site.sessions.worker(value)
            return None if worker is None else worker.pseudonym
        member = site.sessions.staff(value)
        return None if member is None else member.name

    return owner


def _arrivals(
    study: Study, public_url: str | None, prolific: Prolific | None, preview: bool | None, folder: Path | None
) -> tuple[bool, SignedLinks | None]:
    """Whether people can join by a platform's link, and the verifier of signed links."""
    arrival = study.settings.arrival
    alone = public_url is None if preview is None else preview
    asks = prolific is not None
    is_open = study.store.look(lambda tx: arrivals.by_url(tx, study, preview=alone, asks_prolific=asks)).is_open
    if arrival.signed is None:
        return is_open, None
    if public_url is None:
        raise UserError("Signed links contain the address of their site. Set it with --public-url.")
    return is_open, SignedLinks(arrival, keys_of(arrival, folder), public_url)


def _sweeping(
    site: Site,
    parts: Sequence[SitePart],
    notifications: Notifications,
    folder: Path | None,
    sweeps: Callable[[], bool],
) -> Callable[[FastAPI], AbstractAsyncContextManager[None]]:
    """Handle expired assignments, changed trust and a new signing key while the site runs."""
    study, prolific = site.study, site.prolific

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        await _note(site)
        tasks = [asyncio.create_task(_sweep_for_ever(site, parts, sweeps))]
        if prolific is not None and study.settings.prolific is not None:
            tasks.append(asyncio.create_task(sync_for_ever(site, prolific, notifications)))
        if folder is not None and keeps_annotating(study):
            tasks.append(asyncio.create_task(annotate_for_ever(study, folder)))
        if study.settings.mail is not None:
            tasks.append(asyncio.create_task(_mail_for_ever(study)))
        yield
        for task in tasks:
            task.cancel()
        # If the database is unavailable, other versions wait until this server's record expires.
        with suppress(Exception):
            await asyncio.wrap_future(study.store.write(lambda tx: in_use.end(tx, site.process)))

    return lifespan


async def _note(site: Site) -> None:
    """Record that this server uses the database, so that no other version opens it."""
    _, schema = revisions()
    await asyncio.wrap_future(site.study.store.write(lambda tx: in_use.note(tx, site.process, schema)))


def next_settling(began: float, ended: float) -> float:
    """The earliest time of the next update of labels, from the times when the last one began and ended."""
    return began + (ended - began) / SETTLING_SHARE


async def _sweep_for_ever(site: Site, parts: Sequence[SitePart], sweeps: Callable[[], bool]) -> None:
    study, outages = site.study, site.outages
    settle_at = 0.0
    for number in count(1):
        await asyncio.sleep(SWEEP_SECONDS)
        try:
            await renew_key(site)
            if number % SWEEPS_PER_REVIEW == 0:
                await _note(site)
            if not sweeps():
                continue
            await asyncio.wrap_future(study.store.write(lambda tx: work.expire_leases(tx, study)))
            outages.worked()
            await _sweep_parts(study, parts)
            # Every gold answer changes a worker's trust and labels; updating them at once would be wasteful.
            if number % SWEEPS_PER_REVIEW == 0:
                if time.monotonic() >= settle_at:
                    began = time.monotonic()
                    await asyncio.to_thread(settling.settle_everything, study)
                    settle_at = next_settling(began, time.monotonic())
                await asyncio.to_thread(review_workers, study)
                await asyncio.wrap_future(study.store.write(lambda tx: advance(tx, study)))
            if number % SWEEPS_PER_RETENTION == 1:
                await asyncio.to_thread(act_daily, study)
        except UnavailableError as error:
            outages.failed(error)
        except OtherVersionError:
            log.error("another version of Chorale has changed the database: this server stops")
            os.kill(os.getpid(), signal.SIGTERM)
            return
        except Exception:
            # The next sweep completes what this one could not; an open site must not stop sweeping.
            log.exception("returning expired items and updating labels failed; trying again in %s s", SWEEP_SECONDS)


async def renew_key(site: Site) -> None:
    """Use the new signing key if `chorale rotate` has replaced the old one. That command can't notify this process."""
    site.sessions.use(await site.read(signing_key))


async def _sweep_parts(study: Study, parts: Sequence[SitePart]) -> None:
    for part in parts:
        try:
            if part.sweep is not None:
                await part.sweep(study)
        except Exception:
            # A failing kit must not prevent the site from settling labels.
            log.exception("the regular work of %s failed; trying again in %s s", CodeName(part.name), SWEEP_SECONDS)


async def _mail_for_ever(study: Study) -> None:
    """Send queued e-mail. Temporarily rejected e-mail is retried later."""
    while True:
        await asyncio.sleep(MAIL_SECONDS)
        try:
            await asyncio.to_thread(send_mail, study)
        except UserError as error:
            log.warning("sending e-mail failed; trying again: %s. `chorale mail` shows why.", type(error))
        except Exception:
            log.exception("sending e-mail failed; trying again in %s s", MAIL_SECONDS)


def _add_error_pages(app: FastAPI, site: Site) -> None:
    def answer(request: Request, status: int, code: str, message: str, what_next: str = "") -> Response:
        if request.url.path.startswith("/api/"):
            words = site.study.language.translated(joined(message, what_next))
            return JSONResponse({"error": {"code": code, "message": words}}, status)
        title = _TITLES.get(status, worded("Not possible"))
        return site.pages.error(status, title, message, what_next)

    @app.exception_handler(Refusal)
    async def refused(request: Request, refusal: Refusal) -> Response:
        return answer(request, refusal.status, refusal.code, refusal.message)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        first = error.errors()[0]
        where = ".".join(str(part) for part in first["loc"] if part != "body") or "the request"
        return answer(request, 422, "invalid_request", f"{where}: {first['msg']}")

    @app.exception_handler(HTTPException)
    async def failed(request: Request, error: HTTPException) -> Response:
        codes = {404: "not_found", 405: "method_not_allowed", 413: "too_large"}
        # The address of a form has no page: it was typed, or the browser returned to it.
        no_page = error.status_code == 404 or (error.status_code == 405 and request.method == "GET")
        message = worded("There is no page at this address.") if no_page else str(error.detail)
        response = answer(request, error.status_code, codes.get(error.status_code, "bad_request"), message)
        for name, value in (error.headers or {}).items():
            response.headers[name] = value
        return response

    @app.exception_handler(UnavailableError)
    async def out_of_reach(request: Request, error: UnavailableError) -> Response:
        site.outages.failed(error)
        response = answer(request, 503, "unavailable", *unavailable(request.method, request.url.path))
        response.headers["Retry-After"] = str(RETRY_AFTER_SECONDS)
        return response

    @app.exception_handler(Exception)
    async def broken(request: Request, _error: Exception) -> Response:
        response = answer(request, 500, "server_error", *server_problem(request.method, request.url.path))
        # This response does not pass through the Guard.
        response.headers.update(HEADERS)
        return response
