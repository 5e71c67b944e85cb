"""Bulk actions on selected workers of a stage: message, bonus, qualification, removal, file. Each is logged."""

import secrets
from dataclasses import dataclass
from typing import Annotated, Any, Literal

from fastapi import Form, Request, Response

from chorale.engine import managing
from chorale.engine.managing import Act
from chorale.engine.running import RunningStage, Study
from chorale.model import Standing, UserError
from chorale.model.money import minor_units
from chorale.model.plural import plural
from chorale.monitor.status import gold_of
from chorale.protocol import hourly_wage
from chorale.store import Tx, participations
from chorale.store.participations import ParticipationSummary
from chorale.web.console.frame import NO_NUL, Console, Reason, on_mistake
from chorale.web.console.selecting import (
    Confirmation,
    ListQuery,
    Selected,
    back_to_table,
    confirmation_page,
    note_download,
    selected,
    table_file,
)
from chorale.web.console.workers import LONGEST_MESSAGE, Key, ShortText

PATH = "/console/workers"
WorkersAct = Literal["message", "bonus", "qualify", "remove"]
NOTICES = {"message": "all-written", "bonus": "bonuses", "qualify": "all-qualified", "remove": "all-removed"}
COLUMNS = [
    *("worker", "stage", "status", "gold_correct", "gold_answered", "annotations", "seconds"),
    *("earned_minor_units", "hourly_wage_minor_units"),
]
StageField = Annotated[str, Form(max_length=40)]


@dataclass(frozen=True, slots=True)
class WorkersForm:
    """The input for a bulk action on workers."""

    by: str
    key: str = ""
    reason: str = ""
    title: str = ""
    body: str = ""
    amount: str = ""
    qualification: str = ""

    def act_on(self, pseudonym: str) -> Act:
        """The action on one worker. Its key is unique to form and worker, so a form sent twice acts once."""
        return Act(self.by, self.reason, f"{self.key}-{pseudonym}")


def _rows(tx: Tx, _study: Study, stage: RunningStage, chosen: list[str]) -> list[ParticipationSummary]:
    rows = [
        row
        for name in chosen
        for row in participations.participation_summaries(tx, stage_name=stage.name, pseudonym=name)
    ]
    if not rows:
        raise UserError(f"None of the selected workers has worked in {stage.name}.")
    return rows


def _confirmation(act: WorkersAct, stage: RunningStage, rows: list[ParticipationSummary]) -> Confirmation:
    affected = [row.worker for row in rows if act != "remove" or row.standing == Standing.ACTIVE]
    if not affected:
        raise UserError(f"None of the selected workers is active in {stage.name}.")
    left = len(rows) - len(affected)
    whom = plural(len(affected), "worker", "workers")
    titles = {
        "message": f"Send a message to {whom}",
        "bonus": f"Pay a bonus to {whom}",
        "qualify": f"Grant a qualification to {whom}",
        "remove": f"Remove {whom} from “{stage.settings.title}”",
    }
    consequences = {
        "message": "The workers see the message on their overview. This cannot be undone.",
        "bonus": "Each worker gets the amount. If the budget does not cover all bonuses, none is booked.",
        "qualify": "Workers who already have the qualification keep it.",
        "remove": "Their answers here will no longer count; they keep what they earned. This cannot be undone.",
    }
    buttons = {
        "message": f"Send to {whom}",
        "bonus": "Show the total …",
        "qualify": "Grant",
        "remove": f"Remove {whom}",
    }
    return Confirmation(
        title=titles[act],
        consequence=consequences[act],
        button=buttons[act],
        action=f"{PATH}/selected/{act}",
        path=PATH,
        chosen=affected,
        asks="reason" if act == "remove" else act,
        left_out=f"{plural(left, 'selected worker is', 'selected workers are')} already removed, and left out."
        if left
        else "",
        is_danger=act == "remove",
        stage=stage.name,
    )


def _carry_out(tx: Tx, study: Study, act: WorkersAct, stage: RunningStage, chosen: list[str], form: WorkersForm) -> int:
    """Act on all workers or, if one action is refused, on none; returns the number of workers acted on."""
    amount = _amount(study, form.amount) if act == "bonus" else 0
    done = 0
    for name in chosen:
        each = form.act_on(name)
        match act:
            case "message":
                done += managing.send(tx, study, name, form.title, form.body, each)
            case "bonus":
                done += managing.give_bonus(tx, study, name, stage, amount, each)
            case "qualify":
                done += managing.qualify(tx, study, name, form.qualification, each)
            case "remove":
                done += managing.end_work(tx, study, name, stage, each)
    return done


def _amount(study: Study, typed: str) -> int:
    units = minor_units(typed, study.settings.pay.currency)
    if units is None:
        raise UserError(f"{typed!r} is not an amount. Example: 1.50.")
    if units <= 0:
        raise UserError("The bonus must be more than 0.")
    return units


async def _page(
    console: Console,
    request: Request,
    act: WorkersAct,
    stage: RunningStage,
    chosen: list[str],
    query: str,
    code: int = 200,
    **context: Any,
) -> Response:
    rows = await console.site.read(_rows, stage, chosen)
    shown = {
        "form_key": secrets.token_urlsafe(12),
        "longest_message": LONGEST_MESSAGE,
        "qualifications": managing.qualifications_known(console.site.study),
        "fee_percent": console.site.study.settings.pay.fee_percent,
        "total": None,
    }
    asked = _confirmation(act, stage, rows)
    return confirmation_page(console, request, asked, query, code, **{**shown, **context})


def add_selected_worker_routes(console: Console) -> None:
    router, site = console.for_owner, console.site

    @router.post("/workers/selected")
    async def ask(
        request: Request,
        act: Annotated[Literal["message", "bonus", "qualify", "remove", "download"], Form()],
        stage: StageField = "",
        chosen: Selected = None,
        query: ListQuery = "",
    ) -> Response:
        """Show the confirmation page of an action, or send the selected rows as a file."""
        in_stage, names = site.study.stage(stage), selected(chosen, "worker")
        if act != "download":
            return await _page(console, request, act, in_stage, names, query)
        rows = await site.read(_rows, in_stage, names)
        await site.write(note_download, "selected workers", len(rows), request.state.staff.name)
        return table_file(f"workers-{in_stage.name}", COLUMNS, (_cells(site.study, row) for row in rows))

    @router.post("/workers/selected/{act}")
    async def carry_out(
        request: Request,
        act: WorkersAct,
        key: Key,
        stage: StageField = "",
        chosen: Selected = None,
        query: ListQuery = "",
        title: ShortText = "",
        body: Annotated[str, Form(max_length=LONGEST_MESSAGE, pattern=NO_NUL)] = "",
        amount: ShortText = "",
        total: Annotated[int | None, Form(ge=0)] = None,
        name: ShortText = "",
        reason: Reason = "",
    ) -> Response:
        in_stage, names = site.study.stage(stage), selected(chosen, "worker")
        form = WorkersForm(request.state.staff.name, key, reason, title, body, amount, name)
        typed = {"title": title, "body": body, "amount": amount, "reason": reason, "name": name}
        on_mistake(_page, console, request, act, in_stage, names, query, typed=typed)
        form.act_on(names[0])  # Without a reason, no total is shown either.
        if act == "bonus" and total != (sum_due := _amount(site.study, amount) * len(names)):
            return await _page(console, request, act, in_stage, names, query, typed=typed, total=sum_due, form_key=key)
        done = await site.write(_carry_out, act, in_stage, names, form)
        return back_to_table(PATH, query or f"stage={in_stage.name}", NOTICES[act] if done else "already-done", done)


def _cells(study: Study, row: ParticipationSummary) -> dict[str, Any]:
    right, answered = gold_of(study, row)
    wage = hourly_wage(row.earned, row.worked_ms)
    return {
        "worker": row.worker,
        "stage": row.stage,
        "status": "removed" if row.standing == Standing.DROPPED else str(row.standing),
        "gold_correct": right,
        "gold_answered": answered,
        "annotations": row.answered - row.gold_answered,
        "earned_minor_units": row.earned,
        "seconds": round(row.worked_ms / 1000, 1),
        "hourly_wage_minor_units": wage,
    }
