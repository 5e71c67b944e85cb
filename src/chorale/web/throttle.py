"""How often something may be tried."""

import time
from collections import OrderedDict, deque
from collections.abc import Callable
from math import ceil


class Throttle:
    """Allows `most` tries per key within `seconds`.

    Kept in memory: a restart forgives. At most `keys` keys are remembered, those tried last, so that nobody can fill
    the memory by trying under ever new names.
    """

    def __init__(
        self, most: int, seconds: float, keys: int = 10_000, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._most = most
        self._seconds = seconds
        self._keys = keys
        self._clock = clock
        self._tries: OrderedDict[str, deque[float]] = OrderedDict()

    def wait(self, key: str) -> int:
        """Whole seconds until the next try is allowed; 0 if it is now."""
        tries = self._tries.get(key)
        if tries is None or len(tries) < self._most:
            return 0
        return max(0, ceil(tries[0] + self._seconds - self._clock()))

    def note(self, key: str) -> None:
        # Only the last `most` tries matter, and the deque keeps no more.
        self._tries.setdefault(key, deque(maxlen=self._most)).append(self._clock())
        self._tries.move_to_end(key)
        while len(self._tries) > self._keys:
            self._tries.popitem(last=False)

    def forget(self, key: str) -> None:
        self._tries.pop(key, None)
