"""The progress of a study: what to do next, alarms, numbers, stages; pausing and resuming stages."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import Form, Request, Response

from chorale.engine import control
from chorale.engine.running import Study
from chorale.model import Refusal, StageState
from chorale.monitor.alarm import MOST_NAMED, Alarm
from chorale.monitor.next_steps import NextStep, next_steps
from chorale.monitor.overview import AgreementPart, Overview, overview
from chorale.store import Tx
from chorale.web.console.charts import Chart, Trend, trend_chart
from chorale.web.console.flow import flow
from chorale.web.console.frame import Console, Reason, back_to
from chorale.web.console.texts import minute, share
from chorale.web.links import OWNER, QUEUE
from chorale.web.worker import StageInPath

_STEPS: dict[str, tuple[str, str]] = {
    "alarms": ("#alarms", "Show alarms"),
    "recruit": ("/console/recruiting#invite", "Invite people"),
    "review": (QUEUE, "Review"),
    "messages": (f"{QUEUE}#drafts-title", "Check messages"),
    "submissions": ("/console/recruiting/submissions", "Review submissions"),
    "gate": ("/console/gates", "Open gates"),
    "paused": ("#stages", "Show stages"),
    "pay": ("/console/payments", "Pay people"),
    "mark": ("/console/payments#receipts-title", "Show payouts"),
    "results": ("/console/report", "Create the report"),
    "adjudicate": ("/console/review", "Adjudicate"),
}
"""The page for each next step, and the text of its link."""


def _progress(tx: Tx, study: Study) -> tuple[Overview, list[NextStep]]:
    now = overview(tx, study)
    return now, next_steps(tx, study, now)


async def _overview(console: Console, request: Request, code: int = 200, **context: Any) -> Response:
    study = console.site.study
    progress, steps = await console.site.read(_progress)
    agreement = Trend("", [part.agreement for part in progress.agreement])
    return console.live_page(
        request,
        "overview",
        code,
        **{
            "under": "/console",
            "now": progress,
            "steps": [(step, *_STEPS[step.kind]) for step in steps],
            "flow": flow(study, progress.stages, progress.passed),
            "titles": Counter(stage.title for stage in progress.stages),
            "most_named": MOST_NAMED,
            "alarm_links": partial(alarm_links, role=request.state.staff.role),
            "agreement": agreement,
            "agreement_chart": _agreement_chart(progress.agreement, agreement),
            "minimum_hourly": study.settings.pay.minimum_hourly,
            **context,
        },
    )


def _agreement_chart(parts: Sequence[AgreementPart], trend: Trend) -> Chart | None:
    if not parts:
        return None
    title = f"Agreement between answers to the same item over time, now {share(trend.last)}"
    return trend_chart(title, [trend], (minute(parts[0].at), minute(parts[-1].at)))


def alarm_links(alarm: Alarm, role: str) -> list[tuple[str, str]]:
    """Pages where an alarm can be examined or resolved: paths and the words of their links."""
    owner = role == OWNER
    match alarm.kind:
        case "wage":
            stages = alarm.stages or ("",)
            query = {"order": "wage", "direction": "up"}
            named = [(f"Workers of {name}" if name else "Workers by wage", name) for name in stages]
            return [
                (f"/console/workers?{urlencode({**query, **({'stage': name} if name else {})})}", words)
                for words, name in named
            ]
        case "gold-wrong" | "gold-easy" if owner:
            return [(f"/console/gold/{name}", f"Gold of {name}") for name in alarm.stages]
        case "starved" if owner:
            return [("/console/recruiting#invite", "Invite people")]
        case "gate" if owner:
            return [("/console/gates", "Gates"), ("/console/ledger", "Ledger")]
        case "budget" | "gate":
            return [("/console/ledger", "Ledger")]
    return []


def add_overview_routes(console: Console) -> None:
    study = console.site.study

    @console.to_see.get("")
    async def show(request: Request) -> Response:
        return await _overview(console, request)

    @console.for_owner.post("/stages/{name}/state")
    async def set_state(
        request: Request, name: StageInPath, state: Annotated[StageState, Form()], reason: Reason = ""
    ) -> Response:
        stage = study.stage(name)
        try:
            await console.site.write(control.set_stage_state, stage, state, request.state.staff.name, reason)
        except Refusal as refusal:
            return await _overview(console, request, refusal.status, problem=refusal.message)
        return back_to("/console", "paused" if state is StageState.PAUSED else "resumed")
