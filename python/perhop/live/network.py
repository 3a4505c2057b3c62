"""What is to be built: nodes, and between them cables of two devices.

Nothing here touches the system. Devices are called `eth0`, `eth1`, … at each node, in the order of the
scenario's links.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

#: The longest IP packet in a frame of Ethernet, in bytes (RFC 894).
ETHERNET_MTU = 1500
#: The address of Ethernet that every host believes to be its gateway's. No device has it: a router's kernel
#: therefore takes every frame for somebody else's and drops it at once, after the forwarder's socket has
#: seen it.
GATEWAY_MAC = "02:70:68:6f:70:00"
#: The gateway's addresses, link-local so that they are no scenario's.
GATEWAY_IPV4 = "169.254.112.104"
GATEWAY_IPV6 = "fe80::7068"


@dataclass(frozen=True)
class Device:
    """One end of a cable."""

    node: str
    #: Its name in the node's namespace.
    name: str
    #: Its own address of Ethernet.
    mac: str
    #: What the plan calls it: the node at the other end of the scenario's link.
    towards: str


@dataclass(frozen=True)
class Network:
    """Nodes and the devices that connect them."""

    #: Address by host.
    addresses: Mapping[str, Address]
    #: Routers, and the wires between two hosts.
    forwarders: tuple[str, ...]
    #: Both ends of each cable.
    cables: tuple[tuple[Device, Device], ...]
    #: Destinations by host and by what the plan calls the device that leads there, if it has several.
    routes: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    #: The longest IP packet that gets through, in bytes.
    mtu: int = ETHERNET_MTU

    @property
    def nodes(self) -> list[str]:
        """All of them: each gets a namespace."""
        return [*self.addresses, *self.forwarders]

    def devices(self, node: str) -> list[Device]:
        """Return the devices of a node, `eth0` first."""
        return [device for cable in self.cables for device in cable if device.node == node]

    def peer(self, device: Device) -> Device:
        """Return the device at the other end."""
        one, other = next(cable for cable in self.cables if device in cable)
        return other if device == one else one

    def next_mac(self, device: Device) -> str:
        """Return the address of Ethernet that frames leaving by a device are for."""
        peer = self.peer(device)
        return peer.mac if peer.node in self.addresses else GATEWAY_MAC


def network(
    addresses: Mapping[str, str],
    forwarders: Iterable[str],
    cables: Iterable[tuple[tuple[str, str], tuple[str, str]]],
    routes: Mapping[str, Mapping[str, tuple[str, ...]]] | None = None,
    mtu: int = ETHERNET_MTU,
) -> Network:
    """Return the network of hosts, forwarders and the cables between them.

    Args:
        addresses: that of each host.
        forwarders: the other nodes.
        cables: node and device of either end, by the plan's names.
        routes: see `Network.routes`.
        mtu: the longest IP packet that is to get through; less than Ethernet's means Ethernet's.

    """
    parsed = {host: ipaddress.ip_address(address) for host, address in addresses.items()}
    count = dict.fromkeys([*parsed, *forwarders], 0)
    made: list[tuple[Device, Device]] = []

    def device(end: tuple[str, str], number: int) -> Device:
        node, towards = end
        name = f"eth{count[node]}"
        count[node] += 1
        # Bit 1 of the first byte: locally administered; bit 0 clear: of one station.
        mac = f"02:70:68:{len(made) >> 8 & 0xFF:02x}:{len(made) & 0xFF:02x}:{number:02x}"
        return Device(node, name, mac, towards)

    for one, other in cables:
        made.append((device(one, 1), device(other, 2)))
    others = tuple(node for node in count if node not in parsed)
    return Network(parsed, others, tuple(made), routes or {}, max(mtu, ETHERNET_MTU))
