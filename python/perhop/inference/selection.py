"""Which interfaces of a router packets enter and leave by."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from ipaddress import IPv4Interface
from pathlib import Path
from typing import Any

from perhop.configuration import LINUX, is_virtual, ports_that_are_up
from perhop.core_types import Router, RouterPort
from perhop.errors import InvalidInputError
from perhop.inference.network import Interface, Network, node_name
from perhop.inference.shares import leaves
from perhop.quantity import bits_per_second
from perhop.schema_types import RouterConfiguration

# Interfaces that can be added to a router, each with its rate.
_ADDABLE = (
    ("TenGigabitEthernet99/0", "10Gb/s"),
    ("HundredGigE99/0", "100Gb/s"),
    ("FourHundredGigE99/0", "400Gb/s"),
)
# What is added to Linux' devices; they have no rate by themselves.
_ADDED_DEVICE = "ether99"
# Packets enter this many times faster than they can leave: all classes together are offered a fifth more than
# leaves, and bursts must reach the queue under test.
_FASTER = 2.0
# Conditions about where a packet entered, and what an input policy set.
_OF_ENTRANCE = ("label", "color", "input")
# The number of names in an error message.
_NAMED = 12


def select_network(
    router: Router,
    configuration: RouterConfiguration,
    base: Path,
    interface: str | None,
    *,
    platform: str | None = None,
    rate: str | None = None,
) -> Network:
    """Return the path through the router with the largest output policy, or the one that uses `interface`.

    The line of that interface has `rate`, if given.

    Raises:
        InvalidInputError: there is no such interface, or none that is up.

    """
    up = ports_that_are_up(router)
    chosen = max(up, key=_output_rank) if interface is None else named(interface, router["ports"])
    others = [port for port in up if not _same(port, chosen)]
    line = _of(chosen) if rate is None else Interface(chosen["name"], rate, chosen)
    network = Network(
        router=node_name(router["hostname"]),
        configuration=configuration,
        base=base,
        entering=line,
        leaving=line,
        platform=platform,
        own=[one for port in router["ports"] for one, _ in port["addresses"]],
        subnets=[IPv4Interface(tuple(one)).network for port in router["ports"] for one in port["addresses"]],
    )
    if has_input_policy(chosen) and not has_output_policy(chosen):
        plain = [port for port in others if not has_output_policy(port)]
        leaving = _widest(plain) or _widest(others) or _addable(network, network.bottleneck)
        return _completed(replace(network, leaving=leaving), up)
    usual, remarks = _usual_entrance(network, others)
    return _completed(replace(network, entering=usual, remarks=remarks), up)


def other_entrances(network: Network, router: Router) -> Iterator[Network]:
    """Return the network with each other entrance that could bring packets to classes that lack them.

    An input policy can set what an output policy matches (`set qos-group`), and a class can match the
    interface that packets entered by.
    """
    for port in router["ports"]:
        is_other = not port["shutdown"] and not is_virtual(port["name"]) and not _same_as(network, port)
        if is_other:
            policy = " and its input policy" if has_input_policy(port) else ""
            remark = f"packets enter by {port['name']}{policy}, which a class depends on"
            other = replace(
                network,
                configuration=_without_added(network),
                entering=_of(port),
                remarks=[remark],
            )
            yield _completed(other, router["ports"])


def depends_on_entrance(network: Network) -> bool:
    """Whether a class matches what only an input policy sets, or the interface that packets entered by."""
    return any(
        True for leaf in network.leaves for match in leaf.matches for _ in _values(match, _OF_ENTRANCE)
    )


def _values(match: Any, keys: Sequence[str]) -> Iterator[str]:  # noqa: ANN401 - a condition, or a part of one
    """Return what a condition, or a part of it, says about the properties in `keys`."""
    if isinstance(match, Mapping):
        for key, value in match.items():
            if key in keys:
                yield from map(str, value if isinstance(value, list) else [value])
            else:
                yield from _values(value, keys)
    elif isinstance(match, list):
        for one in match:
            yield from _values(one, keys)


def has_input_policy(port: RouterPort) -> bool:
    """Whether packets that enter by a port are marked or policed."""
    return bool(port["input"].get("conditioners"))


def has_output_policy(port: RouterPort) -> bool:
    """Whether packets that leave by a port are classified, marked, policed or shaped."""
    return _output_rank(port)[0] > 0


def named(interface: str, ports: Sequence[RouterPort]) -> RouterPort:
    """Return the port with a name, which may be abbreviated as in the router; raises `InvalidInputError`."""
    wanted = _normal(interface)
    found = [port for port in ports if _normal(port["name"]) == wanted]
    kind, number = _parts(wanted)
    found = found or [
        port
        for port in ports
        if kind
        and _parts(_normal(port["name"]))[0].startswith(kind)
        and _parts(_normal(port["name"]))[1] == number
    ]
    if len(found) == 1:
        if is_virtual(found[0]["name"]):
            raise InvalidInputError(
                f"no packets leave the router by `{found[0]['name']}`",
                "choose an interface with a line behind it",
            )
        if found[0]["shutdown"]:
            raise InvalidInputError(
                f"interface `{found[0]['name']}` is shut down", "remove `shutdown` from the configuration"
            )
        return found[0]
    leading = [port for port in found or ports if not is_virtual(port["name"])]
    names = [port["name"] for port in leading if not port["shutdown"]]
    if found:
        raise InvalidInputError(f"`{interface}` may be several interfaces", f"which of {', '.join(names)}?")
    near = get_close_matches(interface, names, n=3) or [
        one for one in names if kind and _normal(one).startswith(kind)
    ]
    said = ", ".join(f"`{name}`" for name in near[:3])
    more = ", …" if len(names) > _NAMED else ""
    raise InvalidInputError(
        f"the configuration has no interface `{interface}`",
        f"did you mean {said}?" if near else f"interfaces: {', '.join(names[:_NAMED])}{more}",
    )


def _normal(name: str) -> str:
    return name.lower().replace(" ", "")


def _parts(name: str) -> tuple[str, str]:
    """Return the kind of an interface and its number: `gigabitethernet`, `0/1.100`."""
    found = re.match(r"[a-z-]*", name)
    kind = found.group() if found else ""
    return kind, name[len(kind) :]


def _usual_entrance(network: Network, others: Sequence[RouterPort]) -> tuple[Interface, list[str]]:
    """Return the interface to enter by: fast, without policies; else an added one, and why."""
    needed = _FASTER * network.bottleneck
    open_ports = [port for port in others if not has_input_policy(port) and not has_output_policy(port)]
    fast = [port for port in open_ports if _of(port).bits_per_second >= needed]
    if widest := _widest(fast):
        return widest, []
    if open_ports or not others:
        # None, or none that is faster than the one under test: no queue would fill.
        return _addable(network, needed), []
    names = ", ".join(port["name"] for port in others[:2]) + (", …" if len(others) > 2 else "")
    why = f"packets enter by an added interface: {names} would change or drop some"
    return _addable(network, needed), [why]


def _widest(ports: Sequence[RouterPort]) -> Interface | None:
    """Return the interface to enter by: one with an address, of the highest rate."""
    best = max(ports, key=lambda port: (bool(port["addresses"]), _of(port).bits_per_second), default=None)
    return None if best is None else _of(best)


def _addable(network: Network, needed: float) -> Interface:
    fast = [Interface(*one) for one in _ADDABLE if bits_per_second(one[1]) >= needed]
    one = fast[0] if fast else Interface(*_ADDABLE[-1])
    return replace(one, name=_ADDED_DEVICE) if network.platform == LINUX else one


def _command(platform: str | None, name: str) -> str:
    """Return the command that makes an added interface."""
    return f"tc qdisc add dev {name} root pfifo limit 1000" if platform == LINUX else f"interface {name}"


def added(platform: str | None) -> tuple[str, str]:
    """Return an interface without a policy that can be added to a router: its name, the command for it."""
    name = _ADDED_DEVICE if platform == LINUX else _ADDABLE[0][0]
    return name, _command(platform, name)


def _completed(network: Network, ports: Sequence[RouterPort]) -> Network:
    """Return the network with the interfaces that the router lacks, and those that its classes mention."""
    missing = [one for one in (network.entering, network.leaving) if one.port is None]
    configuration = network.configuration
    if missing:
        commands = [*configuration.get("add", []), *(_command(network.platform, one.name) for one in missing)]
        configuration = {**configuration, "add": commands}
    policies = [network.entering.side("input"), network.leaving.side("output")]
    mentioned = set(_values(policies, ("input",))) - {network.entering.name, network.leaving.name}
    beside = [_of(port) for port in ports if port["name"] in mentioned and not port["shutdown"]]
    assumed = [
        f"the line of {one.name} is taken for Ethernet of {one.rate}, which the configuration does not set; "
        "--rate sets it"
        for one in (network.entering, network.leaving)
        if one.assumed
    ]
    port = network.leaving.port
    is_left_out = port is not None and has_input_policy(port) and network.entering.name != port["name"]
    left_out = [f"not run: the input policy of {network.leaving.name}, by which packets leave"]
    remarks = [*network.remarks, *assumed, *(left_out if is_left_out else [])]
    return replace(network, configuration=configuration, beside=beside, remarks=remarks)


def _without_added(network: Network) -> RouterConfiguration:
    configuration = network.configuration
    ours = {_command(network.platform, name) for name in (_ADDED_DEVICE, *(name for name, _ in _ADDABLE))}
    commands = [one for one in configuration.get("add", []) if one not in ours]
    rest: RouterConfiguration = {**configuration, "add": commands}
    if not commands:
        del rest["add"]
    return rest


def _of(port: RouterPort) -> Interface:
    """Return a port as an interface of the path: at its wire's rate, else the assumed or configured one.

    A tunnel whose line is unknown has a line that its shapers do not fill: its bandwidth is arithmetic.
    """
    bandwidth = port["bandwidth"] if port.get("has_known_line", True) else None
    known = port["wire"]["rate"]
    assumed = None if known else port.get("assumed_rate")
    rate = known or assumed or bandwidth or _ADDABLE[0][1]
    return Interface(port["name"], str(rate), port, assumed=assumed is not None)


def has_assumed_line(router: Router) -> bool:
    """Whether a line has an assumed rate, because the language has no command for it."""
    return any(port.get("assumed_rate") for port in router["ports"])


def _same(one: RouterPort, other: RouterPort) -> bool:
    """Whether two ports are one interface, or sub-interfaces or circuits of one."""
    return _wire(one["name"]) == _wire(other["name"])


def _wire(name: str) -> str:
    return re.split(r"[. ]", name, maxsplit=1)[0]


def _same_as(network: Network, port: RouterPort) -> bool:
    leaving = network.leaving.port
    return network.entering.name == port["name"] or (leaving is not None and _same(leaving, port))


def _output_rank(port: RouterPort) -> tuple[int, int, bool, float]:
    """Return the rank of an interface to leave by: classes and conditioners, an address, a low rate."""
    queues = [leaf.name for leaf in leaves(port["output"], 1.0)]
    conditioners = len(port["output"].get("conditioners", []))
    return (
        0 if queues == ["fifo"] and not conditioners else len(queues) + conditioners,
        len(port["input"].get("conditioners", [])),
        bool(port["addresses"]),
        -_of(port).bits_per_second,
    )
