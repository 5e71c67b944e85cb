"""What a study found in the shapes that other programs read: Label Studio's tasks, batch files of Mechanical Turk."""

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from typing import Any

from chorale.contract import FieldKind
from chorale.engine.running import RunningStage, Study
from chorale.exchange.export_rows import iso_time
from chorale.model import Item, ItemState, Response, money_text
from chorale.store import Tx, items
from chorale.store.responses import all_responses

MTURK_COLUMNS = (
    "HITId",
    "Title",
    "Reward",
    "AssignmentId",
    "WorkerId",
    "AssignmentStatus",
    "AcceptTime",
    "SubmitTime",
    "WorkTimeInSeconds",
)
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


def mturk_rows(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    """A row for every production answer, as results of a batch have it; the worker is a pseudonym."""
    for row in all_responses(tx):
        if row.kind != "production":
            continue
        stage = study.stage(row.stage).settings
        yield {
            "HITId": f"{row.stage}/{row.item}",
            "Title": stage.title,
            "Reward": money_text(stage.pay.per_judgment, study.settings.pay.currency),
            "AssignmentId": f"response-{row.id}",
            "WorkerId": row.worker,
            "AssignmentStatus": "Approved" if row.counts else "Rejected",
            "AcceptTime": _in_words(row.submitted_at - row.duration_ms),
            "SubmitTime": _in_words(row.submitted_at),
            "WorkTimeInSeconds": round(row.duration_ms / 1000),
            **{f"Input.{name}": value for name, value in json.loads(row.item_payload).items()},
            **{f"Answer.{name}": _cell(value) for name, value in _fields(row.answer).items()},
        }


def mturk_more_columns(tx: Tx, study: Study) -> Sequence[str]:
    """The inputs and answers that occur, in the order of their first."""
    inputs: dict[str, None] = {}
    answers: dict[str, None] = {}
    for name in study.stages:
        for item in items.all_items(tx, name):
            inputs.update(dict.fromkeys(f"Input.{column}" for column in item.payload))
    for row in all_responses(tx):
        if row.kind == "production":
            answers.update(dict.fromkeys(f"Answer.{column}" for column in _fields(row.answer)))
    return [*inputs, *answers]


def _fields(answer: Any) -> Mapping[str, Any]:
    return answer if isinstance(answer, dict) else {_UNNAMED: answer}


def _cell(value: Any) -> Any:
    """Several choices stand in one cell, as Mechanical Turk's checkboxes do."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "|".join(value)
    return value


def _in_words(ms: int) -> str:
    """As Mechanical Turk writes a time, but in UTC.

    >>> _in_words(1506357551000)
    'Mon Sep 25 16:39:11 UTC 2017'
    """
    return datetime.fromtimestamp(ms / 1000, UTC).strftime("%a %b %d %H:%M:%S UTC %Y")
