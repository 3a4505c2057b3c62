"""Router configurations whose classes contain policies that only mark, and tunnels whose line is unknown."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command

# A branch router: management (cs2) is guaranteed 10 % of 2 Mb/s although its child marks routing updates.
BRANCH = """\
version {version}
class-map match-any MANAGEMENT
 match dscp cs2
class-map match-any ROUTING
 match dscp cs6
policy-map REMARK
 class ROUTING
  set dscp cs7
policy-map UPLINK
 class MANAGEMENT
  {command}
  service-policy REMARK
 class class-default
  bandwidth percent 50
interface Serial0/1/0
 bandwidth 2000
 ip address 192.0.2.1 255.255.255.252
 service-policy output UPLINK
interface FastEthernet0/0
 ip address 198.51.100.1 255.255.255.0
"""

# The configuration does not determine the line by which packets of the tunnel leave.
SOURCELESS = """\
class-map match-any CALLS
 match dscp ef
class-map match-any ORDERS
 match dscp af31
policy-map INNER
 class CALLS
  priority percent 20
 class ORDERS
  bandwidth percent 25
policy-map OUTER
 class class-default
  shape average 3000000
  service-policy INNER
interface Tunnel7
 ip nhrp map group SMALL service-policy output OUTER
interface FastEthernet0/0
 ip address 192.0.2.1 255.255.255.0
"""

PACKET = "udp 198.51.100.9:4000 > 203.0.113.9:4000 dscp cs2 len 500"


@pytest.fixture
def router(tmp_path: Path) -> Path:
    return tmp_path / "router.cfg"


@pytest.mark.parametrize("platform", ["pre-hqf", "hqf", "ios-xe"])
@pytest.mark.parametrize("command", ["bandwidth percent 10", "priority percent 10", "shape average 200000"])
def test_a_packet_waits_in_the_class_around_a_child_that_marks(
    perhop: Command, router: Path, platform: str, command: str
) -> None:
    router.write_text(BRANCH.format(version="15.2", command=command))
    traced = perhop("trace", router, "--packet", PACKET, "--platform", platform, "--json").json()
    (path,) = traced["packets"][0]["paths"]
    assert path["queue"].rpartition("/")[2] == "MANAGEMENT"


@pytest.mark.parametrize(
    ("command", "platform", "management_kbps", "others_kbps"),
    [
        ("bandwidth percent 10", "hqf", 329, 1644),
        ("bandwidth percent 10", "ios-xe", 589, 1383),
        ("priority percent 10", "hqf", 198, 1774),
        ("shape average 200000", "hqf", 197, 1775),
    ],
)
def test_a_class_around_a_child_that_marks_keeps_its_rate(
    perhop: Command, router: Path, command: str, platform: str, management_kbps: int, others_kbps: int
) -> None:
    """The load of both classes exceeds the line; their rates are those without the child."""
    router.write_text(BRANCH.format(version="15.2", command=command))
    rows = [
        "class,rate,packet_bytes,kind",
        "MANAGEMENT,3Mb/s,500,constant",
        "class-default,3Mb/s,500,constant",
    ]
    router.with_name("offered.csv").write_text("\n".join(rows) + "\n")
    plain = router.with_name("plain.cfg")
    plain.write_text(router.read_text().replace("  service-policy REMARK\n", ""))
    found = []
    for file in (router, plain):
        options = ("--platform", platform, "--traffic", "offered.csv", "--duration", "20s", "--json")
        classes = perhop("run", file, *options).json()["classes"]
        rates = {row["class"]: row["throughput_bps"]["mean"] / 1e3 for row in classes}
        found.append((rates["MANAGEMENT"], rates["class-default"]))
    assert found[0] == pytest.approx(found[1], rel=0.01)
    assert found[0] == pytest.approx((management_kbps, others_kbps), rel=0.05, abs=10)


def test_the_class_default_of_a_child_that_marks_is_the_class_around_it(
    perhop: Command, router: Path
) -> None:
    """MANAGEMENT has a single load, and class-default is that of the outer policy."""
    text = BRANCH.format(version="15.2", command="bandwidth percent 10")
    text = text.replace("policy-map REMARK\n", "policy-map REMARK\n class class-default\n  set dscp 12\n")
    router.write_text(text)
    rows = [
        "class,rate,packet_bytes,kind",
        "MANAGEMENT,3Mb/s,500,constant",
        "class-default,3Mb/s,500,constant",
    ]
    router.with_name("offered.csv").write_text("\n".join(rows) + "\n")
    options = ("--traffic", "offered.csv", "--duration", "20s", "--replications", "1", "--json")
    classes = perhop("run", router, *options).json()["classes"]
    rates = {row["class"]: row["throughput_bps"]["mean"] / 1e3 for row in classes}
    assert rates == pytest.approx({"MANAGEMENT": 329, "class-default": 1644}, rel=0.05)


def test_a_tunnel_without_a_source_runs_at_its_shaper(perhop: Command, router: Path) -> None:
    router.write_text(SOURCELESS)
    checked = perhop("check", router)
    assert "bandwidth-unknown" in checked.out + checked.err
    assert "the interface below Tunnel7 is unknown" in checked.out + checked.err
    ran = perhop("run", router, "--duration", "10s", "--json")
    assert ran.code == 0, ran.err
    rates = [row["throughput_bps"]["mean"] for row in ran.json()["classes"]]
    assert 2.7e6 < sum(rates) <= 3.1e6


@pytest.mark.parametrize("guarantee", ["bandwidth remaining percent", "bandwidth percent"])
def test_percentages_above_a_hundred_under_a_shaper_are_an_error(
    perhop: Command, router: Path, guarantee: str
) -> None:
    text = SOURCELESS.replace(
        "interface Tunnel7\n ip nhrp map group SMALL", "interface Serial0/1/0\n bandwidth 9000\n"
    )
    text = text.replace("bandwidth percent 25", f"{guarantee} 70").replace(
        "priority percent 20", f"{guarantee} 60"
    )
    router.write_text(text)
    checked = perhop("check", router)
    assert checked.code == 1
    assert "add up to 130" in checked.out
