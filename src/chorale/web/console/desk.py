"""The experts' desk: what waits to be graded, consolidated, reviewed, answered or sent. Made for the keyboard."""

import json
from dataclasses import dataclass
from typing import Annotated

from fastapi import APIRouter, Form, Path, Request, Response

from chorale.model import EXPERT as EXPERT_QUALIFICATION
from chorale.model import UserError
from chorale.store import Tx, gates
from chorale.store import console as queries
from chorale.study import RunningStage, Study, gold_desk
from chorale.study.asking_experts import Question, answer_question, questions
from chorale.web.console.frame import Console, back_to
from chorale.web.console.gold import Text, read_answer
from chorale.web.links import EXPERT, OWNER
from chorale.web.pages import markdown

QUESTIONS_SHOWN = 20


@dataclass(frozen=True, slots=True)
class Queue:
    """A stage that experts work in."""

    stage: RunningStage
    kind: str
    """grading, review or consolidation."""
    waiting: int


@dataclass(frozen=True, slots=True)
class Desk:
    queues: list[Queue]
    questions: list[Question]
    questions_total: int
    drafts: int


def _kind(stage: RunningStage) -> str:
    items = stage.settings.items
    if stage.settings.grades:
        return "grading"
    return "review" if items is not None and items.sample < 1 else "consolidation"


def _desk(tx: Tx, study: Study) -> Desk:
    open_items = queries.open_items(tx)
    queues = [
        Queue(stage, _kind(stage), open_items.get(stage.id, 0))
        for stage in study.stages.values()
        if EXPERT_QUALIFICATION in stage.settings.entry.qualifications
    ]
    waiting, total = questions(tx, QUESTIONS_SHOWN)
    return Desk(queues, waiting, total, len(gates.drafts(tx)))


def desk_routes(console: Console) -> APIRouter:
    router = console.router(OWNER, EXPERT)
    site = console.site

    async def page(request: Request, code: int = 200, **told: object) -> Response:
        found = await site.read(_desk)
        guidelines = {queue.stage.name: markdown(queue.stage.guidelines) for queue in found.queues}
        return console.page(
            request,
            "desk",
            code,
            **{
                "desk": found,
                "guidelines": guidelines,
                "study_stages": site.study.stages,
                "as_json": lambda value: json.dumps(value, ensure_ascii=False),
                "typed": {},
                **told,
            },
        )

    @router.get("/desk")
    async def desk(request: Request) -> Response:
        return await page(request)

    @router.post("/desk/{number}")
    async def answer(
        request: Request,
        number: Annotated[int, Path(ge=1, le=2**53)],
        stage: Annotated[str, Form(max_length=40)] = "",
        answer: Text = "",
        reason: Text = "",
        gold: Annotated[str, Form(max_length=3)] = "",
    ) -> Response:
        name = request.state.staff.name
        try:
            chosen = site.study.stage(stage)
            said = read_answer(chosen.task, answer)

            def settle(tx: Tx, study: Study) -> None:
                item = answer_question(tx, study, chosen, number, said, reason, name)
                if gold:
                    gold_desk.promote(tx, study, chosen, item.key, said, reason, name)

            await site.write(settle)
        except UserError as error:
            typed = {"number": number, "answer": answer, "reason": reason}
            return await page(request, 422, problem=error.message, typed=typed)
        return back_to("/console/desk", "expert-answered")

    return router
