"""The progress of a sweep on a terminal: completed points, rate, failures, and a chart (--watch)."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING

from rich.console import Group
from rich.live import Live
from rich.table import Table

from perhop.command.screen import styled
from perhop.command.sweep_plots import PlotRequest
from perhop.command.terminal import console, new_bar, print_note
from perhop.command.watching import heights
from perhop.metrics import SHARE, resolve
from perhop.palette import PALETTE, of_classes
from perhop.printable import printable
from perhop.quantity import counted, number, scale
from perhop.sweeping import Advance, Plan
from perhop.sweeping.filling import Filling, Value

if TYPE_CHECKING:
    from perhop.viewing.sweeps import Sweeping

# Values are scaled to this number of steps, because `heights` takes whole numbers.
_STEPS = 1000
_WIDEST = 60


@contextmanager
def watching(
    plan: Plan, request: PlotRequest | None, *, quiet: bool
) -> Iterator[Callable[[Advance], None] | None]:
    """Show the progress of a sweep on stderr; yield the callback, `None` if nothing is shown.

    If a plot is requested, its metric is drawn over its parameter for all completed points.
    """
    screen = console(sys.stderr)
    if quiet or not screen.is_terminal:
        if request is not None and not quiet:
            print_note("--watch needs a terminal; continuing without it")
        yield None
        return
    bar = new_bar(screen, "share", "work", "remaining")
    task = bar.add_task(printable(str(plan.scenario["name"])), total=1.0, work="")
    chart = None if request is None else Filling(plan, request.metric, request.against)
    with Live(bar, console=screen, transient=True, refresh_per_second=4) as live:

        def show(now: Advance) -> None:
            bar.update(task, completed=now.fraction, work=words(now))
            if chart is not None:
                chart.add(now)
                live.update(Group(_drawn(chart), bar))

        yield show
    if chart is not None:
        # The live display is erased at its end, so the final chart is printed again.
        screen.print(_drawn(chart))


@contextmanager
def paged(plan: Plan, request: PlotRequest | None, *, opened: bool) -> Iterator[Sweeping]:
    """Show the progress in a browser. The page remains after the block until it is closed."""
    from perhop.command.viewing import served, stay  # lazy: a server, which only --watch=web needs
    from perhop.viewing.hub import Hub  # lazy: the same reason
    from perhop.viewing.sweeps import Sweeping  # lazy: the same reason

    hub = Hub()
    chart = Filling(
        plan,
        *((resolve(SHARE), None) if request is None else (request.metric, request.against)),
    )
    view = Sweeping(hub, str(plan.scenario["name"]), chart, words)
    with served("sweep", hub, view.answer, opened=opened):
        yield view
        stay(hub)


def words(now: Advance) -> str:
    """Return the progress of a sweep: completed points, their rate, and failures."""
    rate = "" if now.rate is None else f", {number(now.rate, 3)}/s"
    failed = f", {now.failed:,} failed" if now.failed else ""
    return f"{now.done:,} of {counted_points(now.of)}{rate}{failed}"


def counted_points(count: int) -> str:
    """Return a number of points: `1,000 points`."""
    return f"{count:,} points" if count != 1 else counted(count, "point")


def _drawn(chart: Filling) -> Table:
    """Return a line of blocks for each class, from the least value of the parameter to the greatest."""
    lines = chart.lines()
    table = Table(
        title=styled((f"{chart.metric.words} over {chart.path}{_ends(chart, lines)}", "bold")),
        box=None,
        padding=(0, 1),
        header_style="dim",
        title_justify="left",
    )
    for column in ("class", "", "least", "greatest"):
        table.add_column(column, no_wrap=True, justify="right" if column.endswith("est") else "left")
    for name, role in of_classes(lines).items():
        values = [*lines[name].values()]
        top = max(values)
        line = heights([round(_STEPS * value / top) if top > 0 else 0 for value in values], _WIDEST)
        divisor, unit = scale(chart.metric.unit, top)
        ends = [f"{number(end / divisor, 3)} {unit}".strip() for end in (min(values), top)]
        table.add_row(printable(name), styled((line, PALETTE[role][1])), *ends)
    return table


def _ends(chart: Filling, lines: Mapping[str, Mapping[Value, float]]) -> str:
    values = [value for line in lines.values() for value in line if not isinstance(value, str)]
    if not values:
        return ""
    divisor, unit = scale(chart.parameter.unit, max(map(abs, values)))
    ends = f"{number(min(values) / divisor)} to {number(max(values) / divisor)} {unit}".strip()
    return f" ({ends})"
