"""The events for pages: bounded, so that no page delays the run or fills its memory."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Mapping
from functools import partial
from typing import Any

Event = Mapping[str, Any]

#: The maximum number of frames that wait for one page; the oldest frames are discarded.
MOST_WAITING = 64
#: The maximum number of frames kept for a page that opens later; above it, every other frame is discarded.
#: The number is odd, so that the newest frame is kept.
MOST_KEPT = 1999


class Hub:
    """The events for pages: all frames in order, and the newest event of every other kind."""

    def __init__(self) -> None:
        """Create a hub without events."""
        self._lock = threading.Lock()
        self._changed = threading.Condition(self._lock)
        self._newest: dict[str, Event] = {}
        self._frames: list[Event] = []
        self._pages: set[Page] = set()
        self._visits = 0
        self._is_loading = False
        self._is_over = False

    def publish(self, kind: str, event: Event) -> None:
        """Publish `event` as the newest of its `kind`, without waiting for a page."""
        with self._lock:
            self._newest[kind] = event
            for page in self._pages:
                page.newest[kind] = event
            self._changed.notify_all()

    def frame(self, frame: Event) -> None:
        """Publish a frame to all pages, without waiting for a page."""
        with self._lock:
            self._frames.append(frame)
            if len(self._frames) > MOST_KEPT:
                self._frames = self._frames[1::2]
            for page in self._pages:
                if len(page.frames) == MOST_WAITING:
                    page.left_out += 1
                page.frames.append(frame)
            self._changed.notify_all()

    def enter(self) -> Page:
        """Return the events for a page that opens now: all stored events, then the new events."""
        with self._lock:
            page = Page(dict(self._newest), list(self._frames))
            self._pages.add(page)
            self._visits += 1
            self._is_loading = False
            self._changed.notify_all()
            return page

    def load(self) -> None:
        """Expect a page whose document a browser has fetched. The page enters when its script runs."""
        with self._lock:
            self._is_loading = True
            self._changed.notify_all()

    def leave(self, page: Page) -> None:
        """Discard a page that has closed."""
        with self._lock:
            self._pages.discard(page)
            self._changed.notify_all()

    def take(self, page: Page, timeout_s: float) -> Event:
        """Return the events that `page` has not received, by kind; empty if none occurs within the time."""
        with self._lock:
            self._changed.wait_for(lambda: page.has_news or self._is_over, timeout_s)
            return page.taken()

    @property
    def is_over(self) -> bool:
        """Whether no more events follow."""
        return self._is_over

    def end(self, within_s: float) -> None:
        """Wait until every page has read the remaining events, at most for a limited time."""
        with self._lock:
            self._is_over = True
            self._changed.notify_all()
            self._changed.wait_for(lambda: not self._pages, within_s)

    def wait_until_left(self, first_s: float, again_s: float) -> None:
        """Wait until no page is open.

        The first page, and a page that loads, must open within `first_s`; a page that opens again, within
        `again_s`.
        """
        with self._lock:
            while True:
                known = self._visits, self._is_loading
                patience_s = again_s if self._visits and not self._is_loading else first_s
                if self._pages:
                    self._changed.wait(1.0)
                elif not self._changed.wait_for(partial(self._has_changed_since, known), patience_s):
                    return

    def _has_changed_since(self, known: tuple[int, bool]) -> bool:
        return (self._visits, self._is_loading) != known


class Page:
    """The events that one page has not received yet."""

    def __init__(self, newest: dict[str, Event], past: list[Event]) -> None:
        """Begin with the stored events."""
        self.newest = newest
        self.past = past
        self.frames: deque[Event] = deque(maxlen=MOST_WAITING)
        self.left_out = 0

    @property
    def has_news(self) -> bool:
        """Whether the page has events to receive."""
        return bool(self.newest or self.past or self.frames)

    def taken(self) -> Event:
        """Return all events and discard them."""
        message: dict[str, Any] = dict(self.newest)
        if self.past or self.frames:
            message |= {"frames": [*self.past, *self.frames], "left_out": self.left_out}
        self.newest, self.past = {}, []
        self.frames.clear()
        return message
