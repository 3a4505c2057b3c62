"""A policy between two interfaces that exist already: what `live_bridge` is to do, from a file with policies.

The file becomes a scenario of two hosts and one router, which takes the way of every scenario; what the
router's plan says of its two links is what happens between the two interfaces.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perhop import _core
from perhop.configuration import read
from perhop.errors import InvalidInputError
from perhop.live import kernel
from perhop.live.planning import plan
from perhop.scenario import Scenario

_INSIDE, _BRIDGE, _OUTSIDE = "inside", "bridge", "outside"
# What a bridge takes over of a direction of a link.
_OF_A_DIRECTION = ("framing", "ring", "queueing", "output", "delay", "loss")
# The rate of a link of which nobody says any: it is not what paces a bridge then.
_ANY_RATE = "100Gb/s"
_NO_SOURCE = {"cbr": {"rate": "1kb/s", "packet": {"ip": "100B"}}}


@dataclass(frozen=True)
class Side:
    """One interface of a bridge."""

    #: Its name in Linux.
    device: str
    #: The interface of the router's configuration that it stands for.
    interface: str | None = None

    @classmethod
    def of(cls, text: str) -> Side:
        """Read `eth1` or `eth1=Serial0/0`."""
        device, _, interface = text.partition("=")
        return cls(device, interface or None)


def configuration(
    policy: Path, inner: Side, outer: Side, *, name: str | None, rate: str | None, both: bool
) -> dict[str, Any]:
    """Return the configuration of a bridge.

    Args:
        policy: a router's configuration, or a file with policies.
        inner: where packets come in that the policy is for.
        outer: where they leave, through the policy's queues.
        name: which policy of a file with several.
        rate: paces the way out; by default what the router's configuration says, else nothing does.
        both: a file's policy works on the way back too; a router's configuration says itself what does.

    Raises:
        ScenarioError: the file is wrong.
        InvalidInputError: it is not clear what is meant.

    """
    text = read(policy)
    if policy.suffix == ".cfg" or _core.is_router_configuration(text):
        scenario, paced = _of_router(policy, text, inner, outer), True
        policies_back = True
    else:
        scenario, paced = _of_policies(policy, name, rate, both=both), rate is not None
        policies_back = both
    directions = _directions(scenario)
    forth, back = directions[_BRIDGE, _OUTSIDE], directions[_BRIDGE, _INSIDE]
    given = {} if rate is None else {"rate": rate}
    return {
        "devices": [inner.device, outer.device],
        "forth": _taken_over(forth, directions[_INSIDE, _BRIDGE], paced=paced) | given,
        "back": _taken_over(back, directions[_OUTSIDE, _BRIDGE], paced=policies_back and paced)
        | (given if both else {}),
    }


def require(devices: list[str]) -> None:
    """Refuse interfaces that this machine has not."""
    there = [name for _, name in socket.if_nameindex()]
    for device in devices:
        if device not in there:
            known = ", ".join(there)
            raise InvalidInputError(f"this machine has no interface {device}", f"there are {known}")


@contextmanager
def bare(devices: list[str]) -> Iterator[dict[str, dict[str, bool]]]:
    """Switch off what glues packets together at interfaces, for as long as it lasts; gives what was on."""
    before = {device: kernel.offloads(device) for device in devices}
    try:
        for device in devices:
            kernel.switch_offloads_off(device)
        yield before
    finally:
        restore(before)


def restore(before: Mapping[str, Mapping[str, bool]]) -> None:
    """Switch the offloads of interfaces on again that were on; those that are gone need none."""
    for device, offloads in before.items():
        try:
            kernel.switch_offloads_on(device, [name for name, was_on in offloads.items() if was_on])
        except OSError:
            continue


def _of_router(file: Path, text: str, inner: Side, outer: Side) -> Scenario:
    found = json.loads(_core.check_router(text))["router"]
    ports = {port["name"]: port for port in found["ports"] if not port["shutdown"]}
    way_out = _chosen(outer, ports, [name for name, port in ports.items() if _has_policy(port)])
    way_in = _chosen(inner, ports, [name for name in ports if name != way_out])
    return Scenario(
        _scenario(
            {"configuration": {"file": str(file.absolute())}},
            (ports[way_in]["wire"]["rate"] or _ANY_RATE, {"name": way_in}),
            (ports[way_out]["wire"]["rate"] or _ANY_RATE, {"name": way_out}),
        )
    )


def _has_policy(port: Mapping[str, Any]) -> bool:
    """Whether the way out of a port is configured: it is not the plain FIFO that every interface has."""
    output = port["output"]
    queueing = output.get("queueing") or {}
    buffers = [set(one.get("buffer") or {"tail-drop"}) for one in queueing.get("classes", [])]
    is_plain = queueing.get("scheduler", "fifo") == "fifo" and all(one == {"tail-drop"} for one in buffers)
    return bool(output.get("conditioners")) or not is_plain


def _chosen(side: Side, ports: Mapping[str, Any], likely: list[str]) -> str:
    """Return which interface of the configuration a side stands for."""
    if side.interface in ports:
        return str(side.interface)
    if side.interface is None and len(likely) == 1:
        return likely[0]
    said = "is not clear" if side.interface is None else f"is not {side.interface}, which there is not"
    raise InvalidInputError(
        f"which interface of the configuration {side.device} stands for {said}",
        f"write {side.device}=INTERFACE; there are {', '.join(ports)}",
    )


def _of_policies(file: Path, name: str | None, rate: str | None, *, both: bool) -> Scenario:
    plain = _scenario({}, (_ANY_RATE, {}), (rate or _ANY_RATE, {}))
    policies = _load(file, plain)["policies"]
    if name is None and len(policies) == 1:
        name = next(iter(policies))
    if name not in policies:
        raise InvalidInputError(
            f"which of the policies in {file}?" if name is None else f"{file} has no policy {name!r}",
            f"give --name; there are {', '.join(policies) or 'none'}",
        )
    applied = {"output": name}
    back = (rate or _ANY_RATE, applied) if both else (_ANY_RATE, {})
    return _load(file, _scenario({}, back, (rate or _ANY_RATE, applied)))


def _load(file: Path, scenario: Mapping[str, Any]) -> Scenario:
    """Read a file with policies, everything around them replaced."""
    return Scenario.load(file, {key: json.dumps(value) for key, value in scenario.items()})


def _scenario(
    router: Mapping[str, Any], inner: tuple[str, Mapping[str, Any]], outer: tuple[str, Mapping[str, Any]]
) -> dict[str, Any]:
    links = [
        {"between": [host, _BRIDGE], "rate": rate, "interfaces": {_BRIDGE: dict(interface)}}
        for host, (rate, interface) in ((_INSIDE, inner), (_OUTSIDE, outer))
    ]
    return {
        "perhop": 1,
        "name": _BRIDGE,
        "duration": "1s",
        "hosts": {_INSIDE: {}, _OUTSIDE: {}},
        "routers": {_BRIDGE: dict(router)},
        "links": links,
        # A scenario has traffic; this one is never run.
        "traffic": [{"name": "none", "from": _INSIDE, "to": _OUTSIDE, "source": _NO_SOURCE}],
        "measure": {},
    }


def _directions(scenario: Scenario) -> dict[tuple[str, str], dict[str, Any]]:
    planned = plan(scenario.embedded(), seed=1)
    return {(one["from"], one["to"]): one for one in planned.forwarders[_BRIDGE]["directions"]}


def _taken_over(leaving: Mapping[str, Any], arriving: Mapping[str, Any], *, paced: bool) -> dict[str, Any]:
    taken = {key: leaving[key] for key in _OF_A_DIRECTION if leaving.get(key) is not None}
    rate = {"rate": leaving["rate"]} if paced else {}
    return taken | rate | {"input": arriving.get("input") or []}
