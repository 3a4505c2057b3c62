"""`perhop compare --router`: the output of real routers, compared with a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from perhop.errors import InvalidInputError
from perhop.show.comparison import Tolerances
from perhop.show.output import compared_outputs, read
from routers import ROUTERS

BY_NAME = {router.name: router for router in ROUTERS}

OLD = """\
rtr#show policy-map interface serial 0/1/0
 Serial0/1/0

  Service-policy output: EDGE (1177)

    Class-map: VOICE (match-all) (1178/10)
      1200 packets, 76800 bytes
      30 second offered rate 20000 bps, drop rate 300 bps
      Match: ip dscp ef (46)
      Queueing
        Strict Priority
        Output Queue: Conversation 264
        Bandwidth 128 (kbps) Burst 3200 (Bytes)
        (pkts matched/bytes matched) 30/1920
        (total drops/bytes drops) 12/768

    Class-map: DATA (match-any)
      900 packets, 540000 bytes
      30 second offered rate 144000 bps, drop rate 0 bps
      Match: ip precedence 3
        400 packets, 240000 bytes
        30 second rate 64000 bps
      Match: ip precedence 4
        500 packets, 300000 bytes
        30 second rate 80000 bps
      Queueing
        Output Queue: Conversation 265
        Bandwidth 25 (%)
        Bandwidth 64 (kbps)Max Threshold 64 (packets)
        (pkts matched/bytes matched) 890/534000
        (depth/total drops/no-buffer drops) 4/7/0
        exponential weight: 9
        mean queue depth: 3

     class     Transmitted       Random drop      Tail drop     Minimum Maximum Mark
               pkts/bytes        pkts/bytes       pkts/bytes    thresh  thresh  prob
       3         395/237000          5/3000             0/0          26      40  1/10
       4         498/298800          2/1200             0/0          28      40  1/10

    Class-map: class-default (match-any)
      10 packets, 1000 bytes
      30 second offered rate 0 bps, drop rate 0 bps
      Match: any
      Traffic Shaping
           Target/Average   Byte   Sustain   Excess    Interval  Increment
             Rate           Limit  bits/int  bits/int  (ms)      (bytes)
           256000/128000    1984   7936      7936      62        992
"""

NESTED = """\
 GigabitEthernet0/0/1.100 \r
\r
  Service-policy input: MARK\r
\r
    Class-map: class-default (match-any)  \r
      70 packets, 7000 bytes\r
      5 minute offered rate 0000 bps\r
      Match: any \r
      police:\r
          cir 20 %\r
          cir 2000000 bps, bc 62500 bytes, be 125000 bytes\r
        conformed 60 packets, 6000 bytes; actions:\r
          set-prec-transmit 3\r
          set-qos-transmit 2\r
        exceeded 6 packets, 600 bytes; action:transmit\r
        violated 4 packets, 400 bytes; actions:\r
          drop \r
        conformed 2000 bps, exceed 0 bps, violate 0 bps\r
\r
  Service-policy output: TOP\r
\r
    Class-map: class-default (match-any)  \r
      1000 packets, 500000 bytes\r
      5 minute offered rate 90000 bps, drop rate 0000 bps\r
      Match: any \r
      Queueing\r
      queue limit 64 packets\r
      (queue depth/total drops/no-buffer drops) 0/100/0\r
      (pkts output/bytes output) 900/450000\r
      shape (average) cir 10000000, bc 40000, be 40000\r
      target shape rate 10000000\r
\r
      Service-policy : INNER \r
\r
        queue stats for all priority classes:\r
          Queueing\r
          priority level 1\r
          queue limit 3932 us/ 49152 bytes\r
          (queue depth/total drops/no-buffer drops) 3/0/0\r
          (pkts output/bytes output) 50/5000\r
\r
        queue stats for all priority classes:\r
          Queueing\r
          priority level 2\r
          queue limit 512 packets\r
          (queue depth/total drops/no-buffer drops) 0/1/0\r
          (pkts output/bytes output) 40/4000\r
\r
        Class-map: RT (match-any)  \r
          50 packets, 5000 bytes\r
          5 minute offered rate 1000 bps, drop rate 0000 bps\r
          Match:  dscp ef (46)\r
          Priority: 10% (1000 kbps), burst bytes 25000, b/w exceed drops: \r
0\r
\r
          Priority Level: 1\r
%SYS-5-CONFIG_I: Configured from console by vty0\r
\r
        Class-map: class-default (match-any)  \r
          910 packets, 491000 bytes\r
          5 minute offered rate 80000 bps, drop rate 9000 bps\r
          Match: any \r
          Queueing\r
          queue limit 64 packets\r
          (queue depth/total drops/no-buffer drops/flowdrops) 5/99/0/40\r
          (pkts output/bytes output) 811/437594\r
          bandwidth remaining ratio 7 \r
          Fair-queue: per-flow queue limit 16\r
"""


def policies(text: str) -> list[dict[str, Any]]:
    return read(text)["policies"]


def test_output_before_hqf_has_other_lines() -> None:
    [policy] = policies(OLD)
    assert (policy["interface"], policy["side"], policy["name"]) == ("Serial0/1/0", "output", "EDGE")
    voice, data, default = policy["classes"]
    assert voice["numbers"] == {
        "packets": 1200,
        "bytes": 76_800,
        "offered_bps": 20_000,
        "drop_bps": 300,
        "priority_kbps": 128,
        "priority_burst_bytes": 3200,
        "output_packets": 30,
        "output_bytes": 1920,
        "exceed_drops": 12,
    }
    assert data["numbers"]["packets"] == 900, "not those of a match line"
    assert (data["numbers"]["bandwidth_percent"], data["numbers"]["bandwidth_kbps"]) == (25, 64)
    assert [data["numbers"][name] for name in ("limit_packets", "depth", "queue_drops")] == [64, 4, 7]
    assert data["early_drops"][1] == {
        "value": "4",
        "min": 28,
        "max": 40,
        "mark_denominator": 10,
        "transmitted_packets": 498,
        "random_packets": 2,
        "tail_packets": 0,
    }
    assert default["numbers"]["shape_target_bps"] == 256_000
    assert (default["numbers"]["shape_cir_bps"], default["numbers"]["shape_bc_bits"]) == (128_000, 7936)


def test_policies_nest_and_noise_is_ignored() -> None:
    mark, top = policies(NESTED)
    assert [mark["interface"], top["interface"]] == ["GigabitEthernet0/0/1.100"] * 2
    [marked] = mark["classes"]
    assert marked["actions"] == {
        "conformed": ["set-prec-transmit 3", "set-qos-transmit 2"],
        "exceeded": ["transmit"],
        "violated": ["drop"],
    }
    assert marked["numbers"]["police_percent"] == 20
    assert marked["numbers"]["police_be_bytes"] == 125_000
    assert marked["numbers"]["conformed_bps"] == 2000
    assert ["/".join(row["path"]) for row in top["classes"]] == [
        "class-default",
        "class-default/(priority level 1)",
        "class-default/(priority level 2)",
        "class-default/RT",
        "class-default/class-default",
    ]
    outer, first, second, rt, inner = (row["numbers"] for row in top["classes"])
    assert outer["queue_drops"] == 100
    assert (first["limit_us"], first["limit_bytes"]) == (3932, 49_152)
    assert (second["limit_packets"], second["queue_drops"]) == (512, 1)
    assert (rt["priority_kbps"], rt["priority_level"]) == (1000, 1)
    assert (inner["flow_drops"], inner["flow_limit_packets"], inner["remaining_ratio"]) == (40, 16, 7)


#: A policy inside a class, followed by further classes.
INSIDE_FIRST = """\
 Serial0/1/0
  Service-policy output: TOP
    Class-map: A (match-any)
      10 packets, 1000 bytes
      Service-policy : INNER
        Class-map: X (match-any)
          4 packets, 400 bytes
        Class-map: class-default (match-any)
          6 packets, 600 bytes
    Class-map: B (match-any)
      20 packets, 2000 bytes
    Class-map: class-default (match-any)
      30 packets, 3000 bytes
"""


def unindented(text: str) -> str:
    """Return the lines without indentation, as a web page or a chat shows them."""
    return "\n".join(line.strip() for line in text.splitlines())


@pytest.mark.parametrize("text", [OLD, NESTED, INSIDE_FIRST], ids=["old", "nested", "inside-first"])
def test_output_without_indentation_is_read_at_the_same_levels(text: str) -> None:
    assert policies(unindented(text)) == policies(text)


def test_output_without_indentation_whose_levels_are_lost_is_refused() -> None:
    default = """\
        Class-map: class-default (match-any)
          6 packets, 600 bytes
"""
    lost = INSIDE_FIRST.replace(default, "")
    paths = ["/".join(row["path"]) for row in policies(lost)[0]["classes"]]
    assert paths == ["A", "A/X", "B", "class-default"]
    # Without indentation, B and the class-default behind it would be classes of INNER.
    with pytest.raises(InvalidInputError, match="not indented, and the policy TOP has no class-default"):
        read(unindented(lost))
    cut = lost[: lost.rindex("    Class-map: class-default")]
    with pytest.raises(InvalidInputError, match="not indented, and the policy INNER has no class-default"):
        read(unindented(cut))


def test_other_text_is_refused() -> None:
    with pytest.raises(InvalidInputError, match="no output of `show policy-map interface`"):
        read("Building configuration...\ninterface Serial0/0\n service-policy output WAN\n")


def test_perhop_reads_its_own_output(perhop: Command, tmp_path: Path) -> None:
    for name, classes in (("levels", 5), ("nested", 5), ("both-sides", 6)):
        text = perhop("show", "policy-map", "interface", BY_NAME[name].scenario(tmp_path)).out
        assert sum(len(policy["classes"]) for policy in policies(text)) == classes, name
        assert policies(unindented(text)) == policies(text), name


def verdicts(output: str, other: str) -> dict[tuple[str, str], str]:
    found = compared_outputs(output, other, Tolerances())
    rows = (row for policy in found["policies"] for row in policy["rows"])
    return {(row["class"], row["quantity"]): row["verdict"] for row in rows}


def test_an_output_agrees_with_itself() -> None:
    for text in (OLD, NESTED):
        found = compared_outputs(text, text, Tolerances())
        assert found["agrees"]
        assert found["figures"]["agrees"] > 20


def test_configured_numbers_must_be_equal_and_measured_ones_near() -> None:
    router = NESTED
    other = NESTED.replace("bc 40000", "bc 100000").replace("offered rate 80000", "offered rate 83000")
    found = verdicts(router, other)
    assert found["class-default", "shape bc"] == "differs"
    assert found["class-default", "shape be"] == "agrees"
    assert found["class-default/class-default", "offered rate"] == "agrees", "within 5 %"
    faster = NESTED.replace("offered rate 80000", "offered rate 90000")
    assert verdicts(router, faster)["class-default/class-default", "offered rate"] == "differs"
    more_drops = NESTED.replace("5/99/0/40", "5/130/0/40")
    assert verdicts(router, more_drops)["class-default/class-default", "dropped packets"] == "differs"
    colors = NESTED.replace("exceeded 6 packets, 600", "exceeded 9 packets, 900")
    assert verdicts(router, colors)["class-default", "exceeded"] == "differs"


#: The drops of the queue that both or one of the priority classes use.
SHARED = """\
 Serial0/1/0
  Service-policy output: TOP
    queue stats for all priority classes:
      queue limit 64 packets
      (queue depth/total drops/no-buffer drops) 0/30/0
      (pkts output/bytes output) 170/34000
    Class-map: VOICE (match-any)
      100 packets, 20000 bytes
      30 second offered rate 8000 bps, drop rate 0000 bps
      Priority: 10% (1000 kbps), burst bytes 25000, b/w exceed drops: 0
    Class-map: VIDEO (match-any)
      100 packets, 20000 bytes
      30 second offered rate 8000 bps, drop rate 0000 bps
      OTHER
    Class-map: class-default (match-any)
      30 packets, 3000 bytes
"""


@pytest.mark.parametrize(
    ("exceeding", "other", "class_name", "lost"),
    [
        (0, "bandwidth 500 kbps", "VOICE", 30.0),
        # The drops of the queue include the policer's drops (10), or do not include them (40).
        (10, "bandwidth 500 kbps", "VOICE", 30.0),
        (40, "bandwidth 500 kbps", "VOICE", 70.0),
        (0, "Priority: 5% (500 kbps), burst bytes 12500, b/w exceed drops: 0", "(priority)", 15.0),
    ],
)
def test_drops_of_the_priority_queue_count(exceeding: int, other: str, class_name: str, lost: float) -> None:
    text = SHARED.replace("drops: 0", f"drops: {exceeding}").replace("OTHER", other)
    found = compared_outputs(text, text, Tolerances())
    rows = [row for row in found["policies"][0]["rows"] if row["quantity"] == "dropped packets"]
    assert {row["class"]: row["router"] for row in rows}[class_name] == lost
    assert {row["kind"] for row in rows} == {"behavior"}


def test_a_feature_on_one_side_only_is_a_difference() -> None:
    router = NESTED
    without = NESTED.replace("          bandwidth remaining ratio 7 \r\n", "")
    found = verdicts(router, without)
    assert found["class-default/class-default", "bandwidth remaining ratio"] == "differs"
    # Some routers do not print a limit.
    silent = NESTED.replace("      queue limit 64 packets\r\n      (queue", "      (queue")
    assert verdicts(router, silent)["class-default", "queue limit"] == "not-comparable"


def test_classes_and_policies_on_one_side_are_named() -> None:
    router = NESTED
    renamed = NESTED.replace("Class-map: RT", "Class-map: VOICE")
    found = compared_outputs(router, renamed, Tolerances())
    assert not found["agrees"]
    assert found["policies"][1]["only_router"] == ["class-default/RT"]
    assert found["policies"][1]["only_simulated"] == ["class-default/VOICE"]
    assert compared_outputs(router, OLD, Tolerances())["missing"] == [
        "GigabitEthernet0/0/1.100 input MARK",
        "GigabitEthernet0/0/1.100 output TOP",
    ]


@pytest.fixture
def saved(perhop: Command, tmp_path: Path) -> Path:
    """The output of a router with the configuration and load of the scenario `nested`."""
    shown = perhop("show", "policy-map", "interface", BY_NAME["nested"].scenario(tmp_path))
    file = tmp_path / "show.txt"
    file.write_text(shown.out)
    return file


@pytest.mark.parametrize("load", ["quiet", "overload"])
def test_a_configuration_runs_under_the_load_of_the_output(
    perhop: Command, tmp_path: Path, load: str
) -> None:
    file = tmp_path / "nested.cfg"
    file.write_text(BY_NAME["nested"].configuration())
    shown = perhop("show", "policy-map", "interface", file, "--load", load)
    (tmp_path / "show.txt").write_text(shown.out)
    found = perhop("compare", "--router", "show.txt", file, "--json").json()
    assert found["parts"]["configured"]["differs"] == found["parts"]["load"]["differs"] == 0
    assert found["parts"]["load"]["agrees"] > 3
    assert sum(part["agrees"] for part in found["parts"].values()) == found["figures"]["agrees"]
    guessed = perhop("compare", "--router", "show.txt", file, "--load", "busy")
    assert "DIFFERS" in guessed.out
    assert [line.split(":")[0] for line in guessed.out.splitlines()[-3:]] == [
        "configured",
        "load",
        "behavior",
    ]


def test_a_run_is_compared_with_a_router(perhop: Command, tmp_path: Path, saved: Path) -> None:
    scenario = tmp_path / "nested.perhop.yaml"
    same = perhop("compare", "--router", saved, scenario, "--strict")
    assert same.code == 0, same.err
    assert "Serial0/1/0, output: WAN" in same.out
    assert "0 differ" in same.out
    # The same router, but DATA has another share.
    text = BY_NAME["nested"].configuration().replace("bandwidth percent 30", "bandwidth percent 50")
    (tmp_path / "nested.cfg").write_text(text)
    other = perhop("compare", "--router", saved, scenario, "--strict")
    assert other.code == 4
    assert "DIFFERS" in other.out
    assert perhop("compare", "--router", saved, scenario).code == 0, "differences are not a failure"
    rows = perhop("compare", "--router", saved, scenario, "--json").json()
    assert not rows["agrees"]
    [policy] = rows["policies"]
    apart = {(row["class"], row["quantity"]): row for row in policy["rows"] if row["verdict"] == "differs"}
    assert apart["class-default/DATA", "bandwidth"]["simulated"] == 750
    assert ("class-default/DATA", "share of what is sent") in apart
    assert ("class-default/VOICE", "priority") not in apart


def test_tolerances_may_be_wider(perhop: Command, tmp_path: Path, saved: Path) -> None:
    scenario = tmp_path / "nested.perhop.yaml"
    options = ("--set", "traffic.default.source.poisson.rate=1100kb/s", "--strict", "-q")
    assert perhop("compare", "--router", saved, scenario, *options).code == 4
    assert (
        perhop("compare", "--router", saved, scenario, *options, "--percent", "60", "--points", "20").code
        == 0
    )


def test_options_of_other_comparisons_are_refused(perhop: Command, tmp_path: Path, saved: Path) -> None:
    scenario = tmp_path / "nested.perhop.yaml"
    for options, message in (
        (["--router", saved, scenario, "--live-replications", "2"], "one simulated run"),
        (["--router", saved, scenario, "-o", "out"], "one simulated run"),
        (
            ["--router", saved, scenario, scenario],
            "--router compares a router with one argument, but there are 2 arguments",
        ),
        ([scenario, "--points", "3"], "add --router FILE"),
        ([scenario, "--platform", "hqf"], "--platform applies only to a comparison with a router"),
        (["--router", saved, scenario, "--interface", "Serial0/0"], "applies only to router configurations"),
        (["--router", scenario, scenario], "no output of `show policy-map interface`"),
        (["--router", "nowhere.txt", scenario], "there is no such file"),
    ):
        ended = perhop("compare", *options)
        assert ended.code == 2, options
        assert message in ended.err


BRANCH = """\
version 15.1
hostname branch
class-map VOICE
 match dscp ef
policy-map WAN
 class VOICE
  priority 512
interface Serial0/0
 bandwidth 2048
 ip address 192.0.2.18 255.255.255.252
 service-policy output WAN
"""


def test_a_configuration_is_compared_under_the_load_of_the_router(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "branch.cfg").write_text(BRANCH)
    (tmp_path / "load.csv").write_text("class,rate,packet_bytes,kind\nVOICE,100kb/s,200,voice\n")
    load = ("--traffic", "load.csv", "--duration", "20s", "-q")
    shown = perhop("show", "policy-map", "interface", "branch.cfg", *load)
    assert shown.code == 0, shown.err
    (tmp_path / "show.txt").write_text(shown.out)
    same = perhop("compare", "--router", "show.txt", "branch.cfg", *load, "--strict")
    assert same.code == 0, same.out + same.err
    # The output determines the load; `--load` replaces it.
    options = ("--duration", "20s", "-q", "--strict")
    shown_load = perhop("compare", "--router", "show.txt", "branch.cfg", *options)
    assert shown_load.code == 0, shown_load.out + shown_load.err
    other = perhop("compare", "--router", "show.txt", "branch.cfg", "--load", "busy", *options)
    assert other.code == 4, other.err


def test_a_chosen_platform_is_accepted(perhop: Command, tmp_path: Path) -> None:
    text = BRANCH.replace("hostname", "license udi pid ASR-903 sn X\nhostname", 1)
    (tmp_path / "metro.cfg").write_text(text)
    chosen = ("--platform", "hqf", "--duration", "20s", "-q")
    shown = perhop("show", "policy-map", "interface", "metro.cfg", *chosen)
    assert shown.code == 0, shown.err
    (tmp_path / "show.txt").write_text(shown.out)
    same = perhop("compare", "--router", "show.txt", "metro.cfg", *chosen, "--strict")
    assert same.code == 0, same.out + same.err
    assert perhop("show", "policy-map", "interface", "metro.cfg").code == 2
