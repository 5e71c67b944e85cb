"""Recompute items that a model answered first: calibration, audit sample, and which items went to people."""

from collections.abc import Iterator, Mapping

from chorale.engine.models.deciding_first import fitted_to
from chorale.engine.running import Study
from chorale.engine.settings_history import History
from chorale.metrics.replacing.calibration import Calibration
from chorale.model import StageModels
from chorale.protocol import FirstDecision, WhyAsked, decide_first
from chorale.store import Tx, first_pass, positions
from chorale.store.first_pass import CalibrationRow, PassRow

TOLERANCE = 1e-9


def first_differences(tx: Tx, study: Study, history: History) -> Iterator[str]:
    """Calibrations, and decisions whether to ask people about an item, that differ from the recomputed ones."""
    rows = {row.id: row for row in first_pass.calibrations(tx)}
    for row in rows.values():
        yield from _calibration_differences(tx, study, row)
    for decided in first_pass.all_passes(tx):
        if decided.stage in study.stages:
            rule = history.stage_at(decided.at, decided.stage).models
            yield from _pass_differences(study, decided, rule, rows)


def _calibration_differences(tx: Tx, study: Study, row: CalibrationRow) -> Iterator[str]:
    answered = first_pass.gold_answered(tx, row.stage_id, row.worker_id, row.last_grade)
    name = f"calibration of {row.worker} in {row.stage}"
    if len(answered) != row.answers:
        yield f"{name}: {row.answers} answers to gold stored, {len(answered)} found"
    elif row.stage in study.stages:
        again = fitted_to(study.stage(row.stage), answered)
        if max(abs(again.slope - row.slope), abs(again.offset - row.offset)) > TOLERANCE:
            yield f"{name}: slope and offset stored {row.slope}, {row.offset}; recomputed {again.slope}, {again.offset}"


def _pass_differences(
    study: Study, row: PassRow, rule: StageModels | None, calibrations: Mapping[int, CalibrationRow]
) -> Iterator[str]:
    name = f"item {row.item} of {row.stage}"
    if rule is None or rule.role != "first":
        yield f"{name}: was decided by a model, but no model answers first here"
        return
    if row.why == WhyAsked.MODEL_REMOVED:
        again = FirstDecision(WhyAsked.MODEL_REMOVED, 1.0)
    else:
        confidence = None
        if row.answer is not None:
            by = calibrations.get(row.calibration_id or 0)
            confidence = 0.0
            if by is not None and row.raw is not None:
                confidence = Calibration(by.slope, by.offset).apply(row.raw)
        if abs((confidence or 0.0) - (row.confidence or 0.0)) > TOLERANCE:
            yield f"{name}: calibrated confidence stored {row.confidence}, recomputed {confidence}"
        number = positions.audit_number(study.settings.study.seed, row.stage, row.item)
        again = decide_first(rule, confidence, number)
    if (row.why, bool(row.asked)) != (again.why, again.asks_people):
        yield f"{name}: reason to ask people {row.why!r} stored, {again.why.value!r} recomputed"
    if abs(row.probability - again.probability) > TOLERANCE:
        yield f"{name}: probability stored {row.probability}, recomputed {again.probability}"
