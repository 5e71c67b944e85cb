"""Tables of answers with fields: a column for each field next to the item's text, or tidy rows with one value each."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chorale.contract import AnswerField, FieldResult
from chorale.contract.fields import free_text_cell
from chorale.engine.combining import field_results
from chorale.engine.running import RunningStage, Study
from chorale.model import Item, ItemState, Payload
from chorale.store import Tx, items
from chorale.store.judgments_in_order import JudgmentsInOrder
from chorale.store.responses import all_responses

_OF_ANSWERS = ("stage", "item", "worker", "field", "kind")
_OF_LABELS = ("stage", "item", "field", "kind", "confidence", "accepted", "decided")


def stages_with_fields(study: Study) -> list[RunningStage]:
    return [stage for stage in study.stages.values() if stage.task.shape.fields]


def shown_columns(stage: RunningStage) -> list[str]:
    """The columns of an item that its form shows."""
    return [field.alias or name for name, field in stage.task.shape.item_type.model_fields.items()]


def item_columns(study: Study) -> list[str]:
    """Columns with what people saw of an item, in studies whose answers have fields."""
    return _different(f"item.{name}" for stage in stages_with_fields(study) for name in shown_columns(stage))


def field_columns(study: Study, before: str, *, sure: bool = False) -> list[str]:
    """A column for every field, and optionally one for its confidence."""
    names = _different(field.name for stage in stages_with_fields(study) for field in stage.task.shape.fields)
    return [column for name in names for column in _columns_of(f"{before}.{name}", sure)]


def answer_columns(study: Study) -> list[str]:
    """A column for every field of an answer, and the column that names those with free text."""
    return [*field_columns(study, "answer"), *free_text_columns(study)]


def free_text_columns(study: Study) -> tuple[str, ...]:
    """The column that names the fields with free text, if there are any."""
    stages = stages_with_fields(study)
    return tuple(_different(name for stage in stages for name in free_text_cell(stage.task.shape.fields)))


def _columns_of(name: str, sure: bool) -> tuple[str, ...]:
    return (name, f"{name}.confidence") if sure else (name,)


def _different(names: Iterator[str]) -> list[str]:
    return list(dict.fromkeys(names))


def seen(stage: RunningStage, payload: Payload) -> dict[str, Any]:
    """The shown values of an item, by column."""
    if not stage.task.shape.fields:
        return {}
    view = stage.task.form.view(payload)
    return {f"item.{name}": view[name] for name in shown_columns(stage) if view.get(name) is not None}


def cells(stage: RunningStage, payload: Payload, answer: Any, before: str) -> dict[str, Any]:
    """An answer with a cell for every field, readable without the item: spans have their text."""
    if not stage.task.shape.fields or not isinstance(answer, Mapping):
        return {}
    return {
        f"{before}.{field.name}": field.cell(answer[field.name], payload)
        for field in stage.task.shape.fields
        if answer.get(field.name) is not None
    }


def flat_cells(stage: RunningStage, payload: str, answer: str) -> dict[str, Any]:
    """The shown values, the answers, and the names of fields with free text, from stored texts."""
    if not stage.task.shape.fields:
        return {}
    of_item = json.loads(payload)
    shown = seen(stage, of_item) | cells(stage, of_item, json.loads(answer), "answer")
    return shown | free_text_cell(stage.task.shape.fields)


def label_cells(stage: RunningStage, item: Item, judgments: JudgmentsInOrder) -> dict[str, Any]:
    """The aggregated value of every field with its confidence, which is 1 for reviewers' decisions."""
    if not stage.task.shape.fields:
        return {}
    row = seen(stage, item.payload) | cells(stage, item.payload, item.answer, "label")
    for name, result in results_of(stage, item, judgments).items():
        row[f"label.{name}.confidence"] = result.confidence
    return row


def results_of(stage: RunningStage, item: Item, judgments: JudgmentsInOrder) -> Mapping[str, FieldResult]:
    """The result of every field: aggregated, or decided by a reviewer with confidence 1."""
    results = dict(field_results(stage, item.key, judgments.of(item.id)))
    results |= {name: FieldResult(value, 1.0) for name, value in (item.decision or {}).items()}
    # A decision can make another field inapplicable: it has no label, and so no confidence.
    return {name: result for name, result in results.items() if name in (item.answer or {})}


# Tidy rows


def _parts(study: Study) -> list[str]:
    fields = (field for stage in stages_with_fields(study) for field in stage.task.shape.fields)
    return _different(column for field in fields for column in field.columns)


def tidy_answer_columns(study: Study) -> tuple[str, ...]:
    return (*_OF_ANSWERS, *_parts(study), *item_columns(study))


def tidy_label_columns(study: Study) -> tuple[str, ...]:
    return (*_OF_LABELS, *_parts(study), *item_columns(study))


def tidy_answers(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    """The counted answers: a row for every value of every field, such as each span or chosen option."""
    for stage in stages_with_fields(study):
        for response in all_responses(tx, stage_name=stage.name):
            if not response.counts or response.item_state == ItemState.WITHDRAWN:
                continue
            payload = json.loads(response.item_payload)
            shown = seen(stage, payload)
            whose = {"stage": stage.name, "item": response.item, "worker": response.worker}
            for field in stage.task.shape.fields:
                for row in _values(field, response.answer.get(field.name), payload):
                    yield {**whose, "field": field.name, "kind": str(field.kind), **row, **shown}


def tidy_labels(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    """The aggregated labels: a row for every value of every field, with the field's confidence."""
    for stage in stages_with_fields(study):
        judgments = JudgmentsInOrder(tx, stage.settings.gold)
        for item in items.all_items(tx, stage.name):
            if item.state == ItemState.WITHDRAWN or item.answer is None:
                continue
            shown = seen(stage, item.payload)
            results = results_of(stage, item, judgments)
            for field in stage.task.shape.fields:
                sure = results[field.name].confidence if field.name in results else None
                accepted = None if sure is None else sure >= stage.settings.release_confidence
                decided = field.name in (item.decision or {})
                whose = {"stage": stage.name, "item": item.key, "confidence": sure, "accepted": accepted}
                whose["decided"] = decided
                for row in _values(field, item.answer.get(field.name), item.payload):
                    yield {**whose, "field": field.name, "kind": str(field.kind), **row, **shown}


def _values(field: AnswerField, value: Any, payload: Payload) -> Sequence[Mapping[str, Any]]:
    """The rows of a value. An empty value has a row, too: somebody looked and marked nothing."""
    if value is None:
        return ()
    return field.rows(value, payload) or ({},)
