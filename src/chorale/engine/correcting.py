"""Correcting wrong gold, and everything that followed from it.

Answers to it are graded again, and their earlier grades are kept. Everybody who answered it gets the gold record, trust
and status that follow from the correct answer; labels that they contributed to are updated at the next settling. Pay is
never reduced: workers who would have earned more get the difference, and those who got too much keep it. Decisions of
gates do not change.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from chorale.engine.managing import BY_STAFF
from chorale.engine.paying import covers, pay_bonus
from chorale.engine.running import RunningStage, Study
from chorale.engine.settings_history import History
from chorale.model import AssignmentKind, EntryKind, GoldRecord, Item, Participation, Standing, UserError
from chorale.protocol import gold_after, gold_bonus, review_worker
from chorale.store import Tx, corrections, events, gold, grades, items, participations
from chorale.store.codec import as_text
from chorale.store.corrections import Correction, GradedByGold
from chorale.store.gold import GoldAnswer
from chorale.store.gold_supply import replace_on_gold

WORKERS_AT_ONCE = 20


@dataclass(frozen=True, slots=True)
class GoldCorrection:
    """A corrected gold answer, with its author and reason."""

    stage: RunningStage
    key: str
    answer: Any
    explanation: str
    by: str
    reason: str


def correct_gold(study: Study, new: GoldCorrection) -> None:
    """Change the answer of a gold item.

    `finish_corrections` applies the consequences, before labels are settled and before anything is exported, reported
    or verified.
    """
    study.store.look(lambda tx: _check_budget(tx, study, new))
    study.store.do(lambda tx: _put_down(tx, study, new))


def finish_corrections(study: Study) -> None:
    """Regrade answers to corrected gold, and review the workers who gave them.

    Small transactions let other requests run in between. If the process dies, the next one continues with the remaining
    answers.
    """
    for correction in study.store.look(corrections.unfinished):
        while study.store.do(partial(_some_again, study=study, correction=correction)):
            pass


def _checked(tx: Tx, new: GoldCorrection) -> tuple[Item, GoldAnswer, Any]:
    """The item, its current gold, and the new answer, if it is valid."""
    item = items.find_item(tx, new.stage.name, new.key)
    before = None if item is None else gold.gold_answer(tx, item.id)
    if item is None or before is None:
        raise UserError(f"Stage {new.stage.name!r} has no gold {new.key!r}. `chorale gold DIR` lists the gold.")
    if not new.reason.strip():
        raise UserError(f"Explain why the gold answer of {new.key!r} was wrong. This is kept in the activity log.")
    answer = new.stage.parsed_gold(new.answer, item)
    if as_text(answer) == before.answer:
        raise UserError(f"{new.key!r} already has this gold answer. Choose another one.")
    return item, before, answer


def _check_budget(tx: Tx, study: Study, new: GoldCorrection) -> None:
    """Refuse a correction whose bonuses would exceed the budget, before anything changes."""
    item, _, answer = _checked(tx, new)
    if study.settings.pay.budget is None:
        return
    stage, history = new.stage, History(tx)
    owed = []
    for worker_id in corrections.met_by(tx, item.id):
        given = corrections.graded_by_gold(tx, stage.id, worker_id=worker_id)
        _, _, earned = _replayed(stage, given, history, {item.id: answer})
        owed.append(max(0, earned - corrections.paid_for_gold(tx, stage.id, worker_id)))
    if any(owed) and not covers(tx, study, sum(owed), len(owed)):
        raise UserError("Bonuses for the corrected answer would exceed the budget. Raise `pay.budget` first.")


def _put_down(tx: Tx, study: Study, new: GoldCorrection) -> None:
    item, before, answer = _checked(tx, new)
    corrections.set_gold(tx, item.id, as_text(answer), new.explanation.strip() or before.explanation)
    met, last_at = corrections.met_so_far(tx, item.id)
    events.record(
        tx,
        # Later readers compare times, so this correction needs a later time than earlier answers and corrections.
        max(study.clock(), last_at + 1),
        corrections.KIND,
        {
            "by": new.by,
            "reason": new.reason.strip(),
            "before": before.answer,
            "answer": as_text(answer),
            "graded again": met,
        },
        stage_id=new.stage.id,
        item_id=item.id,
    )


def _some_again(tx: Tx, study: Study, correction: Correction) -> bool:
    """Review the next few workers affected by corrected gold; False if none are left."""
    stage = study.stage(correction.stage)
    workers = corrections.not_graded_again(tx, correction, WORKERS_AT_ONCE)
    if not workers:
        corrections.note_finished(tx, correction, study.clock())
        return False
    history = History(tx)
    number = corrections.number_of(tx, correction)
    for worker_id in workers:
        present = participations.participation_of(tx, stage.id, worker_id, lock=True)
        if present is None:
            raise RuntimeError(f"a worker answered in {stage.name} without a participation")
        given = corrections.graded_by_gold(tx, stage.id, worker_id=worker_id)
        for answer in given:
            # Another process may have reviewed this worker first: the lock makes that visible.
            if answer.item_id == correction.item_id and answer.submitted_at < correction.at > answer.graded_at:
                again = stage.task.grading.grade(answer.answer, answer.gold)
                source = f"{corrections.LATER_GRADES}{answer.times + 1}"
                grades.add_grade(tx, answer.response_id, source, again.score, again.reasons, correction.at)
        owed = _review_again(tx, study, stage, present, given, history)
        if owed > 0:
            cause = f"correction:{correction.item_id}:{number}:{worker_id}"
            _pay_owed(tx, study, stage, worker_id, owed, cause)
    return True


def _review_again(
    tx: Tx, study: Study, stage: RunningStage, present: Participation, given: Sequence[GradedByGold], history: History
) -> int:
    """Update a worker's gold record and status for the current gold; returns what they are owed."""
    worker_id = present.worker_id
    record, dropped_by, owed = _replayed(stage, given, history, {})
    other = _dropped_otherwise(tx, stage, given[0].worker)
    standing = Standing.DROPPED if dropped_by is not None or other else Standing.ACTIVE
    corrections.set_record(tx, stage.id, worker_id, record.right, record.recent, standing)
    if standing != present.standing:
        replace_on_gold(tx, stage.id, worker_id, counts_again=standing is Standing.ACTIVE)
        kind = "dropped" if standing is Standing.DROPPED else "reinstated"
        evidence = dropped_by or {"right": record.right, "answered": record.answered, "by": "corrected gold"}
        events.record(tx, study.clock(), kind, evidence, stage_id=stage.id, worker_id=worker_id)
    return owed - corrections.paid_for_gold(tx, stage.id, worker_id)


def _replayed(
    stage: RunningStage, given: Sequence[GradedByGold], history: History, changed: Mapping[int, Any]
) -> tuple[GoldRecord, dict[str, Any] | None, int]:
    """A worker's gold record by current gold, the removal it would have caused, and the resulting pay.

    `changed` has new gold answers by item.
    """
    record, then = GoldRecord(), stage
    dropped: dict[str, Any] | None = None
    paid = 0
    for answer in given:
        then = then.under(history.stage_at(answer.submitted_at, stage.name))
        rule = then.settings.gold
        score = stage.task.grading.grade(answer.answer, changed.get(answer.item_id, answer.gold)).score
        record = gold_after(record, then.gold_marks(score), rule)
        if rule is None:
            continue
        verdict = review_worker(record, rule)
        if verdict.dropped and dropped is None:
            dropped = dict(verdict.evidence)
        if answer.kind == AssignmentKind.GOLD and rule.bonus is not None:
            paid += gold_bonus(record, rule.bonus, then.parts_of_gold)
    return record, dropped, paid


def _dropped_otherwise(tx: Tx, stage: RunningStage, pseudonym: str) -> bool:
    """Whether a worker was removed for a reason other than gold: by a person, or for low agreement."""
    return any(
        event.stage == stage.name and event.evidence.get("rule") in (BY_STAFF, "quality", "erased")
        for event in events.recent(tx, 1000, kinds=("dropped",), pseudonym=pseudonym)
    )


def _pay_owed(tx: Tx, study: Study, stage: RunningStage, worker_id: int, owed: int, cause: str) -> None:
    pay_bonus(tx, study, stage, worker_id, cause, owed, "correct by the corrected gold answer")
    evidence = {"by": "corrected gold", "amount": owed, "cause": cause, "kind": EntryKind.BONUS.value}
    events.record(tx, study.clock(), "bonus given", evidence, stage_id=stage.id, worker_id=worker_id)
