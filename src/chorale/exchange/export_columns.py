"""Responses of a study as columns, for exports of millions of rows: no object is created per row."""

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from chorale.engine.running import Study
from chorale.exchange.export_fields import answer_columns, flat_cells, item_columns
from chorale.exchange.export_rows import iso_time
from chorale.model import AssignmentKind, Standing
from chorale.store import Tx, items, responses
from chorale.store.arms import arms_by_worker
from chorale.store.consents import ConsentHistory

SIZE = 25_000
"""Rows per batch."""
_DISTINCT = 10_000
_Columns = Mapping[str, Sequence[Any]]
_STORED_AS_JSON = frozenset({"payload", "answer", "gold_answer", "item_label", "item_sources"})


def response_columns(tx: Tx, study: Study, names: Sequence[str]) -> Iterator[list[list[Any]]]:
    """The data of `response_rows` in batches, with a list for each column. Nested values are JSON text."""
    for batch in _batches(tx, study, _values):
        yield [list(batch[name]) for name in names]


def response_lines(tx: Tx, study: Study, names: Sequence[str]) -> Iterator[list[str]]:
    """Responses as lines of JSON in batches, identical to `write_jsonl` of `response_rows`."""
    line = "{" + ", ".join(f"{json.dumps(name)}: %s" for name in names) + "}\n"
    for batch in _batches(tx, study, list):
        texts = [map(_spaced if name in _STORED_AS_JSON else _written, batch[name]) for name in names]
        yield [line % row for row in zip(*texts, strict=True)]


def _batches(tx: Tx, study: Study, values: Callable[[Sequence[str | None]], list[Any]]) -> Iterator[_Columns]:
    sources = {item: json.dumps(keys, ensure_ascii=False) for item, keys in items.all_sources(tx).items()}
    arms = arms_by_worker(tx) if study.settings.arms is not None else {}
    agreed = ConsentHistory(tx)
    for rows in responses.response_batches(tx, SIZE):
        # Transpose row tuples into columns.
        stored = dict(zip(responses.RESPONSE_COLUMNS, zip(*rows, strict=True), strict=True))
        yield {**_named(stored, sources, arms, agreed, values), **_fields(study, stored)}


def _fields(study: Study, stored: _Columns) -> _Columns:
    """Columns with the shown values and the answers, if answers have fields."""
    names = (*item_columns(study), *answer_columns(study))
    if not names:
        return {}
    stages = {name: stage for name, stage in study.stages.items() if stage.task.shape.fields}
    rows = [
        flat_cells(stages[stage], payload, answer) if stage in stages else {}
        for stage, payload, answer in zip(stored["stage"], stored["payload"], stored["answer"], strict=True)
    ]
    return {name: [row.get(name) for row in rows] for name in names}


def _named(
    stored: _Columns,
    sources: Mapping[int, str],
    arms: Mapping[str, str],
    agreed: ConsentHistory,
    values: Callable[[Sequence[str | None]], list[Any]],
) -> _Columns:
    production, active = AssignmentKind.PRODUCTION, Standing.ACTIVE
    return {
        "response": stored["id"],
        "stage": stored["stage"],
        "task": stored["task"],
        "task_version": stored["task_version"],
        "item": stored["key"],
        "group": stored["group_key"],
        "payload": stored["payload"],
        "worker": stored["pseudonym"],
        "kind": stored["kind"],
        "answer": values(stored["answer"]),
        "counts": [
            kind == production and standing == active
            for kind, standing in zip(stored["kind"], stored["standing"], strict=True)
        ],
        "submitted_at": list(map(iso_time, stored["submitted_at"])),
        "submitted_at_ms": stored["submitted_at"],
        "duration_ms": stored["duration_ms"],
        "gold_answer": values(stored["gold_answer"]),
        "gold_score": stored["score"],
        "item_label": values(stored["label"]),
        "item_confidence": stored["confidence"],
        "item_released": list(map(bool, stored["released"])),
        "item_state": stored["state"],
        "item_sources": [sources.get(item, "[]") for item in stored["item_id"]],
        "consent_version": list(map(agreed.agreed_at, stored["pseudonym"], stored["submitted_at"])),
        "arm": [arms.get(worker) for worker in stored["pseudonym"]],
    }


def _values(texts: Sequence[str | None]) -> list[Any]:
    """Parse JSON scalars; keep nested JSON as text."""
    return [None if text is None else text if text[0] in "{[" else _value(text) for text in texts]


@lru_cache(_DISTINCT)
def _value(text: str) -> Any:
    return json.loads(text)


@lru_cache(_DISTINCT)
def _spaced(text: str | None) -> str:
    """Stored JSON with the spacing of exports."""
    return "null" if text is None else json.dumps(json.loads(text), ensure_ascii=False, allow_nan=False)


def _written(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else _dumped(value)


# 1, 1.0 and True are equal but have different JSON.
@lru_cache(_DISTINCT, typed=True)
def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
