"""Runs a model: several concurrent requests, each stored before it is sent, until no items are left."""

import asyncio
import logging
from collections import Counter, deque
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from chorale.contract.prompting import UnreadableError
from chorale.contract.prompts import ModelAnswer, Prompter, correction
from chorale.engine.entering import arrive_as_model
from chorale.engine.models.answering import Ended, complete_call, cost_of, end_task, merged, with_tokens
from chorale.engine.models.deciding_first import TooLittleGoldError, decide_some
from chorale.engine.models.stages import ModelStage, prompter_of
from chorale.engine.models.taking import Place, PlannedWork, plan_call, reserve, resume, take
from chorale.engine.paying import CallBudget
from chorale.engine.running import Study
from chorale.model import AssignmentKind, ModelSettings
from chorale.platforms.models import CallOutcome, ModelClient, ModelRequest, Reply
from chorale.platforms.models.exchange import ChatMessage
from chorale.store import Tx, calls, codec, model_tasks
from chorale.store.model_tasks import TaskState

T = TypeVar("T")
log = logging.getLogger(__name__)
STOP_AFTER = 20
"""The run ends after this many consecutive items that a server fails to answer."""
FIRST_DECLINED = 5
"""The run ends after this many rejected requests if the server has not answered any: it rejects all of them."""
_AHEAD = 2
"""Items taken at a time, per concurrent request."""


@dataclass
class RunCounts:
    """The counts of a run so far."""

    answered: int = 0
    skipped: int = 0
    failed: int = 0
    outcomes: Counter[str] = field(default_factory=Counter)
    """Calls by outcome."""
    reasons: dict[str, str] = field(default_factory=dict)
    """The latest reason for each outcome that has one."""
    faults: Counter[str] = field(default_factory=Counter)
    """Faults of requests that were repeated."""
    cost: int = 0
    """In billionths of a minor unit."""
    input_tokens: int = 0
    output_tokens: int = 0
    ended_by: str | None = None
    """Why the run ended."""

    @property
    def items(self) -> int:
        return self.answered + self.skipped + self.failed


Progress = Callable[[RunCounts], None]


class AnnotatingModel:
    """One model in one stage."""

    def __init__(
        self,
        study: Study,
        of: ModelStage,
        model: ModelSettings,
        client: ModelClient,
        limit: int | None = None,
        progress: Progress = lambda _: None,
        *,
        retry_skipped: bool = False,
    ) -> None:
        self.counts = RunCounts()
        self._retry_skipped = retry_skipped
        self._study, self._of, self._model, self._client = study, of, model, client
        self._limit = limit
        self._progress = progress
        self._waiting: deque[PlannedWork] = deque()
        self._taken = 0
        self._place = Place(0)
        self._failures = 0
        self._declined = 0
        self._has_answered = False
        self._last_reason = ""
        self._alone = asyncio.Lock()
        self._answers_first = of.rule.role == "first" and of.stage.round_size is None
        self._open_gold: set[int] = set()
        """Assigned gold tasks that are not answered yet."""
        self._undecided: list[int] = []
        """Items that the model has answered first, until it is decided whether to ask people about them."""
        self._worker_id = 0
        self._prompter: Prompter

    @property
    def has_failed(self) -> bool:
        """Whether the server kept failing, or rejects requests."""
        return self._failures >= STOP_AFTER

    async def run(self) -> RunCounts:
        """Annotate until no items are left, the limit is reached, or the server fails."""
        study, model = self._study, self._model
        self._worker_id = (await self._write(lambda tx: arrive_as_model(tx, study, model.name))).id
        self._prompter = await self._write(lambda tx: prompter_of(tx, study, self._of.stage, model))
        if self._retry_skipped:
            await self._write(lambda tx: model_tasks.retry_skipped(tx, self._of.stage.id, self._worker_id))
        begun = await self._write(lambda tx: resume(tx, study, self._of, model, self._worker_id, self._prompter))
        self._wait_for(begun if self._limit is None else begun[: self._limit])
        self._has_answered = await self._write(lambda tx: calls.has_answered(tx, self._worker_id, self._of.stage.id))
        stage_id = self._of.stage.id
        self._place = Place(await self._write(lambda tx: model_tasks.given(tx, stage_id, self._worker_id)))
        async with asyncio.TaskGroup() as group:
            for _ in range(model.at_once):
                group.create_task(self._work())
        if self._answers_first:
            await self._decide()
        return self.counts

    def _wait_for(self, work: Sequence[PlannedWork]) -> None:
        self._waiting.extend(work)
        self._taken += len(work)
        self._open_gold.update(each.task.id for each in work if each.task.kind == AssignmentKind.GOLD)

    async def _decide(self) -> None:
        """Decide for every finished item whether to ask people."""
        try:
            while await self._write(lambda tx: decide_some(tx, self._study, self._of, self._worker_id)):
                pass
        except TooLittleGoldError as error:
            self.counts.ended_by = str(error)

    async def _decide_early(self) -> None:
        """Decide about items while the run continues, so that people need not wait for its end.

        Gold comes before all other items: once all of it is answered, confidence can be calibrated.
        """
        if self._open_gold or len(self._undecided) < self._model.at_once:
            return
        items, self._undecided = self._undecided, []
        with suppress(TooLittleGoldError):  # reported at the end of the run
            await self._write(partial(self._decide_about, items))

    def _decide_about(self, items: Sequence[int], tx: Tx) -> None:
        decide_some(tx, self._study, self._of, self._worker_id, items)

    async def _work(self) -> None:
        """One sequence of requests: each is marked as sent in the transaction that completes the previous one."""
        work = await self._next()
        if work is not None:
            await self._write(partial(self._mark_sent, work))
        while work is not None:
            ended, last_write = await self._item(work)
            following = await self._next()
            try:
                await self._write(partial(self._end, work, ended, last_write, following))
            except Exception as error:
                log.exception("The result of model task %s could not be stored", work.task.id)
                # The call was paid for: it stays recorded, and the item is not requested again.
                ended, following = Ended(TaskState.SKIPPED), None
                await self._write(partial(self._end, work, ended, last_write, None))
                self._failures = STOP_AFTER
                self.counts.ended_by = f"An answer could not be stored ({type(error).__name__}); its call is recorded."
            self._open_gold.discard(work.task.id)
            if self._answers_first and work.task.kind != AssignmentKind.GOLD:
                self._undecided.append(work.task.item.item_id)
            self._count(ended)
            work = following

    async def _next(self) -> PlannedWork | None:
        async with self._alone:
            await self._decide_early()
            if not self._waiting and self._may_take():
                most = _AHEAD * self._model.at_once
                if self._limit is not None:
                    most = min(most, self._limit - self._taken)
                taken = await self._write(partial(self._take, most=most))
                self._place = Place(self._place.served + len(taken.work), taken.after)
                self._wait_for(taken.work)
                if taken.why_none is not None and self.counts.ended_by is None:
                    self.counts.ended_by = taken.why_none
            return self._waiting.popleft() if self._waiting and self._failures < STOP_AFTER else None

    def _may_take(self) -> bool:
        if self._limit is not None and self._taken >= self._limit:
            self.counts.ended_by = self.counts.ended_by or "This run has reached its limit."
            return False
        return self.counts.ended_by is None

    def _take(self, tx: Tx, *, most: int) -> Any:
        return take(tx, self._study, self._of, self._model, self._worker_id, self._prompter, self._place, most)

    # One item

    async def _item(self, work: PlannedWork) -> tuple[Ended, Callable[[Tx], None]]:
        """Request an answer to an item, repeatedly if needed; returns the outcome and the final record."""
        model = self._model
        samples: list[tuple[ModelAnswer, float | None]] = []
        call_id, messages = work.call_id, [ChatMessage("user", work.prompt.user)]
        latency, corrected, number = 0, False, 0
        while True:
            reply, answer, problem = await self._call(work, call_id, messages, number)
            latency += reply.latency_ms
            self._count_call(reply)
            record = partial(self._complete, work, call_id, reply)
            if answer is not None:
                samples.append((answer, reply.confidence))
                if len(samples) == model.calls_per_item:
                    return self._answered(samples, latency), record
                purpose, messages, number = "sample", messages[:1], number + 1
            elif problem is not None and not corrected:
                corrected, purpose = True, "correct"
                messages = [
                    *messages[:1],
                    ChatMessage("assistant", reply.output),
                    ChatMessage("user", correction(problem)),
                ]
            elif samples:
                return self._answered(samples, latency), record
            else:
                state = TaskState.FAILED if self._may_ask_again(reply) else TaskState.SKIPPED
                return Ended(state, latency_ms=latency), record
            following = await self._write(partial(self._go_on, work, purpose, messages, record))
            if following is None:
                ended = self._answered(samples, latency) if samples else Ended(TaskState.SKIPPED, latency_ms=latency)
                return ended, _nothing
            call_id = following

    async def _call(
        self, work: PlannedWork, call_id: int, messages: list[ChatMessage], number: int
    ) -> tuple[Reply, ModelAnswer | None, str | None]:
        """The reply to a request, and its answer or the problem with it."""
        stage, prompt, item = self._of.stage, work.prompt, work.task.item
        longest = self._model.max_prompt_tokens
        if longest is not None and (len(prompt.system) + len(prompt.user)) / 4 > longest:
            return Reply(CallOutcome.TOO_LONG, tries=0), None, None
        again = partial(self._write, partial(self._repeat, work, call_id, messages))
        asked = ModelRequest(prompt.system, messages, prompt.schema, stage.name, item.key, prompt.digest, number, again)
        length = len(prompt.system) + sum(len(one.text) for one in messages)
        reply = with_tokens(await self._client.ask(asked), length)
        if reply.outcome is not CallOutcome.ANSWER:
            return reply, None, None
        try:
            payload = codec.frozen_from_text(item.payload)
            answer = self._prompter.read(reply.output, stage.view_of(item.payload), payload)
            wrong = codec.storage_problem(answer.submitted)
            if wrong is not None:
                raise UnreadableError(wrong)
        except UnreadableError as error:
            return reply._replace(outcome=CallOutcome.UNPARSABLE, reason=str(error)), None, str(error)
        return reply, answer, None

    def _may_ask_again(self, reply: Reply) -> bool:
        """Whether another run should repeat the request.

        This includes rejected requests if the server has not answered any: it may reject all of them.
        """
        declines_all = reply.outcome is CallOutcome.DECLINED and not self._has_answered
        return reply.outcome.may_be_better_later or declines_all

    def _answered(self, samples: list[tuple[ModelAnswer, float | None]], latency: int) -> Ended:
        answer, share = merged(samples)
        sure = {"samples": share, "stated": answer.confidence, "logprobs": samples[0][1]}
        return Ended(TaskState.ANSWERED, answer, sure.get(self._model.confidence), latency)

    # Stored results

    def _mark_sent(self, work: PlannedWork, tx: Tx) -> None:
        calls.mark_sent(tx, work.call_id, self._study.clock())

    def _complete(self, work: PlannedWork, call_id: int, reply: Reply, tx: Tx) -> None:
        complete_call(tx, self._study, self._of.stage, self._model, work.task, call_id, reply)

    def _go_on(
        self, work: PlannedWork, purpose: str, messages: list[ChatMessage], record: Callable[[Tx], None], tx: Tx
    ) -> int | None:
        """Record a request and plan the next one for the same item; None if the budget does not cover it."""
        record(tx)
        more = sum(len(one.text.encode()) for one in messages[1:])
        if not CallBudget(tx, self._study).takes(reserve(self._model, work.prompt, more)):
            return None
        call_id = plan_call(tx, self._study, self._model, work.task, work.prompt, purpose, more)
        calls.mark_sent(tx, call_id, self._study.clock())
        return call_id

    def _repeat(self, work: PlannedWork, call_id: int, messages: list[ChatMessage], tx: Tx) -> bool:
        """Record an attempt whose answer was lost; False if the budget does not cover another."""
        more = sum(len(one.text.encode()) for one in messages[1:])
        if not CallBudget(tx, self._study).takes(reserve(self._model, work.prompt, more)):
            return False
        calls.add_lost_try(tx, call_id, self._study.clock())
        return True

    def _end(
        self, work: PlannedWork, ended: Ended, record: Callable[[Tx], None], following: PlannedWork | None, tx: Tx
    ) -> None:
        record(tx)
        end_task(tx, self._study, work.task, ended)
        if following is not None:
            self._mark_sent(following, tx)

    def _count_call(self, reply: Reply) -> None:
        counts = self.counts
        counts.outcomes[reply.outcome.value] += 1
        self._last_reason = reply.reason or reply.outcome.value
        if reply.reason:
            counts.reasons.setdefault(reply.outcome.value, reply.reason)
        counts.faults.update(reply.faults)
        counts.cost += cost_of(self._model, reply)
        counts.input_tokens += reply.input_tokens or 0
        counts.output_tokens += reply.output_tokens or 0
        self._has_answered = self._has_answered or reply.outcome is CallOutcome.ANSWER
        self._declined = self._declined + 1 if reply.outcome is CallOutcome.DECLINED else 0
        most = STOP_AFTER if self._has_answered else FIRST_DECLINED
        if reply.outcome is CallOutcome.REJECTED or self._declined >= most:
            self._failures = STOP_AFTER
            counts.ended_by = (
                f"The server rejects requests: {str(reply.reason).removesuffix('.')}. Correct [[model]] in study.toml, "
                "then run the model again."
            )

    def _count(self, ended: Ended) -> None:
        counts = self.counts
        counts.answered += ended.state is TaskState.ANSWERED
        counts.skipped += ended.state is TaskState.SKIPPED
        counts.failed += ended.state is TaskState.FAILED
        if self._failures < STOP_AFTER:
            self._failures = self._failures + 1 if ended.state is TaskState.FAILED else 0
            if self._failures == STOP_AFTER:
                where = f" at {self._model.endpoint}" if self._model.endpoint is not None else ""
                counts.ended_by = (
                    f"The server{where} failed {STOP_AFTER} times in a row ({self._last_reason}). Start it or correct "
                    "`endpoint`, then run this again; nothing is lost."
                )
        self._progress(counts)

    async def _write(self, work: Callable[[Tx], T]) -> T:
        return await asyncio.wrap_future(self._study.store.write(work))


def _nothing(_tx: Tx) -> None:
    """Record nothing."""
