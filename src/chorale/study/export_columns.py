"""The responses of a study by columns, for exports of millions of them: no object is made for a row."""

import json
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from chorale.model import AssignmentKind, Standing
from chorale.store import Tx, gates, results
from chorale.study.export_rows import iso_time
from chorale.study.running import Study

SIZE = 25_000
"""Rows at a time."""
_DISTINCT = 10_000


def response_columns(tx: Tx, study: Study, names: Sequence[str]) -> Iterator[list[list[Any]]]:
    """What `response_rows` has, batch by batch, a list for each of these columns. Nested values are JSON text."""
    sources = {item: json.dumps(keys, ensure_ascii=False) for item, keys in results.all_sources(tx).items()}
    arms = gates.arms(tx) if study.settings.arms is not None else {}
    for rows in results.response_batches(tx, SIZE):
        # Rows are tuples: turned around, they are columns.
        stored = dict(zip(results.RESPONSE_COLUMNS, zip(*rows, strict=True), strict=True))
        found = _named(stored, sources, arms)
        yield [list(found[name]) for name in names]


def _named(
    stored: Mapping[str, Sequence[Any]], sources: Mapping[int, str], arms: Mapping[str, str]
) -> dict[str, Sequence[Any]]:
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
        "answer": _values(stored["answer"]),
        "counts": [
            kind == production and standing == active
            for kind, standing in zip(stored["kind"], stored["standing"], strict=True)
        ],
        "submitted_at": list(map(iso_time, stored["submitted_at"])),
        "submitted_at_ms": stored["submitted_at"],
        "duration_ms": stored["duration_ms"],
        "gold_answer": _values(stored["gold_answer"]),
        "gold_score": stored["score"],
        "item_label": _values(stored["label"]),
        "item_confidence": stored["confidence"],
        "item_released": list(map(bool, stored["released"])),
        "item_state": stored["state"],
        "item_sources": [sources.get(item, "[]") for item in stored["item_id"]],
        "arm": [arms.get(worker) for worker in stored["pseudonym"]],
    }


def _values(texts: Sequence[str | None]) -> list[Any]:
    """JSON as values where they are single ones, and as it stands where they are nested."""
    return [None if text is None else text if text[0] in "{[" else _value(text) for text in texts]


@lru_cache(_DISTINCT)
def _value(text: str) -> Any:
    return json.loads(text)
