"""`perhop run --watch`: queues and shares of the first replication as they evolve, drawn in place."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from perhop.command.terminal import console
from perhop.quantity import number, scale

if TYPE_CHECKING:
    from rich.console import Console, Group
    from rich.table import Table

    from perhop.running import Progress, Snapshot

    Watch = tuple[Callable[[Progress], None] | None, Callable[[Snapshot], None] | None]

_HEIGHTS = " ▁▂▃▄▅▆▇█"
_BAR, _HALF = "█", "▌"
# Columns of what is beside a line of a queue or the bar of a class.
_BESIDE = 34
_NARROWEST = 10
# Lines that are not queues: headings, classes' frame, progress.
_FRAME = 7


@contextmanager
def watching(scenario: Mapping[str, Any], *, quiet: bool) -> Iterator[Watch]:
    """Give what to call with progress and with snapshots; both `None` where no terminal can show it."""
    screen = console(sys.stderr)
    if quiet or not screen.is_terminal or screen.is_dumb_terminal:
        if not quiet:
            print("--watch: there is no terminal to draw on; the run goes on without", file=sys.stderr)
        yield None, None
        return
    from rich.live import Live

    view = View(scenario)
    with Live(console=screen, auto_refresh=False, transient=True, vertical_overflow="crop") as live:

        def progress(now: Progress) -> None:
            view.fraction = now.fraction
            live.update(view.drawn(screen), refresh=True)

        yield progress, view.add


@dataclass
class View:
    """What was seen of a run so far."""

    scenario: Mapping[str, Any]
    #: Share of the run that is done, over all replications.
    fraction: float = 0.0
    #: Packets in each queue, by port and name, at every snapshot.
    queues: dict[tuple[str, str], list[int]] = field(default_factory=dict)
    snapshots: list[Snapshot] = field(default_factory=list)

    def add(self, snapshot: Snapshot) -> None:
        """Take another look at the network."""
        self.snapshots.append(snapshot)
        for queue in snapshot.queues:
            self.queues.setdefault((queue.port, queue.queue), []).append(queue.packets)

    def drawn(self, screen: Console) -> Group:
        """Return the picture, as wide and as high as the screen."""
        from rich.console import Group
        from rich.text import Text

        name, seconds = self.scenario["name"], self.snapshots[-1].time_s if self.snapshots else 0.0
        runs = self.scenario.get("replications", 1)
        of = f", replication 1 of {runs}" if runs > 1 else ""
        head = Text(f"{name}: {seconds:.4g} s simulated{of}, {100 * self.fraction:.0f} % of the run", "bold")
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
        """Return the queues that held most, in the scenario's order; empty ones only if all were empty."""
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
            # As wide from the first look on: a picture that grows cannot be read.
            line = heights(packets, width).ljust(width)
            table.add_row(f"{port} {queue}", line, f"{packets[-1]:,}", f"{max(packets):,} packets")
        return table

    def _classes(self, width: int) -> Table:
        from rich.text import Text

        from perhop.plot.palette import PALETTE, of_classes

        table = _table()
        for column, justify in (("class", "left"), ("share", "left"), ("", "right"), ("", "right")):
            table.add_column(column, justify=justify, no_wrap=True)  # type: ignore[arg-type]
        rates = self._rates()
        whole = sum(rates.values())
        for name, role in of_classes(rates).items():
            share = rates[name] / whole if whole else 0.0
            divisor, unit = scale("b/s", rates[name])
            bar = Text(_bar(share, width).ljust(width), PALETTE[role][1])
            table.add_row(name, bar, f"{100 * share:.0f} %", f"{number(rates[name] / divisor, 3)} {unit}")
        return table

    def _rates(self) -> dict[str, float]:
        """Return what each class receives, in b/s, over the last tenth of what was seen."""
        last = self.snapshots[-1]
        since = self.snapshots[-1 - max(1, len(self.snapshots) // 10)] if len(self.snapshots) > 1 else None
        # The counters begin when the warm-up ends.
        begin = max(since.time_s if since else 0.0, self._warmup())
        before = since.received_bytes if since else {}
        seconds = last.time_s - begin
        return {
            name: 8.0 * (received - before.get(name, 0)) / seconds if seconds > 0 else 0.0
            for name, received in last.received_bytes.items()
        }

    def _warmup(self) -> float:
        from perhop import _core

        found = _core.quantity(str(self.scenario.get("measure", {}).get("warmup", "0s")))
        return found[0] if found else 0.0


def heights(values: list[int], width: int) -> str:
    """Return values as a row of blocks: the greatest of each stretch where there are more than fit."""
    top = max(values, default=0)
    if len(values) > width:
        edges = [round(index * len(values) / width) for index in range(width + 1)]
        values = [max(values[begin:end]) for begin, end in pairwise(edges)]
    if not top:
        return _HEIGHTS[1] * len(values)
    # A queue that is not empty is seen.
    steps = len(_HEIGHTS) - 1
    return "".join(_HEIGHTS[max(1, -(-value * steps // top))] for value in values)


def _bar(share: float, width: int) -> str:
    halves = round(2 * share * width)
    return _BAR * (halves // 2) + _HALF * (halves % 2)


def _table() -> Table:
    from rich.table import Table

    return Table(box=None, padding=(0, 1), header_style="dim")
