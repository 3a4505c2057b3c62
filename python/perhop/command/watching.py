"""`perhop run --watch`: queues and shares of the first replication, updated in place."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from rich.console import Console, Group
from rich.live import Live
from rich.table import Table

from perhop import _core
from perhop.command.screen import styled
from perhop.command.terminal import console
from perhop.palette import PALETTE, of_classes
from perhop.quantity import number, scale
from perhop.running import Progress, Snapshot

Watch = tuple[Callable[[Progress], None] | None, Callable[[Snapshot], None] | None]

_HEIGHTS = " ▁▂▃▄▅▆▇█"
_BAR, _HALF = "█", "▌"
# Columns next to the line of a queue or the bar of a class.
_BESIDE = 34
_NARROWEST = 10
# Lines other than queues: headings, frame of the classes, progress.
_FRAME = 7


@contextmanager
def watching(scenario: Mapping[str, Any], *, quiet: bool) -> Iterator[Watch]:
    """Give the callbacks for progress and snapshots; both `None` without a suitable terminal."""
    screen = console(sys.stderr)
    if quiet or not screen.is_terminal or screen.is_dumb_terminal:
        if not quiet:
            print("--watch needs a terminal; continuing without it", file=sys.stderr)
        yield None, None
        return
    view = View(scenario)
    with Live(console=screen, auto_refresh=False, transient=True, vertical_overflow="crop") as live:

        def progress(now: Progress) -> None:
            view.fraction = now.fraction
            live.update(view.drawn(screen), refresh=True)

        yield progress, view.add


@dataclass
class View:
    """The snapshots of a run so far."""

    scenario: Mapping[str, Any]
    #: Share of the run that is done, over all replications.
    fraction: float = 0.0
    #: Packets in each queue, by port and name, at every snapshot.
    queues: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    snapshots: list[Snapshot] = field(default_factory=list)

    def add(self, snapshot: Snapshot) -> None:
        """Add a snapshot of the network."""
        self.snapshots.append(snapshot)
        for queue in snapshot.queues:
            self.queues.setdefault((queue.port, queue.queue), []).append(queue.packets)

    def drawn(self, screen: Console) -> Group:
        """Return the view, fitted to the screen."""
        name, seconds = self.scenario["name"], self.snapshots[-1].time_s if self.snapshots else 0.0
        runs = self.scenario.get("replications", 1)
        of = f", replication 1 of {runs}" if runs > 1 else ""
        done = f"{seconds:.4g} s simulated{of}, {100 * self.fraction:.0f} % of the run"
        head = styled((f"{name}: {done}", "bold"))
        if not self.snapshots:
            return Group(head)
        width = max(screen.width - self._longest() - _BESIDE, _NARROWEST)
        classes = self._classes(width)
        room = max(screen.height - classes.row_count - _FRAME, 1)
        return Group(head, self._queues(width, room), classes)

    def _longest(self) -> int:
        names = [*(" ".join(one) for one in self._busy(len(self.queues))), *self.snapshots[-1].received_bytes]
        return max((len(name) for name in names), default=0)

    def _busy(self, most: int) -> list[tuple[str, str]]:
        """Return the longest queues in the scenario's order; empty ones only if all were empty."""
        peaks = {one: max(packets) for one, packets in self.queues.items()}
        kept = sorted(peaks, key=lambda one: -peaks[one])[:most]
        return [one for one in self.queues if one in kept and (peaks[one] or not any(peaks.values()))]

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
    # The lowest block is visible.
    steps = len(_HEIGHTS) - 1
    return "".join(_HEIGHTS[max(1, -(-value * steps // top))] for value in values)


def _bar(share: float, width: int) -> str:
    halves = round(2 * share * width)
    return _BAR * (halves // 2) + _HALF * (halves % 2)


def _table() -> Table:
    return Table(box=None, padding=(0, 1), header_style="dim")
