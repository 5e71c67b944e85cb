"""Revoking the selected invitation links."""

from typing import Annotated, Any

from fastapi import Form, Request, Response

from chorale.engine import arrivals
from chorale.engine.running import Study
from chorale.model import UserError
from chorale.model.plural import plural
from chorale.store import Tx
from chorale.web.console.frame import WHY_NEEDED, Console, Reason, on_mistake
from chorale.web.console.recruiting import LINKS_PER_PAGE, PATH
from chorale.web.console.selecting import (
    Confirmation,
    ListQuery,
    back_to_table,
    confirmation_page,
    selected,
)

Numbers = Annotated[list[Annotated[str, Form(pattern=r"^[1-9][0-9]{0,14}$")]] | None, Form(max_length=LINKS_PER_PAGE)]


async def _page(
    console: Console, request: Request, numbers: list[str], query: str, code: int = 200, **context: Any
) -> Response:
    links = plural(len(numbers), "invitation link", "invitation links")
    confirmation = Confirmation(
        title=f"Revoke {links}",
        consequence="Nobody else can join with these links. People who already joined keep access. "
        "This cannot be undone.",
        button=f"Revoke {links}",
        action=f"{PATH}/revoke",
        path=PATH,
        chosen=sorted(numbers, key=int),
        is_danger=True,
    )
    return confirmation_page(console, request, confirmation, query, code, form_key="", **context)


def _revoke_all(tx: Tx, study: Study, numbers: list[str], by: str, reason: str) -> int:
    """Revoke links; returns their number, without links that were already revoked."""
    if not reason.strip():
        raise UserError(WHY_NEEDED)
    return sum(arrivals.revoke(tx, study, int(number), by, reason.strip()) for number in numbers)


def add_selected_link_routes(console: Console) -> None:
    router, site = console.for_owner, console.site

    @router.post("/recruiting/selected")
    async def ask(request: Request, chosen: Numbers = None, query: ListQuery = "") -> Response:
        return await _page(console, request, selected(chosen, "link"), query)

    @router.post("/recruiting/revoke")
    async def revoke(request: Request, chosen: Numbers = None, query: ListQuery = "", reason: Reason = "") -> Response:
        numbers = selected(chosen, "link")
        on_mistake(_page, console, request, numbers, query, typed={"reason": reason})
        revoked = await site.write(_revoke_all, numbers, request.state.staff.name, reason)
        return back_to_table(PATH, query, "links-revoked" if revoked else "already-done", revoked)
