"""The data card says what every column of a dataset holds."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from chorale.contract import Task, installed_tasks
from chorale.exchange.export_descriptions import UNDESCRIBED, described, described_columns
from chorale.exchange.export_first import FIRST_COLUMNS
from chorale.exchange.export_format import ExportFormat
from chorale.files.tables import write_csv
from chorale.kits.forms.task.kinds import _CLASSES


def content(columns: tuple[str, ...], task: Task | None = None, **table: Any) -> dict[str, str]:
    study: Any = SimpleNamespace(stages={} if task is None else {"one": SimpleNamespace(task=task)})
    form = ExportFormat("", "t.csv", columns, lambda tx, study: iter(()), write_csv, **table)
    return {column.name: column.description for column in described_columns(None, study, form)}  # type: ignore[arg-type]


@pytest.mark.parametrize("name", list(installed_tasks()))
def test_tables_of_every_task_describe_their_columns(name: str) -> None:
    task = installed_tasks()[name]
    task = replace(task.configured(task.options.model.model_validate(task.options.example)), examples=task.examples)
    for table in task.exports:
        if not table.file_name.endswith(".zip"):
            shown = content(table.columns, task, describes=table.describes, kit="own")
            assert [column for column, words in shown.items() if words == UNDESCRIBED] == [], table.name


def test_parts_of_every_kind_of_field_are_described() -> None:
    columns = {column for kind in _CLASSES for column in kind.columns}
    assert len(columns) > 20
    shown = content(("field", *sorted(columns), *FIRST_COLUMNS))
    assert [column for column, words in shown.items() if words == UNDESCRIBED] == []
    assert shown["label"] == "Label of the span, region or segment."


def test_a_field_named_like_a_column_of_every_study_does_not_change_its_description() -> None:
    form = installed_tasks()["form"]
    fields = [{"name": "label", "kind": "choice", "ask": "Is it toxic?", "options": ["yes", "no"]}]
    task = form.configured(form.options.model.model_validate({"fields": fields}))
    assert content(("label",), task) == {"label": "The aggregated label; nested values as JSON."}
    assert content(("label",), task, kit="forms") == {"label": "Value of the field “label”."}


def test_further_columns_are_those_of_the_item() -> None:
    shown = content(("judgment",), more_columns=lambda tx, study: ["resource", "worker"])
    assert shown == {
        "judgment": UNDESCRIBED,
        "resource": "The item's column “resource”.",
        "worker": "The item's column “worker”.",
    }
    assert described("worker").description == "Participant ID of the worker."
