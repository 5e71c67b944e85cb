"""Gates: who would pass, and closing a round."""

import asyncio
from dataclasses import dataclass
from functools import partial
from typing import Annotated

from fastapi import Query, Request, Response

from chorale.engine.closing_pay import beyond_budget
from chorale.engine.drawing_answers import not_drawn_from
from chorale.engine.gates import GateStatus, close_by_request, gate_statuses, survey
from chorale.engine.running import RunningGate, Study
from chorale.engine.settling import settle_everything
from chorale.model import GateSettings, Refusal
from chorale.protocol import GateVerdict, decide_gate
from chorale.store import Tx, gates
from chorale.store.gates import VerdictRow
from chorale.web.console.frame import NO_NUL, WHY_NEEDED, Console, Reason, back_to
from chorale.web.console.paging import Paging
from chorale.web.worker import StageInPath

SCORES_PER_PAGE = 25
GateName = Annotated[str, Query(max_length=60, pattern=NO_NUL)]


@dataclass(frozen=True, slots=True)
class GateView:
    """A gate, its decisions so far, and those it would make if it closed now."""

    settings: GateSettings
    status: GateStatus
    given: list[VerdictRow]
    coming: list[GateVerdict]
    not_drawn: dict[str, int]
    """By stage, how many people have no answers sampled for grading yet."""


def _gate(study: Study, name: str) -> RunningGate:
    gate = study.gates.get(name)
    if gate is None:
        raise Refusal("no_such_gate", "This study has no gate of this name. The Gates page lists all gates.", 404)
    return gate


def _gates(tx: Tx, study: Study) -> list[GateView]:
    not_drawn = not_drawn_from(tx, study)
    return [
        GateView(
            study.gates[status.name].settings,
            status,
            gates.verdicts(tx, status.name),
            decide_gate(study.gates[status.name].settings, survey(tx, study, study.gates[status.name]).candidates)
            if status.state == "open"
            else [],
            {name: not_drawn[name] for name in status.stages if name in not_drawn},
        )
        for status in gate_statuses(tx, study)
    ]


def add_gate_routes(console: Console) -> None:
    router, site = console.for_owner, console.site

    async def page(request: Request, code: int = 200, number: int = 1, gate: str = "", **context: str) -> Response:
        shown = await site.read(_gates)
        return console.page(
            request,
            "gates",
            code,
            under="/console/gates",
            gates=[
                (view, rows, Paging(number if view.status.name == gate else 1, len(rows), SCORES_PER_PAGE))
                for view in shown
                for rows in [view.coming or view.given]
            ],
            opened=gate,
            currency=site.study.settings.pay.currency,
            beyond_budget=partial(beyond_budget, site.study),
            **context,
        )

    @router.get("/gates")
    async def all_gates(
        request: Request, page_number: Annotated[int, Query(alias="page", ge=1, le=1_000_000)] = 1, gate: GateName = ""
    ) -> Response:
        return await page(request, number=page_number, gate=gate)

    @router.post("/gates/{name}/close")
    async def close(request: Request, name: StageInPath, reason: Reason = "") -> Response:
        gate = _gate(site.study, name)
        if not reason.strip():
            return await page(request, 422, problem=WHY_NEEDED)
        # Labels decide who passes, so labels with changed trust are updated first, as in `chorale close`.
        await asyncio.to_thread(settle_everything, site.study)
        await site.write(close_by_request, gate, request.state.staff.name, reason.strip())
        return back_to("/console/gates", "gate-closed")
