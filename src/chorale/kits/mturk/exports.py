"""The results in the format of a batch file, for `chorale export`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chorale.contract.fields import FieldKind, free_text_cell
from chorale.engine.running import RunningStage, Study
from chorale.exchange.export_fields import free_text_columns
from chorale.exchange.export_format import ExportFormat
from chorale.files.tables import write_csv
from chorale.kits.mturk.batch_columns import BATCH_COLUMNS, batch_time
from chorale.kits.mturk.market.batch import batch_columns, batch_rows
from chorale.kits.mturk.market.stage import market_stage
from chorale.model import money_text
from chorale.store import Tx, items
from chorale.store.responses import all_responses

_COLUMNS_OF_ANSWERS = (
    *("HITId", "Title", "Reward", "AssignmentId", "WorkerId", "AssignmentStatus", "AcceptTime", "SubmitTime"),
    *("WorkTimeInSeconds", "Counts"),
)


def _columns(tx: Tx, study: Study) -> Sequence[str]:
    if market_stage(study) is not None:
        return [*BATCH_COLUMNS, *batch_columns(tx, study)]
    inputs: dict[str, None] = {}
    answers: dict[str, None] = {}
    for name in study.stages:
        for item in items.all_items(tx, name):
            inputs.update(dict.fromkeys(f"Input.{column}" for column in item.payload))
    for row in all_responses(tx):
        if row.kind == "production":
            answers.update(dict.fromkeys(f"Answer.{column}" for column in _cells(study.stage(row.stage), row.answer)))
    return [*_COLUMNS_OF_ANSWERS, *inputs, *answers, *free_text_columns(study)]


def _rows(tx: Tx, study: Study) -> Iterator[Mapping[str, Any]]:
    return _rows_of_answers(tx, study) if market_stage(study) is None else batch_rows(tx, study)


def _rows_of_answers(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    """One row per production answer. Workers are pseudonyms."""
    for row in all_responses(tx):
        if row.kind != "production":
            continue
        running = study.stage(row.stage)
        stage = running.settings
        yield {
            "HITId": f"{row.stage}/{row.item}",
            "Title": stage.title,
            "Reward": money_text(stage.pay.per_judgment, study.settings.pay.currency),
            "AssignmentId": f"response-{row.id}",
            "WorkerId": row.worker,
            # Every answer was paid, even if it no longer counts. A script that interprets "Rejected" as unpaid would
            # compute wrong amounts.
            "AssignmentStatus": "Approved",
            "AcceptTime": batch_time(row.submitted_at - row.duration_ms),
            "SubmitTime": batch_time(row.submitted_at),
            "WorkTimeInSeconds": round(row.duration_ms / 1000),
            "Counts": "yes" if row.counts else "no",
            **{f"Input.{name}": value for name, value in json.loads(row.item_payload).items()},
            **{f"Answer.{name}": value for name, value in _cells(running, row.answer).items()},
            **free_text_cell(running.task.shape.fields),
        }


def _cells(stage: RunningStage, answer: Any) -> dict[str, Any]:
    """The cells of an answer by column, like those of a page on Mechanical Turk.

    Several choices are joined in one cell. Each option also has a cell, true or false like a checkbox: otherwise, an
    answer that chooses none would look like a missing answer.
    """
    cells: dict[str, Any] = {}
    fields = {field.name: field for field in stage.task.shape.fields}
    for name, value in (answer if isinstance(answer, dict) else {"answer": answer}).items():
        if isinstance(value, list) and name in fields and fields[name].kind is FieldKind.LABELS:
            cells[name] = "|".join(value)
            cells |= {f"{name}.{option}": str(option in value).lower() for option, _ in fields[name].options}
        elif isinstance(value, list) and value and all(isinstance(each, str) for each in value):
            cells[name] = "|".join(value)
        else:
            cells[name] = value
    return cells


BATCH = ExportFormat(
    "answers to HITs, and answers in stages with the task `mturk`, in the columns of Mechanical Turk's batch results, "
    "as CSV. If no stage has this task: all answers except gold and training",
    "batch_results.csv",
    (),
    _rows,
    write_csv,
    _columns,
)
