"""Bulk decisions about submissions on Prolific, and messages to their authors: planned, confirmed, sent once."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Literal

from chorale.engine import recruiting
from chorale.engine.running import Study
from chorale.model import UserError
from chorale.platforms.prolific import Prolific, checked_reason
from chorale.store import Tx, events, submissions
from chorale.store.erased import ERASED_TEXT, erased_name
from chorale.store.submissions import SubmissionRow

Deed = Literal["approve", "reject", "return", "unreject", "message"]
DECIDABLE: Mapping[Deed, frozenset[str]] = {
    "approve": frozenset({"AWAITING REVIEW"}),
    "reject": frozenset({"AWAITING REVIEW"}),
    "return": frozenset({"ACTIVE", "AWAITING REVIEW"}),
    "unreject": frozenset({"REJECTED"}),
}
"""The statuses a submission must be in for each action. Messages are possible in any status."""
SENT = "submissions decided"
REACHED = "message in parts"
"""The recipients reached in one study, until the message has gone to all studies: nobody may get it twice."""
RECENT = 1000


@dataclass(frozen=True, slots=True)
class Decision:
    """An action on selected submissions, with the message to the people who made them."""

    deed: Deed
    chosen: frozenset[str]
    """Handles, as made by `handle_of`."""
    text: str = ""
    category: str = "LOW_EFFORT"


@dataclass(frozen=True, slots=True)
class PlannedDecision:
    rows: list[SubmissionRow]
    left_out: int
    """Number of selected submissions that were erased, have changed status, or already got this message.
    """
    reward: int
    """The sum of the rewards of these submissions."""


def handle_of(row: SubmissionRow) -> str:
    """A submission's handle in forms: Prolific's own ids are not put on pages."""
    return sha256(row.external_id.encode()).hexdigest()[:16]


def plan_decision(tx: Tx, decision: Decision) -> PlannedDecision:
    """The submissions to which a decision currently applies."""
    text = decision.text.strip()
    if decision.deed == "reject":
        checked_reason(text, decision.category)
    elif decision.deed in ("return", "message") and not text:
        raise UserError("The text is empty. Write a reason or a message for the person.")
    statuses = DECIDABLE.get(decision.deed)
    rows = [
        row
        for row in submissions.submissions(tx)
        if handle_of(row) in decision.chosen
        and row.participant != ERASED_TEXT
        and (statuses is None or row.status in statuses)
    ]
    if decision.deed == "message":
        reached = _reached(tx, text)
        rows = [row for row in rows if erased_name(tx, row.external_id) not in reached]
    if not rows and decision.chosen and decision.deed == "message":
        raise UserError("The selected people already got this message, or their data were erased. Nothing was sent.")
    if not rows:
        raise UserError("None of the selected submissions can be decided this way. Their status may have changed.")
    rewards = {one.name: one.reward for one in submissions.studies(tx)}
    total = sum(rewards.get(row.panel_study, 0) for row in rows) if decision.deed == "approve" else 0
    return PlannedDecision(rows, len(decision.chosen) - len(rows), total)


def carry_out(study: Study, client: Prolific, decision: Decision, by: str, key: str) -> int:
    """Carry out a decision once per submitted form; returns the number of submissions."""
    planned = study.store.look(lambda tx: plan_decision(tx, decision))
    if not study.store.do(lambda tx: _claim(tx, study, decision, by, key)):
        return 0
    if decision.deed == "message":
        _message(study, client, planned.rows, decision.text.strip(), by)
        return len(planned.rows)
    try:
        _decide(study, client, planned.rows, decision, by)
    finally:
        # Also after a failure: some submissions may be decided, and the page should show which.
        recruiting.sync(study, client)
    return len(planned.rows)


def _claim(tx: Tx, study: Study, decision: Decision, by: str, key: str) -> bool:
    if any(one.evidence.get("key") == key for one in events.recent(tx, RECENT, kinds=(SENT,))):
        return False
    events.record(tx, study.clock(), SENT, {"key": key, "deed": decision.deed, "by": by})
    return True


def _message(study: Study, client: Prolific, rows: list[SubmissionRow], text: str, by: str) -> None:
    for name in sorted({row.panel_study for row in rows}):
        there = [row for row in rows if row.panel_study == name]
        people = {row.participant: row for row in there}
        recruiting.message_all(study, client, name, list(people.values()), text, by)
        study.store.do(partial(_note_reached, study=study, text=text, rows=there))
    study.store.do(partial(_note_reached, study=study, text=text, rows=[]))


def _note_reached(tx: Tx, study: Study, text: str, rows: list[SubmissionRow]) -> None:
    """Record the recipients that a message has reached. `rows` is empty once the message has gone to everybody."""
    # Stored without names, since an erasure would not find them in this event.
    names = [erased_name(tx, row.external_id) for row in rows]
    events.record(tx, study.clock(), REACHED, {"text": _digest(text), "submissions": names})


def _reached(tx: Tx, text: str) -> set[str]:
    """The recipients already reached by a message that failed for others."""
    reached: set[str] = set()
    for event in events.recent(tx, RECENT, kinds=(REACHED,)):
        if event.evidence["text"] == _digest(text):
            if not event.evidence["submissions"]:
                break
            reached |= set(event.evidence["submissions"])
    return reached


def _digest(text: str) -> str:
    return sha256(text.encode()).hexdigest()


def _decide(study: Study, client: Prolific, rows: list[SubmissionRow], decision: Decision, by: str) -> None:
    if decision.deed == "approve":
        for start in range(0, len(rows), recruiting.APPROVED_AT_ONCE):
            recruiting.approve(study, client, rows[start : start + recruiting.APPROVED_AT_ONCE], by)
        return
    for row in rows:
        if decision.deed == "reject":
            recruiting.reject(study, client, row, decision.text, decision.category, by)
        elif decision.deed == "return":
            recruiting.request_return(study, client, row, decision.text, by)
        else:
            recruiting.unreject(study, client, row, by)
