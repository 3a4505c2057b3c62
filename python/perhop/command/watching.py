"""`perhop run --watch`: queues and shares of the first replication, updated in place."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

from perhop import _core
from perhop.command.keys import Keys, keys
from perhop.command.screen import styled
from perhop.command.terminal import console
from perhop.pacing import Pace, speed_words
from perhop.palette import PALETTE, of_classes
from perhop.quantity import number, scale
from perhop.running import Progress, Snapshot

_HEIGHTS = " ▁▂▃▄▅▆▇█"
_BAR, _HALF = "█", "▌"
# Columns next to the line of a queue or the bar of a class.
_BESIDE = 34
_NARROWEST = 10
# Lines other than queues: headings, frame of the classes, progress.
_FRAME = 8
# The interval between two drawings, regardless of the pace of the run.
_DRAW_EVERY_S = 0.1
# The maximum number of snapshots, more than the columns of a screen. It is odd, so that the snapshots exceed
# it by one to an even number, which can be halved.
_MOST_SNAPSHOTS = 1999
_HELP = "space: pause  + -: speed  n: next port  q: leave"


@contextmanager
def watching(scenario: Mapping[str, Any], pace: Pace, *, quiet: bool) -> Iterator[Shown | None]:
    """Yield the display of a run; `None` if stderr is not a suitable terminal. The last picture remains."""
    screen = console(sys.stderr)
    if quiet or not screen.is_terminal or screen.is_dumb_terminal:
        if not quiet:
            print("--watch needs a terminal; continuing without it", file=sys.stderr)
        yield None
        return
    with keys() as pressed, Live(console=screen, auto_refresh=False, vertical_overflow="crop") as live:
        shown = Shown(View(scenario), pace, pressed, screen, live)
        try:
            yield shown
        finally:
            shown.leave()


class Shown:
    """A run on the screen, and the keys that control it."""

    def __init__(self, view: View, pace: Pace, pressed: Keys | None, screen: Console, live: Live) -> None:
        """Show `view` on `screen`."""
        self._view, self._pace, self._keys, self._screen, self._live = view, pace, pressed, screen, live
        self._drawn_at = -_DRAW_EVERY_S
        self._is_left = False

    def add(self, snapshot: Snapshot) -> None:
        """Add a snapshot of the network."""
        self._view.add(snapshot)

    def progress(self, now: Progress) -> None:
        """Handle the keys, and draw the current state."""
        if self._is_left:
            return
        self._view.fraction = now.fraction
        pressed = self._keys.pressed() if self._keys else ""
        for key in pressed:
            self._press(key)
        if pressed or time.monotonic() - self._drawn_at >= _DRAW_EVERY_S:
            self._drawn_at = time.monotonic()
            self._draw(self._words())

    def leave(self) -> None:
        """Stop the display. The last picture remains, and the terminal is restored."""
        if not self._is_left:
            self._is_left = True
            self._draw("")
            self._live.stop()
            if self._keys:
                self._keys.close()

    def _draw(self, words: str) -> None:
        if not self._is_left or self._view.snapshots:
            self._live.update(self._view.drawn(self._screen, words), refresh=True)

    def _press(self, key: str) -> None:
        match key:
            case " ":
                self._pace.toggle()
            case "+" | "=":
                self._pace.faster()
            case "-":
                self._pace.slower()
            case "n" | "\t":
                self._view.next_port()
            case "q":
                self._pace.release()
                self.leave()

    def _words(self) -> str:
        speed = "paused" if self._pace.paused else f"speed {speed_words(self._pace.speed)}"
        return f"{speed}  {_HELP}" if self._keys else speed


@dataclass
class View:
    """The snapshots of a run so far."""

    scenario: Mapping[str, Any]
    #: Completed share of the run, over all replications.
    fraction: float = 0.0
    #: Packets in each queue, by port and name, at every snapshot.
    queues: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    snapshots: list[Snapshot] = field(default_factory=list)
    #: The port whose queues are shown; `None` for all ports.
    port: str | None = None

    def add(self, snapshot: Snapshot) -> None:
        """Add a snapshot of the network."""
        if self.snapshots and snapshot.time_s <= self.snapshots[-1].time_s:
            return
        self.snapshots.append(snapshot)
        for queue in snapshot.queues:
            self.queues.setdefault((queue.port, queue.queue), []).append(queue.packets)
        if len(self.snapshots) > _MOST_SNAPSHOTS:
            # A long run is drawn more coarsely, so it needs no more memory. Maxima remain visible.
            self.snapshots = self.snapshots[1::2]
            self.queues = {
                queue: [*map(max, packets[::2], packets[1::2])] for queue, packets in self.queues.items()
            }

    def next_port(self) -> None:
        """Show only the next port; after the last port, show all."""
        ports = [None, *dict.fromkeys(port for port, _ in self.queues)]
        self.port = ports[(ports.index(self.port) + 1) % len(ports)]

    def drawn(self, screen: Console, words: str = "") -> Group:
        """Return the view with some words below it, fitted to the screen."""
        name, seconds = self.scenario["name"], self.snapshots[-1].time_s if self.snapshots else 0.0
        runs = self.scenario.get("replications", 1)
        replication = f", replication 1 of {runs}" if runs > 1 else ""
        done = f"{seconds:.4g} s simulated{replication}, {100 * self.fraction:.0f} % of the run"
        head = styled((f"{name}: {done}", "bold"))
        foot = [styled((words, "dim"))] if words else []
        if not self.snapshots:
            return Group(head, *foot)
        width = max(screen.width - self._longest() - _BESIDE, _NARROWEST)
        classes = self._classes(width)
        room = max(screen.height - classes.row_count - _FRAME, 1)
        return Group(head, self._queues(width, room), classes, *foot)

    def _longest(self) -> int:
        names = [
            *(" ".join(queue) for queue in self._busy(len(self.queues))),
            *self.snapshots[-1].received_bytes,
        ]
        return max((len(name) for name in names), default=0)

    def _busy(self, most: int) -> list[tuple[str, str]]:
        """Return the longest queues in the scenario's order; empty queues only if all were empty."""
        chosen = {queue: packets for queue, packets in self.queues.items() if self.port in (None, queue[0])}
        peaks = {queue: max(packets) for queue, packets in chosen.items()}
        kept = sorted(peaks, key=lambda queue: -peaks[queue])[:most]
        return [queue for queue in chosen if queue in kept and (peaks[queue] or not any(peaks.values()))]

    def _queues(self, width: int, most: int) -> Table:
        table = _table()
        for column, justify in (
            ("queue", "left"),
            ("over time", "left"),
            ("now", "right"),
            ("most", "right"),
        ):
            table.add_column(column, justify=justify, no_wrap=True)  # type: ignore[arg-type]
        for port, queue in self._busy(most):
            packets = self.queues[port, queue]
            # Constant width from the start, for a stable view.
            line = heights(packets, width).ljust(width)
            table.add_row(f"{port} {queue}", line, f"{packets[-1]:,}", f"{max(packets):,} packets")
        return table

    def _classes(self, width: int) -> Table:
        table = _table()
        for column, justify in (("class", "left"), ("share", "left"), ("", "right"), ("", "right")):
            table.add_column(column, justify=justify, no_wrap=True)  # type: ignore[arg-type]
        rates = self._rates()
        whole = sum(rates.values())
        for name, role in of_classes(rates).items():
            share = rates[name] / whole if whole else 0.0
            divisor, unit = scale("b/s", rates[name])
            bar = styled((_bar(share, width).ljust(width), PALETTE[role][1]))
            table.add_row(name, bar, f"{100 * share:.0f} %", f"{number(rates[name] / divisor, 3)} {unit}")
        return table

    def _rates(self) -> dict[str, float]:
        """Return the rate of each class in b/s over the last tenth of the snapshots."""
        last = self.snapshots[-1]
        since = self.snapshots[-1 - max(1, len(self.snapshots) // 10)] if len(self.snapshots) > 1 else None
        # The counters start at the end of the warm-up.
        begin = max(since.time_s if since else 0.0, self._warmup())
        before = since.received_bytes if since else {}
        seconds = last.time_s - begin
        return {
            name: 8.0 * (received - before.get(name, 0)) / seconds if seconds > 0 else 0.0
            for name, received in last.received_bytes.items()
        }

    def _warmup(self) -> float:
        found = _core.quantity(str(self.scenario.get("measure", {}).get("warmup", "0s")))
        return found[0] if found else 0.0


def heights(values: list[int], width: int) -> str:
    """Return values as a row of blocks; with more values than columns, each block shows a maximum."""
    top = max(values, default=0)
    if len(values) > width:
        edges = [round(index * len(values) / width) for index in range(width + 1)]
        values = [max(values[begin:end]) for begin, end in pairwise(edges)]
    if not top:
        return _HEIGHTS[1] * len(values)
    # Every value has a visible block.
    steps = len(_HEIGHTS) - 1
    return "".join(_HEIGHTS[max(1, -(-value * steps // top))] for value in values)


def _bar(share: float, width: int) -> str:
    halves = round(2 * share * width)
    return _BAR * (halves // 2) + _HALF * (halves % 2)


def _table() -> Table:
    return Table(box=None, padding=(0, 1), header_style="dim")
