"""Annotators with a password: choosing it by a one-time link, signing in.

No form here carries a token against forged requests: `security.Guard` refuses every change a browser asks for from
another site, before it gets here.
"""

from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Form, Path, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from chorale.engine import sessions, team
from chorale.engine.running import Study
from chorale.model import Refusal, UserError
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
WRONG = "The name or the password is wrong."


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
        return site.pages.page("worker/sign_in.html", status, name=name, problem=problem)

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
            again = page(429, name, f"Too many tries. Wait {error.wait} seconds, then try again.")
            again.headers["Retry-After"] = str(error.wait)
            return again
        return page(401, name, WRONG) if member is None else await _enter(site, member, doorkeeper)


def _add_choosing(router: APIRouter, site: Site, doorkeeper: Doorkeeper) -> None:
    def carried(token: str) -> str:
        nonce = site.sessions.read_link("team", token)
        if nonce is None:
            raise Refusal("bad_link", "This link is not valid. Copy the whole link, or ask for a new one.", 403)
        return nonce

    @router.get("/team/{token}", response_class=HTMLResponse, include_in_schema=False)
    async def choose_page(token: TokenInPath) -> Response:
        member = await site.read(_owner_of, carried(token))
        return site.pages.page("worker/choose_password.html", name=member.name, problem=None)

    @router.post("/team/{token}", include_in_schema=False)
    async def choose(token: TokenInPath, password: Password = "", again: Password = "") -> Response:
        nonce = carried(token)
        member = await site.read(_owner_of, nonce)
        try:
            check_new_password(member.name, password, again)
        except UserError as error:
            page = {"name": member.name, "problem": error.message}
            return site.pages.page("worker/choose_password.html", 422, **page)
        hashed = await doorkeeper.passwords.hash(password)
        return await _enter(site, await site.write(_choose, nonce, hashed), doorkeeper)


def _owner_of(tx: Tx, study: Study, token: str) -> Member:
    return team.link_owner(tx, study.clock(), token)


def _choose(tx: Tx, study: Study, token: str, password_hash: str) -> Member:
    return team.choose_password(tx, study.clock(), token, password_hash)
