"""`perhop show`."""

from __future__ import annotations

import sys

from perhop._core import quantity
from perhop.command.options import (
    Assume,
    Json,
    Overrides,
    Platform,
    Quiet,
    ScenarioFile,
    Seed,
    Traffic,
    assumptions,
    changes,
)
from perhop.command.showing import results_of
from perhop.command.terminal import print_json
from perhop.errors import Exit, InvalidInputError
from perhop.scenario import RouterOptions
from perhop.show.document import interface_document
from perhop.show.limiters import limiter_document, limiters, limiters_text
from perhop.show.printing import StyleName, interface_text, style_of
from perhop.show.simulated import RouterState, shown


def policy_map_interface(
    source: ScenarioFile,
    interface: str | None = None,
    /,
    *,
    style: StyleName | None = None,
    after: str | None = None,
    replication: int = 0,
    set_: Overrides = None,
    seed: Seed = None,
    duration: str | None = None,
    platform: Platform = None,
    assume: Assume = None,
    traffic: Traffic = None,
    json: Json = False,
    quiet: Quiet = False,
) -> Exit:
    """Show what routers would print for `show policy-map interface` at the end of a run.

    Parameters
    ----------
    source
        A router configuration or a scenario, which is run first, or a folder with results.
    interface
        The interface, also abbreviated as in Gi0/0; by default all that have a policy.
    style
        Write it as IOS 15 (ios15) or IOS-XE (ios-xe) does; by default as the router's release.
    after
        How long the traffic has lasted when the rates are read, as in 2min: they rise slowly, over the load
        interval. By default long enough.
    replication
        Which replication of the results; the first is 0.
    set_
        Replace a value of the scenario, as path=value; may be given several times.
    seed
        Seed for all random streams; by default the scenario's own.
    duration
        Simulated time with its unit, as in 60s.
    platform
        The platform whose rules apply to a configuration; by default recognized.
    assume
        What a class-map of a configuration matches, as in 'VOICE = dscp ef'; may be given several times.
    traffic
        The load of a configuration in place of a guess, as `perhop run --help` describes it.
    json
        Print the policies with their counters as one JSON document.
    quiet
        Do not show progress.

    """
    after_s = _seconds(after)
    options: RouterOptions = {
        "interface": None,
        "platform": platform,
        "assume": assumptions(assume),
        "rate": None,
        "policy": None,
        "traffic": traffic,
    }
    results = results_of(source, changes(set_, duration), seed=seed, quiet=quiet, options=options)
    found = shown(results, interface, replication=replication, after_s=after_s)
    for router in found:
        _tell_what_is_apart(router)
    if json:
        print_json({"schema_version": 1, "routers": [_document(router) for router in found]})
        return Exit.OK
    for router in found:
        if len(found) > 1:
            print(f"{router.router.hostname}#show policy-map interface")
        for one in router.interfaces:
            print(interface_text(one, style or style_of(router.router.profile)))
    return Exit.OK


def interfaces_rate_limit(
    source: ScenarioFile,
    interface: str | None = None,
    /,
    *,
    replication: int = 0,
    set_: Overrides = None,
    seed: Seed = None,
    duration: str | None = None,
    platform: Platform = None,
    traffic: Traffic = None,
    json: Json = False,
    quiet: Quiet = False,
) -> Exit:
    """Show what routers would print for `show interfaces rate-limit` at the end of a run.

    Parameters
    ----------
    source
        A router configuration or a scenario, which is run first, or a folder with results.
    interface
        The interface, also abbreviated as in Gi0/0; by default all that have a limiter.
    replication
        Which replication of the results; the first is 0.
    set_
        Replace a value of the scenario, as path=value; may be given several times.
    seed
        Seed for all random streams; by default the scenario's own.
    duration
        Simulated time with its unit, as in 60s.
    platform
        The platform whose rules apply to a configuration; by default recognized.
    traffic
        The load of a configuration in place of a guess, as `perhop run --help` describes it.
    json
        Print the limiters with their counters as one JSON document.
    quiet
        Do not show progress.

    """
    options: RouterOptions = {
        "interface": None,
        "platform": platform,
        "assume": None,
        "rate": None,
        "policy": None,
        "traffic": traffic,
    }
    changed = changes(set_, duration)
    results = results_of(source, changed, seed=seed, quiet=quiet, options=options, prepare=lambda one: one)
    found = limiters(results, interface, replication=replication)
    if json:
        print_json({"schema_version": 1, "limiters": [limiter_document(one) for one in found]})
    else:
        print(limiters_text(found))
    return Exit.OK


def _seconds(text: str | None) -> float | None:
    if text is None:
        return None
    found = quantity(text)
    if found is None or found[1] != "s" or found[0] < 0:
        raise InvalidInputError(f"--after: `{text}` is no time", "for example --after 2min")
    return found[0]


def _tell_what_is_apart(router: RouterState) -> None:
    apart = [one.interface.name for one in router.interfaces if one.interface.neighbor is None]
    if apart:
        names = ", ".join(apart)
        print(
            f"{router.router.hostname}: no packets passed {names}: the scenario has no link there",
            file=sys.stderr,
        )


def _document(found: RouterState) -> dict[str, object]:
    return {
        "node": found.router.node,
        "hostname": found.router.hostname,
        "profile": found.router.profile,
        "interfaces": [interface_document(one) for one in found.interfaces],
    }
