"""Annotators with a password: inviting them, giving them a new link, deactivating and reactivating their accounts."""

from collections.abc import Callable
from typing import Annotated

from fastapi import Form, Request, Response

from chorale.engine import team
from chorale.engine.running import Study
from chorale.engine.team import NewLink, TeamMember
from chorale.model import UserError
from chorale.store import Tx
from chorale.web.console.frame import NO_NUL, WHY_NEEDED, Console, Everywhere, Reason, back_to
from chorale.web.links import team_link_path

PATH = "/console/annotators"
Name = Annotated[str, Form(max_length=60, pattern=NO_NUL)]


def add_annotator_routes(console: Console) -> None:
    router, site = console.for_owner, console.site

    async def page(request: Request, code: int = 200, **context: object) -> Response:
        listed = await site.read(_accounts)
        shown = {"accounts": listed, "made": None, "owned": await site.owned_elsewhere(request), **context}
        return console.page(request, "annotators", code, **shown)

    async def with_link(request: Request, make: Callable[..., NewLink], name: str) -> Response:
        """The page with a new link, which is shown only once."""
        try:
            made = await site.write(_made, make, name, request.state.staff.name)
        except UserError as error:
            return await page(request, 422, problem=error.message)
        link = site.base_url(request) + team_link_path(site.sessions, made.token)
        return await page(request, made={"name": made.name, "link": link, "days": made.hours // 24})

    @router.get("/annotators")
    async def everybody(request: Request) -> Response:
        return await page(request)

    @router.post("/annotators")
    async def invite(request: Request, name: Name = "") -> Response:
        return await with_link(request, team.invite, name)

    @router.post("/annotators/reset")
    async def reset(request: Request, name: Name = "") -> Response:
        return await with_link(request, team.reset, name)

    @router.post("/annotators/reactivate")
    async def reactivate(request: Request, name: Name = "") -> Response:
        return await with_link(request, team.reactivate, name)

    @router.post("/annotators/deactivate")
    async def deactivate(
        request: Request, name: Name = "", reason: Reason = "", everywhere: Everywhere = ""
    ) -> Response:
        if not reason.strip():
            return await page(request, 422, problem=WHY_NEEDED)
        try:
            await site.write(team.deactivate, name, request.state.staff.name, reason)
        except UserError as error:
            return await page(request, 422, problem=error.message)
        if not everywhere or site.other_accounts is None:
            return back_to(PATH, "deactivated")
        more = await site.other_accounts.deactivate_in(await site.owned_elsewhere(request), name, reason)
        return back_to(PATH, "deactivated-everywhere", 1 + more)


def _accounts(tx: Tx, study: Study) -> list[TeamMember]:
    return team.accounts(tx, study.clock())


def _made(tx: Tx, study: Study, make: Callable[..., NewLink], name: str, by: str) -> NewLink:
    return make(tx, study.clock(), name, by)
