"""The page with a worker's own progress."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from chorale.engine.own_progress import own_progress
from chorale.model import Refusal
from chorale.web.serving import Site

_DAYS_SHOWN = 60


def add_progress_routes(router: APIRouter, site: Site) -> None:
    @router.get("/progress", response_class=HTMLResponse, include_in_schema=False)
    async def progress(request: Request) -> Response:
        try:
            own = await site.read_as(request, own_progress)
        except Refusal as refusal:
            if refusal.status not in (401, 403, 410):
                raise
            own = None
        if own is None:
            return RedirectResponse("/", 303)
        return site.pages.page("worker/progress.html", progress=own, shown=_DAYS_SHOWN, time=time_text)


def time_text(worked_ms: int) -> str:
    """Format a duration for people.

    >>> time_text(59_000), time_text(754_000), time_text(9_000_000)
    ('59 s', '12 min 34 s', '2 h 30 min')
    """
    seconds = round(worked_ms / 1000)
    minutes, hours = seconds // 60, seconds // 3600
    if not minutes:
        return f"{seconds} s"
    return f"{hours} h {minutes % 60} min" if hours else f"{minutes} min {seconds % 60} s"
