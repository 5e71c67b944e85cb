"""The arms of a trial: shown on request only, and every request is logged."""

from fastapi import Request, Response

from chorale.model import Refusal
from chorale.monitor.arm_outcomes import arm_outcomes
from chorale.monitor.status import note_arms_shown
from chorale.web.console.frame import Console, Reason


def add_arm_routes(console: Console) -> None:
    router, site = console.for_owner, console.site

    def check() -> None:
        if site.study.settings.arms is None:
            raise Refusal("no_arms", "This study has no arms. To compare arms, add an [arms] table to study.toml.", 404)

    @router.get("/arms")
    async def question(request: Request) -> Response:
        check()
        return console.page(request, "arms", outcomes=None)

    @router.post("/arms")
    async def show(request: Request, reason: Reason = "") -> Response:
        check()
        if not reason.strip():
            problem = "Enter a reason. It is kept in the activity log."
            return console.page(request, "arms", 422, outcomes=None, problem=problem)
        await site.write(note_arms_shown, request.state.staff.name, reason.strip())
        return console.page(request, "arms", outcomes=await site.read(arm_outcomes))
