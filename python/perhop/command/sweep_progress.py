"""The progress of a sweep on a terminal: points done, rate, failures, and with --watch a chart that fills."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich import progress as rich_progress
from rich.console import Group
from rich.live import Live
from rich.table import Table

from perhop.command.screen import styled
from perhop.command.sweep_plots import Wish
from perhop.command.terminal import console, say
from perhop.command.watching import heights
from perhop.palette import PALETTE, of_classes
from perhop.printable import printable
from perhop.quantity import counted, number, scale
from perhop.sweeping import Advance, Plan
from perhop.sweeping.statistics import summarized, with_shares

# The steps of a line of blocks: its heights are whole numbers.
_STEPS = 1000
_WIDEST = 60


@contextmanager
def watching(plan: Plan, wish: Wish | None, *, quiet: bool) -> Iterator[Callable[[Advance], None] | None]:
    """Show the progress of a sweep on stderr; give the callback, `None` if nothing is shown.

    With a wish for a plot, its metric is drawn over its parameter as far as points have ended.
    """
    screen = console(sys.stderr)
    if quiet or not screen.is_terminal:
        if wish is not None and not quiet:
            say("--watch needs a terminal; continuing without it")
        yield None
        return
    bar = rich_progress.Progress(
        rich_progress.TextColumn("{task.description}", markup=False),
        rich_progress.BarColumn(),
        rich_progress.TaskProgressColumn(),
        rich_progress.TextColumn("{task.fields[work]}", markup=False),
        rich_progress.TimeRemainingColumn(compact=True),
        console=screen,
        transient=True,
    )
    task = bar.add_task(printable(str(plan.scenario["name"])), total=1.0, work="")
    chart = None if wish is None else _Chart(plan, wish)
    with Live(bar, console=screen, transient=True, refresh_per_second=4) as live:

        def show(now: Advance) -> None:
            bar.update(task, completed=now.fraction, work=words(now))
            if chart is not None:
                chart.add(now)
                live.update(Group(chart.drawn(), bar))

        yield show
    if chart is not None:
        # The last picture stays.
        screen.print(chart.drawn())


def words(now: Advance) -> str:
    """Return how far a sweep is: points done, their rate, and failures."""
    rate = "" if now.rate is None else f", {number(now.rate, 3)}/s"
    failed = f", {now.failed:,} failed" if now.failed else ""
    return f"{now.done:,} of {counted_points(now.of)}{rate}{failed}"


def counted_points(count: int) -> str:
    """Return a number of points: `1,000 points`."""
    return f"{count:,} points" if count != 1 else counted(count, "point")


class _Chart:
    """The means of a metric by class over the values of a parameter, as far as points have ended."""

    def __init__(self, plan: Plan, wish: Wish) -> None:
        self._path = wish.against or plan.design.parameters[0]
        self._parameter = next(one for one in plan.columns() if one.path == self._path)
        self._column, self._unit = wish.metric.column, wish.metric.unit
        self._metric = wish.metric.words
        # By class and value: sum and number, so that a chart takes no more memory the longer it fills.
        self._sums: dict[tuple[str, float | str], tuple[float, int]] = {}

    def add(self, now: Advance) -> None:
        """Add what has ended."""
        if "classes" not in now.new:
            return
        means = summarized(with_shares(now.new["classes"]), [self._column])
        joined = means.join(now.new["points"].select("point", self._path), on="point").drop_nulls("mean")
        for name, value, mean in joined.select("class", self._path, "mean").iter_rows():
            total, count = self._sums.get((name, value), (0.0, 0))
            self._sums[name, value] = (total + mean, count + 1)

    def drawn(self) -> Table:
        """Return a line of blocks for each class, from the least value of the parameter to the greatest."""
        table = Table(
            title=styled((f"{self._metric} over {self._path}{self._ends()}", "bold")),
            box=None,
            padding=(0, 1),
            header_style="dim",
            title_justify="left",
        )
        for column in ("class", "", "least", "greatest"):
            table.add_column(column, no_wrap=True, justify="right" if column.endswith("est") else "left")
        classes = dict.fromkeys(name for name, _ in self._sums)
        for name, role in of_classes(classes).items():
            means = {
                value: total / count for (one, value), (total, count) in self._sums.items() if one == name
            }
            values = [means[value] for value in sorted(means, key=lambda one: (isinstance(one, str), one))]
            top = max(values)
            line = heights([round(_STEPS * value / top) if top > 0 else 0 for value in values], _WIDEST)
            divisor, unit = scale(self._unit, top)
            ends = [f"{number(end / divisor, 3)} {unit}".strip() for end in (min(values), top)]
            table.add_row(printable(name), styled((line, PALETTE[role][1])), *ends)
        return table

    def _ends(self) -> str:
        values = [value for _, value in self._sums if not isinstance(value, str)]
        if not values:
            return ""
        divisor, unit = scale(self._parameter.unit, max(map(abs, values)))
        ends = f"{number(min(values) / divisor)} to {number(max(values) / divisor)} {unit}".strip()
        return f" ({ends})"
