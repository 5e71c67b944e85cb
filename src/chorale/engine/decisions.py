"""Storing reviewers' decisions about items: checking them against the item, logging and undoing them.

A decision is made in the console, or by workers in a stage with `decides_sources`. The last one counts.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from chorale.contract import AnswerError
from chorale.engine.combining import not_asked
from chorale.engine.running import RunningStage, Study
from chorale.model import Event, Item, ItemState, Judgment, NewItem, UserError
from chorale.store import Tx, codec, events, labels
from chorale.store.items import find_item, lineage
from chorale.store.labels import ItemProgress

DECIDED = "adjudicated"
UNDONE = "undoes"
"""In the evidence of an undo event: the number of the decision that was undone."""
REVIEWED_IN = "reviewed_in"
"""In the evidence of a decision by workers: the stage and item in which it was made."""
OWN = "fields"
"""In the evidence of a decision: the fields it decided itself. The others were decided before and stay decided."""
WHOLE = "answer"
"""The name for the whole answer, for answers without fields."""
_ALL = 10_000
_LONGEST_REASON = 2_000


def record_decision(
    tx: Tx,
    study: Study,
    stage: RunningStage,
    item: Item,
    decision: Mapping[str, Any],
    reason: str,
    by: str,
    evidence: Mapping[str, Any] | None = None,
) -> None:
    """Record a decision about some fields of an item, in addition to earlier ones. The label is not updated here."""
    made = _parsed(stage, item, decision)
    kept = {"by": by, "reason": reason[:_LONGEST_REASON], OWN: sorted(decision), **(evidence or {})}
    _record(tx, study, stage, item, made, kept)


def take_back(
    tx: Tx,
    study: Study,
    stage: RunningStage,
    item: Item,
    standing: Sequence[Event],
    undone: Event,
    reason: str,
    by: str,
) -> None:
    """Record that one of an item's decisions is undone. Fields decided by its other decisions keep their values."""
    rest = in_force([one for one in standing if one.id != undone.id])
    _record(tx, study, stage, item, rest, {"by": by, "reason": reason, UNDONE: undone.id})


def in_force(standing: Sequence[Event]) -> dict[str, Any]:
    """The fields that these decisions decide together. A later decision can make a field inapplicable."""
    made: dict[str, Any] = {}
    for event in standing:
        decision = event.evidence["decision"]
        made = {name: value for name, value in made.items() if name in decision}
        made |= {name: decision[name] for name in event.evidence.get(OWN, decision) if name in decision}
    return made


def _record(
    tx: Tx, study: Study, stage: RunningStage, item: Item, made: Mapping[str, Any], evidence: Mapping[str, Any]
) -> None:
    evidence = {
        "decision": made,
        "answer": made if stage.task.shape.fields else next(iter(made.values()), None),
        "before": item.answer,
        "confidence": item.confidence,
        **evidence,
    }
    events.record(tx, study.clock(), DECIDED, evidence, stage_id=stage.id, item_id=item.id)
    labels.save_decision(tx, item.id, codec.as_text(made) if made else None)


def standing_decisions(tx: Tx, item_id: int) -> list[Event]:
    """The decisions about an item that were not undone, the oldest first."""
    return not_undone(events.recent(tx, _ALL, kinds=(DECIDED,), item_id=item_id)[::-1])


def not_undone(recorded: Iterable[Event]) -> list[Event]:
    """An item's decisions without those that were undone. `recorded` and the result have the order of the log."""
    standing: list[Event] = []
    for event in recorded:
        if UNDONE in event.evidence:
            standing = [one for one in standing if one.id != event.evidence[UNDONE]]
        else:
            standing.append(event)
    return standing


def _parsed(stage: RunningStage, item: Item, decision: Mapping[str, Any]) -> dict[str, Any]:
    """A decision merged with earlier ones, in canonical form; refused if it does not fit the item."""
    if not stage.task.shape.fields:
        try:
            return {WHOLE: stage.task.shape.parse_answer(decision[WHOLE], item.payload)}
        except AnswerError as error:
            raise UserError(f"This cannot be the answer to item {item.key!r}: it {error.words.demand}.") from None
    # Undecided fields are taken from an answer: an aggregated result may not be a valid answer, such as several texts.
    written = {field.name for field in stage.task.shape.fields if not field.compared}
    rest = {name: value for name, value in item.answer.items() if name not in written}
    rest |= {name: value[0] for name in written if isinstance(value := item.answer.get(name), list)}
    rest |= {name: value for name in written if isinstance(value := item.answer.get(name), str)}
    earlier = item.decision or {}
    # A decision can make another field inapplicable; its answers are dropped, unless it is decided now.
    said = {**rest, **earlier, **decision}
    unasked = not_asked(stage, said) - decision.keys()
    try:
        whole = stage.task.shape.parse_answer(
            {name: value for name, value in said.items() if name not in unasked}, item.payload
        )
    except AnswerError as error:
        raise UserError(f"This cannot be the answer to item {item.key!r}: it {error.words.demand}.") from None
    return {name: whole[name] for name in {**earlier, **decision} if name in whole}


# By workers


def decide_behind(
    tx: Tx, study: Study, stage: RunningStage, item: ItemProgress, judgments: Sequence[Judgment]
) -> tuple[RunningStage, Item] | None:
    """Apply a review item's label as the decision about its source item, if its stage decides sources.

    Returns the source item with its stage, to update its label or to withdraw a review that is no longer needed; None
    if nothing changed.
    """
    if not stage.settings.decides_sources:
        return None
    ((name, key),) = lineage(tx, item.id)
    source, reviewed = study.stage(name), find_item(tx, name, key)
    if reviewed is None:
        return None
    standing = standing_decisions(tx, reviewed.id)
    last = standing[-1].evidence if standing else {}
    here = [stage.name, item.key]
    by = stage.settings.title
    in_console = bool(standing) and REVIEWED_IN not in last
    if not item.released:
        own = [event for event in standing if event.evidence.get(REVIEWED_IN) == here]
        for event in reversed(own):
            # The console may have decided other fields since: these stay decided.
            take_back(tx, study, source, reviewed, standing, event, "The review is open again.", by)
            standing.remove(event)
        # An item decided in the console needs no review: a review that was reopened is withdrawn.
        return (source, reviewed) if own or (in_console and item.state == ItemState.OPEN) else None
    if in_console or reviewed.answer is None:
        return None  # a decision in the console takes precedence
    is_own = last.get(REVIEWED_IN) == here
    made = decision_in(source, codec.answer_from_text(item.label or "null"))
    if not made or (is_own and is_decided(last["decision"], made)):
        return None
    evidence = {REVIEWED_IN: here, "responses": [one.response for one in judgments]}
    try:
        record_decision(tx, study, source, reviewed, made, _reason(source, stage, judgments), by, evidence)
    except UserError:
        return None  # annotators' texts were erased, and no answer is complete without them
    return source, reviewed


def decided_in_console(tx: Tx, decided: Iterable[int]) -> set[int]:
    """The decided items whose last decision was made in the console, not by workers."""
    last = ((item_id, standing_decisions(tx, item_id)[-1:]) for item_id in decided)
    return {item_id for item_id, standing in last if any(REVIEWED_IN not in event.evidence for event in standing)}


def still_to_review(
    items: Mapping[str, NewItem], by_console: set[int], states: Mapping[str, str]
) -> dict[str, NewItem]:
    """The items of a stage that decides sources, without those whose source was decided in the console.

    Complete reviews stay: `states` are the states of the review items, by key.
    """
    return {
        key: new
        for key, new in items.items()
        if states.get(key) == ItemState.COMPLETE or by_console.isdisjoint(new.sources)
    }


def is_decided(decision: Mapping[str, Any], made: Mapping[str, Any]) -> bool:
    """Whether a decision covers all of these fields."""
    return all(name in decision and decision[name] == value for name, value in made.items())


def decision_in(source: RunningStage, label: Any) -> dict[str, Any]:
    """The decision that a review label makes about its source item."""
    if not source.task.shape.fields:
        return {WHOLE: label}
    return {field.name: label[field.name] for field in source.task.shape.compared if field.name in label}


def _reason(source: RunningStage, stage: RunningStage, judgments: Sequence[Judgment]) -> str:
    """The texts from fields that only the reviewers' form has."""
    asked = {field.name for field in source.task.shape.fields}
    written = [field.name for field in stage.task.shape.fields if not field.compared and field.name not in asked]
    texts = (judgment.answer.get(name) for judgment in judgments for name in written)
    return " · ".join(dict.fromkeys(text for text in texts if text))
