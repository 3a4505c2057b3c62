"""What the routers of a run would show; a run that is made for it samples the queues that it needs."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from perhop.errors import InvalidInputError
from perhop.results import Results
from perhop.scenario import Scenario
from perhop.schema_types import ScenarioConfig
from perhop.show.counters import Counters
from perhop.show.routers import Interface, InterfaceState, Router, chosen, codepoints, routers, state


@dataclass(frozen=True)
class RouterState:
    """A router and what was counted at its interfaces."""

    router: Router
    interfaces: list[InterfaceState]


def sampled(scenario: Scenario) -> Scenario:
    """Ask a scenario for one sample of every queue at its end, where it asks for none.

    Depths and averages of queues are not in the other tables.
    """
    probes = scenario["measure"].setdefault("queues", [])
    there = {(probe["from"], probe["to"]) for probe in probes}
    for router in routers(scenario, scenario.base):
        for interface in router.interfaces:
            link = (router.node, interface.neighbor)
            if interface.neighbor is not None and interface.policies["output"] and link not in there:
                probes.append({"from": link[0], "to": link[1], "every": scenario["duration"]})
    return scenario


def shown(
    results: Results, interface: str | None = None, *, replication: int = 0, after_s: float | None = None
) -> list[RouterState]:
    """Return what the routers of a run counted at `interface`, which may be abbreviated; `None` for all.

    Raises:
        InvalidInputError: no router has a policy at such an interface.

    """
    scenario: ScenarioConfig = results.scenario
    found = routers(scenario, Path())
    at = [(router, chosen(router, interface)) for router in found]
    if not any(there for _, there in at):
        raise _unknown(interface or "", [one for router in found for one in router.interfaces])
    counters, seen = Counters(results, replication), codepoints(scenario, found)
    return [
        RouterState(router, [state(router, one, counters, seen, after_s) for one in there])
        for router, there in at
        if there
    ]


def _unknown(interface: str, known: list[Interface]) -> InvalidInputError:
    names = [one.name for one in known]
    near = get_close_matches(interface, names, n=1)
    return InvalidInputError(
        f"no router has a policy-map at an interface `{interface}`",
        f"did you mean `{near[0]}`?" if near else f"interfaces with policies: {', '.join(names)}",
    )
