"""Measures how long something takes: the shortest of several runs, since other work can only make it longer."""

import time
from collections.abc import Callable
from typing import NamedTuple


class Timing(NamedTuple):
    wall: float
    cpu: float


def best_of(runs: int, work: Callable[[], object]) -> Timing:
    """The shortest by the clock, and the shortest by the processor."""
    walls, processors = [], []
    for _ in range(runs):
        wall, processor = time.perf_counter(), time.process_time()
        work()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return Timing(min(walls), min(processors))
