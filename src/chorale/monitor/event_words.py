"""Events whose evidence has answers with fields: the answers in words, beside the items they are about."""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from chorale.contract import Task
from chorale.contract.answer_words import answer_words
from chorale.engine.running import Study
from chorale.model import Event, Payload
from chorale.store import Tx
from chorale.store.items import find_item

_ANSWERS = ("answer", "crowd", "before", "gold")
"""What answers are called in evidence; each of `judgments` has one too."""


def in_words(tx: Tx, study: Study, events: Iterable[Event]) -> list[Event]:
    """The events with answers as people read them: marked words, not the numbers of tokens."""
    payloads: dict[tuple[str, str], Payload | None] = {}
    shown = []
    for event in events:
        stage = study.stages.get(event.stage or "")
        task = None if stage is None else stage.task
        if task is None or not task.shape.fields or event.item is None or event.stage is None:
            shown.append(event)
            continue
        place = (event.stage, event.item)
        if place not in payloads:
            item = find_item(tx, *place)
            payloads[place] = None if item is None else item.payload
        payload = payloads[place]
        shown.append(event if payload is None else replace(event, evidence=_worded(task, payload, event)))
    return shown


def _worded(task: Task, payload: Payload, event: Event) -> dict[str, Any]:
    # A decision is there in words already, as the answer.
    evidence = {name: value for name, value in event.evidence.items() if name != "decision"}
    for name in _ANSWERS:
        if isinstance(evidence.get(name), dict):
            is_gold = "gold" in event.kind and name in ("answer", "before", "gold")
            evidence[name] = answer_words(task, payload, evidence[name], gold=is_gold)
    if isinstance(evidence.get("judgments"), list):
        evidence["judgments"] = [
            {**one, "answer": answer_words(task, payload, one["answer"])}
            if isinstance(one, dict) and isinstance(one.get("answer"), dict)
            else one
            for one in evidence["judgments"]
        ]
    return evidence
