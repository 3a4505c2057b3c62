"""Building a network: namespaces, veth pairs, addresses, routes, neighbors."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from perhop.errors import MissingCapabilityError
from perhop.live import kernel, namespaces
from perhop.live.network import GATEWAY_IPV4, GATEWAY_IPV6, GATEWAY_MAC, Address, Device, Network

if TYPE_CHECKING:
    from pyroute2 import IPRoute

_SYSCTL = Path("/proc/sys/net")
# IFALIASZ of <linux/if.h>, minus two bytes that the kernel does not accept.
_LONGEST_ALIAS = 253
# Prevent the kernel from sending its own packets, and from caching metrics of one flow for the next.
_QUIET = {
    "ipv4/tcp_no_metrics_save": "1",
    "ipv4/ip_forward": "0",
}
_WITHOUT_IPV6 = {"ipv6/conf/default/disable_ipv6": "1", "ipv6/conf/all/disable_ipv6": "1"}
# Settings against automatic messages: duplicate address detection, router solicitations, link-local
# addresses.
_QUIET_IPV6 = {
    "ipv6/conf/default/accept_dad": "0",
    "ipv6/conf/default/accept_ra": "0",
    "ipv6/conf/default/router_solicitations": "0",
    "ipv6/conf/default/addr_gen_mode": "1",
    "ipv6/conf/default/mldv2_unsolicited_report_interval": "3600000",
}


def build(
    network: Network, names: Mapping[str, str], congestion_controls: Mapping[str, str] | None = None
) -> list[str]:
    """Build `network` in namespaces named `names`; returns optional settings that the system refused.

    `congestion_controls` has the TCP congestion control by host; by default the system's.

    On failure the caller removes what was built; the names identify the owner.

    Raises:
        MissingCapabilityError: the kernel lacks a congestion control.
        OSError: the kernel refused a namespace, a device or an address.

    """
    refused: list[str] = []
    for node in network.nodes:
        namespaces.make(names[node])
        with namespaces.inside(names[node]):
            refused += _settle(network, node)
    for cable in network.cables:
        _connect(cable, names, network.mtu_of(cable))
    for node in network.nodes:
        with namespaces.inside(names[node]):
            _configure(network, node, (congestion_controls or {}).get(node))
    return refused


def offered_congestion_controls() -> list[str]:
    """Return the TCP congestion controls available in the kernel."""
    try:
        return (_SYSCTL / "ipv4/tcp_available_congestion_control").read_text(encoding="ascii").split()
    except OSError:
        return []


def _settle(network: Network, node: str) -> list[str]:
    """Set the defaults for the devices of the current namespace; return the refused settings."""
    address = network.addresses.get(node)
    settings = dict(_QUIET)
    if Path("/proc/sys/net/ipv6").is_dir():
        settings |= _QUIET_IPV6 if address is not None and address.version == 6 else _WITHOUT_IPV6
    refused = []
    for key, value in settings.items():
        try:
            (_SYSCTL / key).write_text(value, encoding="ascii")
        except OSError as error:
            refused.append(f"{node}: net/{key} = {value}: {error.strerror}")
    return refused


def _connect(cable: tuple[Device, Device], names: Mapping[str, str], mtu: int) -> None:
    """Make a veth pair directly in its two namespaces, so that it never appears elsewhere."""
    from pyroute2 import IPRoute  # lazy: optional package

    device, other = cable
    far = os.open(namespaces.path(names[other.node]), os.O_RDONLY | os.O_CLOEXEC)
    try:
        with namespaces.inside(names[device.node]), IPRoute() as kernel_link:
            kernel_link.link(
                "add",
                ifname=device.name,
                kind="veth",
                address=device.mac,
                mtu=mtu,
                peer={"ifname": other.name, "address": other.mac, "mtu": mtu, "net_ns_fd": far},
            )
    finally:
        os.close(far)


def _configure(network: Network, node: str, congestion_control: str | None) -> None:
    """Bring up the devices of a node from its namespace; give hosts an address and routes."""
    from pyroute2 import IPRoute  # lazy: optional package

    with IPRoute() as ip:
        ip.link("set", index=_index(ip, "lo"), state="up")
        for position, device in enumerate(network.devices(node)):
            index = _index(ip, device.name)
            kernel.switch_offloads_off(device.name)
            ip.link("set", index=index, ifalias=_alias(device), state="up")
            address = network.addresses.get(node)
            if address is None:
                continue
            _address(ip, index, address)
            targets = network.routes.get(node, {}).get(device.towards, ())
            if position == 0:
                targets = (*targets, "0.0.0.0/0" if address.version == 4 else "::/0")
            for target in targets:
                _add_route(ip, index, address, target, congestion_control)


def _address(ip: IPRoute, index: int, address: Address) -> None:
    """Give a device the address of its host, and a permanent neighbor entry for the gateway."""
    ip.addr("add", index=index, address=str(address), prefixlen=address.max_prefixlen)
    ip.neigh("add", ifindex=index, dst=_gateway(address), lladdr=GATEWAY_MAC, state="permanent")


def _add_route(
    ip: IPRoute, index: int, address: Address, target: str, congestion_control: str | None
) -> None:
    """Route `target` to the gateway, with a TCP congestion control if given.

    The congestion control is set on the route, because a namespace accepts only controls that the
    administrator allows for all users.
    """
    from pyroute2.netlink.exceptions import NetlinkError  # lazy: optional package

    metrics = {} if congestion_control is None else {"metrics": {"cc_algo": congestion_control}}
    try:
        ip.route("add", dst=target, gateway=_gateway(address), oif=index, flags=["onlink"], **metrics)
    except NetlinkError as error:
        if congestion_control is None or congestion_control in offered_congestion_controls():
            raise
        raise MissingCapabilityError(
            f"this kernel has no TCP congestion control `{congestion_control}`",
            f"available: {', '.join(offered_congestion_controls())}",
        ) from error


def _gateway(address: Address) -> str:
    return GATEWAY_IPV4 if address.version == 4 else GATEWAY_IPV6


def _alias(device: Device) -> str:
    """Return the alias of a device, which `ip link` shows."""
    return f"{device.node} to {device.towards}".encode()[:_LONGEST_ALIAS].decode(errors="ignore")


def _index(ip: IPRoute, name: str) -> int:
    return int(ip.link_lookup(ifname=name)[0])
