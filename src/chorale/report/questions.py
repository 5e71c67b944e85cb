"""The questions of a stage whose answers can be compared, with their annotations, for agreement and aggregation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from operator import itemgetter
from random import Random
from typing import Any

from chorale.contract import AnswerField, Scale
from chorale.engine.running import RunningStage
from chorale.files.source import digest_of
from chorale.metrics.agreement import Distance, Level
from chorale.metrics.judgments import Judgments
from chorale.metrics.scoring.agreement_options import AgreementOptions
from chorale.store import Tx
from chorale.store.codec import as_text, from_text
from chorale.store.responses import CountedAnswer, counted_responses

_LEVELS: dict[Scale, Level] = {
    Scale.NOMINAL: "nominal",
    Scale.ORDINAL: "ordinal",
    Scale.INTERVAL: "interval",
    Scale.RATIO: "ratio",
    Scale.SET: "nominal",
}
_MOST_VALUES = 1_000
"""Maximum number of different values of a field for which all distances are computed. With more, items are sampled."""
NOTHING = "(none)"
"""The label for choosing none of the options: a label cannot be empty."""


@dataclass(frozen=True, slots=True)
class StageQuestion:
    """A question whose answers are labels or sets of labels."""

    stage: str
    name: str
    level: Level
    sets: bool
    label_of: Callable[[Any], Any]
    """The label, or list of labels, in an answer; None if it has none."""
    field: AnswerField | None = None
    """Its field, where answers have fields."""

    @property
    def by_distance(self) -> bool:
        """Whether values are compared by the field's own distance, and are not labels."""
        return self.field is not None and self.field.scale not in _LEVELS

    @property
    def measured(self) -> str:
        """The level of measurement, or the distance, as text."""
        if self.by_distance and self.field is not None:
            return f"distance between {'answers' if self.field.scale is Scale.OTHER else self.field.scale}"
        return "sets with MASI distance" if self.sets else self.level

    @property
    def title(self) -> str:
        return f"{self.stage}: {self.name}" if self.name else self.stage

    def options(self) -> AgreementOptions:
        if self.by_distance and self.field is not None:
            return AgreementOptions(distance=_distance_of(self.field))
        if self.sets:
            return AgreementOptions(distance="masi")
        return AgreementOptions(level=self.level)


@dataclass(frozen=True, slots=True)
class AnsweredQuestion:
    """A question with the annotations that count."""

    question: StageQuestion
    judgments: Judgments
    digest: str
    study_labels: dict[str, Any]
    """The study's own label of each item, by its key."""
    notes: tuple[str, ...] = ()


def counted_answers(tx: Tx, stage: RunningStage) -> list[CountedAnswer]:
    """The annotations that count, in an order that does not depend on when they were given."""
    return sorted(counted_responses(tx, stage.name), key=itemgetter(0, 1))


def answered_questions(stage: RunningStage, responses: Sequence[CountedAnswer]) -> list[AnsweredQuestion]:
    """The questions of a stage that were answered with labels; empty where answers have another shape."""
    return [answered for question in questions_of(stage) if (answered := _answered(question, responses)) is not None]


def questions_of(stage: RunningStage) -> list[StageQuestion]:
    """Every field that is compared, or the whole answer where it is a label or a list of them."""
    if stage.task.shape.fields:
        return [_of_field(stage.name, field) for field in stage.task.shape.compared]
    if stage.task.combining.chosen is not None:
        chosen = stage.task.combining.chosen
        return [StageQuestion(stage.name, "", "nominal", True, lambda answer: list(chosen(answer)) or [NOTHING])]
    if stage.task.shape.choices is not None:
        return [StageQuestion(stage.name, "", "nominal", False, _as_label)]
    return []


def _of_field(stage: str, field: AnswerField) -> StageQuestion:
    sets = field.scale is Scale.SET

    def label_of(answer: Any) -> Any:
        value = answer.get(field.name)
        if value is None:
            return None
        if sets:
            return list(value) or [NOTHING]
        return _as_label(value) if field.scale in _LEVELS else as_text(value)

    return StageQuestion(stage, field.name, _LEVELS.get(field.scale, "nominal"), sets, label_of, field)


def _distance_of(field: AnswerField) -> Distance:
    """The field's distance between labels, which are its values as text."""
    value = lru_cache(maxsize=_MOST_VALUES)(from_text)

    def distance(left: frozenset[str], right: frozenset[str]) -> float:
        (first,), (second,) = left, right
        return field.distance(value(first), value(second))

    distance.__name__ = str(field.scale)
    return distance


def _as_label(value: Any) -> str:
    return value if isinstance(value, str) else as_text(value)


def _answered(question: StageQuestion, responses: Sequence[CountedAnswer]) -> AnsweredQuestion | None:
    rows = [(row.item, row.worker, label) for row in responses if (label := question.label_of(row.answer)) is not None]
    if not rows:
        return None
    notes: tuple[str, ...] = ()
    if question.by_distance:
        rows, notes = _sampled(question, rows)
    items, workers, labels = zip(*rows, strict=True)
    text = "\n".join(as_text(list(row)) for row in rows)
    own = {row.item: question.label_of(row.item_label) for row in responses if row.item_label is not None}
    digest = digest_of(text.encode("utf-8", "replace"))
    return AnsweredQuestion(question, Judgments.from_columns(items, workers, labels), digest, own, notes)


def _sampled(
    question: StageQuestion, rows: list[tuple[str, str, Any]]
) -> tuple[list[tuple[str, str, Any]], tuple[str, ...]]:
    """A random sample of the items, if they have too many different values to compare all of them."""
    if len({label for _, _, label in rows}) <= _MOST_VALUES:
        return rows, ()
    by_item: dict[str, list[tuple[str, str, Any]]] = {}
    for row in rows:
        by_item.setdefault(row[0], []).append(row)
    order = sorted(by_item)
    Random(0).shuffle(order)
    kept: list[str] = []
    values: set[Any] = set()
    for item in order:
        more = values | {label for _, _, label in by_item[item]}
        if len(more) > _MOST_VALUES:
            break
        values = more
        kept.append(item)
    note = (
        f"{question.title}: computed on a random sample of {len(kept):,} of {len(order):,} items, because "
        f"{len({label for _, _, label in rows}):,} different values are too many to compare with each other."
    )
    return [row for item in sorted(kept) for row in by_item[item]], (note,)
