"""How long an answer is expected to take, and what it pays, before anybody has given one."""

from dataclasses import dataclass
from datetime import timedelta
from math import ceil
from statistics import fmean

from chorale.contract.reading_time import estimated_seconds
from chorale.engine.running import RunningStage, Study
from chorale.folder.checking.content import KnownAnswers
from chorale.folder.expected_pay import expected_for_length, expected_writing
from chorale.store import Tx, codec
from chorale.store.gold import gold_by_key
from chorale.store.items import some_payloads

SAMPLE = 100
"""Number of items that the time of a stage is estimated from."""
LOOK_AGAIN_MS = int(timedelta(minutes=1).total_seconds() * 1000)
STEP = 5
"""Estimates are rounded up to a multiple of this many seconds, because they are minimum times."""


@dataclass(frozen=True, slots=True)
class ReadingSample:
    """Estimates from the first items of a stage."""

    times: tuple[float, ...]
    """Seconds to read each item and give the shortest answer."""
    writing: float
    """Seconds to write an answer."""
    for_length: float
    """Mean pay for an item's length."""


@dataclass(frozen=True, slots=True)
class ExpectedTime:
    """Time and pay of an answer, as workers see them beforehand."""

    seconds: int | None
    """None if the study file has no value and the stage has no items yet."""
    for_length: float = 0.0
    """Mean pay for an item's length, in addition to the pay for an answer."""


def rounded_up(seconds: float) -> int:
    """Round an estimate up, so that it does not look more exact than it is.

    >>> rounded_up(3.2), rounded_up(10), rounded_up(31.5)
    (5, 10, 35)
    """
    return ceil(seconds / STEP) * STEP


def reading_sample(tx: Tx, study: Study, stage: RunningStage) -> ReadingSample | None:
    """Estimates from a stage's first items, refreshed from time to time until there are enough items."""
    key = f"reading sample of {stage.name}"
    remembered: tuple[int, ReadingSample | None] = study.memory.get(key, (0, None))
    (looked_at, known), now = remembered, study.clock()
    if known is None or (len(known.times) < SAMPLE and abs(now - looked_at) > LOOK_AGAIN_MS):
        known = _sample(tx, stage)
        study.memory[key] = now, known
    return known


def _sample(tx: Tx, stage: RunningStage) -> ReadingSample | None:
    task, pay = stage.task, stage.settings.pay
    payloads = [codec.frozen_from_text(payload) for payload in some_payloads(tx, stage.id, SAMPLE)]
    if not payloads:
        return None
    writing = 0.0
    if task.form.written_words:
        answers = [codec.from_text(answer) for answer, _ in gold_by_key(tx, stage.id).values()]
        writing = expected_writing(pay, task, KnownAnswers(answers, to_items=False))
    return ReadingSample(
        tuple(estimated_seconds(task, payload) for payload in payloads),
        writing,
        expected_for_length(pay.by_length, task, payloads),
    )


def expected_time(tx: Tx, study: Study, stage: RunningStage) -> ExpectedTime:
    """The expected time per answer from the study file, or the estimate from the stage's items if that is longer.

    `chorale check` computes the hourly pay from the same time, plus a share of the time to read the guidelines.
    """
    seconds = stage.settings.pay.expected_seconds
    sample = reading_sample(tx, study, stage)
    if sample is None:
        return ExpectedTime(seconds)
    estimate = fmean(sample.times) + sample.writing
    is_enough = seconds is not None and seconds >= estimate
    return ExpectedTime(seconds if is_enough else rounded_up(estimate), sample.for_length)


def expected_times(tx: Tx, study: Study) -> dict[str, ExpectedTime]:
    """The expected times of all stages, by their names."""
    return {name: expected_time(tx, study, stage) for name, stage in study.stages.items()}
