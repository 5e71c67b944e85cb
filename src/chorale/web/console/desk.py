"""The experts' desk: what waits to be graded, consolidated, reviewed, answered or sent. Made for the keyboard."""

from dataclasses import dataclass
from typing import Annotated

from fastapi import Form, Path, Request, Response

from chorale.engine import gold_desk
from chorale.engine.asking_experts import ExpertQuestion, answer_question, questions
from chorale.engine.entering import EXPERTS_PANEL
from chorale.engine.gates import send_message
from chorale.engine.running import RunningStage, Study
from chorale.model import Message, Refusal
from chorale.store import Tx, messages, workers
from chorale.store import console as queries
from chorale.web.arriving import signed_in_worker
from chorale.web.console.frame import NO_NUL, Console, back_to, on_mistake
from chorale.web.console.gold import Text, read_answer
from chorale.web.links import DESK
from chorale.web.pages import markdown
from chorale.web.sessions import STAFF_COOKIE
from chorale.web.staff import begin_at_desk, not_signed_in

QUESTIONS_SHOWN = 20
DRAFTS_SHOWN = 20
LONGEST_MESSAGE = 20_000
Number = Annotated[int, Path(ge=1, le=2**53)]


@dataclass(frozen=True, slots=True)
class Queue:
    """A stage that experts work in."""

    stage: RunningStage
    kind: str
    """grading, review, consolidation or work."""
    waiting: int
    answered: int
    """Of those that wait for more answers: how many have one by whoever looks."""

    @property
    def left(self) -> int:
        return self.waiting - self.answered


@dataclass(frozen=True, slots=True)
class Desk:
    queues: list[Queue]
    questions: list[ExpertQuestion]
    questions_total: int
    drafts: list[Message]
    drafts_total: int


def kind_of(stage: RunningStage) -> str:
    """What experts do in a stage."""
    items = stage.settings.items
    if stage.settings.grades:
        return "grading"
    if items is None or not stage.settings.sources:
        return "work"
    return "consolidation" if items.of == "together" and items.sample == 1 else "review"


def _desk(tx: Tx, study: Study, name: str) -> Desk:
    open_items = queries.open_items(tx)
    me = workers.find_by_identity(tx, EXPERTS_PANEL, name)
    mine = {} if me is None else queries.open_items(tx, answered_by=me.id)
    queues = [
        Queue(stage, kind_of(stage), open_items.get(stage.id, 0), mine.get(stage.id, 0))
        for stage in study.stages.values()
        if stage.is_for_experts
    ]
    waiting, total = questions(tx, QUESTIONS_SHOWN)
    drafts = messages.drafts(tx)
    return Desk(queues, waiting, total, list(drafts[:DRAFTS_SHOWN]), len(drafts))


async def _page(console: Console, request: Request, code: int = 200, **context: object) -> Response:
    study = console.site.study
    desk = await console.site.read(_desk, request.state.staff.name)
    return console.page(
        request,
        "desk",
        code,
        **{
            "desk": desk,
            "guidelines": {queue.stage.name: markdown(queue.stage.guidelines) for queue in desk.queues},
            "drafts": [(draft, markdown(draft.body)) for draft in desk.drafts],
            "longest": LONGEST_MESSAGE,
            "study_stages": study.stages,
            "typed": {},
            **context,
        },
    )


def add_desk_routes(console: Console) -> None:
    router, site = console.for_experts, console.site

    @router.get("/desk")
    async def desk(request: Request) -> Response:
        return await _page(console, request)

    @router.post("/desk/work")
    async def work(request: Request, stage: Annotated[str, Form(max_length=40)] = "") -> Response:
        """Begin with what waits in a stage for experts, as a worker of one's own; the page there leads back here."""
        chosen = site.study.stage(stage)
        if not chosen.is_for_experts:
            raise Refusal("not_for_experts", f"{chosen.settings.title} is not for experts.", 422)
        session = site.sessions.staff(request.cookies.get(STAFF_COOKIE))
        if session is None:
            raise not_signed_in()
        return signed_in_worker(site, await site.write(begin_at_desk, session), f"/stages/{chosen.name}")

    @router.post("/messages/{number}/send")
    async def send(
        request: Request, number: Number, body: Annotated[str, Form(max_length=LONGEST_MESSAGE, pattern=NO_NUL)] = ""
    ) -> Response:
        if not body.strip():
            return await _page(console, request, 422, problem="The message is empty. Write something, or leave it.")
        sent = await site.write(send_message, number, body, request.state.staff.name)
        return back_to(DESK, "message-sent" if sent else "message-was-sent")

    @router.post("/desk/{number}")
    async def answer(
        request: Request,
        number: Number,
        stage: Annotated[str, Form(max_length=40)] = "",
        answer: Text = "",
        reason: Text = "",
        gold: Annotated[str, Form(max_length=3)] = "",
    ) -> Response:
        on_mistake(_page, console, request, typed={"number": number, "answer": answer, "reason": reason})
        name, chosen = request.state.staff.name, site.study.stage(stage)
        expert_answer = read_answer(chosen.task, answer)

        def settle(tx: Tx, study: Study) -> None:
            item = answer_question(tx, study, chosen, number, expert_answer, reason, name)
            if gold:
                gold_desk.promote(tx, study, chosen, item.key, expert_answer, reason, name)

        await site.write(settle)
        return back_to(DESK, "expert-answered")
