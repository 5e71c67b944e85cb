"""The front page of a server with several studies: one sign-in, and a list of the studies."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Annotated, Any

from fastapi import APIRouter, FastAPI, Form, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse
from starlette.exceptions import HTTPException

from chorale import __version__
from chorale.model import Refusal, UserError
from chorale.model.problems import UnavailableError
from chorale.model.wording import worded
from chorale.web.accounts import MEMBER, Account, Accounts
from chorale.web.app import mount_static
from chorale.web.console.signing_in import START, local_path
from chorale.web.doorkeeper import TooManyTriesError
from chorale.web.front_languages import FrontPages
from chorale.web.invalid import invalid_input
from chorale.web.limits import FairQueue
from chorale.web.links import EXPERT, OWNER, QUEUE, VIEWER
from chorale.web.logs import AccessLog
from chorale.web.outages import server_problem, unavailable
from chorale.web.parts import SitePart
from chorale.web.security import HEADERS, Guard
from chorale.web.sessions import FRONT_COOKIE
from chorale.web.staff import check_new_password
from chorale.web.team import WRONG, Name, Password, too_many_tries
from chorale.web.worker import add_sentences_route

Lifespan = Callable[[FastAPI], AbstractAsyncContextManager[None]]
Study = Annotated[str, Form(max_length=40)]
To = Annotated[str, Form(max_length=10)]
WORK, CONSOLE = "work", "console"
_NOT_AVAILABLE = worded("Not available at the moment")
_KINDS = {WORK: (MEMBER,), CONSOLE: (OWNER, EXPERT, VIEWER)}
"""The kinds of accounts for each part of a study, the kind with the most rights first."""


@dataclass(frozen=True)
class _Front:
    """The state of a front page."""

    accounts: Accounts
    pages: FrontPages
    secure: bool
    """Whether cookies are sent only over an encrypted connection."""

    def page(
        self, request: Request, template: str, status: int = 200, problem: str | None = None, **context: Any
    ) -> Response:
        pages = self.pages.of(request)
        said = None if problem is None else pages.language.translated(problem)
        return pages.page(f"front/{template}.html", status, problem=said, **context)

    def sign_in_page(self, request: Request, status: int = 200, problem: str | None = None, **asked: str) -> Response:
        fields = {"name": "", "study_name": "", "to": WORK, "next": "", **asked}
        return self.page(request, "sign_in", status, problem, **fields)

    def studies_page(self, request: Request, accounts: list[Account]) -> Response:
        """The studies that a person is signed in to, sorted by title."""
        by_study: dict[str, set[str]] = {}
        for account in accounts:
            by_study.setdefault(account.study, set()).add(account.kind)
        titles = {name: self.accounts.sites[name].study.settings.study.title for name in by_study}
        repeated = {title for title, times in Counter(titles.values()).items() if times > 1}
        listed = [
            {
                "name": name,
                # The name of the folder distinguishes studies with the same title.
                "title": f"{titles[name]} ({name})" if titles[name] in repeated else titles[name],
                "works": MEMBER in kinds,
                "manages": not kinds.isdisjoint(_KINDS[CONSOLE]),
            }
            for name, kinds in by_study.items()
        ]
        return self.page(
            request,
            "studies",
            name=accounts[0].name,
            listed=sorted(listed, key=lambda one: str(one["title"])),
            has_password=any(account.password_hash is not None for account in accounts),
        )


@dataclass(frozen=True, slots=True)
class FrontOptions:
    """Options of the front page."""

    secure: bool = False
    """Whether cookies are sent only over an encrypted connection."""
    access_log: bool = False
    requests_per_second: float = 0.0
    """Request limit per address; 0 for no limit."""


def create_front(
    accounts: Accounts, closed: Collection[str], parts: Iterable[SitePart], lifespan: Lifespan, options: FrontOptions
) -> FastAPI:
    """The application for all paths outside of studies. `closed` are studies that could not be opened."""
    pages = FrontPages([site.study.settings for site in accounts.sites.values()])
    app = FastAPI(
        title="Chorale", version=__version__, docs_url=None, redoc_url=None, openapi_url=None, lifespan=lifespan
    )
    front = _Front(accounts, pages, options.secure)
    _add_signing_in(app.router, front)
    _add_studies(app.router, front)
    _add_password(app.router, front)
    add_sentences_route(app.router, pages.of)
    mount_static(app, parts)
    if options.requests_per_second:
        app.add_middleware(
            FairQueue, per_second=options.requests_per_second, cookie_owner=lambda *_: None, limits_joining=False
        )
    app.add_middleware(Guard)
    if options.access_log:
        app.add_middleware(AccessLog)
    _add_errors(app, pages, closed)
    return app


def _add_signing_in(router: APIRouter, front: _Front) -> None:
    accounts = front.accounts

    @router.get("/sign-in/{study}/{to}", include_in_schema=False)
    async def sign_in_page(
        request: Request, study: str, to: str, wanted: Annotated[str, Query(alias="next", max_length=2000)] = ""
    ) -> Response:
        """The page for people who are not signed in to a study: redirects back to it if they are signed in here."""
        account = _account(await accounts.signed_in(request), study, to)
        if account is None:
            return front.sign_in_page(request, study_name=study, to=to, next=wanted)
        return await accounts.enter(account, _path(account, wanted))

    @router.post("/sign-in", include_in_schema=False)
    async def sign_in(
        request: Request,
        name: Name = "",
        password: Password = "",
        study: Study = "",
        to: To = WORK,
        wanted: Annotated[str, Form(alias="next", max_length=2000)] = "",
    ) -> Response:
        asked = {"name": name, "study_name": study, "to": to, "next": wanted}
        try:
            opened = await accounts.with_password(request, password, name)
        except TooManyTriesError as error:
            again = front.sign_in_page(request, 429, too_many_tries(error.wait), **asked)
            again.headers["Retry-After"] = str(error.wait)
            return again
        if not opened:
            return front.sign_in_page(request, 401, WRONG, **asked)
        account = _account(opened, study, to)
        response = (
            RedirectResponse("/", 303) if account is None else await accounts.enter(account, _path(account, wanted))
        )
        return accounts.remember(response, opened, secure=front.secure)

    @router.post("/sign-out", include_in_schema=False)
    async def sign_out(request: Request) -> Response:
        await accounts.sign_out(await accounts.signed_in(request))
        response = RedirectResponse("/", 303)
        response.delete_cookie(FRONT_COOKIE, httponly=True, samesite="lax", secure=front.secure)
        return response


def _account(accounts: Iterable[Account], study: str, to: str) -> Account | None:
    there = {one.kind: one for one in accounts if one.study == study}
    return next((there[kind] for kind in _KINDS.get(to, ()) if kind in there), None)


def _path(account: Account, wanted: str) -> str:
    if account.kind == MEMBER:
        return "/"
    return local_path(wanted or (QUEUE if account.kind == EXPERT else START))


def _add_studies(router: APIRouter, front: _Front) -> None:
    accounts = front.accounts

    @router.get("/", response_class=HTMLResponse, include_in_schema=False)
    async def studies(request: Request) -> Response:
        opened = await accounts.signed_in(request)
        return front.studies_page(request, opened) if opened else front.sign_in_page(request)

    @router.post("/enter", include_in_schema=False)
    async def enter(request: Request, study: Study = "", to: To = WORK) -> Response:
        account = _account(await accounts.signed_in(request), study, to)
        return RedirectResponse("/", 303) if account is None else await accounts.enter(account, _path(account, ""))


def _add_password(router: APIRouter, front: _Front) -> None:
    accounts = front.accounts

    @router.get("/password", response_class=HTMLResponse, include_in_schema=False)
    async def password_page(request: Request) -> Response:
        opened = await accounts.signed_in(request)
        return front.page(request, "password", name=opened[0].name) if opened else RedirectResponse("/", 303)

    @router.post("/password", include_in_schema=False)
    async def change(
        request: Request, current: Password = "", password: Password = "", again: Password = ""
    ) -> Response:
        """Change the password in every study where the current one is correct, to keep it the same."""
        signed_in = await accounts.signed_in(request)
        if not signed_in:
            return RedirectResponse("/", 303)
        name, *others = dict.fromkeys(account.name for account in signed_in)
        try:
            check_new_password(name, password, again)
            opened = await accounts.with_password(request, current, name, *others)
        except TooManyTriesError as error:
            return front.page(request, "password", 429, too_many_tries(error.wait), name=name)
        except UserError as error:
            return front.page(request, "password", 422, error.message, name=name)
        if not opened:
            return front.page(request, "password", 422, worded("The current password is wrong."), name=name)
        changed = await accounts.change_password(opened, await accounts.passwords.hash(password))
        return accounts.remember(RedirectResponse("/", 303), changed, secure=front.secure)


def _add_errors(app: FastAPI, pages: FrontPages, closed: Collection[str]) -> None:
    def answer(request: Request, status: int, title: str, message: str, what_next: str = "") -> Response:
        return pages.of(request).error(status, title, message, what_next)

    @app.exception_handler(HTTPException)
    async def failed(request: Request, error: HTTPException) -> Response:
        if request.url.path.removeprefix("/").partition("/")[0] in closed:
            return answer(request, 503, _NOT_AVAILABLE, *unavailable("GET", ""))
        if error.status_code == 404:
            return answer(request, 404, worded("Page not found"), worded("There is no page at this address."))
        return answer(request, error.status_code, worded("Not possible"), str(error.detail))

    @app.exception_handler(Refusal)
    async def refused(request: Request, refusal: Refusal) -> Response:
        return answer(request, refusal.status, worded("Not possible"), refusal.message)

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Request, error: RequestValidationError) -> Response:
        return answer(request, 422, worded("Not possible"), invalid_input(error))

    @app.exception_handler(UnavailableError)
    async def out_of_reach(request: Request, _error: UnavailableError) -> Response:
        return answer(request, 503, _NOT_AVAILABLE, *unavailable(request.method, ""))

    @app.exception_handler(Exception)
    async def broken(request: Request, _error: Exception) -> Response:
        response = answer(request, 500, worded("Something went wrong"), *server_problem(request.method, ""))
        # This response does not pass through the Guard.
        response.headers.update(HEADERS)
        return response
