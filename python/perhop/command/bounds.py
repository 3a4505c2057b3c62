"""`perhop bounds`."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated

from perhop.bounds import Bounds, Seen, bounds_of, expedited_queue, seen_in
from perhop.command.folder import network_of
from perhop.command.lines import show_lines
from perhop.command.options import (
    Assume,
    Duration,
    Interface,
    Json,
    Load,
    Over,
    Overrides,
    Platform,
    Policy,
    RoutesFile,
    ScenarioFile,
    Seed,
    Traffic,
    assumptions,
    changes,
)
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_json, show_inferred, show_warnings
from perhop.errors import Exit
from perhop.quantity import number
from perhop.scenario import RouterOptions, Scenario

_Several = Annotated[list[str] | None, Parameter(negative=())]


def bounds(
    scenario: ScenarioFile,
    /,
    *,
    class_: Annotated[str | None, Parameter(name="--class")] = None,
    simulate: Annotated[bool, Parameter(negative=())] = False,
    ef: _Several = None,
    explain: Annotated[bool, Parameter(negative=())] = False,
    set_: Overrides = None,
    seed: Annotated[
        Seed, Parameter(help="With --simulate: seed of all random streams. Default: the scenario's seed.")
    ] = None,
    duration: Duration = None,
    interface: Interface = None,
    platform: Platform = None,
    assume: Assume = None,
    rate: str | None = None,
    policy: Policy = None,
    traffic: Traffic = None,
    load: Load = None,
    over: Over = None,
    routes: RoutesFile = None,
    json: Annotated[
        Json,
        Parameter(
            help="Print one JSON document instead of text. For router configurations, it includes the ports "
            "of the hosts that perhop adds."
        ),
    ] = False,
) -> Exit:
    """Show the guarantees of each queue and class: rate, worst-case delay and backlog.

    Parameters
    ----------
    scenario
        The scenario file; or a router configuration or a folder of configurations, for which perhop infers
        hosts and traffic and reports what it inferred; - reads standard input.
    class_
        Show only this traffic class and the queues that it uses.
    simulate
        Simulate one replication, and show its longest delays and queues next to the bounds.
    ef
        A queue that serves EF, with its configured rate, for example 'R1->R2:voice=300kb/s'. perhop then
        simulates, and shows the error terms E_a and E_p of RFC 3246. May be given several times.
    explain
        Show the formula of each bound and its source.
    rate
        For class-maps and policy-maps without an interface: the rate of the interface that perhop adds for
        the outermost policy, for example 50Mb/s.
    over
        With --traffic: the time between the two outputs of the router, or the time for which the counters of
        one output have counted, for example 300s. Default: perhop uses the rates that the output prints.

    """
    of_router: RouterOptions = {
        "interface": interface,
        "platform": platform,
        "assume": assumptions(assume),
        "rate": rate,
        "policy": policy,
        "traffic": traffic,
        "load": load,
        "over": over,
    }
    changed = changes(set_, duration)
    network = network_of(scenario, routes, changed, of_router)
    loaded = network.scenario if network else Scenario.load(scenario, changed, **of_router)
    found = bounds_of(loaded)
    shown = found if class_ is None else found.of_class(class_)
    expedited = [expedited_queue(found, name) for name in ef or []]
    if network is None:
        show_inferred(loaded, scenario, of_router)
    show_warnings(loaded)
    seen = seen_in(loaded, seed=seed, expedited=expedited) if simulate or expedited else None
    if json:
        print_json(_document(loaded["name"], shown, seen))
    else:
        if network is None:
            shown = shown.presented(port for port, _ in loaded.queues.values())
        else:
            shown = replace(shown, queues=[queue for queue in shown.queues if queue["port"] in network.ports])
        _show(shown, seen, explain=explain)
        if network is not None:
            from perhop.command.network_run import show_remarks  # lazy: only for folders

            show_remarks(network)
    return Exit.OK


def _document(name: str, found: Bounds, seen: Seen | None) -> dict[str, object]:
    document: dict[str, object] = {"schema_version": 1, "scenario": name, **found.to_dict()}
    if seen is not None:
        there = {(queue["port"], queue["queue"]) for queue in found.queues}
        document["simulated"] = [queue for queue in seen.queues if (queue["port"], queue["queue"]) in there]
        document["expedited"] = seen.expedited
    return document


def _show(found: Bounds, seen: Seen | None, *, explain: bool) -> None:
    from perhop.command.bounds_table import show_table  # lazy: rich, which --json does not need

    show_table(found.queue_table(seen), keys=2)
    show_table(found.class_table(), keys=1)
    unbounded = [queue for queue in found.queues if queue["reason"]]
    for queue in unbounded:
        show_lines(f"no bound at {queue['port']} {queue['queue']}: {queue['reason']}")
    for ef in seen.expedited if seen else []:
        terms = f"E_a {number(ef['aggregate_s'] * 1e3)} ms, E_p {number(ef['packet_s'] * 1e3)} ms"
        at = f"{ef['port']} {ef['queue']} at {number(ef['rate_bps'] / 1e3)} kb/s"
        show_lines(f"RFC 3246, {at}: {terms}, over {ef['packets']:,} packets")
    if explain:
        _explain(found)
    sys.stdout.flush()


def _explain(found: Bounds) -> None:
    """Print the derivation of each bound, and each formula once with its source."""
    steps = {step["rule"]: step for queue in found.queues for step in queue["rules"]}
    for queue in found.queues:
        buckets = [
            f"{number(bucket['burst_bytes'])} B + {number(bucket['rate_bps'] / 1e3)} kb/s·t"
            for bucket in queue["arrival"]
        ]
        lines = [
            f"{number(curve['rate_bps'] / 1e3)} kb/s·(t - {number(curve['latency_s'] * 1e3)} ms)"
            for curve in queue["service"]
        ]
        show_lines(
            f"{queue['port']} {queue['queue']}: {' then '.join(step['rule'] for step in queue['rules'])}"
        )
        show_lines(f"  arrives at most: {_least_or_largest('min', buckets) or 'no bound'}")
        show_lines(f"  sent at least: {_least_or_largest('max', lines) or 'nothing'}")
    for step in steps.values():
        show_lines(f"\n{step['rule']}: {step['formula']}\n  source: {step['source']}")


def _least_or_largest(which: str, terms: list[str]) -> str:
    return f"{which}({', '.join(terms)})" if len(terms) > 1 else "".join(terms)
