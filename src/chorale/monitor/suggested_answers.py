"""Answers with and without a model's suggestion, and their measures. Needs no numerical library."""

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from statistics import fmean
from typing import Any, NamedTuple

from chorale.engine.running import RunningStage, Study
from chorale.engine.suggesting import suggesting_model
from chorale.store import Tx, suggestions
from chorale.store.codec import answer_from_text
from chorale.store.suggestions import SuggestedRow


class SuggestionMeasure(NamedTuple):
    """A measure of answers: its name, the answers with and without a suggestion, and its function."""

    measure: str
    with_suggestion: Sequence[SuggestedRow]
    without: Sequence[SuggestedRow]
    value: Callable[[SuggestedRow], float]

    @property
    def means(self) -> tuple[float | None, float | None]:
        """The means with and without a suggestion; None if there are no answers."""
        first, second = (
            fmean(map(self.value, rows)) if rows else None for rows in (self.with_suggestion, self.without)
        )
        return first, second


def suggestion_measures(tx: Tx, study: Study, stage: RunningStage) -> list[SuggestionMeasure]:
    """The measures of a stage in which a model suggests answers; empty if none does."""
    model = suggesting_model(study, stage)
    if model is None:
        return []
    rows = list(suggestions.answers_with_suggestions(tx, stage.id, model))
    known = [row for row in rows if row.suggestion or row.model_answer]
    in_parts = stage.task.simulating.revise is not None
    given = "agreement with the model's answer" if in_parts else "gives the model's answer"
    alike = partial(_agreement if in_parts else _follows, stage)
    measures: list[tuple[str, list[SuggestedRow], Callable[[SuggestedRow], float]]] = [
        ("seconds per answer", rows, lambda row: row.duration_ms / 1000),
        (given, known, alike),
        (f"{given}, where it is correct by gold", [row for row in known if is_right(stage, row)], alike),
        (f"{given}, where it is wrong by gold", [row for row in known if is_right(stage, row) is False], alike),
        (
            "correct by gold",
            [row for row in rows if row.score is not None],
            lambda row: float(stage.is_correct(row.score or 0.0)),
        ),
    ]
    return [
        SuggestionMeasure(
            measure,
            [row for row in of if row.suggestion is not None],
            [row for row in of if row.suggestion is None],
            value,
        )
        for measure, of, value in measures
    ]


def shown_to(row: SuggestedRow) -> str | None:
    """The answer that a row is compared with: the suggestion or, without one, the model's answer."""
    return row.suggestion if row.suggestion is not None else row.model_answer


def follows(stage: RunningStage, row: SuggestedRow) -> bool:
    """Whether an answer equals the suggestion, ignoring free text."""
    compared = stage.task.shape.without_texts
    shown = shown_to(row)
    return shown is not None and compared(answer_from_text(row.answer)) == compared(answer_from_text(shown))


def _follows(stage: RunningStage, row: SuggestedRow) -> float:
    return float(follows(stage, row))


def _agreement(stage: RunningStage, row: SuggestedRow) -> float:
    """The similarity of an answer with several parts to the suggestion: 1 − the task's distance."""
    shown = shown_to(row)
    if shown is None:
        return 0.0
    return 1 - stage.task.combining.distance(answer_from_text(row.answer), answer_from_text(shown))


def is_right(stage: RunningStage, row: SuggestedRow) -> bool | None:
    """Whether the suggestion is correct by gold; None without gold."""
    shown = shown_to(row)
    if shown is None or row.gold is None:
        return None
    return stage.is_correct(stage.task.grading.grade(answer_from_text(shown), answer_from_text(row.gold)).score)


def suggestion_rows(tx: Tx, study: Study) -> Iterator[dict[str, Any]]:
    """One row per answer in stages with suggestions."""
    for stage in study.stages.values():
        model = suggesting_model(study, stage)
        if model is None:
            continue
        for row in suggestions.answers_with_suggestions(tx, stage.id, model):
            seen = row.suggestion is not None
            yield {
                "response": row.response_id,
                "stage": row.stage,
                "item": row.item,
                "worker": row.worker,
                "kind": row.kind,
                "suggestion": answer_from_text(row.suggestion) if row.suggestion is not None else None,
                "wrong_on_purpose": bool(row.wrong_on_purpose) if seen else None,
                "model_answer": answer_from_text(row.model_answer) if row.model_answer is not None else None,
                "answer": answer_from_text(row.answer),
                "follows": follows(stage, row) if shown_to(row) is not None else None,
                "suggestion_is_right": is_right(stage, row),
                "right": None if row.score is None else stage.is_correct(row.score),
                "duration_ms": row.duration_ms,
            }
