"""The shortest paths of OSPF and IS-IS through NX-OS, IOS XR, IOS and Junos in one network."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command

#: A ring: hosts behind n1 and r3, one way between them through x2, the other way through p4.
N1 = """\
version 9.3(5)
hostname n1
feature ospf
interface Ethernet1/1
  no switchport
  speed 1000
  ip address 192.0.2.1/30
  ip router ospf CORE area 0.0.0.0
interface Ethernet1/2
  no switchport
  speed 1000
  ip address 192.0.2.14/30
  ip router ospf CORE area 0.0.0.0
interface Ethernet1/3
  no switchport
  speed 1000
  ip address 10.1.0.1/24
  ip router ospf CORE area 0.0.0.0
  ip ospf passive-interface
router ospf CORE
  router-id 10.255.0.1
"""
X2 = """\
!! IOS XR Configuration 7.3.2
hostname x2
interface GigabitEthernet0/0/0/0
 ipv4 address 192.0.2.2 255.255.255.252
!
interface GigabitEthernet0/0/0/1
 ipv4 address 192.0.2.5 255.255.255.252
!
router ospf CORE
 router-id 10.255.0.2
 address-family ipv4 unicast
 area 0
  interface GigabitEthernet0/0/0/0
  !
  interface GigabitEthernet0/0/0/1
  !
 !
!
end
"""
R3 = """\
version 15.4
hostname r3
interface GigabitEthernet0/0
 ip address 192.0.2.6 255.255.255.252
interface GigabitEthernet0/1
 ip address 192.0.2.9 255.255.255.252
interface GigabitEthernet0/2
 ip address 10.3.0.1 255.255.255.0
router ospf 1
 router-id 10.255.0.3
 passive-interface GigabitEthernet0/2
 network 0.0.0.0 255.255.255.255 area 0
end
"""
P4 = """\
set system host-name p4
set chassis network-services enhanced-ip
set interfaces ge-0/0/0 unit 0 family inet address 192.0.2.10/30
set interfaces ge-0/0/1 unit 0 family inet address 192.0.2.13/30
set protocols ospf area 0 interface ge-0/0/0.0 metric 5
set protocols ospf area 0 interface ge-0/0/1.0
"""
RING = {"n1.cfg": N1, "x2.cfg": X2, "r3.cfg": R3, "p4.conf": P4}
Edit = tuple[str, str, str]

LISTED = "  interface GigabitEthernet0/0/0/1\n"
FIRST = "  ip address 192.0.2.1/30\n"
SECOND = "  speed 1000\n  ip address 192.0.2.14/30\n"
THROUGH_X2, THROUGH_P4 = ["n1", "x2", "r3"], ["n1", "p4", "r3"]


def lab(folder: Path, files: dict[str, str], *edits: Edit) -> Path:
    files = dict(files)
    for name, old, new in edits:
        assert old in files[name], (name, old)
        files[name] = files[name].replace(old, new, 1)
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text)
    return folder


def path(folder: Path, perhop: Command) -> list[str]:
    ends = ("--from", "10.1.0.5", "--to", "10.3.0.9", "--packet", "udp dscp ef", "--json")
    [walk] = perhop("trace", folder, *ends).json()["walks"]
    [only] = walk["there"]["paths"]
    return [hop["device"] for hop in only["hops"]]


#: Changes of the ring, and the path that they lead to.
WAYS: dict[str, tuple[list[str], list[Edit]]] = {
    "equal costs of the first ports": (THROUGH_X2, []),
    "cost of a listed port": (THROUGH_P4, [("x2.cfg", LISTED, f"{LISTED}   cost 10\n")]),
    "cost of an area": (THROUGH_P4, [("x2.cfg", " area 0\n", " area 0\n  cost 10\n")]),
    "cost of a port above the cost of its area": (
        THROUGH_X2,
        [("x2.cfg", " area 0\n", " area 0\n  cost 10\n"), ("x2.cfg", LISTED, f"{LISTED}   cost 2\n")],
    ),
    "cost of a process": (THROUGH_P4, [("x2.cfg", " area 0\n", " cost 10\n area 0\n")]),
    "reference of IOS XR": (
        THROUGH_P4,
        [("x2.cfg", " area 0\n", " auto-cost reference-bandwidth 40000\n area 0\n")],
    ),
    "bandwidth of IOS XR": (
        THROUGH_P4,
        [
            (
                "x2.cfg",
                "interface GigabitEthernet0/0/0/1\n",
                "interface GigabitEthernet0/0/0/1\n bandwidth 9000\n",
            )
        ],
    ),
    "cost of NX-OS": (THROUGH_P4, [("n1.cfg", FIRST, f"{FIRST}  ip ospf cost 50\n")]),
    # 40 Gb/s divided by 10 Gb/s is 4, by 1 Gb/s 40.
    "faster port of NX-OS": (THROUGH_P4, [("n1.cfg", SECOND, SECOND.replace("1000", "10000"))]),
    "faster port of NX-OS with the reference of IOS": (
        THROUGH_X2,
        [
            ("n1.cfg", SECOND, SECOND.replace("1000", "10000")),
            ("n1.cfg", "  router-id", "  auto-cost reference-bandwidth 100 Mbps\n  router-id"),
        ],
    ),
    "passive port of NX-OS": (THROUGH_P4, [("n1.cfg", FIRST, f"{FIRST}  ip ospf passive-interface\n")]),
    "passive ports of NX-OS with an exception": (
        THROUGH_P4,
        [
            ("n1.cfg", "  router-id", "  passive-interface default\n  router-id"),
            ("n1.cfg", SECOND, f"{SECOND}  no ip ospf passive-interface\n"),
        ],
    ),
    "port of NX-OS that is off": (THROUGH_P4, [("n1.cfg", FIRST, f"{FIRST}  ip ospf shutdown\n")]),
    "passive port of IOS XR": (THROUGH_P4, [("x2.cfg", LISTED, f"{LISTED}   passive enable\n")]),
    "passive process of IOS XR": (THROUGH_P4, [("x2.cfg", " area 0\n", " passive enable\n area 0\n")]),
    "port that is not listed": (THROUGH_P4, [("x2.cfg", f"{LISTED}  !\n", "")]),
    "another area": (THROUGH_P4, [("n1.cfg", "area 0.0.0.0", "area 0.0.0.1")]),
    "area in both forms": (THROUGH_X2, [("x2.cfg", " area 0\n", " area 0.0.0.0\n")]),
    "port in another VRF": (
        THROUGH_P4,
        [
            ("n1.cfg", FIRST, f"  vrf member RED\n{FIRST}"),
            ("n1.cfg", "  router-id 10.255.0.1\n", "  router-id 10.255.0.1\n  vrf RED\n"),
        ],
    ),
}


@pytest.mark.parametrize("name", WAYS)
def test_costs_of_four_systems_decide_the_path(name: str, tmp_path: Path, perhop: Command) -> None:
    expected, edits = WAYS[name]
    assert path(lab(tmp_path / "lab", RING, *edits), perhop) == expected


def test_the_healthy_ring_has_no_findings_about_neighbors(tmp_path: Path, perhop: Command) -> None:
    found = perhop("check", lab(tmp_path / "lab", RING)).out
    assert "warning[network-" not in found


#: Faults of the ring, and the finding about each.
FAULTS: dict[str, tuple[Edit, str]] = {
    "other area": (
        ("n1.cfg", "area 0.0.0.0", "area 0.0.0.1"),
        "n1.cfg:8: warning[network-neighbors-missing]: n1:Ethernet1/1 and x2:GigabitEthernet0/0/0/0",
    ),
    "passive": (
        ("x2.cfg", LISTED, f"{LISTED}   passive enable\n"),
        "x2.cfg:16: warning[network-neighbors-missing]: x2:GigabitEthernet0/0/0/1 and r3:GigabitEthernet0/0",
    ),
    "not listed": (
        ("x2.cfg", f"{LISTED}  !\n", ""),
        "x2.cfg:9: warning[network-neighbors-missing]: x2:GigabitEthernet0/0/0/1 and r3:GigabitEthernet0/0",
    ),
    "no process": (
        ("n1.cfg", f"{FIRST}  ip router ospf CORE area 0.0.0.0\n", FIRST),
        "n1.cfg:4: warning[network-neighbors-missing]: n1:Ethernet1/1 and x2:GigabitEthernet0/0/0/0",
    ),
    "hello interval of NX-OS": (
        ("n1.cfg", FIRST, f"{FIRST}  ip ospf hello-interval 5\n"),
        "warning[network-setting-differs]: n1:Ethernet1/1: hello interval of OSPF is 5, but 10",
    ),
    "hello interval of an area": (
        ("x2.cfg", " area 0\n", " area 0\n  hello-interval 5\n"),
        "warning[network-setting-differs]: x2:GigabitEthernet0/0/0/0: hello interval of OSPF is 5, but 10",
    ),
    "network type": (
        ("x2.cfg", LISTED, f"{LISTED}   network point-to-point\n"),
        "warning[network-setting-differs]: only one of x2:GigabitEthernet0/0/0/1 and r3:GigabitEthernet0/0",
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_between_two_systems_is_one_finding(name: str, tmp_path: Path, perhop: Command) -> None:
    edit, expected = FAULTS[name]
    found = perhop("check", lab(tmp_path / "lab", RING, edit)).out
    [at_fault] = [line for line in found.splitlines() if expected in line]
    assert found.count(at_fault.split("]", 1)[1]) == 1


def test_a_changed_cost_changes_the_walks(tmp_path: Path, perhop: Command) -> None:
    old = lab(tmp_path / "old", RING)
    new = lab(tmp_path / "new", RING, ("x2.cfg", LISTED, f"{LISTED}   cost 10\n"))
    ended = perhop("diff", old, new, "--strict")
    assert ended.code == 4
    assert "x2" in ended.out and "p4" in ended.out


NEXT_HOP = "ip route 0.0.0.0/0 192.0.2.2\n"
#: Lines of n1 by which a default route is not certain, and whether they make the walk stop.
UNCERTAIN = {
    "": False,
    "  maximum-paths 8\n": False,
    "  redistribute static route-map ALL\n": True,
    "  area 0.0.0.0 range 10.0.0.0/8\n": True,
    "  table-map FILTER filter\n": True,
    "router eigrp 7\n": True,
    "router bgp 65000\n": True,
    # The routes of another VRF are in another table.
    "  vrf RED\n    redistribute static route-map ALL\n": False,
}


@pytest.mark.parametrize("lines", UNCERTAIN)
def test_a_default_route_of_nx_os_is_followed_unless_routes_are_not_computed(
    lines: str, tmp_path: Path, perhop: Command
) -> None:
    folder = lab(
        tmp_path / "lab",
        {"n1.cfg": NEXT_HOP + N1 + lines, "x2.cfg": X2},
        ("x2.cfg", "192.0.2.5 255.255.255.252", "10.3.0.1 255.255.255.0"),
        ("x2.cfg", f"{LISTED}  !\n", ""),
    )
    ended = perhop("trace", folder, "--from", "10.1.0.5", "--to", "10.3.0.9", "--packet", "udp dscp ef")
    assert ("path unknown at n1: only the default route leads to 10.3.0.9" in ended.out) is UNCERTAIN[lines]
    assert ("may add a better route" in ended.out) is UNCERTAIN[lines]


def test_the_routes_of_groups_of_ios_xr_are_not_computed(tmp_path: Path, perhop: Command) -> None:
    group = "group G\n router ospf '.*'\n  area '.*'\n   cost 10\n  !\n !\nend-group\n"
    used = ("x2.cfg", "router ospf CORE\n", f"{group}router ospf CORE\n apply-group G\n")
    folder = lab(tmp_path / "lab", RING, used)
    assert path(folder, perhop) == THROUGH_P4
    assert "network-neighbors-missing" not in perhop("check", folder).out


def vrf(files: dict[str, str]) -> dict[str, str]:
    """Moves all ports of n1 and x2, and their OSPF, to the VRF RED."""
    nexus = files["n1.cfg"].replace("  no switchport\n", "  no switchport\n  vrf member RED\n")
    nexus = nexus.replace("  router-id", "  vrf RED\n    router-id")
    head, process = files["x2.cfg"].split("router ospf CORE\n")
    head = head.replace(" ipv4 address", " vrf RED\n ipv4 address")
    inner = "".join(f" {line}\n" for line in process.removesuffix("!\nend\n").splitlines())
    return {**files, "n1.cfg": nexus, "x2.cfg": f"{head}router ospf CORE\n vrf RED\n{inner} !\n!\nend\n"}


def test_processes_of_a_vrf_have_their_own_routes(tmp_path: Path, perhop: Command) -> None:
    files = vrf(RING)
    assert path(lab(tmp_path / "both", files), perhop) == THROUGH_X2
    cost = (
        "x2.cfg",
        "interface GigabitEthernet0/0/0/1\n   !",
        "interface GigabitEthernet0/0/0/1\n    cost 10\n   !",
    )
    assert path(lab(tmp_path / "cost", files, cost), perhop) == THROUGH_P4
    alone = lab(tmp_path / "alone", {**files, "x2.cfg": X2.replace(" ipv4", " vrf RED\n ipv4")})
    assert path(alone, perhop) == THROUGH_P4, "the process of x2 is in the global table"


def test_a_static_route_of_a_vrf_hides_the_route_of_ospf(tmp_path: Path, perhop: Command) -> None:
    def static(route: str) -> Edit:
        block = (
            f"router static\n vrf RED\n  address-family ipv4 unicast\n   10.3.0.0/25 {route}\n  !\n !\n!\n"
        )
        return ("x2.cfg", "router ospf", f"{block}router ospf")

    files = vrf(RING)
    back = lab(tmp_path / "back", files, static("192.0.2.6"))
    assert path(back, perhop) == THROUGH_X2
    leaked = lab(tmp_path / "leaked", files, static("vrf default 192.0.2.6"))
    ends = ("--from", "10.1.0.5", "--to", "10.3.0.9", "--packet", "udp dscp ef")
    assert "path unknown at x2" in perhop("trace", leaked, *ends).out


#: The same ring with IS-IS.
ISIS = {
    "n1.cfg": N1.replace("feature ospf", "feature isis")
    .replace("ip router ospf CORE area 0.0.0.0", "ip router isis CORE")
    .replace("  ip ospf passive-interface", "  isis passive-interface level-1-2")
    .replace("router ospf CORE\n  router-id 10.255.0.1", "router isis CORE\n  net 49.0001.0000.0000.0001.00"),
    "x2.cfg": X2.split("router ospf", maxsplit=1)[0]
    + """\
router isis CORE
 net 49.0001.0000.0000.0002.00
 address-family ipv4 unicast
  metric-style wide
 !
 interface GigabitEthernet0/0/0/0
  address-family ipv4 unicast
  !
 !
 interface GigabitEthernet0/0/0/1
  address-family ipv4 unicast
  !
 !
!
end
""",
    "r3.cfg": R3.replace("255.255.255.252\n", "255.255.255.252\n ip router isis\n")
    .replace(
        "router ospf 1\n router-id 10.255.0.3\n",
        "router isis\n net 49.0001.0000.0000.0003.00\n metric-style wide\n",
    )
    .replace(" network 0.0.0.0 255.255.255.255 area 0\n", ""),
    "p4.conf": P4.replace("ospf area 0", "isis").replace("metric 5", "level 2 metric 15")
    + """\
set interfaces ge-0/0/0 unit 0 family iso
set interfaces ge-0/0/1 unit 0 family iso
set interfaces lo0 unit 0 family iso address 49.0001.0000.0000.0004.00
set protocols isis level 2 wide-metrics-only
""",
}
FAMILY = "  interface GigabitEthernet0/0/0/1\n  address-family ipv4 unicast\n"[1:]
ISIS_WAYS: dict[str, tuple[list[str], list[Edit]]] = {
    "default metrics": (THROUGH_X2, []),
    "metric of a listed port": (THROUGH_P4, [("x2.cfg", FAMILY, f"{FAMILY}   metric 20\n")]),
    "metric of the other level": (THROUGH_X2, [("x2.cfg", FAMILY, f"{FAMILY}   metric 20 level 1\n")]),
    "metric of a process": (
        THROUGH_P4,
        [("x2.cfg", "  metric-style wide\n", "  metric-style wide\n  metric 20 level 2\n")],
    ),
    "metric of NX-OS": (THROUGH_P4, [("n1.cfg", FIRST, f"{FIRST}  isis metric 60 level-2\n")]),
    "faster port of NX-OS": (THROUGH_P4, [("n1.cfg", SECOND, SECOND.replace("1000", "10000"))]),
    "passive port of NX-OS": (
        THROUGH_P4,
        [("n1.cfg", FIRST, f"{FIRST}  isis passive-interface level-1-2\n")],
    ),
    "port without the address family": (
        THROUGH_P4,
        [("x2.cfg", FAMILY, FAMILY.replace("ipv4", "ipv6"))],
    ),
    "port that is off": (
        THROUGH_P4,
        [("x2.cfg", FAMILY, FAMILY.replace("  address", "  shutdown\n  address"))],
    ),
}


@pytest.mark.parametrize("name", ISIS_WAYS)
def test_metrics_of_four_systems_decide_the_path(name: str, tmp_path: Path, perhop: Command) -> None:
    expected, edits = ISIS_WAYS[name]
    assert path(lab(tmp_path / "lab", ISIS, *edits), perhop) == expected


def test_the_healthy_ring_of_is_is_has_no_findings(tmp_path: Path, perhop: Command) -> None:
    assert "warning[network-" not in perhop("check", lab(tmp_path / "lab", ISIS)).out


def test_a_suppressed_port_is_not_announced(tmp_path: Path, perhop: Command) -> None:
    folder = lab(
        tmp_path / "lab",
        ISIS,
        ("n1.cfg", "  isis passive-interface level-1-2\n", "  isis suppressed\n"),
    )
    ends = ("--from", "10.3.0.9", "--to", "10.1.0.5", "--packet", "udp dscp ef")
    ended = perhop("trace", folder, *ends)
    assert "path unknown at r3: no route to 10.1.0.5 is known" in ended.out
