"""Annotators with a password: choosing it by a one-time link, and signing in.

Forms need no CSRF token: `security.Guard` refuses all cross-site changes before they get here.
"""

from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Form, Path, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from chorale.engine import sessions, team
from chorale.engine.running import Study
from chorale.model import Refusal, UserError
from chorale.model.wording import Wording, worded
from chorale.store import Tx
from chorale.store.team import Member, has_members
from chorale.web.arriving import signed_in_worker
from chorale.web.doorkeeper import Doorkeeper, TooManyTriesError
from chorale.web.serving import Site
from chorale.web.sessions import WORKER_COOKIE
from chorale.web.staff import LONGEST_PASSWORD, check_new_password

TokenInPath = Annotated[str, Path(min_length=1, max_length=500)]
Name = Annotated[str, Form(max_length=80, pattern=r"^[^\x00]*$")]
Password = Annotated[str, Form(max_length=LONGEST_PASSWORD)]
WRONG = worded("The name or the password is wrong.")


def too_many_tries(wait: int) -> Wording:
    return worded("Too many attempts. Try again in {number} s.", number=wait)


def has_team(tx: Tx, _study: Study) -> bool:
    return has_members(tx)


def add_team_routes(router: APIRouter, site: Site) -> None:
    doorkeeper = Doorkeeper(site.study.store, site.study.clock, site.set_cookie, is_team=True)
    _add_sign_in(router, site, doorkeeper)
    _add_choosing(router, site, doorkeeper)


async def _enter(site: Site, member: Member, doorkeeper: Doorkeeper) -> Response:
    session = await site.write(team.sign_in, member.login, member.session_version)
    return doorkeeper.remember_device(signed_in_worker(site, session), member.login)


def _add_sign_in(router: APIRouter, site: Site, doorkeeper: Doorkeeper) -> None:
    def page(status: int = 200, name: str = "", problem: str | None = None) -> HTMLResponse:
        said = None if problem is None else site.pages.language.translated(problem)
        return site.pages.page("worker/sign_in.html", status, name=name, problem=said)

    @router.get("/sign-in", response_class=HTMLResponse, include_in_schema=False)
    async def sign_in_page(request: Request) -> Response:
        claim = site.sessions.worker(request.cookies.get(WORKER_COOKIE))
        if claim is None:
            return page()
        with suppress(Refusal):
            await site.read(sessions.check, claim)
            return RedirectResponse("/", 303)
        return page()

    @router.post("/sign-in", include_in_schema=False)
    async def sign_in(request: Request, name: Name = "", password: Password = "") -> Response:
        try:
            member = await doorkeeper.member(request, name, password)
        except TooManyTriesError as error:
            again = page(429, name, too_many_tries(error.wait))
            again.headers["Retry-After"] = str(error.wait)
            return again
        return page(401, name, WRONG) if member is None else await _enter(site, member, doorkeeper)


def _add_choosing(router: APIRouter, site: Site, doorkeeper: Doorkeeper) -> None:
    elsewhere, here = site.other_accounts, site.root.removeprefix("/")

    def carried(token: str) -> str:
        nonce = site.sessions.read_link("team", token)
        if nonce is None:
            raise team.bad_link()
        return nonce

    def page(member: Member, status: int = 200, problem: str | None = None) -> Response:
        said = None if problem is None else site.pages.language.translated(problem)
        several = elsewhere is not None
        return site.pages.page("worker/choose_password.html", status, name=member.name, problem=said, several=several)

    @router.get("/team/{token}", response_class=HTMLResponse, include_in_schema=False)
    async def choose_page(token: TokenInPath) -> Response:
        return page(await site.read(_owner_of, carried(token)))

    @router.post("/team/{token}", include_in_schema=False)
    async def choose(
        request: Request, token: TokenInPath, password: Password = "", again: Password = "", known: Password = ""
    ) -> Response:
        """Choose a password, or confirm the existing one from another study on this server."""
        nonce = carried(token)
        member = await site.read(_owner_of, nonce)
        try:
            if known and elsewhere is not None:
                hashed = await elsewhere.password_hash(request, here, member.login, known)
                if hashed is None:
                    return page(member, 401, worded("This is not the password you have on this server."))
            else:
                check_new_password(member.name, password, again)
                hashed = await doorkeeper.passwords.hash(password)
        except TooManyTriesError as error:
            return page(member, 429, too_many_tries(error.wait))
        except UserError as error:
            return page(member, 422, error.message)
        return await _enter(site, await site.write(_choose, nonce, hashed), doorkeeper)


def _owner_of(tx: Tx, study: Study, token: str) -> Member:
    return team.link_owner(tx, study.clock(), token)


def _choose(tx: Tx, study: Study, token: str, password_hash: str) -> Member:
    return team.choose_password(tx, study.clock(), token, password_hash)
