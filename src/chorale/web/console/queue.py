"""The review queue: answers to grade or review, questions to experts, messages to check. Made for the keyboard."""

from collections.abc import Sequence
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
from chorale.web.console.answers import read_answer, typed_answer
from chorale.web.console.frame import NO_NUL, Console, back_to, on_mistake
from chorale.web.console.gold import Text
from chorale.web.console.paging import PageNumber, Paging
from chorale.web.links import QUEUE
from chorale.web.pages import markdown
from chorale.web.sessions import STAFF_COOKIE
from chorale.web.staff import begin_at_desk, not_signed_in

PER_PAGE = 10
LONGEST_MESSAGE = 20_000
Number = Annotated[int, Path(ge=1, le=2**53)]


@dataclass(frozen=True, slots=True)
class StageQueue:
    """A stage that experts work in."""

    stage: RunningStage
    kind: str
    """grading, review, consolidation or work."""
    waiting: int
    answered: int
    """The number of these items that the signed-in person has answered and that still need answers from others."""

    @property
    def left(self) -> int:
        return self.waiting - self.answered

    @property
    def can_start(self) -> bool:
        """Whether the stage may have work. Training rounds have no open items: every expert answers all questions."""
        return self.left > 0 or self.stage.round_size is not None


@dataclass(frozen=True, slots=True)
class ReviewQueue:
    queues: list[StageQueue]
    questions: list[ExpertQuestion]
    questions_total: int
    drafts: Sequence[Message]


def kind_of(stage: RunningStage) -> str:
    """What experts do in a stage."""
    items = stage.settings.items
    if stage.settings.grades:
        return "grading"
    if items is None or not stage.settings.sources:
        return "work"
    consolidates = items.of == "together" and items.sample == 1 and not stage.settings.decides_sources
    return "consolidation" if consolidates else "review"


def _queue(tx: Tx, study: Study, name: str, page: int) -> ReviewQueue:
    open_items = queries.open_items(tx)
    me = workers.find_by_identity(tx, EXPERTS_PANEL, name)
    mine = {} if me is None else queries.open_items(tx, answered_by=me.id)
    queues = [
        StageQueue(stage, kind_of(stage), open_items.get(stage.id, 0), mine.get(stage.id, 0))
        for stage in study.stages.values()
        if stage.is_for_experts
    ]
    waiting, total = questions(tx, page * PER_PAGE)
    drafts = messages.drafts(tx)
    queues.sort(key=lambda queue: queue.left == 0)  # those with work come first
    return ReviewQueue(queues, waiting[(page - 1) * PER_PAGE :], total, drafts)


async def _page(
    console: Console, request: Request, code: int = 200, page: int = 1, drafts_page: int = 1, **context: object
) -> Response:
    study = console.site.study
    queue_page = await console.site.read(_queue, request.state.staff.name, page)
    drafts = Paging(drafts_page, len(queue_page.drafts), PER_PAGE)
    return console.page(
        request,
        "queue",
        code,
        **{
            "under": QUEUE,
            "queue_page": queue_page,
            "paging": Paging(page, queue_page.questions_total, PER_PAGE),
            "drafts_paging": drafts,
            "guidelines": {queue.stage.name: markdown(queue.stage.guidelines) for queue in queue_page.queues},
            "drafts": [(draft, markdown(draft.body)) for draft in drafts.rows(queue_page.drafts)],
            "longest": LONGEST_MESSAGE,
            "study_stages": study.stages,
            "checks_messages": any(gate.settings.review for gate in study.gates.values()),
            "typed": None,
            **context,
        },
    )


def add_queue_routes(console: Console) -> None:
    router, site = console.for_experts, console.site

    @router.get("/queue")
    async def queue(request: Request, page: PageNumber = 1, drafts_page: PageNumber = 1) -> Response:
        return await _page(console, request, page=page, drafts_page=drafts_page)

    @router.post("/queue/work")
    async def work(request: Request, stage: Annotated[str, Form(max_length=40)] = "") -> Response:
        """Start on the open items of a stage for experts; the work page leads back here."""
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
            return await _page(
                console, request, 422, problem="The message is empty. Write a message before you send it."
            )
        sent = await site.write(send_message, number, body, request.state.staff.name)
        return back_to(QUEUE, "message-sent" if sent else "message-was-sent")

    @router.post("/queue/{number}")
    async def answer(
        request: Request,
        number: Number,
        stage: Annotated[str, Form(max_length=40)] = "",
        reason: Text = "",
        gold: Annotated[str, Form(max_length=3)] = "",
    ) -> Response:
        typed = {**await typed_answer(request), "number": str(number), "reason": reason}
        on_mistake(_page, console, request, typed=typed)
        name, chosen = request.state.staff.name, site.study.stage(stage)
        expert_answer = read_answer(chosen.task, typed)

        def settle(tx: Tx, study: Study) -> None:
            item = answer_question(tx, study, chosen, number, expert_answer, reason, name)
            if gold:
                gold_desk.promote(tx, study, chosen, item.key, expert_answer, reason, name)

        await site.write(settle)
        return back_to(QUEUE, "expert-answered")
