"""Check that each suggestion is the model's answer, or an answer made wrong on purpose by the seed."""

from collections.abc import Iterator

from chorale.engine.running import RunningStage, Study
from chorale.engine.settings_history import History
from chorale.engine.suggesting import suggesting_model
from chorale.model import AssignmentKind
from chorale.monitor.suggested_answers import is_right
from chorale.protocol import suggests_to, wrong_on_purpose
from chorale.store import Tx, suggestions
from chorale.store.suggestions import SuggestedRow


def suggestion_differences(tx: Tx, study: Study, history: History) -> Iterator[str]:
    """Suggestions that were shown but do not match the model's answer."""
    for stage in study.stages.values():
        model = suggesting_model(study, stage)
        for row in () if model is None else suggestions.answers_with_suggestions(tx, stage.id, model):
            if row.suggestion is not None and row.at is not None:
                yield from _differences(study, stage, row, history)


def _differences(study: Study, stage: RunningStage, row: SuggestedRow, history: History) -> Iterator[str]:
    name = f"response {row.response_id} of {row.worker} in {row.stage}"
    rule = history.stage_at(row.at or 0, stage.name).models
    if rule is None or not suggests_to(rule, row.arm):
        yield f"{name}: has a suggestion, but this worker should get none"
        return
    if not row.wrong_on_purpose:
        if row.suggestion != row.model_answer:
            yield f"{name}: the suggestion shown is not the model's answer"
        return
    drawn = wrong_on_purpose(rule, study.settings.study.seed, stage.name, row.worker, row.item)
    if row.kind != AssignmentKind.GOLD or not drawn:
        yield f"{name}: has a suggestion that is wrong on purpose, but should have the model's answer"
    elif is_right(stage, row):
        yield f"{name}: a suggestion marked as wrong on purpose is correct"
