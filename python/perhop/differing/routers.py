"""What differs between two configurations of a router."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from perhop.bounds import Bounds, bounds_of
from perhop.configuration import checked, folded, is_short_for, router_text
from perhop.differing.guarantees import changed_bounds
from perhop.differing.parts import changed, moved, parts
from perhop.differing.result import Changed, Difference, Moved
from perhop.differing.sides import Side
from perhop.errors import InvalidInputError
from perhop.scenario import Scenario
from perhop.tracing import Node, has_output, node


def difference(
    old: Side,
    new: Side,
    *,
    at: str | None,
    out: str | None,
    platform: str | None,
    assume: Mapping[str, str] | None,
) -> Difference:
    """Return what differs between two router configurations; `perhop.differing.difference` has the rest."""
    options: dict[str, Any] = {"platform": platform, "assume": assume}
    files = [Path(one.name) for one in (old, new)]
    names = [_with_policy(file, **options) for file in files]
    found_moved: list[Moved] = []
    found_changed: list[Changed] = []
    remarks: list[str] = []
    for interface in _wanted(names, out):
        nodes = [
            node(file, at=at, out=interface, **options) if folded(interface) in map(folded, known) else None
            for file, (known, _) in zip(files, names, strict=True)
        ]
        before, after = nodes
        if before and after:
            found_moved += moved(interface, before, after)
        else:
            remarks.append(f"{files[nodes.index(None)]} has no interface {interface}")
        found_changed += changed(interface, *(_parts(one) if one else {} for one in nodes))
    bounds, without = changed_bounds([(str(file), partial(_bounds, file, options)) for file in files])
    return Difference(found_moved, [*found_changed, *bounds], [*remarks, *without])


def _wanted(names: list[tuple[list[str], list[str]]], out: str | None) -> list[str]:
    """Return the interfaces to compare, of all and those with an output policy in each."""
    if out is None:
        return sorted({*names[0][1], *names[1][1]})
    known = sorted({*names[0][0], *names[1][0]})
    wanted = [name for name in known if is_short_for(out, name)]
    if not wanted:
        raise InvalidInputError(
            f"neither has an interface `{out}`", f"interfaces: {', '.join(known) or 'none'}"
        )
    return wanted


def _with_policy(
    file: Path, platform: str | None, assume: Mapping[str, str] | None
) -> tuple[list[str], list[str]]:
    """Return the interfaces of a configuration, and those with an output policy."""
    ports = checked(router_text(file) or "", platform, assume)["router"]["ports"]
    return [port["name"] for port in ports], [port["name"] for port in ports if has_output(port)]


def _parts(node: Node) -> dict[str, Mapping[str, str]]:
    return parts("input", node.input) | parts("output", node.output)


def _bounds(file: Path, options: Mapping[str, Any]) -> Bounds:
    """Return the bounds at the router: the hosts around it are assumed."""
    loaded = Scenario.load(file, **options)
    return bounds_of(loaded).at(port for port, _ in loaded.queues.values())
