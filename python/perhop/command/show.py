"""`perhop show`."""

from __future__ import annotations

import sys
from collections.abc import Callable

from perhop._core import quantity
from perhop.command.options import (
    Assume,
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
    assumptions,
    changes,
    in_order,
)
from perhop.command.showing import counter_options, results_of
from perhop.command.terminal import print_json
from perhop.configuration import router_text
from perhop.core_types import ShownDevice
from perhop.errors import Exit, InvalidInputError
from perhop.show.output import shown

#: The name of the port for packets to the device itself.
_CONTROL_PLANE = "control-plane"


def policy_map_interface(
    source: ScenarioFile,
    interface: str | None = None,
    /,
    *,
    style: str | None = None,
    after: str | None = None,
    replication: int = 0,
    set_: Overrides = None,
    seed: Seed = None,
    duration: Duration = None,
    platform: Platform = None,
    assume: Assume = None,
    traffic: Traffic = None,
    load: Load = None,
    over: Over = None,
    json: Json = False,
    quiet: Quiet = False,
) -> Exit:
    """Show the output of `show policy-map interface` at the end of a run.

    Parameters
    ----------
    source
        A router configuration or a scenario, which perhop runs first, or a folder with results.
    interface
        The interface, whose name may be abbreviated: Gi0/0. Default: all interfaces with a policy.
    style
        Format of the output: ios15 (IOS 15), ios-xe, ios-xr or nx-os. Default: the format of the platform.
    after
        Time since the start of the traffic at which the rates are read, for example 2min; rates rise over the
        load interval. Default: long enough for the final rates.
    replication
        Number of the replication in the results, from 0.
    over
        With --traffic: the time between the two outputs of the router, or the time for which the counters of
        one output have counted, for example 300s. Default: perhop uses the rates that the output prints.

    """
    after_s = _seconds(after)
    options = counter_options(traffic, load, over, platform=platform, assume=assumptions(assume))
    source, interface = in_order(source, interface)
    command = "policy-map interface"
    results = results_of(source, changes(set_, duration), [command], seed=seed, quiet=quiet, options=options)
    found = shown(results, command, interface, replication=replication, style=style, after_s=after_s)
    print_devices(found, json=json)
    return Exit.OK


def policy_map_control_plane(
    source: ScenarioFile,
    /,
    *,
    style: str | None = None,
    set_: Overrides = None,
    seed: Seed = None,
    duration: Duration = None,
    platform: Platform = None,
    assume: Assume = None,
    json: Json = False,
    quiet: Quiet = False,
) -> Exit:
    """Show the output of `show policy-map control-plane`: policies for packets to the router itself.

    A run has no packets to the routers themselves. The counters are zero, and the command reports this.

    Parameters
    ----------
    source
        A router configuration or a scenario, which perhop runs first, or a folder with results.
    style
        Format of the output: ios15 (IOS 15), ios-xe, ios-xr or nx-os. Default: the format of the platform.

    """
    options = counter_options(None, None, None, platform=platform, assume=assumptions(assume))
    command = "policy-map control-plane"
    results = results_of(source, changes(set_, duration), [command], seed=seed, quiet=quiet, options=options)
    print_devices(shown(results, command, style=style), json=json)
    return Exit.OK


def interfaces_rate_limit(
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
    """Show the output of `show interfaces rate-limit` at the end of a run.

    Parameters
    ----------
    source
        A router configuration or a scenario, which perhop runs first, or a folder with results.
    interface
        The interface, whose name may be abbreviated: Gi0/0. Default: all interfaces with a rate limit.
    replication
        Number of the replication in the results, from 0.
    over
        With --traffic: the time between the two outputs of the router, or the time for which the counters of
        one output have counted, for example 300s. Default: perhop uses the rates that the output prints.

    """
    options = counter_options(traffic, load, over, platform=platform)
    source, interface = in_order(source, interface)
    command = "interfaces rate-limit"
    results = results_of(source, changes(set_, duration), [command], seed=seed, quiet=quiet, options=options)
    found = shown(results, command, interface, replication=replication)
    if json:
        limiters = [limiter for device in found for document in device["documents"] for limiter in document]
        print_json({"schema_version": 1, "limiters": limiters})
    else:
        print("\n".join(text for device in found for text in device["texts"]))
    return Exit.OK


def queue_stats(
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
    """Show the counters of the queues of a Catalyst switch (UADP) at the end of a run.

    Parameters
    ----------
    source
        The configuration of a switch or a scenario, which perhop runs first, or a folder with results.
    interface
        The interface, for example Gi1/0/1. Default: all that have queues.
    replication
        Number of the replication in the results, from 0.
    over
        With --traffic: the time between the two outputs of the router, or the time for which the counters of
        one output have counted, for example 300s. Default: perhop uses the rates that the output prints.

    """
    source, interface = in_order(source, interface)
    is_configuration = not source.is_dir() and router_text(source) is not None
    only = interface if is_configuration else None
    options = counter_options(traffic, load, over, interface=only, platform=platform)
    command = "platform hardware fed switch active qos queue stats interface"
    results = results_of(source, changes(set_, duration), [command], seed=seed, quiet=quiet, options=options)
    print_devices(shown(results, command, interface, replication=replication), json=json)
    return Exit.OK


def _of_linux(command: str) -> Callable[..., Exit]:
    """Return the command that shows the output of `tc -s COMMAND show`."""

    def show(
        source: ScenarioFile,
        interface: str | None = None,
        /,
        *,
        replication: int = 0,
        set_: Overrides = None,
        seed: Seed = None,
        duration: Duration = None,
        traffic: Traffic = None,
        load: Load = None,
        over: Over = None,
        json: Json = False,
        quiet: Quiet = False,
    ) -> Exit:
        """Show the output of tc at the end of a run.

        Parameters
        ----------
        source
            Commands or output of tc, or a scenario, which perhop runs first, or a folder with results.
        interface
            The device. Default: all devices that have a qdisc.
        replication
            Number of the replication in the results, from 0.
        over
            With --traffic: the time between the two outputs, or the time for which the counters of one output
            have counted, for example 300s.

        """
        options = counter_options(traffic, load, over)
        changed = changes(set_, duration)
        source, interface = in_order(source, interface)
        results = results_of(source, changed, [command], seed=seed, quiet=quiet, options=options)
        print_devices(shown(results, command, interface, replication=replication), json=json)
        return Exit.OK

    return show


qdisc = _of_linux("qdisc")
class_ = _of_linux("class")


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    found = quantity(text)
    if found is None or found[1] != "s" or found[0] < 0:
        raise InvalidInputError(f"--after: `{text}` is not a time", "for example --after 2min")
    return found[0]


def print_devices(found: list[ShownDevice], *, json: bool) -> None:
    """Print the outputs of devices, or their numbers as JSON."""
    for device in found:
        if _CONTROL_PLANE in device["without_link"]:
            print(
                f"{device['hostname']}: packets to the device itself are not simulated: "
                "the counters of the control plane are zero",
                file=sys.stderr,
            )
        if names := ", ".join(name for name in device["without_link"] if name != _CONTROL_PLANE):
            print(
                f"{device['hostname']}: no packets passed {names}: the scenario has no link there",
                file=sys.stderr,
            )
    if json:
        routers = [
            {
                "node": device["node"],
                "hostname": device["hostname"],
                "profile": device["profile"],
                "interfaces": device["documents"],
            }
            for device in found
        ]
        print_json({"schema_version": 1, "routers": routers})
        return
    for device in found:
        if len(found) > 1:
            print(device["heading"])
        for text in device["texts"]:
            print(text)
