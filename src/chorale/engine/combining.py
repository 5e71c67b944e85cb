"""Aggregating an item's judgments into its label: as a whole or field by field."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from chorale.contract import Combined, FieldResult
from chorale.contract.combined import combined_fields
from chorale.engine.running import RunningStage
from chorale.metrics.aggregation.tie_draw import draw_of
from chorale.model import ItemState, Judgment, JudgmentSettings
from chorale.protocol import ItemDecision, decide_item, ranking_is_stable, rule_for
from chorale.store.codec import answer_from_text
from chorale.store.first_pass import FirstLabel


def needed_fields(stage: RunningStage) -> tuple[str, ...]:
    """The fields that decide an item: those named in the study file, or all compared fields."""
    return stage.settings.judgments.fields or tuple(field.name for field in stage.task.shape.compared)


def label_of(stage: RunningStage, key: str, judgments: Sequence[Judgment]) -> Combined | None:
    """Aggregate an item's judgments. The confidence is that of the deciding fields."""
    judgments = _with_draw(stage, key, judgments)
    fields = stage.settings.judgments.fields
    if fields and judgments and stage.task.combining.combine_fields is not None:
        return combined_fields(stage.task.combining.combine_fields(tuple(judgments)), fields)
    return stage.task.combining.combine(tuple(judgments))


class ItemOutcome(NamedTuple):
    """The label of an item, and the resulting state."""

    label: Combined | None
    decision: ItemDecision


def outcome(
    stage: RunningStage,
    key: str,
    judgments: Sequence[Judgment],
    *,
    sampled: bool,
    decided: str | None,
    first: FirstLabel | None = None,
) -> ItemOutcome:
    """The label of an item from counted judgments and reviewers' decisions, and whether it is complete.

    `first` is the answer of a model that answers first: it is the label if people are not asked.
    """
    rule = rule_for(stage.settings.judgments, sampled)
    # Below the minimum number of judgments, there is no label yet.
    by_judgments = label_of(stage, key, judgments) if len(judgments) >= rule.min else None
    by_model = first is not None and first.is_label
    if by_model and first is not None:
        by_judgments = Combined(answer_from_text(first.answer or "null"), first.confidence or 0.0)
    label, final = _with_decision(stage, key, judgments, by_judgments, decided)
    if final:
        return ItemOutcome(label, ItemDecision(wanted=len(judgments), complete=True, released=True))
    if by_model and label is not None:
        released = label.confidence >= stage.settings.release_confidence
        return ItemOutcome(label, ItemDecision(wanted=rule.min, complete=True, released=released))
    confidence = 0.0 if label is None else label.confidence
    stable = _has_settled(stage, rule, judgments)
    decision = decide_item(rule, len(judgments), confidence, stage.settings.release_confidence, stable=stable)
    waits = first is None and stage.settings.first_state is ItemState.WAITING
    # With a threshold of 0, an item without a label would otherwise count as accepted.
    released = decision.released and label is not None
    return ItemOutcome(label, decision._replace(released=released, waits=waits and not decision.complete))


def _has_settled(stage: RunningStage, rule: JudgmentSettings, judgments: Sequence[Judgment]) -> bool:
    """Whether the ranking of options has been stable for as long as the stage requires."""
    chosen = stage.task.combining.chosen
    if rule.stable is None or chosen is None or not rule.min <= len(judgments) < rule.max:
        return False
    in_order = sorted(judgments, key=lambda judgment: judgment.response)
    return ranking_is_stable([chosen(judgment.answer) for judgment in in_order], rule.stable)


class _DecidedLabel(NamedTuple):
    label: Combined | None
    final: bool
    """Whether a reviewer has settled it."""


def _with_decision(
    stage: RunningStage, key: str, judgments: Sequence[Judgment], label: Combined | None, decided: str | None
) -> _DecidedLabel:
    """Apply a reviewer's decision to a label, with full confidence. Final once every deciding field is decided."""
    if decided is None:
        return _DecidedLabel(label, final=False)
    made: dict[str, Any] = answer_from_text(decided)
    if not stage.task.shape.fields:
        return _DecidedLabel(Combined(made["answer"], 1.0), final=True)
    # Undecided fields keep their aggregated values, however few judgments remain.
    by_judgments = label_of(stage, key, judgments) if label is None and judgments else label
    answer = {**(by_judgments.answer if by_judgments is not None else {}), **made}
    unasked = not_asked(stage, answer)
    answer = {name: value for name, value in answer.items() if name not in unasked}
    open_fields = set(needed_fields(stage)) - made.keys() - unasked
    if not open_fields:
        return _DecidedLabel(Combined(answer, 1.0), final=True)
    if label is None:
        return _DecidedLabel(None, final=False)
    results = field_results(stage, key, judgments)
    return _DecidedLabel(Combined(answer, combined_fields(results, open_fields).confidence), final=False)


def not_asked(stage: RunningStage, answer: Mapping[str, Any]) -> set[str]:
    """The fields that are not asked, given the answer's earlier fields."""
    kept: dict[str, Any] = {}
    names = set()
    for field in stage.task.shape.fields:
        if not field.asked(kept):
            names.add(field.name)
        elif field.name in answer:
            kept[field.name] = answer[field.name]
    return names


def field_results(stage: RunningStage, key: str, judgments: Sequence[Judgment]) -> Mapping[str, FieldResult]:
    """The result of every field from an item's judgments; empty if answers have no fields or nobody answered."""
    combine = stage.task.combining.combine_fields
    if combine is None or not judgments:
        return {}
    return combine(tuple(_with_draw(stage, key, judgments)))


def _with_draw(stage: RunningStage, key: str, judgments: Sequence[Judgment]) -> Sequence[Judgment]:
    """The judgments with the random number that breaks ties, if the study breaks them randomly."""
    first = judgments[0].answer if judgments else None
    if stage.tie_seed is None or all(judgment.answer == first for judgment in judgments):
        return judgments
    draw = draw_of(stage.tie_seed, stage.name, key)
    return [judgment._replace(draw=draw) for judgment in judgments]
