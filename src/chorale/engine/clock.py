"""Clocks, which functions get as an argument."""

import time
from collections.abc import Callable
from threading import Lock

Clock = Callable[[], int]
"""Milliseconds since 1970 UTC."""


def wall_clock() -> int:
    return time.time_ns() // 1_000_000


class SteadyClock:
    """A clock that never runs backwards, also relative to the database. Times decide which pay rate and gold
    answer applied, and who came before a gate closed. If the machine's clock ran ahead and is corrected, this
    clock continues at half speed until the machine's clock has caught up.
    """

    def __init__(
        self, wall: Clock = wall_clock, latest: int = 0, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._wall = wall
        self._monotonic = monotonic
        self._lock = Lock()
        self._last, self._at = latest, monotonic()

    def __call__(self) -> int:
        with self._lock:
            at = self._monotonic()
            slowed = self._last + int((at - self._at) * 500)
            now = max(self._wall(), slowed)
            if now > self._last:
                self._last, self._at = now, at
            return now
