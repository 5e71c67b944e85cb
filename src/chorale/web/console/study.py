"""The settings of a running study; pausing and resuming all its stages."""

from collections.abc import Callable
from typing import Any

from fastapi import Request, Response

from chorale.engine import control
from chorale.engine.paying import stopped
from chorale.engine.running import Study
from chorale.folder.panel_notes import uses_platform
from chorale.monitor.status import StageCondition, conditions
from chorale.store import Tx
from chorale.store.stages import stage_tallies
from chorale.web.console.frame import WHY_NEEDED, Console, Reason, back_to

PATH = "/console/study"


def _conditions(tx: Tx, study: Study) -> dict[str, StageCondition]:
    counts = [one for one in stage_tallies(tx, study.round_sizes, study.also_working) if one.name in study.stages]
    return conditions(tx, study, counts, stopped(tx, study))


def add_study_routes(console: Console) -> None:
    router, site = console.for_owner, console.site

    async def page(request: Request, code: int = 200, **context: Any) -> Response:
        return console.page(
            request,
            "study",
            code,
            under=PATH,
            settings=site.study.settings,
            states=await site.read(_conditions),
            folder=site.folder,
            uses_platform=uses_platform(site.study.settings),
            **context,
        )

    async def act(request: Request, change: Callable[..., int], reason: str, done: str) -> Response:
        if not reason.strip():
            return await page(request, 422, problem=WHY_NEEDED)
        return back_to(PATH, done, await site.write(change, request.state.staff.name, reason.strip()))

    @router.get("/study")
    async def study(request: Request) -> Response:
        return await page(request)

    @router.post("/study/close")
    async def close(request: Request, reason: Reason = "") -> Response:
        """Pause every open stage at once."""
        return await act(request, control.close_study, reason, "study-closed")

    @router.post("/study/reopen")
    async def reopen(request: Request, reason: Reason = "") -> Response:
        """Resume every paused stage at once."""
        return await act(request, control.reopen_study, reason, "study-reopened")
