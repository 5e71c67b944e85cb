"""Gold accuracy per field: correct answers to gold, for answers that have fields."""

from collections.abc import Iterable, Mapping
from typing import Any

from chorale.contract import AnswerField
from chorale.engine.running import RunningStage
from chorale.store import Tx
from chorale.store.responses import gold_responses

GoldCounts = dict[str, tuple[int, int]]
"""Correct and total gold answers, by field."""


def gold_counts(fields: Iterable[AnswerField], graded: Iterable[tuple[Any, Any]]) -> GoldCounts:
    """Correct answers by field, from answers with their gold. Fields that gold leaves out are not counted."""
    by_name = [field for field in fields if field.graded]
    counts: GoldCounts = {}
    for answer, gold in graded:
        if not isinstance(answer, Mapping) or not isinstance(gold, Mapping):
            continue
        for field in by_name:
            if field.name in gold:
                right, answered = counts.get(field.name, (0, 0))
                is_right = field.name in answer and field.mistake(answer[field.name], gold[field.name]) is None
                counts[field.name] = right + is_right, answered + 1
    return {field.name: counts[field.name] for field in by_name if field.name in counts}


def gold_by_worker(tx: Tx, stage: RunningStage) -> dict[str, GoldCounts]:
    """Correct answers to the gold of a stage, by worker and field."""
    if not stage.task.shape.fields:
        return {}
    given: dict[str, list[tuple[Any, Any]]] = {}
    for worker, answer, gold in gold_responses(tx, stage.name):
        given.setdefault(worker, []).append((answer, gold))
    return {worker: gold_counts(stage.task.shape.fields, graded) for worker, graded in given.items()}


def all_gold(by_worker: Mapping[str, GoldCounts]) -> GoldCounts:
    """Correct answers to gold by field, of all workers together."""
    counts: GoldCounts = {}
    for own in by_worker.values():
        for name, (right, answered) in own.items():
            before = counts.get(name, (0, 0))
            counts[name] = before[0] + right, before[1] + answered
    return counts
