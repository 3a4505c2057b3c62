"""`perhop show interfaces queue`, `show interfaces extensive` and `show firewall`."""

from __future__ import annotations

from collections.abc import Callable

from perhop.command.options import (
    Duration,
    Json,
    Load,
    Over,
    Overrides,
    Platform,
    Quiet,
    ScenarioFile,
    Seed,
    Traffic,
    changes,
    in_order,
)
from perhop.command.show import print_devices
from perhop.command.showing import counter_options, results_of
from perhop.errors import Exit
from perhop.show.output import shown


def _command(command: str) -> Callable[..., Exit]:
    """Return the command that shows the output of `show COMMAND`."""

    def show(
        source: ScenarioFile,
        interface: str | None = None,
        /,
        *,
        replication: int = 0,
        set_: Overrides = None,
        seed: Seed = None,
        duration: Duration = None,
        platform: Platform = None,
        traffic: Traffic = None,
        load: Load = None,
        over: Over = None,
        json: Json = False,
        quiet: Quiet = False,
    ) -> Exit:
        """Show the counters of a Junos device at the end of a run, as the device prints them.

        Parameters
        ----------
        source
            A router configuration or a scenario, which perhop runs first, or a folder with results.
        interface
            The interface, for example ge-0/0/1. Default: all of them.
        replication
            Number of the replication in the results, from 0.
        over
            With --traffic: the time between the two outputs of the router, or the time for which the counters
            of one output have counted, for example 300s. Default: perhop uses the rates that the output
            prints.

        """
        options = counter_options(traffic, load, over, platform=platform)
        changed = changes(set_, duration)
        source, interface = in_order(source, interface)
        results = results_of(source, changed, [command], seed=seed, quiet=quiet, options=options)
        print_devices(shown(results, command, interface, replication=replication), json=json)
        return Exit.OK

    return show


queue = _command("interfaces queue")
extensive = _command("interfaces extensive")
firewall = _command("firewall")
