"""The label of an item by its judgments: all of it, or field by field."""

from collections.abc import Mapping, Sequence

from chorale.contract import Combined, FieldResult
from chorale.contract.combined import combined_fields
from chorale.engine.running import RunningStage
from chorale.metrics.aggregation.tie_draw import draw_of
from chorale.model import Judgment


def needed_fields(stage: RunningStage) -> tuple[str, ...]:
    """The fields that decide an item: those the study file names, or all that are compared."""
    return stage.settings.judgments.fields or tuple(field.name for field in stage.task.shape.compared)


def label_of(stage: RunningStage, key: str, judgments: Sequence[Judgment]) -> Combined | None:
    """The judgments of the item with this key, put together; as sure as the fields that decide it."""
    judgments = _with_draw(stage, key, judgments)
    fields = stage.settings.judgments.fields
    if fields and judgments and stage.task.combining.combine_fields is not None:
        return combined_fields(stage.task.combining.combine_fields(tuple(judgments)), fields)
    return stage.task.combining.combine(tuple(judgments))


def field_results(stage: RunningStage, key: str, judgments: Sequence[Judgment]) -> Mapping[str, FieldResult]:
    """The result of every field by the judgments of an item; none where answers have no fields, or nobody answered."""
    combine = stage.task.combining.combine_fields
    if combine is None or not judgments:
        return {}
    return combine(tuple(_with_draw(stage, key, judgments)))


def _with_draw(stage: RunningStage, key: str, judgments: Sequence[Judgment]) -> Sequence[Judgment]:
    """The judgments with the number that decides ties, where the study draws them."""
    first = judgments[0].answer if judgments else None
    if stage.tie_seed is None or all(judgment.answer == first for judgment in judgments):
        return judgments
    draw = draw_of(stage.tie_seed, stage.name, key)
    return [judgment._replace(draw=draw) for judgment in judgments]
