"""A study's results as Label Studio tasks, with a labelling configuration."""

import json
from collections import deque
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

from chorale.contract import ShownTag
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
WORKERS, UNANSWERED = "chorale_workers", "chorale_unanswered"
"""Keys of a task's `meta`, with values by annotation ID. They are not stored in the annotation itself: Label Studio
refuses unknown annotators, and drops unknown parts of an annotation."""


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
    shown = [_object(column, name, stage) for column, name in objects.items()]
    if not objects:
        # Every control needs something to refer to.
        shown = [f"  <Text name={quoteattr(_ITEM)} value={quoteattr('$chorale_item')}/>"]
    asked = [
        f"  <Header value={quoteattr(field.ask or field.name)}/>\n  {field.studio.tag(_to_name(objects, field.item))}"
        for field in stage.task.shape.fields
        if field.studio is not None
    ]
    if not stage.task.shape.fields:
        asked = [_unnamed_control(stage, _to_name(objects, None))]
    page = stage.task.form.studio
    kept = "" if page is None else f" choraleStage={quoteattr(stage.name)} chorale={quoteattr(page.options)}"
    return "\n".join([f"<View{kept}>", *shown, *asked, "</View>", ""])


def _object(column: str, name: str, stage: RunningStage) -> str:
    shown = _shown_as(stage, column)
    attributes = {"name": name, "value": f"${column}", **shown.attributes}
    return f"  <{shown.tag} {' '.join(f'{key}={quoteattr(value)}' for key, value in attributes.items())}/>"


def _shown_as(stage: RunningStage, column: str) -> ShownTag:
    page = stage.task.form.studio
    return ShownTag() if page is None else page.shown.get(column, ShownTag())


def _unnamed_control(stage: RunningStage, to: str) -> str:
    choices = stage.task.shape.choices
    if choices is None:
        return f"  <TextArea name={quoteattr(_UNNAMED)} toName={quoteattr(to)}/>"
    options = "".join(f"<Choice value={quoteattr(_as_choice(choice))}/>" for choice in choices)
    return f"  <Choices name={quoteattr(_UNNAMED)} toName={quoteattr(to)}>{options}</Choices>"


def _objects(stage: RunningStage) -> dict[str, str]:
    """The shown columns, each with the name of its tag."""
    return {
        column: f"{_ITEM}{number}" if number > 1 else _ITEM for number, column in enumerate(shown_columns(stage), 1)
    }


def _to_name(objects: Mapping[str, str], column: str | None) -> str:
    return objects[column] if column is not None and column in objects else _ITEM


def _task(stage: RunningStage, item: Item, given: Sequence[Response]) -> dict[str, Any]:
    return {
        "id": item.id,
        "data": _data(stage, item),
        "annotations": [
            {
                "id": row.id,
                "ground_truth": False,
                "created_at": iso_time(row.submitted_at),
                "lead_time": row.duration_ms / 1000,
                "was_cancelled": False,
                "result": _results(stage, item.payload, row.answer),
            }
            for row in given
        ],
        "predictions": _predictions(stage, item),
        "meta": _meta(stage, given),
    }


def _meta(stage: RunningStage, given: Sequence[Response]) -> dict[str, Any]:
    """The participant ID and the unanswered fields of each annotation."""
    if not given:
        return {}
    unanswered = {str(row.id): names for row in given if (names := _unanswered(stage, row.answer))}
    workers = {str(row.id): row.worker for row in given}
    return {WORKERS: workers, **({UNANSWERED: unanswered} if unanswered else {})}


def _data(stage: RunningStage, item: Item) -> dict[str, Any]:
    view = stage.task.form.view(item.payload)
    shown = {}
    for name in shown_columns(stage):
        convert = _shown_as(stage, name).convert
        if convert is not None and item.payload.get(name) is not None:
            shown[name] = convert(item.payload[name])
        elif isinstance(view.get(name), str):
            # Texts that are lists of tokens are shown as running text; regions have character offsets in it.
            shown[name] = view[name]
    changed = {name: item.payload[name] for name, value in shown.items() if item.payload[name] != value}
    own: dict[str, Any] = {"chorale_stage": stage.name, "chorale_item": item.key}
    own |= {"chorale_original": changed} if changed else {}
    for field in stage.task.shape.fields:
        if field.studio is not None and field.studio.data is not None:
            own |= field.studio.data(item.payload)
    return {**item.payload, **shown, **own}


def _unanswered(stage: RunningStage, answer: Any) -> list[str]:
    """The optional fields without an answer. They are listed, since an empty list of regions also has no results."""
    if not isinstance(answer, Mapping):
        return []
    fields = (field for field in stage.task.shape.fields if field.item is not None and field.asked(answer))
    return [field.name for field in fields if answer.get(field.name) is None]


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
