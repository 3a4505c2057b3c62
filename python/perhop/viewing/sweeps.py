"""The view of a sweep: its progress, and a growing chart."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import Any

from perhop.errors import InvalidInputError
from perhop.sweeping import Advance
from perhop.sweeping.filling import Filling
from perhop.viewing.hub import Hub

# The minimum time between two charts. Each chart contains all points.
_TELL_EVERY_S = 0.25


class Sweeping:
    """The view of a sweep for pages."""

    def __init__(
        self,
        hub: Hub,
        name: str,
        chart: Filling,
        words: Callable[[Advance], str],
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Publish the parameters; `words` describes the progress."""
        self._hub, self._chart, self._words, self._clock = hub, chart, words, clock
        self._told_at = -_TELL_EVERY_S
        about = {
            "name": name,
            "metric": chart.metric.words,
            "unit": chart.metric.unit,
            "parameter": chart.path,
            "parameter_unit": chart.parameter.unit,
        }
        hub.publish("started", about)

    def add(self, now: Advance) -> None:
        """Publish the progress."""
        self._chart.add(now)
        self._hub.publish("state", {"fraction": now.fraction, "words": self._words(now)})
        if self._clock() - self._told_at >= _TELL_EVERY_S:
            self._send_chart()

    def finish(self, words: str) -> None:
        """Publish that all points have ended."""
        self._send_chart()
        self._hub.publish("done", {"words": words})

    def answer(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Raise `InvalidInputError`: a sweep accepts no requests."""
        raise InvalidInputError(f"unknown question `{question['ask']}`")

    def _send_chart(self) -> None:
        self._told_at = self._clock()
        lines = [{"name": name, "points": [*means.items()]} for name, means in self._chart.lines().items()]
        self._hub.publish("chart", {"lines": lines})
