"""Calls of models: recorded before they are sent, and completed when the answer arrives."""

from collections.abc import Iterator
from enum import StrEnum
from hashlib import sha256
from typing import Any, NamedTuple

from sqlalchemy import Connection, Select, bindparam, func, literal_column, select, update

from chorale.store.database import STREAMED
from chorale.store.model_schema import model_call, model_cost, model_task
from chorale.store.prepared import NumberingInsert, Prepared, upsert
from chorale.store.schema import item, stage, worker


class CallState(StrEnum):
    PLANNED = "planned"
    SENT = "sent"
    DONE = "done"
    UNKNOWN = "unknown"
    """Sent without a stored answer: it may have cost something."""


LOST_TRY = "try"
"""The purpose of an attempt whose answer was lost, and which was repeated."""


class NewCall(NamedTuple):
    """A request to be made."""

    task_id: int
    worker_id: int
    stage_id: int
    purpose: str
    model: str
    prompt_sha256: str
    planned_at: int
    input_price: int
    output_price: int
    reserved: int


class CallResult(NamedTuple):
    """The outcome of a request."""

    version: str | None
    outcome: str
    reason: str | None
    output: str | None
    tries: int
    faults: str
    input_tokens: int | None
    output_tokens: int | None
    latency_ms: int
    confidence: float | None
    cost: int | None


_FIELDS = NewCall._fields
_PLAN = NumberingInsert(model_call, *_FIELDS, state=CallState.PLANNED.value)
_SENT = Prepared(
    update(model_call)
    .where(model_call.c.id == bindparam("of_call"))
    .values(state=literal_column("'sent'"), sent_at=bindparam("now"))
)
_DONE = Prepared(
    update(model_call)
    .where(model_call.c.id == bindparam("of_call"))
    .values(
        state=bindparam("new_state"),
        done_at=bindparam("now"),
        **{name: bindparam(f"new_{name}") for name in CallResult._fields},
    )
)


def plan(tx: Connection, call: NewCall) -> int:
    return _PLAN.number(tx, **call._asdict())


def mark_sent(tx: Connection, call_id: int, now: int) -> None:
    _SENT(tx, of_call=call_id, now=now)


def complete(tx: Connection, call_id: int, result: CallResult, now: int, state: CallState = CallState.DONE) -> None:
    """Record the outcome of a call; its state is `unknown` if its cost can't be determined."""
    _DONE(
        tx,
        of_call=call_id,
        now=now,
        new_state=state.value,
        **{f"new_{name}": value for name, value in result._asdict().items()},
    )


def add_lost_try(tx: Connection, call_id: int, now: int) -> None:
    """Record an earlier attempt of a call whose answer was lost. The attempt may have cost as much as the call."""
    row = tx.execute(select(model_call).where(model_call.c.id == call_id)).one()
    values = {name: getattr(row, name) for name in (*_FIELDS, "sent_at")}
    number = plan(tx, NewCall(**{name: values[name] for name in _FIELDS})._replace(purpose=LOST_TRY))
    changed = {"state": CallState.UNKNOWN.value, "sent_at": values["sent_at"], "done_at": now}
    tx.execute(update(model_call).where(model_call.c.id == number).values(**changed))


def times_lost(tx: Connection, worker_id: int, stage_id: int) -> dict[int, int]:
    """Number of runs in which a model's answer to an item was lost, by task. Killed runs do not count."""
    query = (
        select(model_call.c.task_id, func.count())
        .where(
            model_call.c.worker_id == worker_id,
            model_call.c.stage_id == stage_id,
            model_call.c.state == CallState.UNKNOWN,
            model_call.c.outcome.is_not(None),
        )
        .group_by(model_call.c.task_id)
    )
    return {int(task_id): int(times) for task_id, times in tx.execute(query)}


def has_answered(tx: Connection, worker_id: int, stage_id: int) -> bool:
    """Whether a model's server has ever answered in a stage."""
    query = select(model_call.c.id).where(
        model_call.c.worker_id == worker_id, model_call.c.stage_id == stage_id, model_call.c.outcome == "answer"
    )
    return tx.execute(query.limit(1)).first() is not None


def give_up(tx: Connection, worker_id: int, stage_id: int, now: int) -> int:
    """Mark calls that an earlier run sent without an answer as `unknown`; returns how many."""
    query = (
        update(model_call)
        .where(
            model_call.c.worker_id == worker_id,
            model_call.c.stage_id == stage_id,
            model_call.c.state == CallState.SENT,
        )
        .values(state=CallState.UNKNOWN, done_at=now)
    )
    return int(tx.execute(query).rowcount)


def forget_planned(tx: Connection, worker_id: int, stage_id: int) -> None:
    """Delete calls that were never sent: they are planned again, possibly with another prompt."""
    tx.execute(
        model_call.delete().where(
            model_call.c.worker_id == worker_id,
            model_call.c.stage_id == stage_id,
            model_call.c.state == CallState.PLANNED,
        )
    )


_RESERVED = Prepared(
    select(func.coalesce(func.sum(model_call.c.reserved), literal_column("0"))).where(
        model_call.c.state.in_([literal_column(f"'{state}'") for state in ("planned", "sent", "unknown")])
    )
)


def reserved(tx: Connection) -> int:
    """The maximum cost of calls whose cost is not known yet, in billionths of a minor unit."""
    return int(_RESERVED.value(tx))


class ModelCost(NamedTuple):
    exact: int
    booked: int


_COST = Prepared(
    select(model_cost.c.exact, model_cost.c.booked).where(
        model_cost.c.worker_id == bindparam("worker_id"), model_cost.c.stage_id == bindparam("stage_id")
    )
)


def cost_of(tx: Connection, worker_id: int, stage_id: int) -> ModelCost:
    row = _COST.first(tx, worker_id=worker_id, stage_id=stage_id)
    return ModelCost(0, 0) if row is None else ModelCost(int(row[0]), int(row[1]))


_SET_COST = Prepared(
    update(model_cost)
    .where(model_cost.c.worker_id == bindparam("of_worker"), model_cost.c.stage_id == bindparam("of_stage"))
    .values(exact=bindparam("new_exact"), booked=bindparam("new_booked"))
)


def set_cost(tx: Connection, worker_id: int, stage_id: int, cost: ModelCost) -> None:
    values = {"of_worker": worker_id, "of_stage": stage_id, "new_exact": cost.exact, "new_booked": cost.booked}
    if not _SET_COST.changed(tx, **values):
        row = {"worker_id": worker_id, "stage_id": stage_id, **cost._asdict()}
        tx.execute(upsert(tx, model_cost).values(**row))


class CostRow(NamedTuple):
    worker: str
    stage: str
    exact: int
    booked: int


def costs(tx: Connection) -> list[CostRow]:
    """The stored cost of calls, by model and stage."""
    query = (
        select(worker.c.pseudonym, stage.c.name, model_cost.c.exact, model_cost.c.booked)
        .join(worker, worker.c.id == model_cost.c.worker_id)
        .join(stage, stage.c.id == model_cost.c.stage_id)
        .order_by(stage.c.position, worker.c.pseudonym)
    )
    return [CostRow(str(row[0]), str(row[1]), int(row[2]), int(row[3])) for row in tx.execute(query)]


class CallRow(NamedTuple):
    """A call with its model, stage and item."""

    id: int
    worker: str
    stage: str
    item: str
    kind: str
    purpose: str
    state: str
    model: str
    version: str | None
    prompt_sha256: str
    planned_at: int
    sent_at: int | None
    done_at: int | None
    outcome: str | None
    reason: str | None
    output: str | None
    tries: int
    faults: str
    input_tokens: int | None
    output_tokens: int | None
    latency_ms: int | None
    confidence: float | None
    input_price: int
    output_price: int
    reserved: int
    cost: int | None


_OF_CALL = CallRow._fields[5:]


def all_calls(tx: Connection) -> Iterator[CallRow]:
    """Every call, in the order they were planned, streamed."""
    query: Select[Any] = (
        select(
            model_call.c.id,
            worker.c.pseudonym,
            stage.c.name,
            item.c.key,
            model_task.c.kind,
            *(model_call.c[name] for name in _OF_CALL),
        )
        .select_from(model_call)
        .join(model_task, model_task.c.id == model_call.c.task_id)
        .join(worker, worker.c.id == model_call.c.worker_id)
        .join(stage, stage.c.id == model_call.c.stage_id)
        .join(item, item.c.id == model_task.c.item_id)
        .order_by(model_call.c.id)
    )
    for row in tx.execute(query, execution_options=STREAMED):
        yield CallRow._make(row)


class FinishedCall(NamedTuple):
    task_id: int
    outcome: str


def finished(tx: Connection) -> Iterator[FinishedCall]:
    """The completed calls, streamed."""
    query = select(model_call.c.task_id, model_call.c.outcome).where(model_call.c.state == CallState.DONE)
    for row in tx.execute(query, execution_options=STREAMED):
        yield FinishedCall._make(row)


class CallSummary(NamedTuple):
    """Counts of a model's calls in a stage with the same state and outcome."""

    worker: str
    stage: str
    state: str
    outcome: str | None
    calls: int
    input_tokens: int
    output_tokens: int
    latency_ms: int
    cost: int
    first_at: int
    last_at: int


def summaries(tx: Connection) -> list[CallSummary]:
    """Numbers of calls by kind, with tokens, time and cost."""

    def total(name: str) -> Any:
        return func.coalesce(func.sum(model_call.c[name]), 0)

    query = (
        select(
            worker.c.pseudonym,
            stage.c.name,
            model_call.c.state,
            model_call.c.outcome,
            func.count(),
            *(total(name) for name in ("input_tokens", "output_tokens", "latency_ms", "cost")),
            func.min(model_call.c.planned_at),
            func.max(model_call.c.planned_at),
        )
        .select_from(model_call)
        .join(worker, worker.c.id == model_call.c.worker_id)
        .join(stage, stage.c.id == model_call.c.stage_id)
        .group_by(worker.c.pseudonym, stage.c.name, stage.c.position, model_call.c.state, model_call.c.outcome)
        .order_by(stage.c.position, worker.c.pseudonym, model_call.c.state, model_call.c.outcome)
    )
    return [CallSummary._make(int(v) if isinstance(v, int) else v for v in row) for row in tx.execute(query)]


def versions(tx: Connection) -> dict[tuple[str, str], list[str]]:
    """The versions that servers reported, by model and stage."""
    query = (
        select(worker.c.pseudonym, stage.c.name, model_call.c.version)
        .distinct()
        .select_from(model_call)
        .join(worker, worker.c.id == model_call.c.worker_id)
        .join(stage, stage.c.id == model_call.c.stage_id)
        .where(model_call.c.version.is_not(None))
        .order_by(model_call.c.version)
    )
    by_model: dict[tuple[str, str], list[str]] = {}
    for name, stage_name, version in tx.execute(query):
        by_model.setdefault((str(name), str(stage_name)), []).append(str(version))
    return by_model


def prompt_digests(tx: Connection) -> dict[tuple[str, str], str]:
    """The SHA-256 of the sorted hashes of all prompts, by model and stage."""
    query = (
        select(worker.c.pseudonym, stage.c.name, model_call.c.prompt_sha256)
        .distinct()
        .select_from(model_call)
        .join(worker, worker.c.id == model_call.c.worker_id)
        .join(stage, stage.c.id == model_call.c.stage_id)
        .order_by(worker.c.pseudonym, stage.c.name, model_call.c.prompt_sha256)
    )
    digests: dict[tuple[str, str], Any] = {}
    for name, stage_name, digest in tx.execute(query, execution_options=STREAMED):
        digests.setdefault((str(name), str(stage_name)), sha256()).update(str(digest).encode())
    return {key: digest.hexdigest() for key, digest in digests.items()}


def faults_met(tx: Connection) -> list[tuple[str, str, str]]:
    """Model, stage and faults (as JSON) of every call with faults."""
    query = (
        select(worker.c.pseudonym, stage.c.name, model_call.c.faults)
        .select_from(model_call)
        .join(worker, worker.c.id == model_call.c.worker_id)
        .join(stage, stage.c.id == model_call.c.stage_id)
        .where(model_call.c.faults != "{}")
    )
    return [(str(row[0]), str(row[1]), str(row[2])) for row in tx.execute(query)]
