"""The guaranteed rates of classes, and the rates at which classes send."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import perhop as library
from conftest import ROOT, Command
from perhop import Scenario

CONFIGURATIONS = ROOT / "tests" / "configurations"


SITE = """\
class-map match-all VOICE
 match dscp ef
class-map match-all DATA
 match dscp af21
class-map match-all BULK
 match dscp af11
policy-map SITE
 class VOICE
  priority 512
 class DATA
  bandwidth 768
  shape average 2000000
 class BULK
  bandwidth 232
policy-map EDGE
 class class-default
  shape average 5000000
  service-policy SITE
interface GigabitEthernet0/0/1
 ip address 192.0.2.1 255.255.255.0
 service-policy output EDGE
"""


def rates_of(perhop: Command, file: Path, *options: str) -> dict[str, Any]:
    """The queues of the only port of a file, by the last part of their names."""
    (port,) = perhop("rates", file, "--json", *options).json()["ports"]
    return {queue["queue"].rpartition("/")[2]: queue for queue in port["queues"]}


def test_a_router_guarantees_the_rates_of_its_policy(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "site.cfg"
    file.write_text(SITE)
    found = rates_of(perhop, file, "--platform", "ios-xe")
    voice, data, bulk, default = (found[name] for name in ("VOICE", "DATA", "BULK", "class-default"))
    assert (voice["promised_bps"], voice["priority"], voice["limit_holds"]) == (
        512e3,
        True,
        "under-congestion",
    )
    assert (data["promised_bps"], data["limit_bps"], data["maximum_bps"]) == (768e3, 2e6, 2e6)
    assert (bulk["promised_bps"], bulk["maximum_bps"]) == (232e3, 5e6), "the shaper around it"
    assert default["promised_bps"] is None, "it has a part of the excess alone"
    assert [round(queue["excess"], 3) for queue in (bulk, default)] == [0.333, 0.333]
    assert sum(queue["while_busy_bps"] for queue in found.values()) == pytest.approx(5e6)


def test_a_file_of_one_policy_has_no_line_rate(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "wan.yaml"
    file.write_text(
        "queueing:\n  scheduler: drr\n  classes:\n"
        "    - {name: gold, match: {dscp: ef}, share: {quantum: 3000B}}\n    - {name: rest}\n"
    )
    assert {queue["promised_bps"] for queue in rates_of(perhop, file).values()} == {None}
    found = rates_of(perhop, file, "--rate", "9Mb/s")
    # A class without a quantum has one of 1500 bytes.
    assert (found["gold"]["promised_bps"], found["rest"]["promised_bps"]) == (6e6, 3e6)


def test_commands_of_tc_have_rates(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "uplink.tc"
    file.write_text(
        "tc qdisc add dev eth0 root handle 1: htb default 20\n"
        "tc class add dev eth0 parent 1: classid 1:1 htb rate 10mbit ceil 10mbit\n"
        "tc class add dev eth0 parent 1:1 classid 1:10 htb rate 2mbit ceil 4mbit\n"
        "tc class add dev eth0 parent 1:1 classid 1:20 htb rate 5mbit ceil 10mbit\n"
        "tc filter add dev eth0 parent 1: protocol ip u32 match ip tos 0xb8 0xfc flowid 1:10\n"
    )
    found = rates_of(perhop, file, "--rate", "100Mb/s")
    voice, rest = found["1:10"], found["1:20"]
    assert (voice["promised_bps"], voice["limit_bps"]) == (2e6, 4e6)
    assert voice["while_busy_bps"] + rest["while_busy_bps"] == pytest.approx(10e6)


@pytest.mark.parametrize(
    ("around", "wire", "names"),
    [("200kbit", "1Mb/s", None), ("100kbit", "1Mb/s", None), ("200kbit", "100kb/s", "1:1/1:11, 1:1/1:12")],
)
def test_rates_of_htb_that_exceed_the_line_are_called_approximate(
    around: str, wire: str, names: str | None, perhop: Command, tmp_path: Path
) -> None:
    file = tmp_path / "htb.tc"
    file.write_text(
        "tc qdisc add dev eth0 root handle 1: htb default 12\n"
        f"tc class add dev eth0 parent 1: classid 1:1 htb rate {around}\n"
        "tc class add dev eth0 parent 1:1 classid 1:11 htb rate 60kbit ceil 100kbit\n"
        "tc class add dev eth0 parent 1:1 classid 1:12 htb rate 60kbit ceil 100kbit\n"
        "tc filter add dev eth0 parent 1: protocol ip u32 match ip dport 80 0xffff flowid 1:11\n"
    )
    ended = perhop("rates", file, "--rate", wire, "--json")
    (port,) = json.loads(ended.out)["ports"]
    found = [assumption for assumption in port["assumed"] if assumption.startswith("HTB: ")]
    assert len(found) == (names is not None)
    assert names is None or names in found[0]


@pytest.mark.parametrize(
    ("limiter", "most_bps", "what"),
    [
        ("rate-limit output 1000000 187500 375000", 1e6, "all packets"),
        ("rate-limit output access-group 101 1000000 187500 375000", 5e6, "packets that are not those"),
    ],
)
def test_policers_before_the_queues_are_named(
    limiter: str, most_bps: float, what: str, perhop: Command, tmp_path: Path
) -> None:
    file = tmp_path / "site.cfg"
    file.write_text(
        "hostname site\naccess-list 101 permit tcp any any\nclass-map VOICE\n match dscp ef\n"
        "policy-map WAN\n class VOICE\n  priority 500\ninterface Serial0/0\n bandwidth 5000\n"
        f" {limiter} conform-action transmit exceed-action drop\n service-policy output WAN\n"
    )
    (port,) = json.loads(perhop("rates", file, "--json").out)["ports"]
    assert max(queue["maximum_bps"] for queue in port["queues"]) == most_bps
    (found,) = (assumption for assumption in port["assumed"] if assumption.startswith("Before the queues"))
    assert f"a policer of {what}" in found
    assert "drops packets above 1 Mb/s" in found


def test_a_run_shows_no_guarantee_behind_a_limiter_of_all_packets(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "site.cfg"
    text = SITE.replace("shape average 5000000", "shape average 8000000")
    limiter = " rate-limit output RATE 37500 75000 conform-action transmit exceed-action drop\n"
    at_port = " ip address 192.0.2.1 255.255.255.0\n"

    def configured(rate: int) -> dict[str, tuple[float | None, float | None]]:
        file.write_text(text.replace(at_port, at_port + limiter.replace("RATE", str(rate))))
        rows = perhop("run", file, "--duration", "3s", "--json").json()["rates"]
        own = [row for row in rows if row["port"].endswith("->far-side")]
        return {row["queue"].rpartition("/")[2]: (row["guaranteed_bps"], row["limit_bps"]) for row in own}

    found = configured(200_000)
    most = rates_of(perhop, file)
    # Each rate is below the limiter, as in `perhop rates`: a policer of all packets voids guarantees.
    assert found["BULK"] == (None, 200e3) == (None, most["BULK"]["maximum_bps"])
    assert found["DATA"] == (None, 200e3) == (None, most["DATA"]["maximum_bps"])
    # A limiter above the guaranteed rates does not change these rates.
    assert configured(4_000_000)["BULK"] == (232e3, None)


def test_losses_by_a_common_limiter_are_not_the_classs(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "site.cfg"
    file.write_text(
        SITE.replace(
            " ip address 192.0.2.1 255.255.255.0\n",
            " ip address 192.0.2.1 255.255.255.0\n rate-limit output 1000000 37500 75000"
            " conform-action transmit exceed-action drop\n",
        )
    )
    verdicts = perhop("run", file, "--duration", "5s", "--json").json()["verdicts"]
    (voice,) = (verdict for verdict in verdicts if verdict["class"] == "VOICE")
    assert "lost by a policer above 1 Mb/s at" in voice["text"], "it sends 410 of its 512 kb/s"


def test_a_policer_of_one_class_is_a_limit_of_that_class(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "site.cfg"
    file.write_text(
        "hostname site\nclass-map WEB\n match dscp af21\npolicy-map WAN\n class WEB\n  bandwidth 500\n"
        "  police 300000\ninterface Serial0/0\n bandwidth 5000\n service-policy output WAN\n"
    )
    (port,) = json.loads(perhop("rates", file, "--json").out)["ports"]
    assert {queue["queue"]: queue["maximum_bps"] for queue in port["queues"]}["WEB"] == 300e3
    assert not any(assumption.startswith("Before the queues") for assumption in port["assumed"])


def test_tables_fit_the_terminal(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "site.cfg"
    file.write_text(SITE)
    lines = perhop("rates", file).out.splitlines()
    assert max(map(len, lines)) <= 80
    assert "line 1 Gb/s, configured" in lines[0]


def test_a_policy_that_the_router_refuses_is_named(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "mixed.cfg"
    file.write_text(SITE.replace("bandwidth 232", "bandwidth remaining percent 40"))
    ended = perhop("rates", file)
    assert (ended.code, ended.out) == (2, "no port is shown: see the errors\n")
    assert "left out: GigabitEthernet0/0/1: error in line 14: policy SITE mixes units" in ended.err


def test_the_excess_burst_of_peak_shaping_counts(perhop: Command, tmp_path: Path) -> None:
    """Bc + Be per interval: twice the rate if Be = Bc."""
    file = tmp_path / "peak.cfg"
    file.write_text(SITE.replace("shape average 5000000", "shape peak 2000000 16000 16000"))
    assert max(queue["maximum_bps"] for queue in rates_of(perhop, file).values()) == 4e6


@pytest.mark.parametrize(
    ("example", "queue", "wanted"),
    [
        # Shares of 10 Mb/s by quantum; WRR's weights count packets and do not determine a rate.
        ("drr", "gold", (5e6, None)),
        ("wrr", "gold", (None, None)),
        # The rate of the shaper is below the queue's rate without it.
        ("shaping", "all", (None, 2e6)),
        # Strict priority up to a cap.
        ("strict-priority", "voice", (None, 500e3)),
    ],
)
def test_guarantees_and_limits_of_scenarios(example: str, queue: str, wanted: tuple[Any, Any]) -> None:
    results = library.run(ROOT / "examples" / f"{example}.perhop.yaml", duration="4s")
    rows = {row["queue"]: row for row in results.summary["rates"]}
    assert (rows[queue]["guaranteed_bps"], rows[queue]["limit_bps"]) == wanted


def test_queued_packets_are_part_of_those_in_the_network() -> None:
    scenario = Scenario.infer(CONFIGURATIONS / "branch-15-subrate.cfg", load="overload")
    results = scenario.run(threads=1)
    queued = {(row["port"], row["queue"]): row["queued_packets"] for row in results.summary["rates"]}
    inside = {row["class"]: row["in_network_packets"]["mean"] for row in results.summary["classes"]}
    for name, place in scenario.queues.items():
        # One or two packets are on the line, which needs 6 ms for each.
        assert queued[place] <= inside[name] <= queued[place] + 6, name
    assert queued[scenario.queues["class-default"]] > 50, "greedy TCP fills its queue"


def test_policers_have_their_limits() -> None:
    results = Scenario.infer(CONFIGURATIONS / "police-only.cfg").run(threads=1)
    (row,) = results.summary["policers"]
    assert (row["class"], row["side"], row["limit_bps"]) == ("P2P", "output", 500e3)


def test_policers_of_the_other_direction_limit_nothing(tmp_path: Path) -> None:
    """The input policy of the leaving interface has a class of the same name."""
    file = tmp_path / "both.cfg"
    file.write_text(
        "version 15.7\nclass-map VOICE\n match dscp ef\npolicy-map IN\n class VOICE\n  police cir 128000\n"
        "policy-map OUT\n class VOICE\n  priority\n  police cir 1000000\ninterface Serial0/0\n"
        " bandwidth 2000\n ip address 10.0.0.1 255.255.255.0\n service-policy input IN\n"
        " service-policy output OUT\n"
    )
    results = Scenario.infer(file).run(threads=1)
    rows = [(row["class"], row["side"], row["limit_bps"]) for row in results.summary["policers"]]
    assert rows == [("VOICE", "output", 1e6)]


def test_a_folder_of_results_contains_the_rates(tmp_path: Path) -> None:
    results = library.run(ROOT / "examples" / "drr.perhop.yaml", duration="2s")
    results.save(tmp_path / "out")
    assert library.Results.load(tmp_path / "out").summary["rates"] == results.summary["rates"]


def test_strict_priority_follows_levels(perhop: Command, tmp_path: Path) -> None:
    """The class for the rest is written last, but is not necessarily served last."""
    file = tmp_path / "bands.tc"
    file.write_text("tc qdisc add dev eth0 root handle 1: prio\n")
    rows = perhop("run", file, "--duration", "20ms", "--json").json()["rates"]
    assert {row["queue"]: row["priority"] for row in rows} == {"1:1": True, "1:2": True, "1:3": False}
    scenario = {
        "perhop": 1,
        "name": "levels",
        "duration": "1s",
        "hosts": {"a": {}, "b": {}},
        "links": [
            {"between": ["a", "b"], "rate": "10Mb/s", "interfaces": {"a": {"output": "bands"}}},
        ],
        "policies": {
            "bands": {
                "queueing": {
                    "scheduler": "priority",
                    "classes": [
                        {"name": "low", "match": {"dscp": "cs1"}, "share": {"level": 1}},
                        {
                            "name": "high",
                            "share": {"level": 0, "cap": {"rate": "1Mb/s", "burst": "10kB"}},
                        },
                    ],
                }
            }
        },
        "traffic": [
            {
                "name": "t",
                "from": "a",
                "to": "b",
                "source": {"cbr": {"rate": "1Mb/s", "packet": {"ip": "500B"}}},
            }
        ],
    }
    low, high = library.run(Scenario(scenario)).summary["rates"]
    assert (low["queue"], low["priority"], low["guaranteed_bps"]) == ("low", False, 9e6)
    assert (high["queue"], high["priority"], high["limit_bps"]) == ("high", True, 1e6)


def test_lines_without_a_model_are_named(perhop: Command, tmp_path: Path) -> None:
    router, uplink = tmp_path / "site.cfg", tmp_path / "uplink.tc"
    line = " rate-limit output qos-group 5 64000 8000 8000 conform-action transmit exceed-action drop\n"
    router.write_text(f"{SITE} crypto map VPN\n{line}")
    found = perhop("rates", router)
    assert "not looked at: line 22, `crypto map VPN`: encryption makes packets longer" in found.out
    uplink.write_text(
        "tc qdisc add dev eth0 root handle 1: htb default 20\n"
        "tc class add dev eth0 parent 1: classid 1:10 htb rate 3mbit\n"
        "tc class add dev eth0 parent 1: classid 1:20 htb rate 7mbit\n"
        'tc filter add dev eth0 parent 1: protocol all basic match "meta(vlan mask 0xfff eq 7)" flowid 1:10\n'
    )
    found = perhop("rates", uplink)
    assert "not looked at: line 4, `tc filter" in found.out, "no packet reaches 1:10, which has no row"
    (port,) = perhop("rates", uplink, "--json").json()["ports"]
    assert [queue["queue"] for queue in port["queues"]] == ["1:20"]
    assert [line[:6] for line in port["not_looked_at"]] == ["line 4"]


SHARED = """\
policy-map SHAPED
 class class-default
  shape average 6000000
"""


@pytest.mark.parametrize(
    ("below", "above"),
    [
        (
            "interface Ethernet0/0\n no ip address\n",
            "interface Ethernet0/0.{n}\n encapsulation dot1Q {n}\n ip address 10.1.{n}.1 255.255.255.0\n",
        ),
        (
            "interface Ethernet0/0\n ip address 192.0.2.1 255.255.255.0\n",
            "interface Tunnel{n}\n ip address 10.1.{n}.1 255.255.255.0\n tunnel source Ethernet0/0\n"
            " tunnel destination 198.51.100.{n}\n",
        ),
    ],
    ids=["sub-interfaces", "tunnels"],
)
def test_shapers_above_their_common_port_guarantee_nothing(
    perhop: Command, tmp_path: Path, below: str, above: str
) -> None:
    file = tmp_path / "shared.cfg"
    parts = [f"{above.format(n=n)} service-policy output SHAPED\n" for n in (2, 3)]
    file.write_text(SHARED + below + "".join(parts))
    ports = perhop("rates", file, "--json").json()["ports"]
    assert len(ports) == 2
    for port in ports:
        assert (
            "12Mb/s, 2Mb/s more than the 10Mb/s of Ethernet0/0: then no rate is guaranteed"
            in port["assumed"][-1]
        )
    file.write_text((SHARED + below + "".join(parts)).replace("6000000", "5000000"))
    for port in perhop("rates", file, "--json").json()["ports"]:
        assert not any("Ethernet0/0" in assumption for assumption in port["assumed"])


def test_rates_of_a_refused_interface_are_not_shown(perhop: Command, tmp_path: Path) -> None:
    """The guaranteed rates of the classes inside the shaper are 512, 768 and 232 kb/s."""
    file = tmp_path / "site.cfg"
    other = "policy-map ONE\n class VOICE\n  priority 100\n"
    other += "interface GigabitEthernet0/0/2\n service-policy output ONE\n"
    file.write_text(SITE.replace("shape average 5000000", "shape average 1400000") + other)
    ended = perhop("rates", file)
    assert ended.code == 0
    assert "left out: GigabitEthernet0/0/1: error in line 14: policy SITE guarantees" in ended.err
    assert "GigabitEthernet0/0/1" not in ended.out
    assert "GigabitEthernet0/0/2: line 1 Gb/s" in ended.out
