"""`perhop run` of configurations of `tc`: the line behind a device, policers, and names of classes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import Command

HTB = """\
tc qdisc add dev eth0 root handle 1: htb default 20
tc class add dev eth0 parent 1: classid 1:1 htb rate 2mbit ceil 2mbit
tc class add dev eth0 parent 1:1 classid 1:10 htb rate 1200kbit ceil 2mbit
tc class add dev eth0 parent 1:1 classid 1:20 htb rate 1200kbit ceil 2mbit
"""
FILTER = "tc filter add dev eth0 parent 1: protocol ip prio 1 u32 match ip dst 10.1.0.10/32"
ASSUMED = "the line of eth0 is Ethernet of 1Gb/s: the configuration does not set the rate; set it with --rate"


def written(folder: Path, text: str, name: str = "uplink.tc") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def classes(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["class"]: row for row in document["classes"] if "(back)" not in row["class"]}


def megabits(row: dict[str, Any]) -> float:
    return row["throughput_bps"]["mean"] / 1e6


def test_children_send_their_rates_though_the_parent_has_less(tmp_path: Path, perhop: Command) -> None:
    file = written(tmp_path, HTB + f"{FILTER} flowid 1:10\n")
    ended = perhop("run", file, "--duration", "5s", "--load", "overload", "--json")
    assert ASSUMED in ended.err
    # htb_dequeue: a class below its rate does not borrow from its parent.
    assert [round(megabits(row), 1) for row in classes(ended.json()).values()] == [1.2, 1.2]
    given = perhop("run", file, "--duration", "5s", "--rate", "2Mb/s", "--load", "overload", "--json")
    assert "is Ethernet of" not in given.err
    assert [round(megabits(row), 1) for row in classes(given.json()).values()] == [1.0, 1.0]


@pytest.mark.parametrize(
    "root",
    ["pfifo limit 100", "fq_codel", "prio", "tbf rate 5mbit burst 15k latency 50ms", "cake bandwidth 5mbit"],
)
def test_the_line_rate_is_assumed_for_every_root_qdisc(tmp_path: Path, perhop: Command, root: str) -> None:
    file = written(tmp_path, f"tc qdisc add dev eth0 root handle 1: {root}\n")
    assert perhop("init", "line", "--from", file).err.count(ASSUMED) == 1
    assert "rate: 1Gb/s" in (tmp_path / "line.perhop.yaml").read_text()
    stderr = perhop("init", "given", "--from", file, "--rate", "20Mb/s").err
    assert "is Ethernet of" not in stderr
    assert "rate: 20Mb/s" in (tmp_path / "given.perhop.yaml").read_text()


def test_an_invalid_rate_is_refused(tmp_path: Path, perhop: Command) -> None:
    ended = perhop("run", written(tmp_path, HTB), "--rate", "fast")
    assert (ended.code, "--rate: `fast` is not a rate" in ended.err) == (2, True)


POLICED = [
    HTB + f"{FILTER} police rate 500kbit burst 15k drop flowid 1:10\n",
    # The default action of the excess, which is a drop.
    HTB + f"{FILTER} action police rate 500kbit burst 15k flowid 1:10\n",
    "tc qdisc add dev eth0 root handle 1: prio\n"
    f"{FILTER} action police rate 500kbit burst 15k conform-exceed drop/pass flowid 1:3\n",
]


@pytest.mark.parametrize("text", POLICED, ids=["htb", "without an action", "prio"])
def test_a_policer_at_the_filter_of_a_class_is_run(tmp_path: Path, perhop: Command, text: str) -> None:
    file = written(tmp_path, text)
    (found,) = perhop("check", file, "--json").json()["files"]
    assert found["counts"]["not-modelled"] == 0
    rows = classes(perhop("run", file, "--duration", "5s", "--json").json())
    # A band also gets packets by their type of service, so that its policer has a separate row.
    name = "line 2" if "prio\n" in text else "1:10"
    assert rows[name]["dropped_policed"]["mean"] > 0
    assert megabits(rows[name]) < 0.6
    # One row for a class and its policer.
    assert [label for label in rows if label.startswith("line")] == [name][: name.startswith("line")]


def test_a_filter_that_drops_lets_nothing_through(tmp_path: Path, perhop: Command) -> None:
    file = written(tmp_path, HTB + f"{FILTER} action drop flowid 1:10\n")
    traced = perhop("trace", file, "--out", "eth0", "--packet", "udp 10.0.0.1:1 > 10.1.0.10:2 len 100")
    assert "drop" in traced.out
    other = perhop("trace", file, "--out", "eth0", "--packet", "udp 10.0.0.1:1 > 10.1.0.11:2 len 100")
    assert "1:20" in other.out


def test_a_run_leaves_out_unmodeled_lines(tmp_path: Path, perhop: Command) -> None:
    file = written(tmp_path, HTB + f"{FILTER} action pedit ex munge ip dsfield set 0xb8 pipe flowid 1:10\n")
    (found,) = perhop("check", file, "--json").json()["files"]
    assert found["counts"]["not-modelled"] == 1
    assert "the filter selects a class and also has marks or chains" in perhop("check", file).out


INGRESS = """\
tc qdisc add dev eth0 handle ffff: ingress
tc filter add dev eth0 parent ffff: protocol ip u32 match ip protocol 17 0xff police rate 1mbit burst 20k drop
"""


def test_input_policers_run_or_are_reported_as_ignored(tmp_path: Path, perhop: Command) -> None:
    alone = perhop("run", written(tmp_path, INGRESS), "--duration", "2s", "--load", "overload", "--json")
    assert classes(alone.json())["line 2"]["dropped_policed"]["mean"] > 0
    assert "not run: the input policy" not in alone.err
    both = perhop("run", written(tmp_path, INGRESS + HTB), "--duration", "2s", "--json")
    assert "not run: the input policy of eth0, where packets only leave\n" in both.err


WRAPPED = """\
class-map match-all VIDEO
 match dscp af41
class-map match-all INET
 match dscp af41 af42 cs2
class-map match-all SITE
 match dscp cs3 cs4
class-map match-all FIRST
 match dscp cs4
policy-map CHILD
 class VIDEO
  priority 1000
policy-map SECOND
 class FIRST
  bandwidth 500
policy-map PARENT
 class INET
  shape average 4000000
  service-policy CHILD
 class SITE
  shape average 2000000
  service-policy SECOND
 class class-default
  bandwidth 2000
interface FastEthernet0/0
 ip address 192.0.2.1 255.255.255.252
 service-policy output PARENT
"""


def test_classes_of_one_name_in_several_policies_are_distinguished(tmp_path: Path, perhop: Command) -> None:
    file = written(tmp_path, WRAPPED, "wrapped.cfg")
    ended = perhop("run", file, "--duration", "2s", "--json")
    # Packets of an outer class wait in the queues of its inner classes.
    assert "no packet that perhop tried reaches it" not in ended.err
    names = {"VIDEO", "INET/class-default", "FIRST", "SITE/class-default", "class-default"}
    # No class matches EF.
    assert set(classes(ended.json())) == names | {"voice"}
    rates = tmp_path / "rates.csv"
    rates.write_text(
        "class,rate\nINET/class-default,1Mb/s\nSITE/class-default,500kb/s\nclass-default,3Mb/s\n"
    )
    loaded = perhop("run", file, "--duration", "2s", "--traffic", rates, "--json")
    queues = {row["class"] for row in loaded.json()["classes"] if "(back)" not in row["class"]}
    assert queues == {"INET/class-default", "SITE/class-default", "class-default"}


def test_a_verdict_is_about_the_queue_of_its_own_class(tmp_path: Path, perhop: Command) -> None:
    # By protocol, so that a codepoint does not determine the queue.
    text = WRAPPED.replace(" match dscp cs3 cs4\n", " match access-group 110\n")
    file = written(tmp_path, f"access-list 110 permit tcp any any\n{text}", "wrapped.cfg")
    rates = tmp_path / "rates.csv"
    rates.write_text("class,rate,kind\nSITE/class-default,60Mb/s,cbr\nclass-default,105Mb/s,cbr\n")
    document = perhop("run", file, "--duration", "2s", "--traffic", rates, "--json").json()
    texts = {verdict["class"]: verdict["text"] for verdict in document["verdicts"]}
    promised = {row["queue"]: row["guaranteed_bps"] for row in document["rates"]}
    assert promised["class-default"] == 2e6
    # Another class-default has another guarantee.
    assert "of which 2 Mb/s are guaranteed" in texts["class-default"]
    assert "of which 1.500 Mb/s are guaranteed" in texts["SITE/class-default"]
    assert promised["SITE/class-default"] == 1.5e6


def test_a_policy_used_twice_has_two_classes_of_each_name(tmp_path: Path, perhop: Command) -> None:
    file = written(tmp_path, WRAPPED.replace("service-policy SECOND", "service-policy CHILD"), "twice.cfg")
    stderr = perhop("init", "twice", "--from", file).err
    assert "  INET/VIDEO" in stderr
    assert "class `SITE`" not in stderr


def test_a_class_with_contradictory_conditions_is_still_reported(tmp_path: Path, perhop: Command) -> None:
    text = WRAPPED.replace(
        "class-map match-all SITE\n match dscp cs3 cs4\n",
        "class-map match-all SITE\n match dscp cs3\n match dscp cs4\n",
    )
    stderr = perhop("init", "never", "--from", written(tmp_path, text, "never.cfg")).err
    assert "class `SITE`: no packet that perhop tried reaches it: its conditions exclude each other" in stderr


FILTERED = """\
tc qdisc add dev eth0 clsact
tc filter add dev eth0 egress protocol ip prio 1 u32 match ip dst 10.1.0.10/32 \\
    police rate 5mbit burst 15k drop
tc qdisc add dev eth0 root tbf rate 30mbit burst 64k latency 50ms
"""
EVERYTHING = {
    "uplink.tc": """\
tc qdisc add dev eth0 clsact
tc filter add dev eth0 egress protocol ip prio 1 u32 match u32 0 0 \\
    police rate 25mbit burst 15k drop
tc qdisc add dev eth0 root tbf rate 30mbit burst 64k latency 50ms
""",
    "car.cfg": """\
version 15.1
interface FastEthernet0/0
 ip address 10.0.0.1 255.255.255.0
interface Serial0/0
 bandwidth 2000
 ip address 192.0.2.1 255.255.255.252
 rate-limit output 1000000 187500 375000 conform-action transmit exceed-action drop
""",
}


@pytest.mark.parametrize(("name", "queue"), [("uplink.tc", "tbf"), ("car.cfg", "fair-queue")])
def test_a_common_limit_is_not_a_class(tmp_path: Path, perhop: Command, name: str, queue: str) -> None:
    file = written(tmp_path, EVERYTHING[name], name)
    assert list(classes(perhop("run", file, "--duration", "5s", "--json").json())) == [queue]
    some = written(tmp_path, FILTERED, "some.tc")
    assert len(classes(perhop("run", some, "--duration", "5s", "--json").json())) == 2


@pytest.mark.parametrize("name", sorted(EVERYTHING))
def test_a_verdict_has_the_rate_of_the_policer_and_not_of_the_shaper(
    tmp_path: Path, perhop: Command, name: str
) -> None:
    # The load of the class exceeds the rate of the shaper behind the policer.
    (queue, rate, policed) = {
        "uplink.tc": ("tbf", "60Mb/s", "25 Mb/s"),
        "car.cfg": ("fair-queue", "12Mb/s", "1 Mb/s"),
    }[name]
    rates = tmp_path / "rates.csv"
    rates.write_text(f"class,rate,kind\n{queue},{rate},cbr\n")
    file = written(tmp_path, EVERYTHING[name], name)
    (verdict,) = perhop("run", file, "--traffic", rates, "--json").json()["verdicts"]
    assert f"lost by a policer above {policed} at" in verdict["text"]


SIGNALING = """\
version 15.7
class-map match-any SIGNALING
 match dscp cs3
policy-map WAN
 class SIGNALING
  bandwidth 500
interface GigabitEthernet0/1
 bandwidth 10000
 speed 10
 ip address 192.0.2.1 255.255.255.252
 service-policy output WAN
"""


def test_a_guarantee_counts_the_headers_that_the_policy_counts(tmp_path: Path, perhop: Command) -> None:
    rates = tmp_path / "rates.csv"
    rates.write_text(
        "class,rate,packet_bytes,kind\nSIGNALING,800kb/s,100,cbr\nclass-default,15Mb/s,1500,cbr\n"
    )
    file = written(tmp_path, SIGNALING, "signaling.cfg")
    document = perhop("run", file, "--traffic", rates, "--json").json()
    verdicts = {verdict["class"]: verdict for verdict in document["verdicts"]}
    (row,) = (row for row in document["rates"] if row["queue"] == "SIGNALING")
    # 100 of the 114 bytes that count are IP bytes.
    assert row["obtained_bps"]["mean"] < 0.95 * row["guaranteed_bps"]
    assert verdicts["SIGNALING"]["holder"] is None
    assert "its own load: 912" in verdicts["SIGNALING"]["text"]


def test_an_idle_port_has_no_holder(tmp_path: Path, perhop: Command) -> None:
    """A class drops its bursts in a short queue; no other class uses its rate."""
    text = SIGNALING.replace("  bandwidth 500\n", "  bandwidth 500\n class class-default\n  queue-limit 2\n")
    rates = tmp_path / "rates.csv"
    rates.write_text("class,rate,packet_bytes,kind\nSIGNALING,50kb/s,500,cbr\nclass-default,9Mb/s,1500,tcp\n")
    file = written(tmp_path, text, "signaling.cfg")
    document = perhop("run", file, "--traffic", rates, "--json").json()
    (verdict,) = (verdict for verdict in document["verdicts"] if verdict["class"] == "class-default")
    (row,) = (row for row in document["rates"] if row["queue"] == "class-default")
    assert verdict["loss_percent"] > 5
    assert row["obtained_bps"]["mean"] < 0.9 * row["guaranteed_bps"]
    assert verdict["holder"] is None
    assert "SIGNALING" not in verdict["text"]
