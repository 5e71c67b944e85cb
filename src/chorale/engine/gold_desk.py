"""Turning pilot results into gold: unanimous items to measure workers, confusing items to train them."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from chorale.contract import AnswerField
from chorale.engine.combining import needed_fields
from chorale.engine.gold_share import reuses_gold
from chorale.engine.running import RunningStage, Study
from chorale.model import Answer, Item, ItemState, Payload, UserError
from chorale.store import Tx, codec, events, gold, responses
from chorale.store.items import ItemsWanted, all_items, find_item, item_ids, items_by_id

PROMOTED_AT_ONCE = 50
UNANIMOUS_EXPLANATION = "This question has a clear answer, which differs from yours. Please look at it again."


@dataclass(frozen=True, slots=True)
class Candidates:
    unanimous: list[Item]
    confusing: list[Item]
    by_field: dict[str, int]
    """Number of items with unanimous judgments, by graded field; empty if answers have no fields."""


def candidates(tx: Tx, stage: RunningStage, below: float | None = None, fields: Sequence[str] = ()) -> Candidates:
    """The complete items with unanimous judgments, and the items whose confidence is below a threshold.

    The default threshold is the stage's confidence threshold; the most confusing items come first. If answers have
    fields, the named ones must agree. Default: the deciding fields that can be graded.
    """
    bound = stage.settings.release_confidence if below is None else below
    wanted = gold_fields(stage, fields)
    unanimous: list[Item] = []
    confusing: list[Item] = []
    by_field = {field.name: 0 for field in _gradable(stage)}
    disputed = _disputed_items(tx, stage)
    for item in _shown_once(stage, list(all_items(tx, stage.name)), _shown_as_gold(tx, stage)):
        label = item.label()
        if label is None:
            continue
        apart = disputed.get(item.id, set())
        if label.judgments > 1:
            for name in by_field:
                by_field[name] += name not in apart and label.answer.get(name) is not None
        if label.judgments > 1 and not apart.intersection(wanted or (_WHOLE,)) and _answers_all(label.answer, wanted):
            unanimous.append(item)
        elif label.confidence < bound:
            confusing.append(item)
    confusing.sort(key=lambda item: (item.confidence or 0.0, item.key))
    return Candidates(unanimous, confusing, by_field)


_WHOLE = ""
"""The name of a whole answer among differing fields, for answers without fields."""


def _gradable(stage: RunningStage) -> list[AnswerField]:
    return [field for field in stage.task.shape.compared if field.promoted]


def gold_fields(stage: RunningStage, named: Sequence[str] = ()) -> tuple[str, ...]:
    """The fields that become gold: the named ones, or all deciding fields that can be graded."""
    gradable = [field.name for field in _gradable(stage)]
    for name in named:
        if name not in gradable:
            known = ", ".join(gradable) or "none"
            raise UserError(
                f"Stage {stage.name!r} has no field {name!r} that can become gold. Fields that can: {known}. Unanimous "
                "free text does not become gold."
            )
    return tuple(named) or tuple(name for name in gradable if name in needed_fields(stage))


def _answers_all(answer: Answer, fields: Sequence[str]) -> bool:
    """Whether there is something to compare: conditional fields may be missing, but at least one field has a value."""
    return not fields or any(answer.get(name) is not None for name in fields)


@dataclass(frozen=True, slots=True)
class FirstCandidates:
    """Items that could become gold, for one page; totals are counted only up to the number that a page shows."""

    unanimous: list[Item]
    unanimous_total: int
    confusing: list[Item]
    confusing_total: int


def first_candidates(tx: Tx, stage: RunningStage, shown: int, counted: int) -> FirstCandidates:
    """The first results of `candidates`, without reading every answer if whole answers must agree."""
    fields = stage.task.shape.fields
    if len(gold_fields(stage)) < len(fields):
        every = candidates(tx, stage)
        return FirstCandidates(
            every.unanimous[:shown],
            min(counted, len(every.unanimous)),
            every.confusing[:shown],
            min(counted, len(every.confusing)),
        )
    alike = ItemsWanted(stage.id, state=ItemState.COMPLETE, disagreement="unanimous", not_gold=True)
    apart = ItemsWanted(
        stage.id,
        order="least confident",
        state=ItemState.COMPLETE,
        disagreement="not unanimous",
        under=stage.settings.release_confidence,
        not_gold=True,
    )
    gold_shown = _shown_as_gold(tx, stage)
    unanimous, confusing = (
        _shown_once(stage, items_by_id(tx, [item_id for item_id, _ in item_ids(tx, wanted, counted)]), gold_shown)
        for wanted in (alike, apart)
    )
    return FirstCandidates(unanimous[:shown], len(unanimous), confusing[:shown], len(confusing))


def _shown_as_gold(tx: Tx, stage: RunningStage) -> set[str]:
    """The views of the stage's gold."""
    rows = gold.gold_items(tx, stage.name, stage.lowest_correct)
    return {_shown(stage, row.payload) for row in rows if row.active}


def _shown_once(stage: RunningStage, items: Sequence[Item], gold_shown: Collection[str]) -> list[Item]:
    """One item of each view, without gold and items that look like gold."""
    first: dict[str, Item] = {}
    for item in items:
        if not item.is_gold:
            first.setdefault(_shown(stage, item.payload), item)
    return [item for shown, item in first.items() if shown not in gold_shown]


def _shown(stage: RunningStage, payload: Payload) -> str:
    return codec.as_text(stage.task.form.shown(payload))


def _disputed_items(tx: Tx, stage: RunningStage) -> dict[int, set[str]]:
    """The fields in which an item's counted answers differ, or the whole answer.

    Confidence is not enough: an answer with trust 0 does not lower it.
    """
    fields = stage.task.shape.compared
    first: dict[int, Answer] = {}
    disputed: dict[int, set[str]] = {}
    for response in responses.all_responses(tx, stage_name=stage.name):
        if not response.counts:
            continue
        before = first.setdefault(response.item_id, response.answer)
        if not stage.task.shape.fields:
            apart = {_WHOLE} if before != response.answer else set()
        else:
            apart = {field.name for field in fields if field.between(before, response.answer)}
        if apart:
            disputed.setdefault(response.item_id, set()).update(apart)
    return disputed


def promote(tx: Tx, study: Study, stage: RunningStage, key: str, raw_answer: Any, explanation: str, by: str) -> None:
    """Turn a judged item into gold. Its label does not change, and workers who saw it do not get it again."""
    item = find_item(tx, stage.name, key)
    if item is None:
        raise UserError(f"Stage {stage.name!r} has no item {key!r}. `chorale gold DIR` lists the candidates.")
    if item.is_gold:
        raise UserError(f"Item {key!r} is already gold. Retire it first to change its answer.")
    if stage.settings.gold is None:
        raise UserError(
            f"Stage {stage.name!r} has no [stage.gold] table in study.toml. It can only be added before people start."
        )
    before = gold.gold_answer(tx, item.id)
    if before is not None and before.answer != codec.as_text(raw_answer):
        raise UserError(
            f"Item {key!r} was gold before, with the answer {before.answer}, and workers may have been graded with it. "
            "It can be used again only with that answer."
        )
    if not explanation.strip():
        raise UserError(
            f'Item {key!r} needs an explanation. Workers who answer wrongly read it if gold.feedback is "at once".'
        )
    answer = _gradable_gold(stage, key, stage.parsed_gold(raw_answer, item))
    seed = study.settings.study.seed
    # It was already shown as often as other items, so gold that was shown less comes first.
    gold.put_gold(tx, item.id, stage.id, stage.name, seed, key, answer, explanation.strip(), "pilot", wanted=0)
    evidence = {"by": by, "answer": answer, "crowd": item.answer, "confidence": item.confidence}
    events.record(tx, study.clock(), "made gold", evidence, stage_id=stage.id, item_id=item.id)


def hides_promoted(study: Study, stage: RunningStage) -> bool:
    """Whether annotated items are no longer shown once they become gold: workers who exchange information could
    recognise them as gold.
    """
    rule = stage.settings.gold
    return rule is not None and not reuses_gold(study, rule)


def _gradable_gold(stage: RunningStage, key: str, answer: Answer) -> Answer:
    """Gold without fields that are not graded, such as free text without a grading rule."""
    if not stage.task.shape.fields:
        return answer
    graded = {field.name for field in stage.task.shape.fields if field.promoted}
    kept = {name: value for name, value in answer.items() if name in graded}
    if not kept:
        raise UserError(f"The gold answer of item {key!r} has no field that is graded. Answer another field.")
    return kept


def promote_unanimous(study: Study, stage: RunningStage, by: str, fields: Sequence[str] = ()) -> int:
    """Turn every unanimous item into gold, in these fields only; returns how many.

    Works in small transactions to let other requests run.
    """
    wanted = gold_fields(stage, fields)
    unanimous = study.store.look(lambda tx: candidates(tx, stage, fields=wanted)).unanimous
    for start in range(0, len(unanimous), PROMOTED_AT_ONCE):
        chunk = unanimous[start : start + PROMOTED_AT_ONCE]
        study.store.do(partial(_promote_all, study=study, stage=stage, items=chunk, by=by, fields=wanted))
    return len(unanimous)


def _promote_all(
    tx: Tx, study: Study, stage: RunningStage, items: Sequence[Item], by: str, fields: Sequence[str]
) -> None:
    for item in items:
        promote(tx, study, stage, item.key, gold_of(stage, item.answer, fields), UNANIMOUS_EXPLANATION, by)


def gold_of(stage: RunningStage, answer: Answer, fields: Sequence[str]) -> Answer:
    """An aggregated answer as gold: without free text and other fields that are not graded."""
    if not stage.task.shape.fields:
        return answer
    return {name: answer[name] for name in fields if answer.get(name) is not None}


def retire(tx: Tx, study: Study, stage: RunningStage, key: str, by: str, reason: str) -> None:
    """Stop using an item as gold. Answers given so far stay graded."""
    item = find_item(tx, stage.name, key)
    if item is None or not item.is_gold:
        raise UserError(f"Stage {stage.name!r} has no gold {key!r} in use. `chorale gold DIR` lists the gold.")
    if stage.round_size is not None:
        raise UserError(
            f"{key!r} can't be retired: everybody must get the same items in the round {stage.name!r}. Make "
            "another round without it instead."
        )
    gold.retire_gold(tx, item.id)
    evidence = {"by": by, "reason": reason}
    events.record(tx, study.clock(), "retired gold", evidence, stage_id=stage.id, item_id=item.id)
