"""What a study found, as the tasks of Label Studio."""

import json
from collections import deque
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from chorale.contract import FieldKind
from chorale.engine.running import RunningStage, Study
from chorale.exchange.export_rows import iso_time
from chorale.model import Item, ItemState, Response
from chorale.store import Tx, items
from chorale.store.responses import all_responses

_UNNAMED = "answer"


def label_studio_rows(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    """A task for every item that was judged, with every answer that counts and the study's own as a prediction."""
    for stage in study.stages.values():
        judged = groupby(all_responses(tx, stage_name=stage.name, by_item=True), key=lambda row: row.item_id)
        # Both come by the items' numbers, so each is gone through once.
        upcoming = next(judged, None)
        for item in items.all_items(tx, stage.name):
            while upcoming is not None and upcoming[0] < item.id:
                upcoming = next(judged, None)
            given: list[Response] = []
            if upcoming is not None and upcoming[0] == item.id:
                given = [row for row in upcoming[1] if row.counts]
            if item.state != ItemState.WITHDRAWN:
                yield _task(stage, item, given)
        # What is left was answered to gold alone; a cursor must be read to its end.
        deque(judged, maxlen=0)


def _task(stage: RunningStage, item: Item, given: Sequence[Response]) -> dict[str, Any]:
    return {
        "id": item.id,
        "data": {**item.payload, "chorale_stage": stage.name, "chorale_item": item.key},
        "annotations": [
            {
                "id": row.id,
                "completed_by": {"email": f"{row.worker}@workers.invalid"},
                "created_at": iso_time(row.submitted_at),
                "lead_time": row.duration_ms / 1000,
                "was_cancelled": False,
                "result": _results(stage, row.answer),
            }
            for row in given
        ],
        "predictions": _predictions(stage, item),
    }


def _predictions(stage: RunningStage, item: Item) -> list[dict[str, Any]]:
    if item.answer is None:
        return []
    return [{"model_version": "chorale", "score": item.confidence, "result": _results(stage, item.answer)}]


def _results(stage: RunningStage, answer: Any) -> list[dict[str, Any]]:
    """An answer as Label Studio has it: a choice where it is one, otherwise text."""
    if isinstance(answer, dict):
        written = _written_fields(stage)
        return [_result(name, value, name in written) for name, value in answer.items() if value is not None]
    if stage.task.combining.chosen is not None:
        return [_result(_UNNAMED, list(stage.task.combining.chosen(answer)))]
    return [_result(_UNNAMED, answer)]


def _written_fields(stage: RunningStage) -> set[str]:
    """The fields of an answer that are free text, not options."""
    return {field.name for field in stage.task.shape.fields if field.kind is FieldKind.TEXT}


def _result(name: str, value: Any, written: bool = False) -> dict[str, Any]:
    several = isinstance(value, list)
    if written:
        texts = value if several else [value]
        return {"from_name": name, "to_name": "item", "type": "textarea", "value": {"text": texts}}
    if (several and all(isinstance(one, str) for one in value)) or isinstance(value, str | bool):
        chosen = value if several else [value if isinstance(value, str) else json.dumps(value)]
        return {"from_name": name, "to_name": "item", "type": "choices", "value": {"choices": chosen}}
    if isinstance(value, int | float):
        return {"from_name": name, "to_name": "item", "type": "number", "value": {"number": value}}
    text = json.dumps(value, ensure_ascii=False)
    return {"from_name": name, "to_name": "item", "type": "textarea", "value": {"text": [text]}}
