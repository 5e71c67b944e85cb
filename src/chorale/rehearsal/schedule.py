"""Simulated time, and the events that are to happen in it."""

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

_Event = tuple[int, int, bool, Callable[..., None], tuple[Any, ...]]
"""When, its number, whether it may change something, and what is done about whom."""


class Clock:
    """Simulated time: it is what it was last set to."""

    def __init__(self, now: int) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


class Schedule:
    """Events by time. Those of the same moment happen in the order in which they were planned."""

    def __init__(self, clock: Clock) -> None:
        self.busy = 0
        """Events to come that may change something: all but people looking in, and looking after gates."""
        self._clock = clock
        self._events: list[_Event] = []
        self._looks: deque[_Event] = deque()
        """People looking in who wait, which can be most of what happens. All wait as long, so these come in order."""
        self._planned = 0

    def later(self, seconds: float, act: Callable[..., None], *about: Any) -> None:
        """Plan something that may change the study."""
        self.busy += 1
        self._planned += 1
        heappush(self._events, (self._clock.now + round(seconds * 1000), self._planned, True, act, about))

    def sweep(self, after_ms: int, act: Callable[[], None]) -> None:
        """Plan something that is done only while the study continues for other reasons."""
        self._planned += 1
        heappush(self._events, (self._clock.now + after_ms, self._planned, False, act, ()))

    def look_in(self, after_ms: int, act: Callable[..., None], *about: Any) -> None:
        """Plan somebody's next look. `after_ms` must be the same in every call."""
        self._planned += 1
        self._looks.append((self._clock.now + after_ms, self._planned, False, act, about))

    def do_next(self) -> None:
        events, looks = self._events, self._looks
        at, _, changing, act, about = looks.popleft() if looks and looks[0] < events[0] else heappop(events)
        self.busy -= changing
        self._clock.now = max(self._clock.now, at)
        act(*about)

    def clear(self) -> None:
        self._events.clear()
        self._looks.clear()
