"""The arms of a trial: shown only to those who ask, and the asking is written down."""

import asyncio

from fastapi import APIRouter, Request, Response

from chorale.model import Refusal
from chorale.study import Study
from chorale.study.arm_outcomes import ArmOutcome, arm_outcomes
from chorale.study.status import note_arms_shown
from chorale.web.console.frame import Console
from chorale.web.links import OWNER


def arm_routes(console: Console) -> APIRouter:
    router = console.router(OWNER)
    site = console.site

    def check() -> None:
        if site.study.settings.arms is None:
            raise Refusal("no_arms", "This study has no arms. Add an [arms] table to study.toml to compare some.", 404)

    @router.get("/arms")
    async def question(request: Request) -> Response:
        check()
        return console.page(request, "arms", outcomes=None)

    @router.post("/arms")
    async def show(request: Request) -> Response:
        check()
        await site.write(note_arms_shown, request.state.staff.name)
        outcomes = await asyncio.to_thread(_outcomes, site.study)
        return console.page(request, "arms", outcomes=outcomes)

    return router


def _outcomes(study: Study) -> list[ArmOutcome]:
    return study.store.read(lambda tx: arm_outcomes(tx, study)).result()
