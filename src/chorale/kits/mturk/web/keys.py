"""Access keys on the console: created and revoked by the owner."""

from collections.abc import Awaitable, Callable
from typing import Annotated

from fastapi import APIRouter, Form, Request, Response

from chorale.kits.mturk.market.access import LONGEST_NAME, end_key, make_key
from chorale.model import UserError
from chorale.web.console.frame import NO_NUL, WHY_NEEDED, Console, Reason, on_mistake
from chorale.web.links import OWNER

KeyName = Annotated[str, Form(max_length=LONGEST_NAME, pattern=NO_NUL)]
AccessKey = Annotated[str, Form(max_length=40, pattern=r"^[A-Z0-9]*$")]


def key_routes(console: Console, page: Callable[..., Awaitable[Response]]) -> APIRouter:
    """Routes that create and revoke keys. They answer with the page that lists the keys."""
    router, site = console.router(OWNER), console.site

    @router.post("/recruiting/hits/keys")
    async def create(request: Request, name: KeyName = "") -> Response:
        on_mistake(page, console, request, key_name=name)
        made = await site.write(make_key, name, request.state.staff.name)
        return await page(console, request, made=made)

    @router.post("/recruiting/hits/keys/revoke")
    async def revoke(request: Request, key: AccessKey = "", reason: Reason = "") -> Response:
        on_mistake(page, console, request)
        if not reason.strip():
            raise UserError(WHY_NEEDED)
        await site.write(end_key, key, request.state.staff.name, reason.strip())
        return await page(
            console, request, notice=f"The key {key} is revoked. Requests signed with it are now refused."
        )

    return router
