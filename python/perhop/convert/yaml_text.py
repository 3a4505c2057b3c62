"""Policies as the `policies:` of a scenario file."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from perhop.convert.policies import Attached, Remark, Source, one_line
from perhop.profiles import has_rules
from perhop.readable_yaml import block, flow
from perhop.schema_types import PolicyConfig


def to_yaml(source: Source) -> tuple[str, list[Remark]]:
    """Return a file with `policies:`, one for each different policy, and the omitted properties."""
    named = _names(source.attached)
    remarks: list[Remark] = []
    lines = [f"# The policies of {one_line(source.file.name)}, by `perhop convert`."]
    if source.profile and has_rules(source.profile):
        lines.append(f"# The numbers follow the rules of the platform {source.profile}.")
    lines += ["policies:"]
    for name, (policy, users) in named.items():
        for user in users:
            lines.append(f"  # {one_line(_comment(user))}")
            remarks += _remarks_about_port(user, name)
        lines += [f"  {flow(name)}:", *block(policy, 4)]
    return "\n".join(lines) + "\n", remarks


def _names(attached: Sequence[Attached]) -> dict[str, tuple[PolicyConfig, list[Attached]]]:
    """Return the different policies by name; the name includes the port if a policy differs by port."""
    named: dict[str, tuple[PolicyConfig, list[Attached]]] = {}
    for attachment in attached:
        wide = f"{attachment.name} {attachment.interface} {attachment.direction}"
        for name in (attachment.name, wide):
            if name not in named:
                named[name] = (attachment.policy, [attachment])
                break
            if named[name][0] == attachment.policy:
                named[name][1].append(attachment)
                break
    return named


def _comment(attached: Attached) -> str:
    rate = "" if attached.rate_bps is None else f", shares of {attached.rate_bps} b/s"
    return f"{attached.interface or 'a scenario'} {attached.direction or ''}{rate}".rstrip()


def _arrivals(part: Any) -> set[str]:  # noqa: ANN401 - a policy, or a part of one
    """Return the input interfaces that conditions name."""
    if isinstance(part, Mapping):
        match = part.get("match")
        named = part.get("input")
        own = {named} if isinstance(named, str) else set(named) if isinstance(named, list) else set()
        return own.union(
            _arrivals(match), *(_arrivals(value) for key, value in part.items() if key != "match")
        )
    return set().union(*map(_arrivals, part)) if isinstance(part, list) else set()


def _remarks_about_port(attached: Attached, name: str) -> list[Remark]:
    """Return the properties of the port or the network that do not belong to the policy."""
    if attached.port is None:
        return []
    why = "in a scenario, an interface has the name of the node at its other end: write that name"
    found = [
        Remark(f"match input {arrival}", attached.where, why)
        for arrival in sorted(_arrivals(attached.policy))
    ]
    if attached.direction != "output":
        return found
    wire = attached.port["wire"]
    if wire.get("ring"):
        ring = json.dumps(wire["ring"])
        why = f"in a scenario, write it at the interface of a link: ring: {ring}"
        found.append(Remark("transmit ring", attached.where, why))
    if wire.get("headers"):
        found.append(Remark(
            "headers of the link", attached.where,
            f"in a scenario, write them at a link, not in policy {name}: "
            f"headers: {json.dumps(wire.get('headers'))}",
        ))  # fmt: skip
    return found
