"""The team: links for experts and viewers, and revoking them."""

from typing import Annotated

from fastapi import Form, Request, Response

from chorale.model import UserError
from chorale.web.console.frame import NO_NUL, WHY_NEEDED, Console, Everywhere, Reason, back_to
from chorale.web.links import EXPERT, VIEWER, new_staff_link
from chorale.web.staff import colleagues, revoke

Name = Annotated[str, Form(max_length=60, pattern=NO_NUL)]
Role = Annotated[str, Form(max_length=10)]


def add_team_routes(console: Console) -> None:
    router, site = console.for_owner, console.site

    async def page(request: Request, code: int = 200, **context: object) -> Response:
        team = await site.read(colleagues)
        shown = {"team": team, "made": None, "owned": await site.owned_elsewhere(request), **context}
        return console.page(request, "team", code, under="/console/team", **shown)

    @router.get("/team")
    async def everybody(request: Request) -> Response:
        return await page(request)

    @router.post("/team")
    async def invite(request: Request, name: Name = "", role: Role = VIEWER) -> Response:
        name = name.strip()
        role = role if role == EXPERT else VIEWER
        try:
            path = await site.write(new_staff_link, site.sessions, role, name, request.state.staff.name)
        except UserError as error:
            return await page(request, 422, problem=error.message)
        return await page(request, made={"name": name, "role": role, "links": [site.base_url(request) + path]})

    @router.post("/team/revoke")
    async def take_back(
        request: Request, name: Name = "", role: Role = VIEWER, reason: Reason = "", everywhere: Everywhere = ""
    ) -> Response:
        if not reason.strip():
            return await page(request, 422, problem=WHY_NEEDED)
        await site.write(revoke, name, role, request.state.staff.name, reason.strip())
        if not everywhere or site.other_accounts is None:
            return back_to("/console/team", "revoked")
        owned = await site.owned_elsewhere(request)
        more = await site.other_accounts.revoke_in(owned, name, role, reason.strip())
        return back_to("/console/team", "revoked-everywhere", 1 + more)
