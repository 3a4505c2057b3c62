"""The configuration of `live_bridge`: a policy from a file between two existing interfaces.

The file becomes a scenario of two hosts and one router, which is planned like any other. The plan of the
router's two links is applied between the two interfaces.
"""

from __future__ import annotations

import errno
import json
import socket
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perhop import _core
from perhop.configuration import checked, read
from perhop.document import Document
from perhop.errors import InvalidInputError
from perhop.live import kernel, namespaces
from perhop.live.planning import plan

_INSIDE, _BRIDGE, _OUTSIDE = "inside", "bridge", "outside"
# The keys of a link direction that a bridge uses.
_OF_A_DIRECTION = ("framing", "headers", "ring", "queueing", "output", "overhead", "delay", "loss")
# Rate of a link without a configured rate; the bridge is then not paced.
_ANY_RATE = "100Gb/s"
_NO_SOURCE = {"cbr": {"rate": "1kb/s", "packet": {"ip": "100B"}}}


@dataclass(frozen=True)
class Side:
    """One interface of a bridge."""

    #: The name of the interface in Linux.
    device: str
    #: The interface of the router configuration that `device` represents.
    interface: str | None = None

    @classmethod
    def parse(cls, text: str) -> Side:
        """Parse `eth1` or `eth1=Serial0/0`."""
        device, _, interface = text.partition("=")
        return cls(device, interface or None)


def configuration(
    policy: Path, inner: Side, outer: Side, *, name: str | None, rate: str | None, both: bool
) -> dict[str, Any]:
    """Return the configuration of a bridge.

    Args:
        policy: a router configuration, or a file with policies.
        inner: the interface at which packets enter.
        outer: the interface at which packets leave, through the policy's queues.
        name: the policy, for a file with several.
        rate: rate at `outer`; by default the rate in the router configuration, otherwise unlimited.
        both: apply the policy of a file in the reverse direction too; a router configuration defines both.

    Raises:
        ScenarioError: the file is not valid.
        InvalidInputError: the policy or an interface is ambiguous or does not exist.

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
    """Refuse interfaces that do not exist on this machine, and one interface for both sides."""
    if len(set(devices)) < len(devices):
        raise InvalidInputError(f"--in and --out are both `{devices[0]}`", "name two interfaces")
    there = _interfaces()
    for device in devices:
        if device not in there:
            known = ", ".join(there)
            raise InvalidInputError(f"this machine has no interface `{device}`", f"interfaces: {known}")


def _interfaces() -> list[str]:
    return [name for _, name in socket.if_nameindex()]


@contextmanager
def bare(devices: list[str]) -> Iterator[dict[str, dict[str, bool]]]:
    """Switch off offloads that merge packets for the duration of a block; yield the offloads that were on."""
    before = {device: kernel.offloads(device) for device in devices}
    try:
        for device in devices:
            kernel.switch_offloads_off(device)
        yield before
    finally:
        restore(before)


def restore(before: Mapping[str, Mapping[str, bool]]) -> dict[str, str]:
    """Switch the offloads of interfaces in this namespace back on.

    Interfaces that no longer exist are skipped. Returns the reasons why other interfaces could not be
    restored.
    """
    failed: dict[str, str] = {}
    for device, offloads in before.items():
        try:
            kernel.switch_offloads_on(device, [name for name, was_on in offloads.items() if was_on])
        except OSError as error:
            if error.errno not in (errno.ENODEV, errno.ENXIO):
                failed[device] = error.strerror or str(error)
    return failed


def restore_in(network: list[int] | None, before: Mapping[str, Mapping[str, bool]]) -> str | None:
    """Switch the offloads of interfaces in a namespace back on; returns the failures with their reasons."""
    if not before:
        return None
    devices = ", ".join(before)
    here = list(namespaces.current())
    if network is None:
        # The state of an earlier version does not contain the namespace of the interfaces.
        missing = [device for device in before if device not in _interfaces()]
        failed = dict.fromkeys(missing, "not in this network namespace") or restore(before)
    elif network == here:
        failed = restore(before)
    elif (file := namespaces.file_of(network)) is None:
        return f"offloads of {devices} stay off: their network namespace ({network[1]}) was not found"
    else:
        try:
            with namespaces.inside_of(file):
                failed = restore(before)
        except OSError as error:
            return f"offloads of {devices} stay off: {file}: {error.strerror}"
    if failed:
        reasons = ", ".join(f"{device} ({why})" for device, why in failed.items())
        return f"offloads stay off: {reasons}"
    return None


def _of_router(file: Path, text: str, inner: Side, outer: Side) -> Document:
    report = checked(text)
    ports = {port["name"]: port for port in report["router"]["ports"] if not port["shutdown"]}
    way_out = _chosen(outer, ports, [name for name, port in ports.items() if _has_policy(port)])
    others = [name for name in ports if name != way_out]
    configuration: dict[str, Any] = {"file": str(file.absolute())}
    if inner.interface is None and not others:
        # A configuration of one interface, as for tc in most cases, does not define where packets enter.
        platform = report.get("platform")
        entrance, command = _core.added_interface(platform["profile"] if platform else None)
        configuration["add"] = [command]
    else:
        entrance = _chosen(inner, ports, others)
    ends = ((ports[name]["wire"]["rate"] if name in ports else None, name) for name in (entrance, way_out))
    return Document(
        _scenario(
            {"configuration": configuration}, *((rate or _ANY_RATE, {"name": name}) for rate, name in ends)
        )
    )


def _has_policy(port: Mapping[str, Any]) -> bool:
    """Whether a port has an output policy, other than the plain FIFO of every interface."""
    output = port["output"]
    queueing = output.get("queueing") or {}
    buffers = [set(config.get("buffer") or {"tail-drop"}) for config in queueing.get("classes", [])]
    is_plain = queueing.get("scheduler", "fifo") == "fifo" and all(
        buffer == {"tail-drop"} for buffer in buffers
    )
    return bool(output.get("conditioners")) or not is_plain


def _chosen(side: Side, ports: Mapping[str, Any], likely: list[str]) -> str:
    """Return the interface of the router configuration for one side of the bridge."""
    if side.interface in ports:
        return str(side.interface)
    if side.interface is None and len(likely) == 1:
        return likely[0]
    message = (
        f"the configuration has several interfaces; perhop cannot know which one `{side.device}` represents"
        if side.interface is None
        else f"the configuration has no interface `{side.interface}` that is up"
    )
    raise InvalidInputError(
        message,
        f"write {side.device}=INTERFACE; interfaces: {', '.join(ports)}",
    )


def _of_policies(file: Path, name: str | None, rate: str | None, *, both: bool) -> Document:
    plain = _scenario({}, (_ANY_RATE, {}), (rate or _ANY_RATE, {}))
    policies = _load(file, plain)["policies"]
    if name is None and len(policies) == 1:
        name = next(iter(policies))
    if name not in policies:
        raise InvalidInputError(
            f"`{file}` has several policies" if name is None else f"`{file}` has no policy `{name}`",
            f"choose one with --name: {', '.join(policies) or 'none'}",
        )
    applied = {"output": name}
    back = (rate or _ANY_RATE, applied) if both else (_ANY_RATE, {})
    return _load(file, _scenario({}, back, (rate or _ANY_RATE, applied)))


def _load(file: Path, scenario: Mapping[str, Any]) -> Document:
    """Read a file with policies, with all other keys replaced."""
    return Document.load(file, {key: json.dumps(value) for key, value in scenario.items()})


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
        # A scenario needs traffic, although this one is never run.
        "traffic": [{"name": "none", "from": _INSIDE, "to": _OUTSIDE, "source": _NO_SOURCE}],
        "measure": {},
    }


def _directions(scenario: Document) -> dict[tuple[str, str], dict[str, Any]]:
    planned = plan(scenario.embedded(), seed=1, bridge=True)
    return {
        (direction["from"], direction["to"]): direction
        for direction in planned.forwarders[_BRIDGE]["directions"]
    }


def _taken_over(leaving: Mapping[str, Any], arriving: Mapping[str, Any], *, paced: bool) -> dict[str, Any]:
    taken = {key: leaving[key] for key in _OF_A_DIRECTION if leaving.get(key) is not None}
    rate = {"rate": leaving["rate"]} if paced else {}
    conditioned = {"input": arriving.get("input") or [], "input-overhead": arriving["input-overhead"]}
    return taken | rate | conditioned
