"""Stages where a model answers first: calibrating its confidence with gold, and deciding which items go to people."""

from collections.abc import Collection

from chorale.engine.models.stages import ModelStage
from chorale.engine.running import RunningStage, Study
from chorale.engine.settling import settle_group
from chorale.metrics.replacing.calibration import Calibration, calibrated
from chorale.model import Standing
from chorale.protocol import FirstDecision, WhyAsked, decide_first
from chorale.store import Tx, first_pass, participations, positions
from chorale.store.first_pass import GoldAnswered, NewPass, Undecided

FEWEST_GOLD = 10
"""Minimum number of gold answers with a confidence for calibration and decisions."""
AT_ONCE = 100
"""Items decided per transaction."""


class TooLittleGoldError(Exception):
    """A model has answered too little gold to calibrate its confidence."""


def decide_some(tx: Tx, study: Study, of: ModelStage, worker_id: int, among: Collection[int] | None = None) -> int:
    """Decide about some of a model's finished items, or the named ones; returns how many.

    If the model was removed, all items go to people.
    """
    stage = of.stage
    record = participations.attendance(tx, stage.id, worker_id)
    removed = record is not None and record.standing == Standing.DROPPED
    if record is None:
        return 0
    most = AT_ONCE if among is None else len(among)
    undecided = first_pass.undecided(tx, stage.id, worker_id, most, unanswered=removed, among=among)
    if not undecided:
        return 0
    number, calibration = (None, None) if removed else _calibration_now(tx, study, stage, worker_id)
    now = study.clock()
    for item in undecided:
        confidence, decided = decision_about(study, of, item, calibration)
        first_pass.add(
            tx,
            NewPass(
                item.item_id,
                stage.id,
                worker_id,
                item.task_id,
                None if confidence is None else number,
                now,
                confidence,
                decided.probability,
                decided.asks_people,
                decided.why.value,
            ),
        )
        settle_group(tx, study, stage, item.group_key, item.item_id)
    return len(undecided)


def decision_about(
    study: Study, of: ModelStage, item: Undecided, calibration: Calibration | None
) -> tuple[float | None, FirstDecision]:
    """The calibrated confidence of a model's answer, and whether people are asked.

    Without a calibration, because the model was removed, people are always asked.
    """
    if calibration is None:
        return None, FirstDecision(WhyAsked.MODEL_REMOVED, 1.0)
    confidence = None
    if item.answer is not None:
        # Without a confidence, there is no evidence that the answer is correct.
        confidence = 0.0 if item.confidence is None else calibration.apply(item.confidence)
    number = positions.audit_number(study.settings.study.seed, of.stage.name, item.key)
    return confidence, decide_first(of.rule, confidence, number)


def _calibration_now(tx: Tx, study: Study, stage: RunningStage, worker_id: int) -> tuple[int, Calibration]:
    """The calibration by all gold graded so far; the stored calibration if there are no new grades."""
    answered = first_pass.gold_answered(tx, stage.id, worker_id)
    if len(answered) < FEWEST_GOLD:
        raise TooLittleGoldError(
            f"Confidence can't be calibrated yet: the model has answered {len(answered)} gold items with a confidence, "
            f"and {FEWEST_GOLD} are needed. Add gold to the stage, then run `chorale annotate` again."
        )
    last = max(one.grade_id for one in answered)
    known = first_pass.calibrations(tx, stage.id, worker_id)
    if known and (known[-1].last_grade, known[-1].answers) == (last, len(answered)):
        return known[-1].id, Calibration(known[-1].slope, known[-1].offset)
    fitted = fitted_to(stage, answered)
    number = first_pass.add_calibration(tx, worker_id, stage.id, study.clock(), *fitted, len(answered), last)
    return number, fitted


def fitted_to(stage: RunningStage, answered: list[GoldAnswered]) -> Calibration:
    """Fit a calibration to gold answers."""
    return calibrated([one.confidence for one in answered], [stage.is_correct(one.score) for one in answered])
