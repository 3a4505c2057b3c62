"""`perhop show policy-map interface`: Cisco's parser reads it, and the numbers are those of the run."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest

import genie_parser
from conftest import ROOT, Command
from routers import ROUTERS, Router

BY_NAME = {router.name: router for router in ROUTERS}
# Actions of policers that Cisco's parser supports; it skips other actions.
KNOWN_ACTIONS = {"transmit", "drop", "set-dscp-transmit", "set-qos-transmit"}


@pytest.fixture
def run(perhop: Command, tmp_path: Path) -> Any:
    """Show a router's scenario as text and as a document."""

    def show(router: Router, *options: str) -> tuple[str, dict[str, Any]]:
        file = router.scenario(tmp_path)
        text = perhop("show", "policy-map", "interface", file, *options)
        assert text.code == 0, text.err
        document = perhop("show", "policy-map", "interface", file, "--json", *options)
        [found] = document.json()["routers"]
        return text.out, found

    return show


def thousands(bps: float) -> int:
    return round(bps / 1000) * 1000


class Expected:
    """The expected result of Cisco's parser for our document, line by line."""

    def __init__(self, document: dict[str, Any]) -> None:
        self.is_xe = document["profile"] == "ios-xe"
        self.document = document

    def interfaces(self) -> dict[str, Any]:
        return {
            interface["name"]: {
                "service_policy": {
                    side: {"policy_name": {policy["name"]: self.policy(policy, interface)}}
                    for side, policy in interface["policies"].items()
                }
            }
            for interface in self.document["interfaces"]
        }

    def policy(
        self, policy: dict[str, Any], at: dict[str, Any], top: dict[str, Any] | None = None
    ) -> dict[str, Any]:
        found: dict[str, Any] = {}
        # Cisco's parser adds the queues of priority classes at any depth to the outermost policy.
        outermost = found if top is None else top
        if policy["priority_limits"]:
            levels = outermost.setdefault("queue_stats_for_all_priority_classes", {})
            has_levels = any((config["priority"] or {}).get("has_level") for config in policy["classes"])
            for limit in policy["priority_limits"]:
                level = str(limit["level"]) if has_levels else "default"
                levels.setdefault("priority_level", {})[level] = {
                    "queueing": True,
                    "queue_limit_packets": str(limit["value"]),
                    **self.queue(limit["counters"]),
                }
        found["class_map"] = {
            config["name"]: self.class_map(config, at, outermost) for config in policy["classes"]
        }
        return found

    def queue(self, counters: dict[str, Any]) -> dict[str, Any]:
        # The parser's expression for the first of the two lines does not support flowdrops.
        depth = {
            "queue_depth": counters["depth_packets"],
            "total_drops": counters["dropped_packets"],
            "no_buffer_drops": 0,
        }
        return (depth if counters["flow_dropped_packets"] is None else {}) | {
            "pkts_output": counters["output"]["packets"],
            "bytes_output": counters["output"]["bytes"],
        }

    def class_map(self, config: dict[str, Any], at: dict[str, Any], top: dict[str, Any]) -> dict[str, Any]:
        counters = config["counters"]
        found: dict[str, Any] = {"match_evaluation": config["combination"], "match": self.matches(config)}
        if counters["classified"] is not None:
            found |= counters["classified"]
            found["rate"] = {
                "interval": at["load_interval_s"],
                "offered_rate_bps": thousands(counters["offered_bps"]),
                "drop_rate_bps": thousands(counters["drop_bps"]),
            }
            found |= self.match_counters(config, at)
        if counters["queue"] and not config["priority"]:
            if any(config[key] for key in ("bandwidth", "shape", "fair_queue", "policy")):
                found["queueing"] = True
            if config["queue_limit"]:
                found["queue_limit_packets"] = str(config["queue_limit"]["value"])
            found |= self.queue(counters["queue"])
        found |= self.configured(config)
        if config["police"]:
            found["police"] = self.police(config["police"], counters["police"])
        if config["random_detect"]:
            found["random_detect"] = self.early_drops(config["random_detect"], counters["random_detect"])
        if config["policy"]:
            inside = self.policy(config["policy"], at, top)
            found["child_policy_name"] = {config["policy"]["name"]: inside}
        return found

    def matches(self, config: dict[str, Any]) -> list[str]:
        return [match.strip() for match in config["matches"]]

    def match_counters(self, config: dict[str, Any], at: dict[str, Any]) -> dict[str, Any]:
        """IOS counts packets by the lines of match-any.

        A run has these counts only for a single line, or if they are 0.
        """
        counted, lines = config["counters"]["classified"], config["matches"]
        if self.is_xe or config["combination"] != "match-any" or lines == ["any"]:
            return {}
        if len(lines) > 1 and counted["packets"]:
            return {}
        stats: dict[str, Any] = dict(counted)
        if at["load_interval_s"] % 60 == 0:  # the parser does not support the rate of a line over seconds
            offered = thousands(config["counters"]["offered_bps"])
            stats["rate"] = {"interval": at["load_interval_s"], "offered_rate_bps": offered}
        return {"match_stats": dict.fromkeys(self.matches(config), stats)}

    def configured(self, config: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if shape := config["shape"]:
            found |= {
                "shape_type": shape["kind"],
                "shape_cir_bps": shape["cir_bps"],
                "shape_bc_bps": shape["bc_bits"],
                "shape_be_bps": shape["be_bits"],
                "target_shape_rate": shape["target_bps"],
            }
        if bandwidth := config["bandwidth"]:
            kind, value, kbps = bandwidth["kind"], bandwidth["value"], bandwidth["rate_bps"] // 1000
            found |= {
                "kbps": {"bandwidth_kbps": value},
                "percent": {"bandwidth_percent": value, "bandwidth_kbps": kbps},
                "remaining-percent": {"bandwidth_remaining_percent": value},
                "remaining-ratio": {"bandwidth_remaining_ratio": value},
            }[kind]
        if priority := config["priority"]:
            exceed = config["counters"]["exceed_drops"]
            if priority["kind"] == "percent":
                found["priority"] = {
                    "percent": priority["value"],
                    "kbps": priority["rate_bps"] // 1000,
                    "burst_bytes": priority["burst_bytes"],
                    "exceed_drops": exceed,
                }
            elif priority["kind"] == "strict":
                found["priority"] = {"type": "Strict", "exceed_drops": exceed}
            # Cisco's parser does not support a priority in kb/s.
            if priority["has_level"]:
                found["priority_level"] = priority["level"]
        if fair := config["fair_queue"]:
            found["fair_queue_limit_per_flow"] = fair["flow_limit_packets"]
        if config["marks"]:
            found["qos_set"] = {}
        for mark in config["marks"]:
            key, _, value = mark.rpartition(" ")
            counted = config["counters"]["classified"]["packets"]
            marker = {"marker_statistics": "Disabled"} if self.is_xe else {"packets_marked": counted}
            found["qos_set"].setdefault(key, {})[value] = marker
        return found

    def police(self, config: dict[str, Any], counters: dict[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {"cir_bps": config["cir_bps"]}
        if config["pir_bps"] is not None:
            found |= {"cir_bc_bytes": config["bc_bytes"]}
            found |= {"pir_bps": config["pir_bps"], "pir_be_bytes": config["be_bytes"]}
        elif config["colors"] == 3:
            # The parser's name for the committed burst if both bursts are on one line.
            found |= {"pir_bc_bytes": config["bc_bytes"], "cir_be_bytes": config["be_bytes"]}
        else:
            found |= {"cir_bc_bytes": config["bc_bytes"]}
        for color, actions in (("conformed", "conform"), ("exceeded", "exceed"), ("violated", "violate")):
            if color in counters:
                words = [action.partition(" ") for action in config[actions]]
                found[color] = {
                    "packets": counters[color]["packets"],
                    "bytes": counters[color]["bytes"],
                    "bps": thousands(counters[color]["bps"]),
                    "actions": {
                        word.replace("-", "_"): value or True
                        for word, _, value in words
                        if word in KNOWN_ACTIONS
                    },
                }
        return found

    def early_drops(self, config: dict[str, Any], counters: dict[str, Any]) -> dict[str, Any]:
        exponent = config["exponent"]
        limits = {row["value"]: row for row in config["rows"]}
        found: dict[str, Any] = {
            "exp_weight_constant": f"{exponent} (1/{2**exponent})",
            "mean_queue_depth": int(counters["mean_depth"]),
        }
        rows = {}
        for row in counters["rows"]:
            limit = limits[row["value"]]
            rows[row["value"]] = {
                f"{name}_{unit}": str(row[key][unit])
                for name, key in (
                    ("transmitted", "transmitted"),
                    ("random_drop", "random"),
                    ("tail_drop", "tail"),
                )
                for unit in ("packets", "bytes")
            } | {
                "minimum_thresh": str(limit["min"]),
                "maximum_thresh": str(limit["max"]),
                "mark_prob": f"1/{limit['mark_denominator']}",
            }
        return found | ({"class": rows} if rows else {})


@pytest.mark.parametrize("router", ROUTERS, ids=lambda router: router.name)
def test_ciscos_parser_reads_the_output_without_loss(router: Router, run: Any) -> None:
    text, document = run(router)
    found = genie_parser.parse(text)
    expected = Expected(document).interfaces()
    assert found == expected
    assert sum(len(port["policies"]) for port in document["interfaces"]) == bool(router.wan) + bool(
        router.lan
    )


def test_the_parser_notices_a_line_that_is_wrong(run: Any) -> None:
    text, document = run(BY_NAME["llq"])
    wrong = text.replace("queue limit 30 packets", "queue limit is 30 packets")
    assert wrong != text
    assert genie_parser.parse(wrong) != Expected(document).interfaces()


def test_the_counters_match_the_run(run: Any) -> None:
    """Voice is a class, a queue and a source: three tables and the text have the same numbers."""
    router = BY_NAME["llq"]
    _, document = run(router, "--seed", "7")
    [interface] = document["interfaces"]
    policy = interface["policies"]["output"]
    classes = {row["name"]: row["counters"] for row in policy["classes"]}
    for name, counters in classes.items():
        queue, dropped = counters["queue"], counters["dropped"]["packets"]
        assert dropped == queue["dropped_packets"] + counters["exceed_drops"], name
        # The difference is the packets that arrived during the warm-up and left after it.
        balance = counters["classified"]["packets"] - queue["output"]["packets"] - dropped
        assert abs(queue["depth_packets"] - balance) <= 64, name
        # 500 bytes of IP and four of the serial line.
        assert counters["classified"]["bytes"] == 504 * counters["classified"]["packets"], name
        # Three seconds are measured of four.
        assert counters["offered_bps"] == pytest.approx(counters["classified"]["bytes"] * 8 / 3), name
    voice = classes["VOICE"]
    assert voice["exceed_drops"] > 50, "600 kb/s for 400 kb/s of priority, beside more than the line takes"
    [shared] = policy["priority_limits"]
    assert shared["counters"] == voice["queue"]
    assert classes["class-default"]["queue"]["flow_dropped_packets"] > 0
    sent = sum(counters["queue"]["output"]["bytes"] for counters in classes.values())
    assert sent * 8 / 3 == pytest.approx(2e6, rel=0.02)


def test_class_default_is_shown_where_the_policy_does_not_name_it(run: Any) -> None:
    """Routers print class-default, which gets the packets that no other class matches."""
    _, document = run(BY_NAME["two-rates"])
    [interface] = document["interfaces"]
    data, voice, default = interface["policies"]["input"]["classes"]
    assert default["name"] == "class-default"
    packets = [row["counters"]["classified"]["packets"] for row in (data, voice, default)]
    # 500-byte packets for three seconds: 1400, 600 and 900 kb/s.
    assert packets == pytest.approx([1050, 450, 675], rel=0.1)
    assert default["counters"]["drop_bps"] == 0


def test_saved_results_are_shown_without_a_run(perhop: Command, tmp_path: Path) -> None:
    file = BY_NAME["nested"].scenario(tmp_path)
    assert perhop("run", file, "--replications", "1", "-o", "results", "-q").code == 0
    shown = perhop("show", "policy-map", "interface", "results", "--json")
    assert shown.code == 0, shown.err
    run_again = perhop("show", "policy-map", "interface", file, "--json")
    of_saved, of_run = shown.json(), run_again.json()
    [saved], [ran] = of_saved["routers"][0]["interfaces"], of_run["routers"][0]["interfaces"]
    top = [interface["policies"]["output"]["classes"][0]["counters"] for interface in (saved, ran)]
    assert top[0]["classified"] == top[1]["classified"]
    changed = perhop("show", "policy-map", "interface", "results", "--seed", "3")
    assert changed.code == 2
    assert "options that change a run do not apply to saved results" in changed.err
    missing = perhop("show", "policy-map", "interface", "results", "--replication", "1")
    assert missing.code == 2
    assert "there is no replication 1" in missing.err


def test_an_interface_may_be_abbreviated(perhop: Command, tmp_path: Path) -> None:
    file = BY_NAME["both-sides"].scenario(tmp_path)
    every = perhop("show", "policy-map", "interface", file).out
    assert [line for line in every.splitlines() if line and line[0] == " " and line[1] != " "] == [
        " FastEthernet0/0",
        " Serial0/1/0",
    ]
    serial = perhop("show", "policy-map", "interface", file, "se0/1/0").out
    assert every.endswith(serial)
    assert "FastEthernet" not in serial
    other = perhop("show", "policy-map", "interface", file, "Serial0/1/1")
    assert other.code == 2
    assert "did you mean `Serial0/1/0`?" in other.err


def test_a_router_configuration_is_run_and_shown(perhop: Command, tmp_path: Path) -> None:
    router = BY_NAME["nested"]
    (tmp_path / "branch.cfg").write_text(router.configuration())
    shown = perhop("show", "policy-map", "interface", "branch.cfg")
    assert shown.code == 0, shown.err
    assert "inferred:" in shown.err
    [(name, found)] = genie_parser.parse(shown.out).items()
    assert name == "Serial0/1/0"
    top = found["service_policy"]["output"]["policy_name"]["WAN"]["class_map"]["class-default"]
    assert top["shape_bc_bps"] == 6000, "4 ms of 1.5 Mb/s"
    assert top["rate"]["interval"] == 30
    assert top["packets"] > 0


def test_ios_and_ios_xe_write_differently(perhop: Command, tmp_path: Path) -> None:
    file = BY_NAME["both-sides"].scenario(tmp_path)
    ios = perhop("show", "policy-map", "interface", file).out
    assert ios == perhop("show", "policy-map", "interface", file, "--style", "ios15").out
    xe = perhop("show", "policy-map", "interface", file, "--style", "ios-xe").out
    assert "Packets marked" in ios
    assert "Packets marked" not in xe
    assert xe.count("Marker statistics: Disabled") == 1
    assert "5 minute rate" in ios
    assert "5 minute rate" not in xe


def test_rates_rise_over_the_load_interval(run: Any) -> None:
    def offered(*options: str) -> tuple[int, int]:
        text, document = run(BY_NAME["nested"], *options)
        [interface] = document["interfaces"]
        assert interface["load_interval_s"] == 30
        assert "30 second offered rate" in text
        [top] = interface["policies"]["output"]["classes"]
        return top["counters"]["offered_bps"], top["counters"]["classified"]["packets"]

    settled, packets = offered()
    started, same_packets = offered("--after", "30s")
    assert packets == same_packets
    # One time constant after the start, the average has reached 1 - 1/e of its final value.
    assert started == pytest.approx(settled * 0.6321, rel=1e-3)
    # The router samples every five seconds.
    assert offered("--after", "4s")[0] == 0


@pytest.mark.parametrize("after", ["soon", "3kb/s", "-1s"])
def test_an_invalid_time_is_refused(perhop: Command, tmp_path: Path, after: str) -> None:
    file = BY_NAME["llq"].scenario(tmp_path)
    ended = perhop("show", "policy-map", "interface", file, f"--after={after}")
    assert ended.code == 2
    assert f"`{after}` is not a time" in ended.err


def test_a_scenario_without_routers_of_its_own_is_refused(perhop: Command, scenario: Path) -> None:
    ended = perhop("show", "policy-map", "interface", scenario)
    assert ended.code == 2
    assert "no router of the scenario has a policy-map at an interface" in ended.err


GUARDED = """\
version 15.4
hostname edge
access-list 100 permit tcp any any eq bgp
class-map match-all BGP
 match access-group 100
policy-map GUARD
 class BGP
  police 8000
policy-map WAN
 class class-default
  shape average 2000000
control-plane
 service-policy input GUARD
interface GigabitEthernet0/0
 ip address 192.0.2.1 255.255.255.252
 service-policy output WAN
"""


def test_the_policy_of_the_control_plane_is_shown_without_packets(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "edge.cfg"
    file.write_text(GUARDED)
    ended = perhop("show", "policy-map", "control-plane", file, "--duration", "1s")
    assert ended.code == 0, ended.err
    assert ended.out.startswith(" Control Plane\n\n  Service-policy input: GUARD\n")
    assert "Class-map: BGP (match-all)\n      0 packets, 0 bytes" in ended.out
    assert "cir 8000 bps" in ended.out
    assert "Service-policy output" not in ended.out, "that of the interface is another command's"
    assert "edge: packets to the device itself are not simulated" in ended.err
    (router,) = perhop("show", "policy-map", "control-plane", file, "--duration", "1s", "--json").json()[
        "routers"
    ]
    assert [interface["name"] for interface in router["interfaces"]] == ["control-plane"]


def test_a_router_without_a_control_plane_policy_is_reported(perhop: Command, tmp_path: Path) -> None:
    file = tmp_path / "edge.cfg"
    file.write_text(GUARDED.replace("control-plane\n service-policy input GUARD\n", ""))
    ended = perhop("show", "policy-map", "control-plane", file, "--duration", "1s")
    assert (ended.code, "no router of the scenario has a policy-map of the control plane" in ended.err) == (
        2,
        True,
    )


def test_linux_devices_are_refused(perhop: Command) -> None:
    ended = perhop("show", "policy-map", "interface", ROOT / "examples" / "uplink.tc")
    assert ended.code == 2
    assert "devices of Linux have no policy-map" in ended.err


def test_an_interface_without_a_link_is_reported(perhop: Command, tmp_path: Path) -> None:
    router = BY_NAME["llq"]
    file = router.scenario(tmp_path)
    with (tmp_path / "llq.cfg").open("a") as configuration:
        configuration.write("interface Serial0/2/0\n bandwidth 512\n service-policy output WAN\n")
    ended = perhop("show", "policy-map", "interface", file)
    assert ended.code == 0, ended.err
    assert "branch: no packets passed Serial0/2/0: the scenario has no link there" in ended.err
    classes = genie_parser.parse(ended.out)["Serial0/2/0"]["service_policy"]["output"]["policy_name"]["WAN"]
    voice = classes["class_map"]["VOICE"]
    assert voice["packets"] == 0
    assert voice["priority"]["kbps"] == 102


def test_the_page_quotes_the_output() -> None:
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        import quote_show
    finally:
        sys.path.pop(0)
    page = quote_show.PAGE.read_text()
    assert quote_show.quoted(page) == page, "run python docs/quote_show.py"


LIMITED = """\
version 12.4
access-list 120 permit udp any any
interface FastEthernet0/0
 ip address 10.0.1.1 255.255.255.0
interface Serial0/0
 bandwidth 4000
 ip address 192.0.2.1 255.255.255.252
 rate-limit output access-group 120 400000 9000 18000 conform-action set-prec-continue 1 exceed-action drop
 rate-limit output 1000000 20000 20000 conform-action transmit exceed-action drop
"""


def test_limiters_have_their_counters(perhop: Command, tmp_path: Path) -> None:
    """A packet that the first limiter passes on is counted by both."""
    (tmp_path / "edge.cfg").write_text(LIMITED)
    (tmp_path / "load.csv").write_text(
        "class,rate,packet_bytes,kind\nrate-limit access-group 120,800kb/s,500,cbr\n"
    )
    load = ("--traffic", "load.csv", "--duration", "22s")
    first, second = perhop("show", "interfaces", "rate-limit", "edge.cfg", *load, "--json").json()["limiters"]
    assert (first["matches"], first["line"], first["extended_burst_bytes"]) == ("access-group 120", 8, 18000)
    assert first["conformed"]["packets"] + first["exceeded"]["packets"] == pytest.approx(4000, abs=2)
    assert first["conformed"]["bps"] == pytest.approx(400e3, rel=0.05)
    assert first["conformed"]["packets"] == second["conformed"]["packets"]
    assert second["exceeded"] == {"packets": 0, "bytes": 0, "bps": 0.0}
    shown = perhop("show", "interfaces", "rate-limit", "edge.cfg", "Se0/0", *load)
    assert shown.out.splitlines()[:6] == [
        "Serial0/0",
        "  Output",
        "    matches: access-group 120",
        "      params:  400000 bps, 9000 limit, 18000 extended limit",
        f"      conformed {first['conformed']['packets']} packets, {first['conformed']['bytes']} bytes; "
        "action: set-prec-continue 1",
        f"      exceeded {first['exceeded']['packets']} packets, {first['exceeded']['bytes']} bytes; "
        "action: drop",
    ]


def test_limiters_of_arriving_packets_have_counters(perhop: Command, tmp_path: Path) -> None:
    """The output also contains the input side, and an interface without a limiter."""
    (tmp_path / "edge.cfg").write_text(LIMITED.replace("rate-limit output", "rate-limit input"))
    found = perhop("show", "interfaces", "rate-limit", "edge.cfg", "--duration", "10s", "--json").json()
    assert {limiter["side"] for limiter in found["limiters"]} == {"input"}
    assert all(limiter["conformed"]["packets"] > 0 for limiter in found["limiters"])
    refused = perhop("show", "interfaces", "rate-limit", "edge.cfg", "Fa0/0", "--duration", "1s")
    assert refused.code == 2
    assert "no router has a `rate-limit` at an interface `Fa0/0`" in refused.err
