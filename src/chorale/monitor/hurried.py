"""Workers who answer too fast to have read the items."""

from collections.abc import Iterable, Sequence
from statistics import median
from typing import NamedTuple

from chorale.contract.reading_time import TOO_FAST
from chorale.engine.expected_time import reading_sample
from chorale.engine.running import Study
from chorale.model import is_model
from chorale.monitor.alarm import first_names
from chorale.store import Tx

ENOUGH_ANSWERS = 3


class HurriedWorker(NamedTuple):
    worker: str
    stage: str
    answers: int
    seconds: float
    """Mean time per answer."""
    estimate: float
    """Estimated time to read and answer an item of the stage."""


def hurried_workers(tx: Tx, study: Study, worked: Iterable[tuple[str, str, int, int]]) -> list[HurriedWorker]:
    """Workers who took less than a quarter of the estimated time.

    `worked` has the stage, worker, number of answers and working time. Workers without measured time are left out.
    """
    hurried = []
    for stage, worker, answers, worked_ms in worked:
        if answers < ENOUGH_ANSWERS or worked_ms <= 0 or is_model(worker):
            continue
        sample = reading_sample(tx, study, study.stage(stage))
        seconds = worked_ms / 1000 / answers
        if sample is not None and seconds < TOO_FAST * (estimate := median(sample.times)):
            hurried.append(HurriedWorker(worker, stage, answers, seconds, estimate))
    return sorted(hurried, key=lambda one: one.seconds / one.estimate)


def hurried_line(hurried: Sequence[HurriedWorker]) -> str:
    """A sentence about the fastest worker. If there are several workers, it starts with their number and some IDs."""
    fastest, names = hurried[0], list(dict.fromkeys(row.worker for row in hurried))
    sentence = (
        f"{fastest.worker} answered {fastest.answers:,} items of {fastest.stage} in {fastest.seconds:.2g} seconds "
        f"each; reading and answering an item takes about {fastest.estimate:.0f} seconds."
    )
    return sentence if len(names) == 1 else f"{len(names):,} workers ({first_names(names)}). The fastest: {sentence}"
