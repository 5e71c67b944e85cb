"""The rows of the tables every study can export: pseudonyms for workers, never a panel's id."""

import json
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from chorale.model import ItemState
from chorale.protocol import hourly_wage
from chorale.store import Tx, results
from chorale.study.running import Study
from chorale.study.status import trust_of


def response_rows(tx: Tx, _study: Study) -> Iterator[dict[str, Any]]:
    """One row per response, with all that belongs to it."""
    sources = results.all_sources(tx)
    for response in results.all_responses(tx):
        yield {
            "response": response.id,
            "stage": response.stage,
            "task": response.task,
            "task_version": response.task_version,
            "item": response.item,
            "group": response.group,
            "payload": json.loads(response.item_payload),
            "worker": response.worker,
            "kind": response.kind,
            "answer": response.answer,
            "counts": response.counts,
            "submitted_at": iso_time(response.submitted_at),
            "submitted_at_ms": response.submitted_at,
            "duration_ms": response.duration_ms,
            "gold_answer": response.gold_answer,
            "gold_score": response.gold_score,
            "item_label": response.item_label,
            "item_confidence": response.item_confidence,
            "item_released": response.item_released,
            "item_state": response.item_state,
            "item_sources": sources.get(response.item_id, []),
        }


def label_rows(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    """One row per item; withdrawn ones are not part of the result."""
    sources = results.all_sources(tx)
    for item in (item for name in study.stages for item in results.all_items(tx, name)):
        if item.state == ItemState.WITHDRAWN:
            continue
        yield {
            "stage": item.stage,
            "item": item.key,
            "group": item.group,
            "payload": item.payload,
            "label": item.answer,
            "confidence": item.confidence,
            "judgments": item.judgments,
            "released": item.released,
            "state": item.state,
            "is_gold": item.is_gold,
            "sources": sources.get(item.id, []),
        }


def triples(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    """The counted judgments as task, worker, label."""
    several = len(study.stages) > 1
    for response in results.all_responses(tx):
        if response.counts and response.item_state != ItemState.WITHDRAWN:
            task = f"{response.stage}/{response.item}" if several else response.item
            yield {"task": task, "worker": response.worker, "label": response.answer}


def worker_rows(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    for row in results.worker_standings(tx):
        yield {
            "worker": row.worker,
            "stage": row.stage,
            "standing": row.standing,
            "trust": trust_of(study, row),
            "gold_answered": row.gold_answered,
            "gold_right": row.gold_right,
            "judgments": row.answered - row.gold_answered,
            "paid": row.earned,
            "currency": study.settings.pay.currency,
            "worked_ms": row.worked_ms,
            "hourly_wage": hourly_wage(row.earned, row.worked_ms),
        }


def ledger_rows(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    for line in results.ledger(tx):
        yield {
            "entry": line.id,
            "at": iso_time(line.at),
            "at_ms": line.at,
            "worker": line.worker,
            "stage": line.stage,
            "kind": line.kind,
            "amount": line.amount,
            "currency": study.settings.pay.currency,
            "reason": line.reason,
            "cause": line.cause,
        }


def iso_time(ms: int) -> str:
    """Milliseconds since 1970 as people and programs read them."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
