"""Export rows of models' calls and answers."""

import json
from collections.abc import Iterator
from typing import Any

from chorale.engine.models.stages import order_for
from chorale.engine.running import Study
from chorale.exchange.export_rows import iso_time
from chorale.monitor.models import name_of
from chorale.protocol import CALL_UNIT
from chorale.store import Tx, calls, model_tasks

CALL_COLUMNS = (
    *("call", "model_name", "stage", "item", "kind", "purpose", "state", "model", "version", "prompt_sha256"),
    *("planned_at", "sent_at", "done_at", "outcome", "reason", "output", "tries", "faults"),
    *("input_tokens", "output_tokens", "latency_ms", "confidence", "cost", "cost_billionths", "currency"),
)
ANSWER_COLUMNS = ("stage", "item", "model_name", "kind", "state", "answer", "confidence", "order", "ended_at")


def call_rows(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    """One row per call. A file of them can be replayed: `answers` in [[model]]."""
    for call in calls.all_calls(tx):
        yield {
            "call": call.id,
            "model_name": name_of(call.worker),
            "stage": call.stage,
            "item": call.item,
            "kind": call.kind,
            "purpose": call.purpose,
            "state": call.state,
            "model": call.model,
            "version": call.version,
            "prompt_sha256": call.prompt_sha256,
            "planned_at": iso_time(call.planned_at),
            "sent_at": None if call.sent_at is None else iso_time(call.sent_at),
            "done_at": None if call.done_at is None else iso_time(call.done_at),
            "outcome": call.outcome,
            "reason": call.reason,
            "output": call.output,
            "tries": call.tries,
            "faults": json.loads(call.faults),
            "input_tokens": call.input_tokens,
            "output_tokens": call.output_tokens,
            "latency_ms": call.latency_ms,
            "confidence": call.confidence,
            "cost": None if call.cost is None else call.cost / CALL_UNIT,
            "cost_billionths": call.cost,
            "currency": study.settings.pay.currency,
        }


def answer_rows(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    """One row per item assigned to a model."""
    for row in model_tasks.answers(tx):
        stage = study.stages.get(row.stage)
        yield {
            "stage": row.stage,
            "item": row.item,
            "model_name": name_of(row.worker),
            "kind": row.kind,
            "state": row.state,
            "answer": None if row.answer is None else json.loads(row.answer),
            "confidence": row.confidence,
            "order": None if stage is None else order_for(study, stage, row.worker, row.item, row.payload),
            "ended_at": None if row.ended_at is None else iso_time(row.ended_at),
        }
