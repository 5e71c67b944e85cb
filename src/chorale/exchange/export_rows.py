"""The rows of the tables that every study can export. Workers have pseudonyms; platform IDs are never exported.

After an erasure, only the ledger keeps rows: payments to a pseudonym.
"""

import json
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

from chorale.contract.fields import free_text_cell
from chorale.engine.running import RunningStage, Study
from chorale.exchange.export_fields import cells, free_text_columns, label_cells, seen
from chorale.exchange.export_first import first_cells
from chorale.files.judgment_layout import FREE_TEXT
from chorale.model import ItemState, Response
from chorale.monitor.status import gold_of, trust_of
from chorale.protocol import hourly_wage
from chorale.store import Tx, erasing, events, first_pass, gates, items, ledger, participations
from chorale.store.arms import arms_by_worker as arms_of_workers
from chorale.store.consents import ConsentHistory
from chorale.store.grades import all_grades
from chorale.store.judgments_in_order import JudgmentsInOrder
from chorale.store.messages import all_messages
from chorale.store.responses import all_responses


def response_rows(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    """One row per response, with all its details."""
    sources = items.all_sources(tx)
    arms = None if study.settings.arms is None else arms_of_workers(tx)
    agreed = ConsentHistory(tx)
    for response in all_responses(tx):
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
            "consent_version": agreed.agreed_at(response.worker, response.submitted_at),
            **({} if arms is None else {"arm": arms.get(response.worker)}),
            **_of_fields(study.stage(response.stage), response),
        }


def _of_fields(stage: RunningStage, response: Response) -> dict[str, Any]:
    if not stage.task.shape.fields:
        return {}
    payload = json.loads(response.item_payload)
    shown = seen(stage, payload) | cells(stage, payload, response.answer, "answer")
    return shown | free_text_cell(stage.task.shape.fields)


def label_rows(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    """One row per item; withdrawn items are left out."""
    sources = items.all_sources(tx)
    first = {name: first_pass.of_stage(tx, stage.id) for name, stage in study.stages.items() if stage.asks_model_first}
    arms: dict[str, frozenset[str]] = {}
    judgments = {name: JudgmentsInOrder(tx, stage.settings.gold) for name, stage in study.stages.items()}
    for item in (item for name in study.stages for item in items.all_items(tx, name)):
        # Items merged from all arms are still derived from one arm each.
        own = frozenset(study.stage(item.stage).settings.arms)
        of_sources = frozenset[str]().union(*(arms.get(source, frozenset()) for source in sources.get(item.id, ())))
        its = arms[f"{item.stage}/{item.key}"] = own or of_sources
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
            **({} if study.settings.arms is None else {"arm": next(iter(its)) if len(its) == 1 else None}),
            **(first_cells(item, first.get(item.stage, {}).get(item.key)) if first else {}),
            **label_cells(study.stage(item.stage), item, judgments[item.stage]),
        }


def qualification_rows(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    """One row per qualification of a worker, with its gate and score."""
    verdicts = {(row.gate, row.worker): row for row in gates.verdicts(tx)}
    given_by = {gate.settings.promote.to: name for name, gate in study.gates.items() if gate.settings.promote}
    gone = erasing.without_answers(tx)
    for row in gates.qualifications(tx):
        if row.worker in gone:
            continue
        gate = given_by.get(row.name, row.name)
        verdict = verdicts.get((gate, row.worker))
        yield {
            "worker": row.worker,
            "qualification": row.name,
            "at": iso_time(row.granted_at),
            "at_ms": row.granted_at,
            "gate": None if verdict is None else gate,
            "score": None if verdict is None else verdict.score,
        }


def arm_rows(tx: Tx, _study: Study) -> Iterator[dict[str, Any]]:
    """One row per assignment to an arm, in order, with everything needed to repeat it."""
    gone = erasing.without_answers(tx)
    for event in reversed(events.recent(tx, events.latest(tx), kinds=("arm",))):
        if event.worker in gone:
            continue
        yield {
            "worker": event.worker,
            "at": iso_time(event.at),
            "at_ms": event.at,
            **{name: event.evidence[name] for name in ("arm", "stratum", "number", "block", "seed")},
        }


def message_rows(tx: Tx, _study: Study) -> Iterator[dict[str, Any]]:
    gone = {one.worker for one in erasing.erasures(tx)}
    for row in all_messages(tx):
        if row.worker in gone:
            continue
        yield {
            "message": row.id,
            "worker": row.worker,
            "gate": row.cause.removeprefix("gate:"),
            "state": row.state,
            "written_at": iso_time(row.written_at),
            "sent_at": None if row.sent_at is None else iso_time(row.sent_at),
            "read_at": None if row.read_at is None else iso_time(row.read_at),
            "title": row.title,
            "body": row.body,
        }


def consent_rows(tx: Tx, _study: Study) -> Iterator[dict[str, Any]]:
    """One row per consent, with the version of the form and its text."""
    agreed = ConsentHistory(tx)
    forms = {form.version: form for form in agreed.forms}
    gone = erasing.without_answers(tx)
    for worker, given in sorted((worker, given) for worker, given in agreed.given.items() if worker not in gone):
        for at, version in given:
            form = forms.get(version)
            yield {
                "worker": worker,
                "version": version,
                "at": iso_time(at),
                "at_ms": at,
                "sha256": None if form is None else form.sha256,
                "text": None if form is None else form.text,
            }


def grade_rows(tx: Tx, _study: Study) -> Iterator[dict[str, Any]]:
    """One row per grade, including replaced ones; the last grade of a response counts."""
    gone = erasing.without_answers(tx)
    for row in all_grades(tx):
        if row.worker in gone:
            continue
        yield {
            "grade": row.id,
            "response": row.response_id,
            "worker": row.worker,
            "stage": row.stage,
            "source": row.source,
            "score": row.score,
            "criteria": None if row.criteria is None else dict(row.criteria),
            "reasons": list(row.reasons),
            "graded_at": iso_time(row.graded_at),
            "graded_at_ms": row.graded_at,
        }


def triples(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    """The counted judgments as task, worker, label; answers with fields have a column for each instead of a label."""
    several = len(study.stages) > 1
    names = {stage.name: field_columns(stage) for stage in study.stages.values()}
    for response in all_responses(tx):
        if response.counts and response.item_state != ItemState.WITHDRAWN:
            task = f"{response.stage}/{response.item}" if several else response.item
            columns = names[response.stage]
            if columns:
                labels = {columns[name]: label(value) for name, value, label in _labels(study, response)}
            else:
                labels = {_WHOLE: response.answer}
            texts = free_text_cell(study.stage(response.stage).task.shape.fields)
            yield {"task": task, "worker": response.worker, **labels, **texts}


def _labels(study: Study, response: Response) -> Iterator[tuple[str, Any, Callable[[Any], Any]]]:
    for field in study.stage(response.stage).task.shape.fields:
        if response.answer.get(field.name) is not None:
            yield field.name, response.answer[field.name], field.label


_WHOLE = "label"


def field_columns(stage: RunningStage) -> dict[str, str]:
    """The column of each field of a stage's answers; empty if they have no fields."""
    taken = {"task", "worker", _WHOLE, FREE_TEXT}
    names = [field.name for field in stage.task.shape.fields]
    return {name: f"answer.{name}" if name in taken else name for name in names}


def triple_columns(study: Study) -> tuple[str, ...]:
    """The columns of `triples`."""
    fields = [field_columns(stage) for stage in study.stages.values()]
    whole = () if all(fields) else (_WHOLE,)
    columns = dict.fromkeys(column for one in fields for column in one.values())
    return ("task", "worker", *whole, *columns, *free_text_columns(study))


def worker_rows(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    gone = erasing.without_answers(tx)
    for row in participations.participation_summaries(tx):
        if row.worker in gone:
            continue
        right, answered = gold_of(study, row)
        yield {
            "worker": row.worker,
            "stage": row.stage,
            "standing": row.standing,
            "trust": trust_of(study, row),
            "gold_answered": answered,
            "gold_right": right,
            "judgments": row.answered - row.gold_answered,
            "paid": row.earned,
            "currency": study.settings.pay.currency,
            "worked_ms": row.worked_ms,
            "hourly_wage": hourly_wage(row.earned, row.worked_ms),
        }


def ledger_rows(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    for line in ledger.ledger_lines(tx):
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
    """Milliseconds since 1970 as an ISO 8601 time."""
    return datetime.fromtimestamp(ms / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
