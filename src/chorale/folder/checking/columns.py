"""Columns that a stage's options name: a misspelt one is a mistake in the study file, and not in every row."""

from collections.abc import Iterator
from typing import Any

from chorale.contract import Task
from chorale.files.toml_lines import TomlPath
from chorale.folder.checking.drafts import Draft
from chorale.folder.checking.report import CheckReport, did_you_mean, printable
from chorale.folder.checking.row_files import RowFile, row_file
from chorale.model import ItemSettings, RoundSettings


def names_columns_that_are_there(draft: Draft, task: Task, report: CheckReport) -> bool:
    """Whether every column that the options name is in some row of the stage's own file."""
    file = _own_file(draft, report)
    if file is None:
        return True
    required = {field.alias or name for name, field in task.shape.item_type.model_fields.items() if field.is_required()}
    named = [(at, name) for at, name in _texts(draft.raw.get("options"), draft.at("options")) if name in required]
    there = file.columns({name for _, name in named})
    wrong = [(at, name) for at, name in named if name not in there]
    # A file without any rows has a mistake of its own.
    if not wrong or not there:
        return True
    for at, name in wrong:
        message = f"`{printable(name)}` is a column that no row of {file.shown_as} has"
        report.setting(at, message, did_you_mean(name, there))
    # The rows can't be read as items; lines that are none, and ids, can be looked at all the same.
    lines: dict[str, int] = {}
    for row in file.rows(task.shape.item_type):
        file.key_of(row, lines)
    return False


def _own_file(draft: Draft, report: CheckReport) -> RowFile | None:
    if "round" in draft.raw:
        asked = draft.table(RoundSettings, "round")
        return row_file(asked.file, draft.at("round", "file"), report) if asked else None
    items = draft.table(ItemSettings, "items")
    return row_file(items.file, draft.at("items", "file"), report) if items else None


def _texts(value: Any, at: TomlPath) -> Iterator[tuple[TomlPath, str]]:
    """Every text in the options that can be the name of a column, and where it stands."""
    if isinstance(value, dict):
        for name, inner in value.items():
            if name in _NAMING and isinstance(inner, str):
                yield (*at, name), inner
            elif name == "sides" and isinstance(inner, list):
                yield from (((*at, name), each) for each in inner if isinstance(each, str))
            else:
                yield from _texts(inner, (*at, name))
    elif isinstance(value, list):
        for number, inner in enumerate(value):
            yield from _texts(inner, (*at, number))


_NAMING = ("item", "highlight")
