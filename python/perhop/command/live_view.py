"""The view of a live run or a bridge while it runs: its queues in the terminal, or a page in a browser."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rich.live import Live

from perhop import _core
from perhop.command.live_table import Row, queue_table, rows
from perhop.command.terminal import console
from perhop.command.viewing import announced, stay
from perhop.document import Document
from perhop.live.running import seconds
from perhop.live.testbed import LiveTestbed
from perhop.viewing.forwarding import Forwarding, Poller
from perhop.viewing.hub import Hub
from perhop.viewing.server import Server

_TABLE_EVERY_S = 1.0

Reports = Mapping[str, dict[str, Any]]


class LiveView:
    """Forwarders whose counters a thread polls during a run."""

    def __init__(self, publish: Callable[[Reports], None], every_s: float) -> None:
        """Pass the counters to `publish`."""
        self._poller = Poller(publish, every_s)

    def ready(self, testbed: LiveTestbed) -> None:
        """Poll the forwarders of a testbed."""
        state = testbed.state
        self._poller.poll({node: state.folder / socket for node, socket in state.sockets.items()})

    def close(self) -> None:
        """Stop polling."""
        self._poller.close()

    def progress(self, share: float) -> None:
        """Show the completed share of the run."""


class TerminalView(LiveView):
    """The table of queues. The last table stays on the screen."""

    def __init__(self, title: str, shown: Live) -> None:
        """Show the table in `shown`."""
        super().__init__(self._draw, _TABLE_EVERY_S)
        self._title, self._shown = title, shown
        self._then, self._before = time.monotonic(), list[Row]()
        self._share = 0.0

    def progress(self, share: float) -> None:
        """Record the completed share of the run."""
        self._share = share

    def _draw(self, reports: Reports) -> None:
        now, rows_now = time.monotonic(), list(rows(reports))
        title = f"{self._title}, {100 * self._share:.0f} % of the run"
        self._shown.update(queue_table(title, rows_now, self._before, now - self._then), refresh=True)
        self._then, self._before = now, rows_now


class PageView(LiveView):
    """The page in a browser."""

    def __init__(self, hub: Hub, forwarding: Forwarding, server: Server) -> None:
        """Create the page without a running server: a process with threads cannot move into a namespace."""
        super().__init__(forwarding.add, 0.3)
        self._hub, self._forwarding, self._server = hub, forwarding, server

    def start(self) -> None:
        """Start the web server."""
        self._server.start()

    def progress(self, share: float) -> None:
        """Report the completed share of the run."""
        self._forwarding.progress(share)

    def finish(self, reports: Reports, words: str) -> None:
        """Report the final counters."""
        self._poller.close()
        self._forwarding.finish(reports, words)

    def poll(self, sockets: Mapping[str, Path]) -> None:
        """Poll control sockets."""
        self._poller.poll(sockets)

    def stay(self) -> None:
        """Wait until the page is closed."""
        stay(self._hub)


@contextmanager
def page_view(title: str, scenario: Document | None = None, *, opened: bool) -> Iterator[PageView]:
    """Yield the page of a live run of a scenario, or of a bridge, which has no scenario."""
    hub = Hub()
    if scenario is None:
        forwarding = Forwarding(hub, title)
    else:
        loaded = _core.load_json(scenario.embedded().to_json(), scenario.base, [])
        forwarding = Forwarding(hub, title, seconds(scenario["duration"]), json.loads(loaded.resolved))
    with announced("forwarding", hub, forwarding.answer, opened=opened) as server:
        view = PageView(hub, forwarding, server)
        try:
            yield view
        finally:
            view.close()


@contextmanager
def terminal_view(title: str) -> Iterator[TerminalView]:
    """Show the queues of a live run in the terminal."""
    with Live(console=console(sys.stderr), auto_refresh=False) as shown:
        view = TerminalView(title, shown)
        try:
            yield view
        finally:
            view.close()
