"""Rules about networks that read lines: the device, port, tunnel or neighbor that differs is named."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from network_lines import clouds, cores, edges, switches
from network_warnings import Files, changed, found

NETWORKS: dict[str, Callable[[], Files]] = {
    "switches": switches,
    "edges": edges,
    "clouds": clouds,
    "cores": cores,
}


@pytest.mark.parametrize("name", NETWORKS)
def test_a_healthy_network_has_no_warning(tmp_path: Path, name: str) -> None:
    assert found(tmp_path, NETWORKS[name]()) == set()


# The network, the file, the text that a fault removes, the text in its place, the line and the rule.
FAULTS = {
    "mark of a map": (
        "switches",
        "sw2.cfg",
        "24 32 46 48",
        "24 32 40 48",
        "mls qos map cos-dscp 0 8 16 24 32 40 48 56",
        "network-map-differs",
    ),
    "queue of a mark": (
        "switches",
        "sw3.cfg",
        "queue 1 threshold 3 40 46",
        "queue 4 threshold 3 40 46",
        "mls qos srr-queue output dscp-map queue 4 threshold 3 40 46",
        "network-map-differs",
    ),
    "target that no other exports": (
        "edges",
        "pe2.cfg",
        " route-target import 64500:1\n",
        " route-target import 64500:11\n",
        "route-target import 64500:11",
        "network-route-target-differs",
    ),
    "session without communities": (
        "edges",
        "pe3.cfg",
        "  neighbor 10.0.0.1 send-community extended\n",
        "",
        "neighbor 10.0.0.1 activate",
        "network-neighbor-incomplete",
    ),
    "session without a source": (
        "edges",
        "pe4.cfg",
        " neighbor 10.0.0.2 update-source Loopback0\n",
        "",
        "neighbor 10.0.0.2 remote-as 64500",
        "network-neighbor-incomplete",
    ),
    "profile that is not shared": (
        "clouds",
        "spoke2.cfg",
        " tunnel key 2\n tunnel vrf NET\n tunnel protection ipsec profile VPN shared",
        " tunnel key 2\n tunnel vrf NET\n tunnel protection ipsec profile VPN",
        "tunnel protection ipsec profile VPN",
        "network-tunnel-incomplete",
    ),
    "tunnel outside of its table": (
        "clouds",
        "spoke1.cfg",
        " tunnel key 1\n tunnel vrf NET\n",
        " tunnel key 1\n",
        "interface Tunnel1",
        "network-tunnel-incomplete",
    ),
    "usual window": (
        "clouds",
        "spoke3.cfg",
        "crypto ipsec security-association replay window-size 1024\n",
        "",
        "crypto ipsec profile VPN",
        "network-tunnel-incomplete",
    ),
    "classes of the hidden header": (
        "clouds",
        "hub.cfg",
        " tunnel mode gre multipoint\n",
        " qos pre-classify\n tunnel mode gre multipoint\n",
        "qos pre-classify",
        "network-tunnel-incomplete",
    ),
    "shaper above the circuit of a spoke": (
        "clouds",
        "hub.cfg",
        " class TO3\n  shape average 9500000\n",
        " class TO3\n  shape average 19000000\n",
        "shape average 19000000",
        "network-circuit-rate-differs",
    ),
    "port without a classifier": (
        "cores",
        "p2.conf",
        "        ge-0/0/1 {\n            scheduler-map MAP;\n            unit 0 {\n"
        "                classifiers {\n                    exp LABELS;\n                }\n",
        "        ge-0/0/1 {\n            scheduler-map MAP;\n            unit 0 {\n",
        "unit 0 {",
        "network-port-incomplete",
    ),
    "port without labels": (
        "cores",
        "p3.conf",
        "    ldp {\n        interface ge-0/0/0.0;\n",
        "    ldp {\n",
        "ldp {",
        "network-port-incomplete",
    ),
    "port that does not exist": (
        "cores",
        "p4.conf",
        "    ldp {\n        interface ge-0/0/0.0;\n",
        "    ldp {\n        interface ge-0/0/10.0;\n",
        "interface ge-0/0/10.0;",
        "network-port-incomplete",
    ),
    "identifier of another system": (
        "cores",
        "p2.conf",
        "0000.0002.00",
        "0000.0003.00",
        "address 49.0001.0000.0000.0003.00;",
        "network-router-id-duplicate",
    ),
    "level of a neighbor": (
        "cores",
        "p1.conf",
        "level 1 disable;",
        "level 2 disable;",
        "isis {",
        "network-setting-differs",
    ),
    "sum of shares": (
        "cores",
        "p1.conf",
        "transmit-rate percent 70;",
        "transmit-rate percent 90;",
        "MAP {",
        "network-queue-differs",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_the_line_of_a_fault_is_named(tmp_path: Path, name: str) -> None:
    network, file, old, new, line, rule = FAULTS[name]
    assert (file, line, rule) in found(tmp_path, changed(NETWORKS[network](), (file, old, new)))


# The network, the file, and two texts: the second in place of the first is harmless.
CHANGES = {
    "threshold of a queue": ("switches", "sw1.cfg", "queue 1 threshold 3", "queue 1 threshold 2"),
    "one more target": (
        "edges",
        "pe1.cfg",
        " route-target import 64500:1\n",
        " route-target import 64500:1\n route-target import 64500:9\n",
    ),
    "description of a neighbor": (
        "edges",
        "pe1.cfg",
        " neighbor 10.0.0.2 remote-as 64500\n",
        " neighbor 10.0.0.2 remote-as 64500\n neighbor 10.0.0.2 description PE2\n",
    ),
    "slower shaper": (
        "clouds",
        "hub.cfg",
        " class TO3\n  shape average 9500000",
        " class TO3\n  shape average 8000000",
    ),
    "description of a port": (
        "cores",
        "p1.conf",
        "    ge-0/0/0 {\n        unit",
        "    ge-0/0/0 {\n        description x;\n        unit",
    ),
    "smaller share": ("cores", "p1.conf", "transmit-rate percent 70;", "transmit-rate percent 60;"),
}


@pytest.mark.parametrize("name", CHANGES)
def test_a_change_without_a_fault_has_no_warning(tmp_path: Path, name: str) -> None:
    network, file, old, new = CHANGES[name]
    files = NETWORKS[network]()
    assert files[file].count(old) == 1
    files[file] = files[file].replace(old, new)
    assert found(tmp_path, files) == set()


def test_routes_of_internal_neighbors_are_passed_on_only_by_a_line(tmp_path: Path) -> None:
    router = """hostname R1
interface GigabitEthernet0/0
 ip address 10.0.0.1 255.255.255.0
router ospf 1
 redistribute bgp 64500 subnets
 network 10.0.0.0 0.0.0.255 area 0
router bgp 64500
 bgp redistribute-internal
 neighbor 10.0.0.9 remote-as 64500
"""
    other = "hostname R2\ninterface GigabitEthernet0/0\n ip address 10.2.0.2 255.255.255.0\n"
    assert found(tmp_path, {"r1.cfg": router, "r2.cfg": other}) == set()
    without = router.replace(" bgp redistribute-internal\n", "")
    at = ("r1.cfg", "redistribute bgp 64500 subnets", "network-neighbor-incomplete")
    assert found(tmp_path, {"r1.cfg": without, "r2.cfg": other}) == {at}
    external = without.replace("remote-as 64500", "remote-as 64999")
    assert found(tmp_path, {"r1.cfg": external, "r2.cfg": other}) == set()


@pytest.mark.parametrize(("rate", "is_wrong"), [(20_000, True), (20_000_000, False), (10_000_000, False)])
def test_a_rate_of_another_unit_than_its_name(tmp_path: Path, rate: int, is_wrong: bool) -> None:
    text = f"""hostname R1
policy-map LINE-20M
 class class-default
  shape average {rate}
interface GigabitEthernet0/0
 ip address 10.0.0.1 255.255.255.0
 service-policy output LINE-20M
"""
    other = "hostname R2\ninterface GigabitEthernet0/0\n ip address 10.2.0.2 255.255.255.0\n"
    at = ("r1.cfg", f"shape average {rate}", "network-rate-name")
    assert (at in found(tmp_path, {"r1.cfg": text, "r2.cfg": other})) is is_wrong


def gateways(priorities: dict[int, int | None], kind: str = "standby") -> Files:
    """Return two routers with a group of HSRP or VRRP for each subnet, and the priority of the first."""

    def group(number: int, first: bool) -> str:
        priority = priorities[number] if first else None
        line = "" if priority is None else f" {kind} {number} priority {priority}\n"
        return f""" ip address 10.{number}.0.{2 if first else 3} 255.255.255.0
 {kind} {number} ip 10.{number}.0.1
{line}"""

    return {
        f"gw{place}.cfg": f"hostname GW{place}\n"
        + "".join(
            f"interface GigabitEthernet0/{number}\n{group(number, place == 1)}" for number in priorities
        )
        for place in (1, 2)
    }


@pytest.mark.parametrize("kind", ["standby", "vrrp"])
def test_the_only_group_without_a_first_router_is_named(tmp_path: Path, kind: str) -> None:
    assert found(tmp_path, gateways({1: 110, 2: 110, 3: 110}, kind)) == set()
    named = found(tmp_path, gateways({1: 110, 2: 110, 3: None}, kind))
    assert {rule for _, _, rule in named} == {"network-group-differs"}
    assert {file for file, _, _ in named} == {"gw1.cfg", "gw2.cfg"}
    # If most groups of a network leave the choice to the addresses, this is intended.
    assert found(tmp_path, gateways({1: 110, 2: None, 3: None}, kind)) == set()


ROUTES = """hostname R1
vrf definition RED
 rd 1:1
 address-family ipv4
interface GigabitEthernet0/0
 ip address 192.0.2.1 255.255.255.252
interface GigabitEthernet0/1
 vrf forwarding RED
 ip address 198.51.100.1 255.255.255.252
"""
NEIGHBOR = "hostname R2\ninterface GigabitEthernet0/0\n ip address 192.0.2.2 255.255.255.252\n"


def test_a_next_hop_in_another_routing_table_is_named(tmp_path: Path) -> None:
    route = "ip route 10.9.0.0 255.255.255.0 198.51.100.2"
    at = ("r1.cfg", route, "network-next-hop-unknown")
    assert at in found(tmp_path, {"r1.cfg": f"{ROUTES}{route}\n", "r2.cfg": NEIGHBOR})
    right = "ip route vrf RED 10.9.0.0 255.255.255.0 198.51.100.2"
    assert found(tmp_path, {"r1.cfg": f"{ROUTES}{right}\n", "r2.cfg": NEIGHBOR}) == set()


@pytest.mark.parametrize(("mask", "is_wrong"), [("255.255.255.0", False), ("255.255.254.0", True)])
def test_a_network_of_bgp_needs_the_length_of_a_route(tmp_path: Path, mask: str, is_wrong: bool) -> None:
    line = f"network 10.5.0.0 mask {mask}"
    router = f"""{ROUTES}interface GigabitEthernet0/2
 ip address 10.5.0.1 255.255.255.0
router bgp 64500
 {line}
 neighbor 192.0.2.2 remote-as 64501
"""
    other = f"{NEIGHBOR}router bgp 64501\n neighbor 192.0.2.1 remote-as 64500\n"
    named = {at for at in found(tmp_path, {"r1.cfg": router, "r2.cfg": other}) if at[0] == "r1.cfg"}
    assert (("r1.cfg", line, "network-route-missing") in named) is is_wrong


@pytest.mark.parametrize(("burst", "is_wrong"), [(1500, True), (100_000, False)])
def test_the_only_short_burst_is_named(tmp_path: Path, burst: int, is_wrong: bool) -> None:
    def router(number: int, burst: int) -> str:
        return f"""hostname R{number}
policy-map IN
 class class-default
  police cir 8000000 bc {burst} conform-action transmit exceed-action drop
interface GigabitEthernet0/0
 ip address 10.{number}.0.1 255.255.255.0
 service-policy input IN
"""

    files = {f"r{number}.cfg": router(number, 250_000) for number in range(6)}
    files["r6.cfg"] = router(6, burst)
    line = f"police cir 8000000 bc {burst} conform-action transmit exceed-action drop"
    at = ("r6.cfg", line, "network-queue-differs")
    assert (at in found(tmp_path, files)) is is_wrong
