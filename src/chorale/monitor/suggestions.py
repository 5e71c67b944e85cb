"""What suggestions of a model do to workers: how fast they answer, and how often they follow it, right or wrong."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from chorale.engine.running import RunningStage, Study
from chorale.engine.suggesting import suggesting_model
from chorale.metrics import Metric, Statistics, UnpairedComparison, ratio
from chorale.metrics.resampling import Resampling
from chorale.metrics.score_table import ScoreTable, shown_interval
from chorale.store import Tx, suggestions
from chorale.store.codec import answer_from_text
from chorale.store.suggestions import SuggestedRow

_MEAN = Metric(lambda sums: {"mean": ratio(sums[..., 0], sums[..., 1])}, wholes=lambda sums: {"mean": sums[..., 1]})


@dataclass(frozen=True, slots=True)
class SuggestionEffect:
    """A measure of answers with a suggestion, and of those without."""

    what: str
    with_suggestion: float | None
    answers_with: int
    without: float | None
    answers_without: int
    compared: UnpairedComparison | None
    """The difference, by workers; None where one side has none, or nothing was compared."""

    def as_json(self) -> dict[str, Any]:
        kept = {name: getattr(self, name) for name in self.__slots__ if name != "compared"}
        return {**kept, "compared": None if self.compared is None else self.compared.as_dict()}


def measured_suggestions(
    tx: Tx, study: Study, stage: RunningStage, resampling: Resampling | None = None
) -> list[SuggestionEffect]:
    """The measures of a stage in which a model suggests answers; none where none does. Compared with `resampling`."""
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
        (f"{given}, where it is right by gold", [row for row in known if is_right(stage, row)], alike),
        (f"{given}, where it is wrong by gold", [row for row in known if is_right(stage, row) is False], alike),
        (
            "correct by gold",
            [row for row in rows if row.score is not None],
            lambda row: float(stage.is_correct(row.score or 0.0)),
        ),
    ]
    return [_measured(what, of, value, resampling) for what, of, value in measures]


def shown_to(row: SuggestedRow) -> str | None:
    """The answer that a row is compared with: what was suggested or, without a suggestion, what the model answered."""
    return row.suggestion if row.suggestion is not None else row.model_answer


def follows(stage: RunningStage, row: SuggestedRow) -> bool:
    """Whether an answer is the suggested one, free text aside."""
    compared = stage.task.shape.without_texts
    shown = shown_to(row)
    return shown is not None and compared(answer_from_text(row.answer)) == compared(answer_from_text(shown))


def _follows(stage: RunningStage, row: SuggestedRow) -> float:
    return float(follows(stage, row))


def _agreement(stage: RunningStage, row: SuggestedRow) -> float:
    """How close an answer of several parts is to the suggested one: 1 − the task's distance."""
    shown = shown_to(row)
    if shown is None:
        return 0.0
    return 1 - stage.task.combining.distance(answer_from_text(row.answer), answer_from_text(shown))


def is_right(stage: RunningStage, row: SuggestedRow) -> bool | None:
    """Whether the suggestion is right by gold; None where nothing says so."""
    shown = shown_to(row)
    if shown is None or row.gold is None:
        return None
    return stage.is_correct(stage.task.grading.grade(answer_from_text(shown), answer_from_text(row.gold)).score)


def _measured(
    what: str, rows: Sequence[SuggestedRow], value: Callable[[SuggestedRow], float], resampling: Resampling | None
) -> SuggestionEffect:
    sides = [[row for row in rows if (row.suggestion is not None) is seen] for seen in (True, False)]
    means = [float(np.mean([value(row) for row in side])) if side else None for side in sides]
    compared = None
    if resampling is not None and all(len({row.worker for row in side}) > 1 for side in sides):
        first, second = (_by_worker(side, value) for side in sides)
        compared = resampling.compare_apart((first, _MEAN), (second, _MEAN))["mean"]
    return SuggestionEffect(what, means[0], len(sides[0]), means[1], len(sides[1]), compared)


def _by_worker(rows: Iterable[SuggestedRow], value: Callable[[SuggestedRow], float]) -> Statistics:
    sums: defaultdict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    for row in rows:
        sums[row.worker][0] += value(row)
        sums[row.worker][1] += 1
    names = tuple(sorted(sums))
    return Statistics(names, np.array([sums[name] for name in names]))


def suggestions_table(stage: str, measured: Sequence[SuggestionEffect]) -> ScoreTable:
    """For a terminal and a report."""
    columns = ("measure", "with suggestion#", "answers#", "without#", "answers#", "difference#", "95% interval#", "p#")
    rows = []
    for one in measured:
        by = one.compared
        apart = (None, "", None) if by is None else (by.difference, shown_interval(by.interval), by.p_permutation)
        rows.append((one.what, one.with_suggestion, one.answers_with, one.without, one.answers_without, *apart))
    return ScoreTable(f"Suggestions in {stage}", columns, rows)


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
