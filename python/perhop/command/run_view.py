"""The view of `perhop run` while it runs: its progress, or a view in the terminal or in a browser."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from functools import partial

from perhop.command.options import View
from perhop.command.terminal import progress_bar
from perhop.pacing import Pace
from perhop.results import Results
from perhop.running import Progress, Snapshot
from perhop.scenario import Scenario


@dataclass(frozen=True)
class Callbacks:
    """The callbacks of a run, and the pace of its view."""

    progress: Callable[[Progress], None] | None = None
    watch: Callable[[Snapshot], None] | None = None
    pace: Pace | None = None


@dataclass(frozen=True)
class Viewed:
    """The display of a run."""

    #: Shows the run within the block.
    during: Callable[[], AbstractContextManager[Callbacks]]
    #: Shows the results of the run.
    finish: Callable[[Results], None] = lambda _: None


@dataclass(frozen=True)
class Wanted:
    """The chosen view."""

    watch: View | None
    pace: Pace
    #: Whether to open a browser.
    opened: bool
    quiet: bool


@contextmanager
def viewed(
    scenario: Scenario, wanted: Wanted, *, seed: int | None, replications: int | None
) -> Iterator[Viewed]:
    """Yield the display of a run. A page in a browser stays after the block until it is closed."""
    if wanted.watch != "web":
        yield Viewed(partial(_in_terminal, scenario, wanted))
        return
    from perhop.command.viewing import served, stay  # lazy: a server, which only --watch=web needs
    from perhop.viewing.hub import Hub  # lazy: the same reason
    from perhop.viewing.simulation import Simulation  # lazy: the same reason

    hub = Hub()
    shown = Simulation(
        hub,
        scenario,
        wanted.pace,
        seed=scenario["seed"] if seed is None else seed,
        replications=scenario.get("replications", 1) if replications is None else replications,
    )
    with served("simulation", hub, shown.answer, opened=wanted.opened):
        callbacks = Callbacks(shown.progress, shown.add, wanted.pace)
        yield Viewed(lambda: nullcontext(callbacks), shown.finish)
        stay(hub)


@contextmanager
def _in_terminal(scenario: Scenario, wanted: Wanted) -> Iterator[Callbacks]:
    """Show the progress of a run, or its queues and shares."""
    if wanted.watch == "terminal":
        from perhop.command.watching import watching  # lazy: rich, which --json does not need

        with watching(scenario, wanted.pace, quiet=wanted.quiet) as view:
            yield Callbacks() if view is None else Callbacks(view.progress, view.add, wanted.pace)
    else:
        with progress_bar(scenario["name"], quiet=wanted.quiet) as progress:
            yield Callbacks(progress)
