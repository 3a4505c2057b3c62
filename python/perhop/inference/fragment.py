"""Policies without an interface: class-maps and policy-maps alone, which an interface is made for."""

from __future__ import annotations

import re
from difflib import get_close_matches
from typing import Literal

from perhop.core_types import RouterPort, RouterReport
from perhop.errors import InvalidInputError
from perhop.quantity import bits_per_second, quantity

# A policy of another type, such as `inspect`, queues nothing.
_POLICY_MAP = re.compile(r"policy-map\s+(?:type\s+queu\S+\s+)?(?P<name>(?!type\s)\S+)")
_ATTACHED = re.compile(r"\bservice-policy\s.*?(?P<name>\S+)$")
_POLICY = "policy-map"
_SIDES: tuple[Literal["input", "output"], ...] = ("input", "output")
#: The interface made for a policy: a serial line has the rate that its `bandwidth` says.
MADE = "Serial99/0"


def made_for(report: RouterReport, rate: str, policy: str | None) -> list[str]:
    """Return the commands for an interface of `rate` that carries the outermost policy, or `policy`.

    Raises:
        InvalidInputError: the rate is none, or which policy is meant is not clear.

    """
    require_rate(rate)
    ports = [port for port in report["router"]["ports"] if not port["shutdown"]]
    attached = [port["name"] for port in ports if _has_policy(port)]
    if attached and policy is None:
        raise InvalidInputError(
            f"--rate makes an interface for a policy, and the configuration has one at {attached[0]}",
            "choose with --interface, or name the policy with --policy",
        )
    name = chosen_policy(report, policy)
    kilobits = max(round(bits_per_second(rate) / 1000), 1)
    return [f"interface {MADE}", f"bandwidth {kilobits}", f"service-policy output {name}"]


def require_rate(rate: str) -> None:
    """Raise `InvalidInputError` if the text is not a rate."""
    if (quantity(rate) or (0, ""))[1] != "b/s":
        raise InvalidInputError(f"--rate: `{rate}` is not a rate", "for example --rate 50Mb/s")


def _has_policy(port: RouterPort) -> bool:
    """Whether packets are marked, policed or classified at a port."""
    queueing = port["output"].get("queueing")
    is_plain = not queueing or [one["name"] for one in queueing["classes"]] == ["fifo"]
    return not is_plain or any(port[side].get("conditioners") for side in _SIDES)


def chosen_policy(report: RouterReport, policy: str | None) -> str:
    """Return the policy that is meant: `policy`, or the one that no other uses."""
    uses = _uses(report)
    names = [name for kind, name in uses if kind == _POLICY]
    if policy is not None:
        if policy in names:
            return policy
        near = get_close_matches(policy, names, n=3)
        said = ", ".join(near or names) or "none"
        raise InvalidInputError(
            f"the configuration has no policy-map `{policy}`",
            f"did you mean {' or '.join(f'`{one}`' for one in near)}?" if near else f"policy-maps: {said}",
        )
    used = {child for (kind, _), children in uses.items() if kind == _POLICY for child in children}
    outermost = [name for name in names if name not in used]
    if len(outermost) == 1:
        return outermost[0]
    if not names:
        raise InvalidInputError("the configuration has no policy-map", "--rate makes an interface for one")
    raise InvalidInputError(
        f"the configuration has {len(outermost)} policies that no other uses",
        f"choose one with --policy: {', '.join(outermost or names)}",
    )


def unattached(report: RouterReport) -> list[str]:
    """Return the policies that are attached nowhere, not even by way of others."""
    uses = _uses(report)
    waiting = [name for (kind, _), names in uses.items() if kind != _POLICY for name in names]
    attached: set[str] = set()
    while waiting:
        name = waiting.pop()
        if name not in attached:
            attached.add(name)
            waiting += uses.get((_POLICY, name), [])
    return [name for kind, name in uses if kind == _POLICY and name not in attached]


def _uses(report: RouterReport) -> dict[tuple[str, str], list[str]]:
    """Return the policies that each policy-map, interface and other place to attach policies to names."""
    tops: dict[int, tuple[str, str]] = {}
    uses: dict[tuple[str, str], list[str]] = {}
    for line in report["lines"]:
        text = line["text"].strip()
        if (block := line.get("block")) in tops:
            top = tops[line["number"]] = tops[block]
            if found := _ATTACHED.search(text):
                uses.setdefault(top, []).append(found["name"])
        else:
            policy = _POLICY_MAP.match(text)
            top = tops[line["number"]] = (_POLICY, policy["name"]) if policy else ("place", text)
            if policy:
                uses.setdefault(top, [])
    return uses
