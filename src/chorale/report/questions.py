"""What a stage asks that can be compared: a question with its judgments, ready for agreement and aggregation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from chorale.contract import AnswerField, FieldKind
from chorale.engine.running import RunningStage
from chorale.files.source import digest_of
from chorale.metrics.agreement import Level
from chorale.metrics.judgments import Judgments
from chorale.metrics.scoring.agreement_options import AgreementOptions
from chorale.store import Tx
from chorale.store.codec import as_text
from chorale.store.responses import CountedAnswer, counted_responses

_LEVELS: dict[FieldKind, Level] = {
    FieldKind.LABEL: "nominal",
    FieldKind.LABELS: "nominal",
    FieldKind.RATING: "ordinal",
}
NOTHING = "(none)"
"""What choosing none of the options is called: a label cannot be empty."""


@dataclass(frozen=True, slots=True)
class StageQuestion:
    """One thing that everybody was asked, whose answers are labels or sets of them."""

    stage: str
    name: str
    level: Level
    sets: bool
    label_of: Callable[[Any], Any]
    """The label, or list of labels, in an answer; None where it has none."""

    @property
    def title(self) -> str:
        return f"{self.stage}: {self.name}" if self.name else self.stage

    def options(self) -> AgreementOptions:
        if self.sets:
            return AgreementOptions(distance="masi")
        return AgreementOptions(level=self.level)


@dataclass(frozen=True, slots=True)
class Answered:
    """A question with what was answered and counts."""

    question: StageQuestion
    judgments: Judgments
    digest: str
    study_labels: dict[str, Any]
    """What the study itself makes of the item, by its key."""


def counted_answers(tx: Tx, stage: RunningStage) -> list[CountedAnswer]:
    """The answers that count, in an order that does not depend on who was faster."""
    return sorted(counted_responses(tx, stage.name), key=itemgetter(0, 1))


def answered_questions(stage: RunningStage, responses: Sequence[CountedAnswer]) -> list[Answered]:
    """The questions of a stage that people answered with labels; empty where answers have another shape."""
    return [answered for question in questions_of(stage) if (answered := _answered(question, responses)) is not None]


def questions_of(stage: RunningStage) -> list[StageQuestion]:
    if stage.task.shape.fields:
        return [_of_field(stage.name, field) for field in stage.task.shape.fields if field.kind in _LEVELS]
    if stage.task.combining.chosen is not None:
        chosen = stage.task.combining.chosen
        return [StageQuestion(stage.name, "", "nominal", True, lambda answer: list(chosen(answer)) or [NOTHING])]
    if stage.task.shape.choices is not None:
        return [StageQuestion(stage.name, "", "nominal", False, _as_label)]
    return []


def _of_field(stage: str, field: AnswerField) -> StageQuestion:
    sets = field.kind is FieldKind.LABELS

    def label_of(answer: Any) -> Any:
        value = answer.get(field.name)
        if value is None:
            return None
        return (list(value) or [NOTHING]) if sets else _as_label(value)

    return StageQuestion(stage, field.name, _LEVELS[field.kind], sets, label_of)


def _as_label(value: Any) -> str:
    return value if isinstance(value, str) else as_text(value)


def _answered(question: StageQuestion, responses: Sequence[CountedAnswer]) -> Answered | None:
    rows = [(row.item, row.worker, label) for row in responses if (label := question.label_of(row.answer)) is not None]
    if not rows:
        return None
    items, workers, labels = zip(*rows, strict=True)
    text = "\n".join(as_text(list(row)) for row in rows)
    own = {row.item: question.label_of(row.item_label) for row in responses if row.item_label is not None}
    return Answered(
        question, Judgments.from_columns(items, workers, labels), digest_of(text.encode("utf-8", "replace")), own
    )
