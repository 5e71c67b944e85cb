"""Redirects from addresses of earlier versions."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from chorale.web.console.frame import Console
from chorale.web.links import QUEUE


def add_moved_routes(console: Console) -> None:
    for router, before, now in (
        (console.to_see, "/events", "/console/activity"),
        (console.to_see, "/recruiting/paying", "/console/payments"),
        (console.for_owner, "/colleagues", "/console/team"),
        (console.for_experts, "/desk", QUEUE),
    ):
        _add(router, before, now)


def _add(router: APIRouter, before: str, now: str) -> None:
    @router.get(before)
    async def moved(request: Request) -> Response:
        query = request.url.query
        return RedirectResponse(f"{now}?{query}" if query else now, 308)
