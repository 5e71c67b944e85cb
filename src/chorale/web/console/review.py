"""Adjudication: the answers to an item side by side, without names, and a decision for each field."""

import json
import re
from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from fastapi import Form, Query, Request, Response
from fastapi.responses import RedirectResponse

from chorale.contract.fields import FieldKind
from chorale.engine import adjudicating, undoing
from chorale.engine.adjudicating import Queue
from chorale.engine.decisions import WHOLE
from chorale.engine.running import RunningStage, Study
from chorale.model import Refusal, UserError
from chorale.store import Tx
from chorale.web.console.frame import NO_NUL, Console, Reason, back_to, on_mistake
from chorale.web.worker import StageInPath

QUEUES: dict[Queue, str] = {
    "disagreeing": "People disagree",
    "all": "All complete items",
    "sampled": "Random sample",
}
_UNDECIDED = ""
"""The form value of a field that keeps its aggregated label."""
_OTHER = "other"
_TEXTS = (FieldKind.LABEL, FieldKind.TEXT)
"""Kinds of fields that hold a text, which needs no quotes."""
_LONGEST = 20_000
Key = Annotated[str, Form(max_length=400, pattern=NO_NUL)]
AfterKey = Annotated[str, Query(max_length=400, pattern=NO_NUL)]


def _reviewed_stages(study: Study) -> list[RunningStage]:
    return [stage for stage in study.stages.values() if stage.settings.round is None]


def _first_to_decide(tx: Tx, study: Study, stages: Sequence[RunningStage]) -> RunningStage:
    """The first stage with items on which people disagree, grading stages last; without any, the first stage."""
    in_order = sorted(stages, key=lambda stage: bool(stage.settings.grades))
    waiting = (stage for stage in in_order if adjudicating.next_case(tx, study, stage, "disagreeing") is not None)
    return next(waiting, stages[0])


async def _page(
    console: Console,
    request: Request,
    stage: RunningStage,
    queue: Queue,
    after: str = "",
    code: int = 200,
    *,
    sent: Mapping[str, str] | None = None,
    **context: Any,
) -> Response:
    """The next item of a queue; after an invalid form, the same item with the submitted values."""
    again = (sent or {}).get("key", "")
    case = await console.site.read(adjudicating.next_case, stage, queue, after, again)
    same = case is not None and case.item.key == again
    return console.page(
        request,
        "review",
        code,
        **{
            "under": "/console/review",
            "chosen": stage,
            "case": case,
            "queue": queue,
            "queues": QUEUES,
            "reviewed": _reviewed_stages(console.site.study),
            "typed": sent if same else {},
            **context,
        },
    )


def _decision(stage: RunningStage, sent: dict[str, str]) -> dict[str, Any]:
    """The decision about each field: a value that somebody gave, or another one that was typed."""
    texts = {field.name: field.kind in _TEXTS for field in stage.task.shape.fields}
    made = {}
    for name, is_text in (texts or {WHOLE: False}).items():
        chosen = sent.get(f"field-{name}", _UNDECIDED)
        if chosen == _UNDECIDED:
            continue
        typed = sent.get(f"other-{name}", "").strip() if chosen == _OTHER else chosen
        if chosen == _OTHER and is_text and typed:
            made[name] = _as_text(typed)
            continue
        try:
            made[name] = json.loads(typed)
        except (ValueError, RecursionError):
            if chosen != _OTHER or not typed:
                raise UserError(
                    f"The value for {name} is empty or not valid JSON. Choose an option, or type another value."
                ) from None
            made[name] = typed
    return made


def _as_text(typed: str) -> str:
    """A text as it was typed; in quotes, the text in them."""
    try:
        value = json.loads(typed)
    except (ValueError, RecursionError):
        return typed
    return value if isinstance(value, str) else typed


def add_review_routes(console: Console) -> None:
    router, site = console.for_experts, console.site

    @router.get("/review")
    async def first(request: Request) -> Response:
        stages = _reviewed_stages(site.study)
        if not stages:
            raise Refusal("nothing_to_review", "This study has training rounds only, which have no labels.", 404)
        return await _page(console, request, await site.read(_first_to_decide, stages), "disagreeing", "")

    @router.get("/review/{name}")
    async def of_stage(
        request: Request, name: StageInPath, queue: Queue = "disagreeing", after: AfterKey = ""
    ) -> Response:
        return await _page(console, request, site.study.stage(name), queue, after)

    @router.post("/review/{name}")
    async def decide(request: Request, name: StageInPath) -> Response:
        form = await request.form(max_fields=200)
        sent = {key: value for key, value in form.items() if isinstance(value, str) and len(value) <= _LONGEST}
        stage = site.study.stage(name)
        queue: Queue = next((each for each in QUEUES if each == sent.get("queue")), "disagreeing")
        key = sent.get("key", "")
        on_mistake(_page, console, request, stage, queue, sent=sent)
        if any("\0" in value for value in sent.values()):
            raise UserError("The decision has NUL characters, which cannot be stored.")
        decision, by = _decision(stage, sent), request.state.staff.name
        seen = int(sent["seen"]) if re.fullmatch(r"\d{1,18}", sent.get("seen", "")) else None
        item = await site.write(adjudicating.decide, stage, key, decision, sent.get("reason", ""), by, seen)
        done = "decided" if item.released else "decided-in-part"
        return RedirectResponse(f"/console/review/{name}?queue={queue}&done={done}", 303)


async def _decided_page(
    console: Console, request: Request, stage: RunningStage, code: int = 200, **context: Any
) -> Response:
    decided = await console.site.read(lambda tx, _: undoing.latest_decisions(tx, stage))
    return console.page(request, "decided", code, chosen=stage, decided=decided, **context)


def add_undo_routes(console: Console) -> None:
    router, site = console.for_experts, console.site

    @router.get("/review/{name}/decided")
    async def decided(request: Request, name: StageInPath) -> Response:
        return await _decided_page(console, request, site.study.stage(name))

    @router.post("/review/{name}/undo")
    async def undo(
        request: Request,
        name: StageInPath,
        key: Key = "",
        number: Annotated[int, Form(ge=0)] = 0,
        reason: Reason = "",
    ) -> Response:
        stage = site.study.stage(name)
        on_mistake(_decided_page, console, request, stage)
        await site.write(undoing.undo, stage, key, number, reason, request.state.staff.name)
        return back_to(f"/console/review/{name}/decided", "undone")
