"""Simulated time and scheduled events."""

from collections import deque
from collections.abc import Callable
from heapq import heappop, heappush
from typing import Any

_Event = tuple[int, int, bool, Callable[..., None], tuple[Any, ...]]
"""Time, number, whether it may change something, action and person."""


class Clock:
    """A clock that shows the time it was last set to."""

    def __init__(self, now: int) -> None:
        self.now = now

    def __call__(self) -> int:
        return self.now


class Schedule:
    """Events by time. Simultaneous events happen in the order in which they were scheduled."""

    def __init__(self, clock: Clock) -> None:
        self.busy = 0
        """Number of scheduled events that may change something: all except checks by waiting people and of gates."""
        self._clock = clock
        self._events: list[_Event] = []
        self._looks: deque[_Event] = deque()
        """Checks by waiting people, often the majority of events. All have the same delay, so they are in order."""
        self._planned = 0

    def later(self, seconds: float, act: Callable[..., None], *about: Any) -> None:
        """Schedule an event that may change the study."""
        self.busy += 1
        self._planned += 1
        heappush(self._events, (self._clock.now + round(seconds * 1000), self._planned, True, act, about))

    def sweep(self, after_ms: int, act: Callable[[], None]) -> None:
        """Schedule an event that happens only while other events continue the study."""
        self._planned += 1
        heappush(self._events, (self._clock.now + after_ms, self._planned, False, act, ()))

    def look_in(self, after_ms: int, act: Callable[..., None], *about: Any) -> None:
        """Schedule a worker's next check. `after_ms` must be the same in every call."""
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
