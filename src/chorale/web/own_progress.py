"""The page with a worker's own progress."""

from fastapi import APIRouter, Request, Response
from fastapi.responses import HTMLResponse, RedirectResponse

from chorale.engine.own_progress import own_progress
from chorale.model import Refusal
from chorale.model.wording import Wording, worded
from chorale.web.serving import Site

_DAYS_SHOWN = 60


def add_progress_routes(router: APIRouter, site: Site) -> None:
    def time(worked_ms: int) -> str:
        return site.pages.language.translated(time_text(worked_ms))

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
        return site.pages.page("worker/progress.html", progress=own, shown=_DAYS_SHOWN, time=time)


def time_text(worked_ms: int) -> Wording:
    """A duration for people.

    >>> [str(time_text(worked_ms)) for worked_ms in (59_000, 754_000, 9_000_000)]
    ['59 s', '12 min 34 s', '2 h 30 min']
    """
    seconds = round(worked_ms / 1000)
    minutes, hours = seconds // 60, seconds // 3600
    if not minutes:
        return worded("{seconds} s", seconds=seconds)
    if hours:
        return worded("{hours} h {minutes} min", hours=hours, minutes=minutes % 60)
    return worded("{minutes} min {seconds} s", minutes=minutes, seconds=seconds % 60)
