"""Setting up, signing in and out, changing the password.

The forms have no CSRF tokens, because `security.Guard` refuses cross-site requests that change anything.
"""

import re
from typing import Annotated

from fastapi import APIRouter, Form, Path, Query, Request, Response
from fastapi.responses import RedirectResponse

from chorale.model import Refusal, UserError
from chorale.web import staff
from chorale.web.console.frame import NO_NUL, Console, back_to
from chorale.web.doorkeeper import Doorkeeper, TooManyTriesError
from chorale.web.links import EXPERT, QUEUE, VIEWER
from chorale.web.sessions import STAFF_COOKIE, WORKER_COOKIE

START = "/console"

NAME_PATTERN = r"[A-Za-z0-9._@+-]{1,80}"
TokenInPath = Annotated[str, Path(min_length=1, max_length=500)]
Name = Annotated[str, Form(max_length=80, pattern=NO_NUL)]
Password = Annotated[str, Form(max_length=staff.LONGEST_PASSWORD)]


def add_signing_in_routes(console: Console, router: APIRouter) -> None:
    """Add the routes that need no session (set-up, sign-in, links) to `router`, and the owner's account page."""
    site = console.site
    doorkeeper = Doorkeeper(site.study.store, site.study.clock, site.set_cookie)
    _add_set_up(router, console, doorkeeper)
    _add_login(router, console, doorkeeper)
    _add_links(router, console)
    _add_account(console, doorkeeper)


def local_path(wanted: str) -> str:
    """The page to open after signing in: the requested one if it is in the console, otherwise the start page."""
    return wanted if wanted == START or wanted.startswith((f"{START}/", f"{START}?")) else START


def _add_set_up(router: APIRouter, console: Console, doorkeeper: Doorkeeper) -> None:
    site = console.site

    async def check(token: str) -> None:
        if not await site.write(staff.is_setup_token, site.sessions.read_link("setup", token)):
            raise Refusal("bad_link", "This set-up link is not valid. Copy the whole link the server printed.", 403)
        await site.read(staff.refuse_second_owner)

    @router.get("/setup/{token}")
    async def set_up_page(request: Request, token: TokenInPath) -> Response:
        await check(token)
        return console.page(request, "setup", name="owner")

    @router.post("/setup/{token}")
    async def set_up(request: Request, token: TokenInPath, name: Name, password: Password, again: Password) -> Response:
        await check(token)
        try:
            if not re.fullmatch(NAME_PATTERN, name):
                raise UserError("A user name has 1 to 80 letters, digits and . _ @ + - (no spaces).")
            staff.check_new_password(name, password, again)
            row = await site.write(staff.make_owner, name, await doorkeeper.passwords.hash(password))
        except UserError as error:
            return console.page(request, "setup", 422, name=name, problem=error.message)
        return doorkeeper.remember_device(await staff.signed_in(site, row, START), row.name)


def _add_login(router: APIRouter, console: Console, doorkeeper: Doorkeeper) -> None:
    site = console.site

    @router.get("/login")
    async def login_page(
        request: Request, wanted: Annotated[str, Query(alias="next", max_length=2000)] = START
    ) -> Response:
        if await staff.who_is_it(site, request) is not None:
            return RedirectResponse(local_path(wanted), 303)
        session = site.sessions.staff(request.cookies.get(STAFF_COOKIE))
        restored = None if session is None else await site.read(staff.restored_since, session)
        return console.page(request, "login", name="", next=local_path(wanted), problem=restored)

    @router.post("/login")
    async def login(
        request: Request,
        name: Annotated[str, Form(max_length=80, pattern=NO_NUL)] = "",
        password: Password = "",
        wanted: Annotated[str, Form(alias="next", max_length=2000)] = START,
    ) -> Response:
        def again(status: int, problem: str) -> Response:
            return console.page(request, "login", status, name=name, next=local_path(wanted), problem=problem)

        try:
            row = await doorkeeper.owner(request, name, password)
        except TooManyTriesError as error:
            return _with_retry_after(again(429, _patience(error.wait)), error.wait)
        if row is None:
            return again(401, "The user name or password is wrong.")
        return doorkeeper.remember_device(await staff.signed_in(site, row, local_path(wanted)), row.name)

    @router.post("/logout")
    async def logout(request: Request) -> Response:
        row = await staff.who_is_it(site, request)
        # A cookie somebody copied must not outlive the signing out.
        at_desk = None if row is None else await site.write(staff.end_sessions, row.name)
        response = RedirectResponse("/login", 303)
        worker = site.sessions.worker(request.cookies.get(WORKER_COOKIE))
        # This also ends their session as a worker in the review queue.
        leaves_desk = worker is not None and worker.worker_id == at_desk
        for cookie in (STAFF_COOKIE, *((WORKER_COOKIE,) if leaves_desk else ())):
            site.delete_cookie(response, cookie)
        return response


def _patience(wait: int) -> str:
    return f"Too many attempts. Wait {wait} seconds, then try again."


def _with_retry_after(response: Response, wait: int) -> Response:
    response.headers["Retry-After"] = str(wait)
    return response


def _add_links(router: APIRouter, console: Console) -> None:
    site = console.site

    async def enter(request: Request, role: str, token: str, start: str) -> Response:
        name = site.sessions.read_link(role, token)
        if name is None:
            raise Refusal("bad_link", "This link is not valid. Copy the whole link, or ask for a new one.", 403)
        response = await staff.signed_in(site, await site.write(staff.enter_by_link, name, role), start)
        if site.other_accounts is not None:
            await site.other_accounts.remember_link(request, response, site.name_on_server, name)
        return response

    @router.get("/expert/{token}")
    async def expert(request: Request, token: TokenInPath) -> Response:
        return await enter(request, EXPERT, token, QUEUE)

    @router.get("/viewer/{token}")
    async def viewer(request: Request, token: TokenInPath) -> Response:
        return await enter(request, VIEWER, token, START)


def _add_account(console: Console, doorkeeper: Doorkeeper) -> None:
    router, site = console.for_owner, console.site

    @router.get("/account")
    async def account(request: Request) -> Response:
        return console.page(request, "account")

    @router.post("/account")
    async def new_password(request: Request, current: Password, password: Password, again: Password) -> Response:
        name = request.state.staff.name
        try:
            if await doorkeeper.owner(request, name, current) is None:
                raise UserError("The current password is wrong.")
            staff.check_new_password(name, password, again)
        except TooManyTriesError as error:
            return _with_retry_after(console.page(request, "account", 429, problem=_patience(error.wait)), error.wait)
        except UserError as error:
            return console.page(request, "account", 422, problem=error.message)
        row = await site.write(staff.change_password, name, await doorkeeper.passwords.hash(password))
        response = back_to("/console/account", "password")
        # This browser stays signed in; all others have to sign in again.
        response.headers["set-cookie"] = (await staff.signed_in(site, row, START)).headers["set-cookie"]
        return response
