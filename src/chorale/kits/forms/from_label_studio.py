"""Imports Label Studio annotations as a finished study with a form."""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from chorale.contract import AnswerField, FieldKind, Task
from chorale.exchange.batch_kinds import BatchKind
from chorale.exchange.importing import Imported, import_files
from chorale.files.batch_files import BatchOptions
from chorale.files.toml_lines import as_toml
from chorale.folder.own_table import NEVER_SHOWN
from chorale.kits.forms.label_studio_config import StudioForm, form_in
from chorale.kits.forms.task import FORM
from chorale.model import UserError

_TASK, _WORKER, _ANSWER = "chorale_task", "chorale_worker", "chorale_answer"
_NOBODY = "unknown"
_OWN_DATA = frozenset(("chorale_stage", "chorale_item", *NEVER_SHOWN))
"""What a task's data has for others than workers: the names that exports of Chorale add, and those of study files."""


def import_label_studio(tasks: Path, config: Path, out: Path, title: str) -> Imported:
    """Creates a study from a Label Studio JSON export and its labelling configuration."""
    asked = form_in(_text(config), config.name)
    asked.options["hosts"] = _hosts(tasks, asked)
    rows = list(_rows(tasks, FORM.configured(FORM.options.model.model_validate(asked.options)), asked))
    _allow_overlaps(asked, rows)
    kind = BatchKind(
        task="form",
        settings="",
        options=_as_toml(asked),
        item_columns=frozenset(),
        answer_column=_ANSWER,
        item=lambda cells: {name: value for name, value in cells.items() if name not in (_TASK, _WORKER, _ANSWER)},
        answer=lambda given: json.loads(next(iter(given.values()))),
    )
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / f"{tasks.stem}.jsonl"
        with table.open("w", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
        options = BatchOptions(_TASK, _WORKER, _ANSWER)
        return import_files([table], out, options, title=title, kind=kind, media=_files(tasks.parent, asked, rows))


def _allow_overlaps(asked: StudioForm, rows: Sequence[Mapping[str, Any]]) -> None:
    """Allows overlapping spans only if some overlap, because words are otherwise aggregated one by one."""
    answers = [json.loads(row[_ANSWER]) for row in rows]
    for field in asked.options["fields"]:
        if field["kind"] == "spans":
            field["overlap"] = any(_overlap(answer.get(field["name"], [])) for answer in answers)


def _overlap(spans: Sequence[Mapping[str, Any]]) -> bool:
    return any(later["start"] < earlier["end"] for earlier, later in pairwise(spans))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"Cannot read {path}: {error}.") from None


def _listed(path: Path) -> list[dict[str, Any]]:
    """The tasks of an export."""
    try:
        listed = json.loads(_text(path))
    except ValueError:
        raise UserError(f"{path} is not valid JSON. Export the project as JSON, not as JSON-MIN.") from None
    if not isinstance(listed, list) or not all(isinstance(one, dict) and "data" in one for one in listed):
        raise UserError(f"{path} is not a list of tasks. Export the project as JSON, not as JSON-MIN.")
    return listed


def _hosts(path: Path, asked: StudioForm) -> list[str]:
    """The servers of images and recordings."""
    places = [one["data"].get(name) for one in _listed(path) for name in asked.media] if asked.media else []
    parts = [urlsplit(place) for place in places if isinstance(place, str) and "://" in place]
    return sorted({f"{part.scheme}://{part.netloc}" for part in parts})


def _files(folder: Path, asked: StudioForm, rows: Sequence[Mapping[str, Any]]) -> dict[str, Path]:
    """Files next to the export that tasks refer to, by path."""
    places = {row[name] for row in rows for name in asked.media if name in row}
    inside = [place for place in places if "://" not in place and ".." not in PurePosixPath(place).parts]
    return {place: folder / place for place in sorted(inside) if (folder / place).is_file()}


def _place(value: str) -> str:
    """Location of a file: a URL, or its path in the study folder, as below Label Studio's root."""
    if "://" in value:
        return value
    return value.partition("?d=")[2] or value.lstrip("/")


def _rows(path: Path, task: Task, asked: StudioForm) -> Iterator[dict[str, Any]]:
    """One row per annotation that was not cancelled."""
    for number, entry in enumerate(_listed(path), 1):
        data = entry["data"]
        key = str(data.get("chorale_item", entry.get("id", number)))
        item = {name: value for name, value in data.items() if isinstance(value, str) and name not in _OWN_DATA}
        item |= {name: _place(item[name]) for name in asked.media if name in item}
        for made in entry.get("annotations") or ():
            if not made.get("was_cancelled"):
                answer = json.dumps(_answer(task, made.get("result") or [], item), ensure_ascii=False)
                yield {_TASK: key, _WORKER: _who(made.get("completed_by")), _ANSWER: answer, **item}


def _answer(task: Task, results: list[Mapping[str, Any]], item: Mapping[str, Any]) -> dict[str, Any]:
    answer = {}
    for field in task.shape.fields:
        of_field = [_as_exported(result, field) for result in results if result.get("from_name") == field.name]
        if field.studio is None or field.studio.read is None:
            continue
        if field.kind is FieldKind.RELATIONS:
            known = {result.get("id") for result in of_field}
            # Relations refer to no control, only to the regions that they connect.
            of_field += [each for each in results if each.get("type") == "relation" and each.get("from_id") in known]
            of_field = [
                {**each, "labels": each.get("labels") or [""]} if "from_id" in each else each for each in of_field
            ]
            of_field = [each for each in of_field if "from_id" not in each or each["labels"][0]]
        if of_field:
            answer[field.name] = field.studio.read(of_field, item)
        elif field.item is not None:
            answer[field.name] = {"spans": [], "relations": []} if field.kind is FieldKind.RELATIONS else []
    return answer


def _as_exported(result: Mapping[str, Any], field: AnswerField) -> Mapping[str, Any]:
    """A result in the format of Chorale's exports: a comparison is a choice of a column, a plain shape has a label."""
    value = result.get("value") or {}
    if result.get("type") == "pairwise":
        sides = [option for option, _ in field.options]
        return {**result, "value": {"choices": [sides[0 if value.get("selected") == "left" else 1]]}}
    kind = {"rectangle": "rectanglelabels", "polygon": "polygonlabels"}.get(str(result.get("type")))
    return result if kind is None else {**result, "type": kind, "value": {**value, kind: [field.name]}}


def _who(completed_by: Any) -> str:
    """The annotator: Label Studio writes a number, or an object with an e-mail address."""
    if isinstance(completed_by, Mapping):
        completed_by = completed_by.get("email") or completed_by.get("id")
    return _NOBODY if completed_by is None else str(completed_by).removesuffix("@workers.invalid")


def _as_toml(asked: StudioForm) -> str:
    shows = ", ".join(
        f"{{ {', '.join(f'{name} = {_value(value)}' for name, value in part.items())} }}"
        for part in asked.options["shows"]
    )
    lines = [f"shows = [{shows}]"]
    if asked.options["hosts"]:
        lines.append(f"hosts = {_value(asked.options['hosts'])}")
    for field in asked.options["fields"]:
        lines += ["", "[[stage.options.fields]]", *(f"{name} = {_value(value)}" for name, value in field.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, bool):
        return "true" if value else "false"
    return as_toml(value) if isinstance(value, str) else str(value)
