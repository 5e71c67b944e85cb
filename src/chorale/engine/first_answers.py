"""Forms in two steps: the first answer is stored once, and the rest of the form is returned."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from chorale.contract import AnswerError
from chorale.engine.leases import already_answered, own_assignment
from chorale.engine.running import RunningStage, Study
from chorale.model import Answer, AssignmentState, Refusal
from chorale.model.wording import worded
from chorale.store import Tx, first_answers, items
from chorale.store.codec import as_text
from chorale.store.sessions import SessionClaim


class Revealed(NamedTuple):
    """The reply to a first answer."""

    status: str
    """stored, or already_stored."""
    first: Answer
    """The stored first answer: the one that was sent first."""
    view: Mapping[str, Any]
    """The complete view of the item."""


def invalid_answer(error: AnswerError) -> Refusal:
    """The refusal of an answer that the task can't parse."""
    return Refusal("invalid_answer", worded("Invalid answer: {problem}", problem=error.problem), 422)


def answer_first(
    tx: Tx, study: Study, worker_id: int, token: str, raw_answer: Any, session: SessionClaim | None = None
) -> Revealed:
    """Store a first answer, and show the rest of the item. Later first answers are ignored."""
    held = own_assignment(tx, study, worker_id, token, session).assignment
    stage = study.stage_by_id(held.stage_id)
    reveal = stage.task.form.reveal
    if reveal is None:
        raise Refusal("one_step", worded("This question has only one step. Reload the page."))
    first = first_answers.first_answer_of(tx, token)
    status = "stored" if first is None else "already_stored"
    _, item = items.content_of(tx, held.item_id)
    if first is None:
        if held.state == AssignmentState.SUBMITTED:
            raise already_answered()
        if held.state != AssignmentState.LIVE:
            raise Refusal("lease_ended", worded("Your time for this question is up. Continue with the next one."))
        try:
            first = stage.task.shape.parse_first(raw_answer, reveal)
        except AnswerError as error:
            raise invalid_answer(error) from None
        first_answers.add_first_answer(tx, held, as_text(first), study.clock())
    return Revealed(status, first, stage.task.form.shown(item))


def check_first(tx: Tx, stage: RunningStage, token: str, answer: Answer) -> None:
    """Refuse a complete answer that has no first answer or differs from it."""
    reveal = stage.task.form.reveal
    if reveal is None:
        return
    first = first_answers.first_answer_of(tx, token)
    if first is None:
        raise Refusal("invalid_answer", worded("Answer the first part, then select Continue."), 422)
    if reveal.first_of(answer) != first:
        changed = worded("The first part of your answer is saved and can't be changed any more. Reload the page.")
        raise Refusal("invalid_answer", changed, 422)
