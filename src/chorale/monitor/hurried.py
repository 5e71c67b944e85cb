"""Workers whose answers come too fast for anybody to have read the items."""

from collections.abc import Iterable
from statistics import median
from typing import NamedTuple

from chorale.contract.reading_time import TOO_FAST, estimated_seconds
from chorale.engine.running import RunningStage, Study
from chorale.model import is_model
from chorale.store import Tx, codec
from chorale.store.items import some_payloads

ENOUGH_ANSWERS = 3
SAMPLE = 100
"""Items by which the reading time of a stage is estimated."""


class HurriedWorker(NamedTuple):
    worker: str
    stage: str
    answers: int
    seconds: float
    """For an answer, on average."""
    estimate: float
    """What an item of the stage takes to read and answer."""


def reading_estimate(tx: Tx, study: Study, stage: RunningStage) -> float | None:
    """The median estimate of a stage's first items, remembered once there are as many as it goes by."""
    key = f"reading estimate of {stage.name}"
    known: float | None = study.memory.get(key)
    if known is None:
        payloads = some_payloads(tx, stage.id, SAMPLE)
        if not payloads:
            return None
        known = median(estimated_seconds(stage.task, codec.from_text(payload)) for payload in payloads)
        if len(payloads) == SAMPLE:
            study.memory[key] = known
    return known


def hurried_workers(tx: Tx, study: Study, worked: Iterable[tuple[str, str, int, int]]) -> list[HurriedWorker]:
    """Of workers by stage, name, answers and time worked: those who took a quarter of the estimate or less.

    Where no time was measured, nobody can tell.
    """
    hurried = []
    for stage, worker, answers, worked_ms in worked:
        if answers < ENOUGH_ANSWERS or worked_ms <= 0 or is_model(worker):
            continue
        estimate = reading_estimate(tx, study, study.stage(stage))
        seconds = worked_ms / 1000 / answers
        if estimate is not None and seconds < TOO_FAST * estimate:
            hurried.append(HurriedWorker(worker, stage, answers, seconds, estimate))
    return sorted(hurried, key=lambda one: one.seconds / one.estimate)


def hurried_line(one: HurriedWorker) -> str:
    """What is known of them, in a sentence."""
    return (
        f"{one.worker} answered {one.answers:,} items of {one.stage} in {one.seconds:.2g} seconds each; reading one "
        f"takes about {one.estimate:.0f}."
    )
