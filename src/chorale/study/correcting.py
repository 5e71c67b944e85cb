"""Correcting gold that was wrong, and everything that was decided by it.

Answers to it are graded again, beside the grades they had. Everybody who met it gets the gold record, the trust and the
standing they would have by the right answer; their labels follow with the next settling. Pay is never taken back:
whoever would have earned more by the right answer gets the difference, and whoever got too much keeps it. What gates
have decided stays decided.
"""

from collections.abc import Sequence
from typing import Any

from chorale.model import AssignmentKind, EntryKind, GoldRecord, Standing, UserError
from chorale.protocol import gold_after, gold_bonus, review_worker
from chorale.store import Tx, corrections, events, participations, responses, results
from chorale.store.corrections import GradedByGold
from chorale.store.setup import as_text
from chorale.study.managing import BY_STAFF
from chorale.study.paying import covers, pay_bonus
from chorale.study.running import RunningStage, Study
from chorale.study.settings_history import History
from chorale.tasks import AnswerError


def correct_gold(
    tx: Tx, study: Study, stage: RunningStage, key: str, raw_answer: Any, explanation: str, by: str, reason: str
) -> int:
    """Give gold another answer, with a reason; how many workers' records were looked at again."""
    item = results.one_item(tx, stage.name, key)
    before = None if item is None else responses.gold_answer(tx, item.id)
    if item is None or before is None:
        raise UserError(f"Stage {stage.name!r} has no gold {key!r}. `chorale gold DIR` lists it.")
    if not reason.strip():
        raise UserError(f"Say why the gold of {key!r} is wrong: the reason is kept with the study.")
    try:
        answer = stage.task.parse_gold(raw_answer, item.payload)
    except AnswerError as error:
        raise UserError(f"{raw_answer!r} is not an answer to item {key!r}: {error}") from None
    if as_text(answer) == before.answer:
        raise UserError(f"That is the answer {key!r} has. Choose another one.")
    explained = explanation.strip() or before.explanation
    corrections.set_gold(tx, item.id, as_text(answer), explained)
    met = corrections.graded_by_gold(tx, stage.id, item_id=item.id)
    events.record(
        tx,
        study.clock(),
        corrections.KIND,
        {
            "by": by,
            "reason": reason.strip(),
            "before": before.answer,
            "answer": as_text(answer),
            "graded again": len(met),
        },
        stage_id=stage.id,
        item_id=item.id,
    )
    for given in met:
        again = stage.task.grade(given.answer, answer)
        source = f"{corrections.LATER_GRADES}{given.times + 1}"
        responses.add_grade(tx, given.response_id, source, again.score, again.reasons, study.clock())
    history = History(tx)
    workers = dict.fromkeys(given.worker_id for given in met)
    owed = {worker_id: _review_again(tx, study, stage, worker_id, history) for worker_id in workers}
    _pay_owed(tx, study, stage, item.id, {each: amount for each, amount in owed.items() if amount > 0})
    return len(workers)


def _review_again(tx: Tx, study: Study, stage: RunningStage, worker_id: int, history: History) -> int:
    """Bring a worker's record and standing in line with gold as it is; what they are owed."""
    present = participations.participation_of(tx, stage.id, worker_id, lock=True)
    if present is None:
        raise RuntimeError(f"somebody answered in {stage.name} and was never there")
    given = corrections.graded_by_gold(tx, stage.id, worker_id=worker_id)
    record, dropped_by, owed = _replayed(stage, given, history)
    other = _dropped_otherwise(tx, stage, given[0].worker)
    standing = Standing.DROPPED if dropped_by is not None or other else Standing.ACTIVE
    corrections.set_record(tx, stage.id, worker_id, record.right, record.recent, standing)
    if standing != present.standing:
        kind = "dropped" if standing is Standing.DROPPED else "reinstated"
        evidence = dropped_by or {"right": record.right, "answered": record.answered, "by": "corrected gold"}
        events.record(tx, study.clock(), kind, evidence, stage_id=stage.id, worker_id=worker_id)
    return owed - corrections.paid_for_gold(tx, stage.id, worker_id)


def _replayed(
    stage: RunningStage, given: Sequence[GradedByGold], history: History
) -> tuple[GoldRecord, dict[str, Any] | None, int]:
    """A gold record by gold as it is; on what it would have had somebody dropped; and what it would have paid."""
    record = GoldRecord()
    dropped: dict[str, Any] | None = None
    paid = 0
    for one in given:
        rule = history.stage_at(one.submitted_at, stage.name).gold
        record = gold_after(record, stage.task.grade(one.answer, one.gold).score >= 1, rule)
        if rule is None:
            continue
        verdict = review_worker(record, rule)
        if verdict.dropped and dropped is None:
            dropped = dict(verdict.evidence)
        if one.kind == AssignmentKind.GOLD and rule.bonus is not None:
            paid += gold_bonus(record, rule.bonus)
    return record, dropped, paid


def _dropped_otherwise(tx: Tx, stage: RunningStage, pseudonym: str) -> bool:
    """Whether somebody was dropped for another reason than gold: by a person, or for agreeing too little."""
    return any(
        event.stage == stage.name and event.evidence.get("rule") in (BY_STAFF, "quality")
        for event in events.recent(tx, 1000, kinds=("dropped",), pseudonym=pseudonym)
    )


def _pay_owed(tx: Tx, study: Study, stage: RunningStage, item_id: int, owed: dict[int, int]) -> None:
    if not owed:
        return
    if not covers(tx, study, sum(owed.values()), len(owed)):
        raise UserError("What workers are owed by the right answer would exceed the budget. Raise `pay.budget` first.")
    number = sum(one.item_id == item_id for one in corrections.corrections(tx, stage.name))
    for worker_id, amount in owed.items():
        cause = f"correction:{item_id}:{number}:{worker_id}"
        pay_bonus(tx, study, stage, worker_id, cause, amount, "right by gold that was corrected")
        evidence = {"by": "corrected gold", "amount": amount, "cause": cause, "kind": EntryKind.BONUS.value}
        events.record(tx, study.clock(), "bonus given", evidence, stage_id=stage.id, worker_id=worker_id)
