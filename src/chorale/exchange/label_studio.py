"""A study's results as Label Studio tasks, with a labelling configuration."""

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from chorale.engine.running import RunningStage, Study
from chorale.exchange.export_fields import shown_columns
from chorale.exchange.export_rows import iso_time
from chorale.files import tables
from chorale.model import Item, ItemState, Payload, Response
from chorale.store import Tx, items
from chorale.store.responses import all_responses

_UNNAMED = "answer"
_ITEM = "item"
"""The object tag for fields that do not refer to a column."""


def label_studio_rows(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    """A task for every judged item, with all counted answers, and the aggregated label as a prediction."""
    for stage in study.stages.values():
        judged = groupby(all_responses(tx, stage_name=stage.name, by_item=True), key=lambda row: row.item_id)
        # Both are sorted by item number, so each is read once.
        upcoming = next(judged, None)
        for item in items.all_items(tx, stage.name):
            while upcoming is not None and upcoming[0] < item.id:
                upcoming = next(judged, None)
            given: list[Response] = []
            if upcoming is not None and upcoming[0] == item.id:
                given = [row for row in upcoming[1] if row.counts]
            if item.state != ItemState.WITHDRAWN:
                yield _task(stage, item, given)
        # The rest are answers to gold; a cursor must be read to its end.
        deque(judged, maxlen=0)


def write_with_config(study: Study, rows: Iterator[tables.TableRow], path: Path) -> None:
    """Write the tasks, and next to them a labelling configuration for each stage."""
    tables.write_json_list(rows, path)
    for name, stage in study.stages.items():
        beside = path.with_suffix(".xml") if len(study.stages) == 1 else path.with_name(f"{path.stem}-{name}.xml")
        beside.write_text(labelling_config(stage), "utf-8")


def labelling_config(stage: RunningStage) -> str:
    """The configuration of a project with a stage's items and questions."""
    objects = _objects(stage)
    shown = [
        f"  <{tag} name={quoteattr(name)} value={quoteattr('$' + column)}/>" for column, (name, tag) in objects.items()
    ]
    asked = [
        f"  <Header value={quoteattr(field.ask or field.name)}/>\n  {field.studio.tag(_to_name(objects, field.item))}"
        for field in stage.task.shape.fields
        if field.studio is not None
    ]
    if not stage.task.shape.fields:
        asked = [_unnamed_control(stage, _to_name(objects, None))]
    return "\n".join(["<View>", *shown, *asked, "</View>", ""])


def _unnamed_control(stage: RunningStage, to: str) -> str:
    choices = stage.task.shape.choices
    if choices is None:
        return f"  <TextArea name={quoteattr(_UNNAMED)} toName={quoteattr(to)}/>"
    options = "".join(f"<Choice value={quoteattr(_as_choice(choice))}/>" for choice in choices)
    return f"  <Choices name={quoteattr(_UNNAMED)} toName={quoteattr(to)}>{options}</Choices>"


def _objects(stage: RunningStage) -> dict[str, tuple[str, str]]:
    """The shown columns, each with the name and kind of its tag."""
    kinds = {field.item: field.studio.shows for field in stage.task.shape.fields if field.item and field.studio}
    return {
        column: (f"{_ITEM}{number}" if number > 1 else _ITEM, kinds.get(column, "Text"))
        for number, column in enumerate(shown_columns(stage), 1)
    }


def _to_name(objects: Mapping[str, tuple[str, str]], column: str | None) -> str:
    return objects[column][0] if column is not None and column in objects else _ITEM


def _task(stage: RunningStage, item: Item, given: Sequence[Response]) -> dict[str, Any]:
    view = stage.task.form.view(item.payload)
    # Texts that are lists of tokens are shown as running text; regions have character offsets in it.
    texts = {name: view[name] for name in shown_columns(stage) if isinstance(view.get(name), str)}
    return {
        "id": item.id,
        "data": {**item.payload, **texts, "chorale_stage": stage.name, "chorale_item": item.key},
        "annotations": [
            {
                "id": row.id,
                "completed_by": {"email": f"{row.worker}@workers.invalid"},
                "created_at": iso_time(row.submitted_at),
                "lead_time": row.duration_ms / 1000,
                "was_cancelled": False,
                "result": _results(stage, item.payload, row.answer),
            }
            for row in given
        ],
        "predictions": _predictions(stage, item),
    }


def _predictions(stage: RunningStage, item: Item) -> list[dict[str, Any]]:
    if item.answer is None:
        return []
    result = _results(stage, item.payload, item.answer)
    return [{"model_version": "chorale", "score": item.confidence, "result": result}]


def _results(stage: RunningStage, payload: Payload, answer: Any) -> list[dict[str, Any]]:
    """An answer in Label Studio's format: every field with its own control."""
    objects = _objects(stage)
    if stage.task.shape.fields and isinstance(answer, Mapping):
        results = []
        for field in stage.task.shape.fields:
            if answer.get(field.name) is None or field.studio is None:
                continue
            for number, result in enumerate(field.studio.results(answer[field.name], payload), 1):
                named = {} if result["type"] == "relation" else {
                    "id": f"{field.name}-{number}",
                    "from_name": field.name,
                    "to_name": _to_name(objects, field.item),
                }  # fmt: skip
                results.append({**named, **result})
        return results
    if isinstance(answer, Mapping):
        return [_result(name, value) for name, value in answer.items() if value is not None]
    if stage.task.combining.chosen is not None:
        return [_result(_UNNAMED, list(stage.task.combining.chosen(answer)))]
    return [_result(_UNNAMED, answer)]


def _result(name: str, value: Any) -> dict[str, Any]:
    several = isinstance(value, list)
    if (several and all(isinstance(one, str) for one in value)) or isinstance(value, str | bool):
        chosen = value if several else [_as_choice(value)]
        return {"from_name": name, "to_name": _ITEM, "type": "choices", "value": {"choices": chosen}}
    if isinstance(value, int | float):
        return {"from_name": name, "to_name": _ITEM, "type": "number", "value": {"number": value}}
    text = json.dumps(value, ensure_ascii=False)
    return {"from_name": name, "to_name": _ITEM, "type": "textarea", "value": {"text": [text]}}


def _as_choice(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
