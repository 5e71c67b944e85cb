"""The results in the format of a batch file, for `chorale export`."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from chorale.engine.running import Study
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
            answers.update(dict.fromkeys(f"Answer.{column}" for column in _fields(row.answer)))
    return [*_COLUMNS_OF_ANSWERS, *inputs, *answers]


def _rows(tx: Tx, study: Study) -> Iterator[Mapping[str, Any]]:
    return _rows_of_answers(tx, study) if market_stage(study) is None else batch_rows(tx, study)


def _rows_of_answers(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    """One row per production answer. Workers are pseudonyms."""
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
            # Every answer was paid, even if it no longer counts. A script that interprets "Rejected" as unpaid would
            # compute wrong amounts.
            "AssignmentStatus": "Approved",
            "AcceptTime": batch_time(row.submitted_at - row.duration_ms),
            "SubmitTime": batch_time(row.submitted_at),
            "WorkTimeInSeconds": round(row.duration_ms / 1000),
            "Counts": "yes" if row.counts else "no",
            **{f"Input.{name}": value for name, value in json.loads(row.item_payload).items()},
            **{f"Answer.{name}": _cell(value) for name, value in _fields(row.answer).items()},
        }


def _fields(answer: Any) -> Mapping[str, Any]:
    return answer if isinstance(answer, dict) else {"answer": answer}


def _cell(value: Any) -> Any:
    """Several choices are joined in one cell, like checkboxes on Mechanical Turk."""
    if isinstance(value, list) and all(isinstance(one, str) for one in value):
        return "|".join(value)
    return value


BATCH = ExportFormat(
    "every production answer, with the columns of a Mechanical Turk batch results file, as CSV",
    "batch_results.csv",
    (),
    _rows,
    write_csv,
    _columns,
)
