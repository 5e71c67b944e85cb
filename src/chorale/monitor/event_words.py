"""The activity log in words: names of events and evidence, and answers field by field."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from chorale.contract import Task
from chorale.contract.answer_words import answer_words
from chorale.engine.running import Study
from chorale.model import Event, Payload
from chorale.store import Tx
from chorale.store.items import find_item

_ANSWERS = ("answer", "crowd", "before", "gold")
"""Names of answers in evidence. Each entry of `judgments` has an answer, too."""


def in_words(tx: Tx, study: Study, events: Iterable[Event]) -> list[Event]:
    """The events with readable answers: words of spans, not token numbers."""
    payloads: dict[tuple[str, str], Payload | None] = {}
    shown = []
    for event in events:
        stage = study.stages.get(event.stage or "")
        task = None if stage is None else stage.task
        if task is None or event.item is None or event.stage is None:
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
    # A decision is already in the answer.
    evidence = {name: value for name, value in event.evidence.items() if name != "decision"}
    for name in _ANSWERS:
        if isinstance(evidence.get(name), (dict, list)):
            is_gold = "gold" in event.kind and name in ("answer", "before", "gold")
            evidence[name] = answer_words(task, payload, evidence[name], gold=is_gold)
    if isinstance(evidence.get("judgments"), list):
        evidence["judgments"] = [
            {**one, "answer": answer_words(task, payload, one["answer"])}
            if isinstance(one, dict) and isinstance(one.get("answer"), (dict, list))
            else one
            for one in evidence["judgments"]
        ]
    return evidence


_EVENTS: Mapping[str, str] = {
    "set up": "owner account created",
    "arrived": "joined",
    "entered": "entered stage",
    "dropped": "removed",
    "drawn": "sampled for grading",
    "sampled": "sampled for more annotations",
    "begun": "stage started",
    "derived": "items created",
    "returned": "item returned",
    "expired": "time limit reached",
    "labelled": "item labelled",
    "reopened": "item reopened",
    "withdrawn": "item withdrawn",
    "brought back": "item restored",
    "restored": "study restored from backup",
    "qualified": "qualification granted",
    "disqualified": "qualification revoked",
    "recruitment": "recruitment changed",
    "drafted": "draft created",
    "published": "study published",
    "submission": "submission updated",
    "approved": "submission approved",
    "rejected": "submission rejected",
    "exported": "data exported",
    "invited": "invitation links made",
    "passed": "passed gate",
    "not passed": "did not pass gate",
    "arm": "assigned to arm",
    "made gold": "gold added",
    "retired gold": "gold retired",
    "corrected gold": "gold corrected",
    "gold graded again": "gold regraded",
    "sent to expert": "sent to review queue",
    "identity shown": "platform ID shown",
    "arms shown": "arms viewed",
    "settings": "settings changed",
    "texts": "texts recorded",
    "expert came": "expert signed in",
    "viewer came": "viewer signed in",
    "unrejected": "rejection withdrawn",
    "payout asked for again": "payout requested again",
    "payout address left": "payout address entered",
    "paying after a restore": "payment allowed after a restore",
    "message not filled": "message template failed",
}
_EVIDENCE: Mapping[str, str] = {
    "released": "accepted",
    "judgments": "annotations",
    "trust": "gold accuracy",
    "floor": "minimum",
    "standing": "status",
    "panel": "platform",
    "crowd": "aggregated label",
    "right": "correct",
    "amount": "amount in minor units (cents)",
    "lease": "time limit",
    "leased_at": "assigned at",
    "grace": "answers until the removal takes effect",
}


def event_name(kind: str) -> str:
    """The displayed name of an event; the activity log stores a shorter one."""
    return _EVENTS.get(kind, kind)


def evidence_name(name: str) -> str:
    """The displayed name of a piece of evidence."""
    return _EVIDENCE.get(name, name.replace("_", " "))
