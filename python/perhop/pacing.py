"""The pace of a watched simulation, relative to a clock."""

from __future__ import annotations

import math
import re
import threading
import time
from collections.abc import Callable

from perhop.errors import InvalidInputError

#: The pace without a limit.
MAX = math.inf
_SPEED = re.compile(r"(\d+(?:\.\d+)?|\.\d+)x")
_LEAST, _GREATEST = 1e-6, 1e6
# The usual speeds, from the slowest to the fastest.
_STEPS = [digit * 10.0**power for power in range(-4, 3) for digit in (1, 2, 5)]


def speed_of(text: str) -> float:
    """Parse `1x`, `0.1x`, `10x` or `max`: simulated seconds per second of the clock.

    Raises:
        InvalidInputError: the text is not a speed.

    """
    if text == "max":
        return MAX
    found = _SPEED.fullmatch(text)
    speed = float(found[1]) if found else 0.0
    if not _LEAST <= speed <= _GREATEST:
        raise InvalidInputError(f"--speed: `{text}` is not a speed", "give 1x, 0.1x, 10x or max, for example")
    return speed


def speed_words(speed: float) -> str:
    """Format a speed."""
    return "max" if speed == MAX else f"{speed:g}x"


class Pace:
    """The time limit of a simulation, from a clock with a speed that can be paused; for any thread."""

    def __init__(self, speed: float = MAX, clock: Callable[[], float] = time.monotonic) -> None:
        """Create a clock that starts at the first query."""
        self._clock = clock
        self._lock = threading.RLock()
        self._speed = speed
        # The time of the clock when the simulation was at `_begin_s`; `None` before the start.
        self._began_at: float | None = None
        self._begin_s = 0.0
        self._reached_s = 0.0
        # The simulated time at which the simulation is paused, or `None`.
        self._held_s: float | None = None

    @property
    def speed(self) -> float:
        """Simulated seconds per second of the clock."""
        return self._speed

    @property
    def paused(self) -> bool:
        """Whether the simulation is paused."""
        return self._held_s is not None

    @property
    def reached_s(self) -> float:
        """The simulated time that was reached last."""
        return self._reached_s

    def limit_s(self) -> float:
        """Return the current limit of the simulated time."""
        with self._lock:
            if self._held_s is not None:
                return self._held_s
            if self._speed == MAX:
                return MAX
            now = self._clock()
            if self._began_at is None:
                self._began_at = now
            return self._begin_s + (now - self._began_at) * self._speed

    def reach(self, simulated_s: float) -> None:
        """Record the simulated time that was reached."""
        with self._lock:
            self._reached_s = max(self._reached_s, simulated_s)

    def pause(self) -> None:
        """Pause the simulation at its current time."""
        with self._lock:
            if self._held_s is None:
                self._held_s = min(self.limit_s(), self._reached_s)

    def resume(self) -> None:
        """Resume the simulation."""
        with self._lock:
            if self._held_s is not None:
                self._begin(max(self._held_s, self._reached_s))
                self._held_s = None

    def toggle(self) -> None:
        """Pause or resume."""
        with self._lock:
            if self.paused:
                self.resume()
            else:
                self.pause()

    def step_to(self, simulated_s: float) -> None:
        """Advance a paused simulation to a time, and pause it there."""
        with self._lock:
            self.pause()
            assert self._held_s is not None, "it is paused"
            self._held_s = max(self._held_s, simulated_s)

    def set_speed(self, speed: float) -> None:
        """Continue at another speed from the current simulated time."""
        with self._lock:
            if self._held_s is None:
                self._begin(min(self.limit_s(), self._reached_s))
            self._speed = speed

    def faster(self) -> None:
        """Set the next higher of the usual speeds; above the highest, remove the limit."""
        with self._lock:
            self.set_speed(next((step for step in _STEPS if step > self._speed * 1.001), MAX))

    def slower(self) -> None:
        """Set the next lower of the usual speeds."""
        with self._lock:
            self.set_speed(next((step for step in reversed(_STEPS) if step < self._speed * 0.999), _STEPS[0]))

    def release(self) -> None:
        """Remove the limit, so that the simulation runs to its end."""
        with self._lock:
            self._speed, self._held_s = MAX, None

    def _begin(self, simulated_s: float) -> None:
        self._begin_s, self._began_at = simulated_s, self._clock()
