"""Two configurations of a router under one load: that of the old configuration, with new classes added."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perhop.differing.result import Difference
from perhop.differing.sides import Side
from perhop.errors import InvalidInputError, PerhopError
from perhop.scenario import Scenario

# Codepoints that do not identify a class.
_UNMARKED = {None, "default", "be", "cs0", "0"}


@dataclass(frozen=True)
class SameLoad:
    """The inference of a scenario for each of two configurations, with one load for both."""

    #: The interfaces to try, in this order; the interface with most classes is tried last.
    interfaces: Sequence[str] = ()
    #: The old names of renamed classes, by their new ones.
    renamed: Mapping[str, str] = field(default_factory=dict)
    #: `platform`, `assume` and `load`, as `perhop.Scenario.infer` takes them.
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def level(self) -> str:
        """The level of the load."""
        return str(self.options.get("load") or "busy")

    def scenarios(self, old: Side, new: Side) -> tuple[Scenario, Scenario]:
        """Return a scenario of each configuration, with the same hosts and the same traffic.

        The traffic is inferred from the old configuration. A class of the new configuration adds traffic only
        if its name and codepoint are new. The policies of each side classify all traffic.

        Raises:
            PerhopError: no scenario can be inferred from a configuration.

        """
        files = [Path(side.name) for side in (old, new)]
        before, after = _inferred(files, [*self.interfaces, None], self.options)
        added = [entry for entry in after["traffic"] if self._is_new(entry, before["traffic"])]
        hosts, links, entries = _moved_hosts(before, after, added)
        traffic = [*before["traffic"], *entries]
        first, second = (
            _with_traffic(scenario, before, hosts, links, traffic) for scenario in (before, after)
        )
        return first, second

    def _is_new(self, entry: Mapping[str, Any], known: Sequence[Mapping[str, Any]]) -> bool:
        """Whether an entry of the new side has a class and codepoint that the `known` traffic lacks."""
        names, codepoints = {other["name"] for other in known}, {other.get("dscp") for other in known}
        is_offered = entry.get("dscp") in codepoints - _UNMARKED
        return not (is_offered or {entry["name"], self.renamed.get(entry["name"])} & names)


def load_of(found: Difference, *, out: str | None, options: Mapping[str, Any]) -> SameLoad:
    """Return the inference for a difference: at `out`, or at the interface with most changes."""
    every = [*(move.interface for move in found.moved), *(change.interface for change in found.changed)]
    changed = [interface for interface in every if interface]
    interfaces = (
        [out] if out else sorted(dict.fromkeys(changed), key=lambda interface: -changed.count(interface))
    )
    names = {
        rename.after.rpartition(" ")[2].rpartition("/")[2]: rename.before.rpartition(" ")[2].rpartition("/")[
            2
        ]
        for rename in found.renamed
    }
    return SameLoad(interfaces, names, options)


def _inferred(
    files: Sequence[Path], interfaces: Sequence[str | None], options: Mapping[str, Any]
) -> tuple[Scenario, Scenario]:
    """Return the scenarios inferred for the first interface that both configurations have."""
    failure: PerhopError | None = None
    for interface in interfaces:
        try:
            first, second = (Scenario.infer(file, interface, **options) for file in files)
        except PerhopError as error:
            failure = failure or error
            continue
        leaving = [(scenario.origin or {}).get("interface") for scenario in (first, second)]
        if leaving[0] == leaving[1]:
            return first, second
        failure = failure or InvalidInputError(
            f"the traffic leaves through {leaving[0]} in the old configuration, "
            f"and through {leaving[1]} in the new one"
        )
    raise failure or InvalidInputError("no interface has a policy")


def _moved_hosts(
    before: Scenario, after: Scenario, added: Sequence[Mapping[str, Any]]
) -> tuple[dict[str, Any], list[dict[str, Any]], list[dict[str, Any]]]:
    """Return the hosts and links of the old scenario with hosts of `added`, and the entries of `added`."""
    hosts, links = dict(before["hosts"]), _host_links(before)
    by_address = {host["address"]: name for name, host in hosts.items()}
    renamed: dict[str, str] = {}
    for name in dict.fromkeys(host for entry in added for host in (entry["from"], entry["to"])):
        host = after["hosts"][name]
        renamed[name] = by_address.get(host["address"]) or f"added-{name}"
        if renamed[name] not in hosts:
            hosts[renamed[name]] = host
            links += [_renamed_link(link, name, renamed[name]) for link in _host_links(after, name)]
    entries = [{**entry, "from": renamed[entry["from"]], "to": renamed[entry["to"]]} for entry in added]
    return hosts, links, entries


def _host_links(scenario: Scenario, name: str | None = None) -> list[dict[str, Any]]:
    """Return the links of a host, or of all hosts."""
    ends = set(scenario["hosts"]) if name is None else {name}
    return [dict(link) for link in scenario["links"] if ends.intersection(link["between"])]


def _renamed_link(link: Mapping[str, Any], name: str, to: str) -> dict[str, Any]:
    between = [to if node == name else node for node in link["between"]]
    interfaces = {to if node == name else node: end for node, end in link.get("interfaces", {}).items()}
    return {**link, "between": between, "interfaces": interfaces}


def _with_traffic(
    side: Scenario,
    before: Scenario,
    hosts: Mapping[str, Any],
    links: Sequence[Mapping[str, Any]],
    traffic: Sequence[Mapping[str, Any]],
) -> Scenario:
    """Return a side's routers and links between them, with these hosts and this traffic."""
    own = set(side["hosts"])
    between_routers = [link for link in side["links"] if not own.intersection(link["between"])]
    data = {
        **side,
        "duration": before["duration"],
        "hosts": dict(hosts),
        "links": [*links, *between_routers],
        "traffic": list(traffic),
        "measure": {"warmup": before["measure"]["warmup"]},
    }
    return Scenario(data, side.base).check()
