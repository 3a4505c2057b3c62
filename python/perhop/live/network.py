"""The network to build: nodes, and cables with a device at each end.

This module does not change the system. The devices of a node are named `eth0`, `eth1`, … in the order of the
scenario's links.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

Address = ipaddress.IPv4Address | ipaddress.IPv6Address

#: The longest IP packet in an Ethernet frame, in bytes (RFC 894).
ETHERNET_MTU = 1500
#: The MAC address of every host's gateway. No device has this address: the router's kernel drops every frame
#: as foreign, after the forwarder's socket has received the frame.
GATEWAY_MAC = "02:70:68:6f:70:00"
#: The addresses of the gateway. They are link-local, so that no scenario uses them.
GATEWAY_IPV4 = "169.254.112.104"
GATEWAY_IPV6 = "fe80::7068"


@dataclass(frozen=True)
class Device:
    """One end of a cable."""

    node: str
    #: The name of the device in the node's namespace.
    name: str
    #: The MAC address of the device.
    mac: str
    #: The name of the device in the plan: the node at the other end of the scenario's link.
    towards: str


@dataclass(frozen=True)
class Network:
    """Nodes and the cables between them."""

    #: Address by host.
    addresses: Mapping[str, Address]
    #: Routers, and the nodes for wires between two hosts.
    forwarders: tuple[str, ...]
    #: Both ends of each cable.
    cables: tuple[tuple[Device, Device], ...]
    #: Destinations by host and by the plan's name of the device, for hosts with several devices.
    routes: Mapping[str, Mapping[str, tuple[str, ...]]] = field(default_factory=dict)
    #: The longest IP packet that passes, in bytes.
    mtu: int = ETHERNET_MTU
    #: The maximum bytes of VLAN tags and MPLS labels in frames between two forwarders.
    envelope: int = 0

    @property
    def nodes(self) -> list[str]:
        """All nodes; each gets a namespace."""
        return [*self.addresses, *self.forwarders]

    def devices(self, node: str) -> list[Device]:
        """Return the devices of a node, `eth0` first."""
        return [device for cable in self.cables for device in cable if device.node == node]

    def peer(self, device: Device) -> Device:
        """Return the device at the other end of the cable."""
        first, other = next(cable for cable in self.cables if device in cable)
        return other if device == first else first

    def mtu_of(self, cable: tuple[Device, Device]) -> int:
        """Return the MTU of a cable's devices; the MTU includes tags and labels, which the kernel counts."""
        has_host = any(device.node in self.addresses for device in cable)
        return self.mtu if has_host else self.mtu + self.envelope

    def next_mac(self, device: Device) -> str:
        """Return the destination MAC address of frames that leave via a device."""
        peer = self.peer(device)
        return peer.mac if peer.node in self.addresses else GATEWAY_MAC


def network(
    addresses: Mapping[str, str],
    forwarders: Iterable[str],
    cables: Iterable[tuple[tuple[str, str], tuple[str, str]]],
    routes: Mapping[str, Mapping[str, tuple[str, ...]]] | None = None,
    mtu: int = ETHERNET_MTU,
    *,
    envelope: int = 0,
) -> Network:
    """Return the network of hosts, forwarders and the cables between them.

    Args:
        addresses: address by host.
        forwarders: the other nodes.
        cables: node and device of both ends, by the plan's names.
        routes: see `Network.routes`.
        mtu: the longest IP packet that must pass, in bytes; at least that of Ethernet is used.
        envelope: see `Network.envelope`.

    """
    parsed = {host: ipaddress.ip_address(address) for host, address in addresses.items()}
    count = dict.fromkeys([*parsed, *forwarders], 0)
    made: list[tuple[Device, Device]] = []

    def device(end: tuple[str, str], number: int) -> Device:
        node, towards = end
        name = f"eth{count[node]}"
        count[node] += 1
        # Bit 1 of the first byte marks a locally administered address; bit 0 is clear for unicast.
        mac = f"02:70:68:{len(made) >> 8 & 0xFF:02x}:{len(made) & 0xFF:02x}:{number:02x}"
        return Device(node, name, mac, towards)

    for first, other in cables:
        made.append((device(first, 1), device(other, 2)))
    others = tuple(node for node in count if node not in parsed)
    return Network(parsed, others, tuple(made), routes or {}, max(mtu, ETHERNET_MTU), envelope)
