"""Storing a model's answer with its call, and submitting it if it counts like a worker's."""

import json
from collections.abc import Mapping
from typing import Any, NamedTuple

from chorale.contract.prompts import ModelAnswer
from chorale.engine import paying, submitting
from chorale.engine.offering import new_token
from chorale.engine.running import RunningStage, Study
from chorale.model import AssignmentKind, ModelSettings, Refusal
from chorale.platforms.models import CallOutcome, Reply
from chorale.store import Tx, assignments, calls, codec, model_tasks, offering
from chorale.store.calls import CallResult, CallState
from chorale.store.model_tasks import BESIDE, NO_JUDGMENTS, ModelTask, TaskState
from chorale.store.offering import ItemContent

_PER_TOKEN = 4
"""Approximate characters per token, for servers that do not count tokens."""


class Ended(NamedTuple):
    """The result for an item."""

    state: TaskState
    answer: ModelAnswer | None = None
    confidence: float | None = None
    latency_ms: int = 0


def cost_of(model: ModelSettings, reply: Reply) -> int:
    """The cost of a request, in billionths of a minor unit."""
    return model.price(reply.input_tokens or 0, reply.output_tokens or 0)


def complete_call(
    tx: Tx, study: Study, stage: RunningStage, model: ModelSettings, task: ModelTask, call_id: int, reply: Reply
) -> None:
    """Store the result of a request, and book its cost.

    Every attempt whose answer was lost is a separate call: it may have cost something, and keeps its reservation.
    """
    is_lost = reply.lost > 0 and reply.outcome.may_be_better_later
    cost = None if is_lost else cost_of(model, reply)
    result = CallResult(
        reply.version,
        reply.outcome.value,
        reply.reason,
        codec.storable(reply.output),
        reply.tries,
        json.dumps(reply.faults),
        reply.input_tokens,
        reply.output_tokens,
        reply.latency_ms,
        reply.confidence,
        cost,
    )
    now = study.clock()
    for _ in range(reply.lost - is_lost - reply.recorded):
        calls.add_lost_try(tx, call_id, now)
    calls.complete(tx, call_id, result, now, CallState.UNKNOWN if is_lost else CallState.DONE)
    if cost is not None:
        paying.book_call(tx, study, stage, task.worker_id, call_id, cost)


def with_tokens(reply: Reply, prompt_length: int) -> Reply:
    """The reply with estimated token counts if the server reports none."""
    if reply.outcome.may_be_better_later or reply.outcome in (CallOutcome.TOO_LONG, CallOutcome.DECLINED):
        return reply._replace(input_tokens=0, output_tokens=0)
    given, made = reply.input_tokens, reply.output_tokens
    return reply._replace(
        input_tokens=-(-prompt_length // _PER_TOKEN) if given is None else given,
        output_tokens=-(-len(reply.output) // _PER_TOKEN) if made is None else made,
    )


def end_task(tx: Tx, study: Study, task: ModelTask, ended: Ended) -> None:
    """Store the result for an item; an answer that counts is submitted like a worker's."""
    now = study.clock()
    if ended.answer is None:
        model_tasks.end(tx, task, ended.state, now)
        return
    response_id = None
    kind = task.kind
    if kind not in NO_JUDGMENTS:
        response_id = _submitted(tx, study, task, ended.answer.submitted, ended.latency_ms)
        kind = BESIDE if response_id is None else kind
    model_tasks.end(
        tx,
        task,
        ended.state,
        now,
        answer=codec.as_text(ended.answer.answer),
        confidence=ended.confidence,
        response_id=response_id,
        kind=kind,
    )


def _submitted(tx: Tx, study: Study, task: ModelTask, answer: Any, latency_ms: int) -> int | None:
    """The response for an answer; None if its item needs no more answers, and the answer is stored separately."""
    if not model_tasks.has_place(tx, task):
        return None
    kind = AssignmentKind(task.kind)
    content = ItemContent(task.item.item_id, task.item.key, task.item.group_key, task.item.payload, -1)
    if kind is AssignmentKind.GOLD:
        # One more place than for workers, so that the model does not take a place from them.
        offering.take_gold(tx, content.id, 1)
    token = new_token(study)
    assignments.lease(tx, token, task.stage_id, task.worker_id, content, kind, task.taken_at, study.clock() + 60_000)
    try:
        outcome = submitting.submit(
            tx, study, task.worker_id, token, answer, f"model-task:{task.id}", latency_ms, unpaid=True
        )
    except Refusal as refusal:
        raise RuntimeError(f"the answer to model task {task.id} was refused: {refusal}") from refusal
    return outcome.response_id


def merged(samples: list[tuple[ModelAnswer, float | None]]) -> tuple[ModelAnswer, float]:
    """The most frequent of several answers (the first if tied), and its frequency."""
    texts = [codec.as_text(answer.answer) for answer, _ in samples]
    most = max(texts, key=texts.count)
    return samples[texts.index(most)][0], texts.count(most) / len(texts)


def counted_faults(rows: list[tuple[str, str, str]]) -> Mapping[tuple[str, str], dict[str, int]]:
    """Number of faults of a model's calls in a stage, by kind."""
    met: dict[tuple[str, str], dict[str, int]] = {}
    for worker, stage, faults in rows:
        of = met.setdefault((worker, stage), {})
        for name, count in json.loads(faults).items():
            of[name] = of.get(name, 0) + int(count)
    return met
