"""Workers who answer too fast to have read the items."""

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
"""Number of items that the reading time of a stage is estimated from."""


class HurriedWorker(NamedTuple):
    worker: str
    stage: str
    answers: int
    seconds: float
    """Mean time per answer."""
    estimate: float
    """Estimated time to read and answer an item of the stage."""


def reading_estimate(tx: Tx, study: Study, stage: RunningStage) -> float | None:
    """The median estimate of a stage's first items; cached once there are enough of them."""
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
    """Workers who took a quarter of the estimated time or less, given stage, name, answers and time worked.

    Workers without measured time are left out.
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
    """A sentence about one of them."""
    return (
        f"{one.worker} answered {one.answers:,} items of {one.stage} in {one.seconds:.2g} seconds each; reading one "
        f"takes about {one.estimate:.0f}."
    )
