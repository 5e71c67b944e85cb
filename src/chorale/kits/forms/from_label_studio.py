"""Imports Label Studio annotations as a finished study with a form."""

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import urlsplit

from pydantic import ValidationError

from chorale.contract import AnswerError, AnswerField, FieldKind, Task
from chorale.exchange.batch_kinds import BatchKind
from chorale.exchange.importing import Imported, import_files
from chorale.exchange.label_studio import UNANSWERED, WORKERS
from chorale.files.batch_files import BatchOptions
from chorale.files.toml_lines import as_toml
from chorale.folder.own_table import NEVER_SHOWN
from chorale.kits.forms.label_studio_config import StudioForm, field_of, form_in
from chorale.kits.forms.task import FORM
from chorale.kits.forms.task.items import media_columns
from chorale.kits.forms.task.settings import MARKED, FormOptions
from chorale.model import UserError
from chorale.model.plural import plural

_TASK, _WORKER, _ITEM, _ANSWER = "chorale_task", "chorale_worker", "chorale_item", "chorale_answer"
_NOBODY = "unknown"


def import_label_studio(tasks: Path, config: Path, out: Path, title: str) -> Imported:
    """Creates a study from a Label Studio JSON export and its labelling configuration."""
    asked = form_in(_text(config), config.name)
    media = media_columns(_form(asked, config))
    asked.options["hosts"] = sorted({*asked.options.get("hosts", ()), *_hosts(tasks, media)})
    form = _form(asked, config)
    task = FORM.configured(form)
    entries = [{"id": number, **entry} for number, entry in enumerate(_listed(tasks), 1)]
    rows = [row for entry in entries if _is_of(asked, entry) for row in _rows(entry, task, asked, form)]
    cancelled = sum(
        bool(made.get("was_cancelled"))
        for entry in entries
        if _is_of(asked, entry)
        for made in entry.get("annotations") or ()
    )
    _fit(asked, task, [row.answer for row in rows])
    _check(tasks, FORM.configured(_form(asked, config)), rows)
    kind = BatchKind(
        task="form",
        settings="",
        options=_as_toml(asked),
        item_columns=frozenset(),
        answer_column=_ANSWER,
        item=lambda cells: json.loads(cells[_ITEM]),
        answer=lambda given: json.loads(next(iter(given.values()))),
        source=tasks,
        left_out={"cancelled": cancelled} if cancelled else {},
        notes=(f"Left out: {plural(cancelled, 'cancelled annotation', 'cancelled annotations')}.",)
        if cancelled
        else (),
    )
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder) / f"{tasks.stem}.jsonl"
        with table.open("w", encoding="utf-8") as file:
            file.writelines(f"{json.dumps(row.cells, ensure_ascii=False)}\n" for row in rows)
        options = BatchOptions(_TASK, _WORKER, _ANSWER)
        return import_files([table], out, options, title=title, kind=kind, media=_files(tasks, media, rows))


@dataclass(frozen=True)
class StudioRow:
    """One annotation."""

    task: str
    worker: str
    item: Mapping[str, Any]
    answer: Mapping[str, Any]

    @property
    def cells(self) -> dict[str, str]:
        item, answer = (json.dumps(part, ensure_ascii=False) for part in (self.item, self.answer))
        return {_TASK: self.task, _WORKER: self.worker, _ITEM: item, _ANSWER: answer}


def _form(asked: StudioForm, config: Path) -> FormOptions:
    try:
        return FormOptions.model_validate(asked.options)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        words = f"{config.name} does not fit a form: {place}: {first['msg'].removeprefix('Value error, ')}"
        raise UserError(f"{words} Change the configuration.") from None


def _is_of(asked: StudioForm, entry: Mapping[str, Any]) -> bool:
    """Whether a task belongs to the stage of the configuration. An export has the tasks of all stages."""
    return asked.stage is None or entry["data"].get("chorale_stage", asked.stage) == asked.stage


def _fit(asked: StudioForm, task: Task, answers: Sequence[Mapping[str, Any]]) -> None:
    """Relaxes conditions and required fields that the answers do not meet: Label Studio does not check them."""
    for field, settings in zip(task.shape.fields, asked.options["fields"], strict=True):
        name = field.name
        if any(name in answer and not field.asked(answer) for answer in answers):
            settings.pop("shown_if")
            settings["required"] = False
        elif any(name not in answer and field.asked(answer) for answer in answers):
            settings["required"] = False
        # Only if some overlap, because words are otherwise aggregated one by one.
        if settings["kind"] == "spans" and any(_overlap(answer.get(name, [])) for answer in answers):
            settings["overlap"] = True


def _check(path: Path, task: Task, rows: Sequence[StudioRow]) -> None:
    for row in rows:
        try:
            task.shape.parse_answer(row.answer)
        except AnswerError as error:
            words = f"{path}: task {row.task}: the annotation of {row.worker} {error.words.demand}"
            raise UserError(f"{words}. Complete or delete it in Label Studio, and export again.") from None


def _overlap(spans: Sequence[Mapping[str, Any]]) -> bool:
    return any(later["start"] < earlier["end"] for earlier, later in pairwise(spans))


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8")
    except OSError as error:
        raise UserError(f"{path} can't be read: {error.strerror}. Check the file name.") from None
    except UnicodeDecodeError:
        raise UserError(f"{path} is not UTF-8 text. Save it as UTF-8.") from None


def _listed(path: Path) -> list[dict[str, Any]]:
    """The tasks of an export."""
    try:
        listed = json.loads(_text(path))
    except ValueError:
        raise UserError(f"{path} is not valid JSON. Export the project as JSON again.") from None
    if not isinstance(listed, list) or not all(isinstance(one, dict) and "data" in one for one in listed):
        raise UserError(f"{path} is not a list of tasks. Export the project as JSON, not as JSON-MIN.")
    return listed


def _hosts(path: Path, media: Sequence[str]) -> list[str]:
    """The servers of images and recordings."""
    places = [one["data"].get(name) for one in _listed(path) for name in media] if media else []
    parts = [urlsplit(place) for place in places if isinstance(place, str) and "://" in place]
    return sorted({f"{part.scheme}://{part.netloc}" for part in parts})


def _files(tasks: Path, media: Sequence[str], rows: Sequence[StudioRow]) -> dict[str, Path]:
    """Files next to the export that tasks refer to, by path."""
    places = {row.item[name] for row in rows for name in media if name in row.item}
    inside = sorted(place for place in places if "://" not in place and ".." not in PurePosixPath(place).parts)
    missing = [place for place in inside if not (tasks.parent / place).is_file()]
    if missing:
        missed = f"{plural(len(missing), 'file', 'files')}, such as '{missing[0]}'"
        words = f"{tasks} names pictures or recordings that are not in its folder ({missed})."
        raise UserError(f"{words} Copy them to {tasks.parent}, with their folders.")
    return {place: tasks.parent / place for place in inside}


def _place(value: str) -> str:
    """Location of a file: a URL, or a path in the study folder, equal to the path below Label Studio's root."""
    if "://" in value:
        return value
    return value.partition("?d=")[2] or value.lstrip("/")


def _rows(entry: Mapping[str, Any], task: Task, asked: StudioForm, form: FormOptions) -> Iterator[StudioRow]:
    """One row per annotation that was not cancelled."""
    key = str(entry["data"].get("chorale_item", entry["id"]))
    item = _item(entry["data"], asked, form)
    for made in entry.get("annotations") or ():
        if not made.get("was_cancelled"):
            noted, unanswered = _noted(entry, made, WORKERS), _noted(entry, made, UNANSWERED)
            worker = noted if isinstance(noted, str) else _who(made.get("completed_by"))
            skipped = unanswered if isinstance(unanswered, list) else ()
            yield StudioRow(key, worker, item, _answer(task, form, made, item, skipped))


def _noted(entry: Mapping[str, Any], made: Mapping[str, Any], part: str) -> Any:
    """A note about an annotation in Chorale's export. Label Studio gives annotations new IDs and keeps the old ones."""
    number = made["import_id"] if "import_id" in made else made.get("id")
    meta = entry.get("meta")
    noted = meta.get(part) if isinstance(meta, Mapping) else None
    return noted.get(str(number)) if isinstance(noted, Mapping) else None


def _item(data: Mapping[str, Any], asked: StudioForm, form: FormOptions) -> dict[str, Any]:
    """The columns of an item. Values other than texts are kept only from exports of Chorale."""
    own = [name for name in data if not name.startswith("chorale_") and name not in NEVER_SHOWN]
    item = {name: data[name] for name in own if isinstance(data[name], str) or asked.stage is not None}
    item |= data.get("chorale_original", {}) if asked.stage is not None else {}
    return item | {name: _place(item[name]) for name in media_columns(form) if isinstance(item.get(name), str)}


def _answer(
    task: Task, form: FormOptions, made: Mapping[str, Any], item: Mapping[str, Any], unanswered: Sequence[str]
) -> dict[str, Any]:
    results = made.get("result") or []
    answer: dict[str, Any] = {}
    for field, settings in zip(task.shape.fields, form.asked, strict=True):
        of_field = [_as_exported(each, field) for each in results if field_of(str(each.get("from_name"))) == field.name]
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
        # A field without regions is an answer, too, if it was asked and not skipped.
        elif settings.kind in MARKED and settings.may_be_empty and field.asked(answer) and field.name not in unanswered:
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
    return _NOBODY if completed_by is None else str(completed_by)


def _as_toml(asked: StudioForm) -> str:
    lines = [f"{name} = {_value(value)}" for name, value in asked.options.items() if name != "fields" and value]
    for field in asked.options["fields"]:
        lines += ["", "[[stage.options.fields]]", *(f"{name} = {_value(value)}" for name, value in field.items())]
    return "\n".join(lines) + "\n"


def _value(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{ {', '.join(f'{name} = {_value(each)}' for name, each in value.items())} }}"
    if isinstance(value, bool):
        return "true" if value else "false"
    return as_toml(value) if isinstance(value, str) else str(value)
