"""Items sent to experts, and the experts' answers.

An expert's answer is stored next to the aggregated label and does not change it; to change the label, make the item
gold or correct its gold.
"""

from dataclasses import dataclass
from typing import Any

from chorale.engine.running import RunningStage, Study
from chorale.model import Event, Item, UserError
from chorale.store import Tx, events, items
from chorale.store.codec import as_text

ASKED, ANSWERED = "sent to expert", "expert answered"
LOOKED_AT = 2_000


@dataclass(frozen=True, slots=True)
class ExpertQuestion:
    """An item sent to the experts."""

    event: Event
    item: Item


def ask_experts(tx: Tx, study: Study, stage: RunningStage, key: str, by: str, reason: str) -> bool:
    """Send an item to the review queue; False if it is already there."""
    item = items.find_item(tx, stage.name, key)
    if item is None:
        raise UserError(f"Stage {stage.name!r} has no item {key!r}.")
    if not reason.strip():
        raise UserError("Enter a question for the experts.")
    if any((one.stage, one.item) == (stage.name, key) for one in _waiting(tx)):
        return False
    evidence = {"by": by, "reason": reason.strip()}
    events.record(tx, study.clock(), ASKED, evidence, stage_id=stage.id, item_id=item.id)
    return True


def _waiting(tx: Tx) -> list[Event]:
    answered = {event.evidence["question"] for event in events.recent(tx, LOOKED_AT, kinds=(ANSWERED,))}
    asked = events.recent(tx, LOOKED_AT, kinds=(ASKED,))
    return [event for event in reversed(asked) if event.id not in answered and event.stage and event.item]


def questions(tx: Tx, most: int) -> tuple[list[ExpertQuestion], int]:
    """Open questions for experts, the oldest first, and their total number."""
    waiting = _waiting(tx)
    asked = []
    for event in waiting[:most]:
        item = items.find_item(tx, event.stage or "", event.item or "")
        if item is not None:
            asked.append(ExpertQuestion(event, item))
    return asked, len(waiting)


def answer_question(
    tx: Tx, study: Study, stage: RunningStage, number: int, raw_answer: Any, remark: str, by: str
) -> Item:
    """Store an expert's answer to an item that was sent to them."""
    event = next((one for one in _waiting(tx) if one.id == number and one.stage == stage.name), None)
    item = None if event is None else items.find_item(tx, stage.name, event.item or "")
    if event is None or item is None:
        raise UserError("This question was already answered.")
    if not remark.strip():
        raise UserError("Enter a reason. It is kept with the item.")
    answer = stage.parsed_gold(raw_answer, item)
    evidence = {"by": by, "question": number, "answer": as_text(answer), "reason": remark.strip(), "crowd": item.answer}
    events.record(tx, study.clock(), ANSWERED, evidence, stage_id=stage.id, item_id=item.id)
    return item
