"""`perhop show qdisc` and `perhop show class`: the output of Linux for a run, and Linux compared with a
run."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest

from cables import Namespace, missing_right
from conftest import ROOT, Command

needs_namespaces = pytest.mark.skipif(
    (reason := missing_right() or ("" if shutil.which("tc") else "the program tc is missing")) != "",
    reason=f"{reason}",
)
UPLINK = ROOT / "examples" / "uplink.tc"
SHORT = ("--duration", "4s", "-q")

# Disciplines that small kernels have, with bursts that are whole ticks of 64 ns, to which tc rounds others.
TREE = """\
tc qdisc add dev near0 root handle 1: htb default 30
tc class add dev near0 parent 1: classid 1:1 htb rate 10mbit ceil 10mbit
tc class add dev near0 parent 1:1 classid 1:10 htb rate 2mbit ceil 10mbit prio 1
tc class add dev near0 parent 1:1 classid 1:20 htb rate 500kbit burst 15k
tc class add dev near0 parent 1:1 classid 1:30 htb rate 8mbit ceil 10mbit
tc qdisc add dev near0 parent 1:10 handle 10: pfifo limit 50
tc qdisc add dev near0 parent 1:20 handle 20: bfifo limit 60000
tc qdisc add dev near0 parent 1:30 handle 30: tbf rate 1mbit burst 5k latency 50ms
"""


def test_the_counters_match_the_run(perhop: Command) -> None:
    shown = perhop("show", "qdisc", UPLINK, "eth1", *SHORT, "--json")
    assert shown.code == 0, shown.err
    [device] = shown.json()["routers"]
    assert device["profile"] == "linux"
    [port] = device["interfaces"]
    assert port["name"] == "eth1"
    tbf, prio, *bands = [discipline["counters"] for discipline in port["objects"]]
    assert tbf["sent_packets"] == prio["sent_packets"] == sum(band["sent_packets"] for band in bands) > 0
    assert tbf["queue_drops"] == sum(band["queue_drops"] for band in bands)
    assert "overlimits" not in tbf, "perhop does not count an empty bucket"
    # 1.9 Mb/s for four seconds.
    assert tbf["sent_bytes"] * 8 / 4 < 1.9e6 * 1.02
    classes = perhop("show", "class", UPLINK, "eth1", *SHORT, "--json").json()
    found = {row["class"]: row for row in classes["routers"][0]["interfaces"][0]["objects"]}
    assert "counters" not in found["1:1"], "tbf counts nothing by class"
    assert [found[f"10:{band}"]["counters"]["sent_packets"] for band in (1, 2, 3)] == [
        band["sent_packets"] for band in bands
    ]


def test_an_unknown_device_is_refused(perhop: Command) -> None:
    ended = perhop("show", "qdisc", UPLINK, "eth7", *SHORT)
    assert ended.code == 2
    assert "no router has a queueing discipline at an interface `eth7`" in ended.err
    assert "did you mean `eth" in ended.err
    other = perhop("show", "qdisc", ROOT / "examples" / "router.cfg", *SHORT)
    assert other.code == 2
    assert "have no queueing discipline" in other.err and "perhop show policy-map interface" in other.err


BUSY = ("--load", "busy")


def test_linux_is_compared_with_a_run(perhop: Command, tmp_path: Path) -> None:
    """`perhop compare --router` accepts the output of tc like the output of a router."""
    for name, option in (("qdisc", "qdisc"), ("class", "class"), ("both", "qdisc")):
        text = perhop("show", option, UPLINK, "eth1", *SHORT).out
        if name == "both":
            text += perhop("show", "class", UPLINK, "eth1", *SHORT).out
        (tmp_path / f"{name}.txt").write_text(text)
        same = perhop("compare", "--router", f"{name}.txt", UPLINK, *SHORT, *BUSY, "--json").json()
        differing = [
            row for policy in same["policies"] for row in policy["rows"] if row["verdict"] == "differs"
        ]
        assert same["missing"] == differing == [], name
        assert same["figures"]["agrees"] >= 9
    text = (tmp_path / "qdisc.txt").read_text()
    (tmp_path / "slower.txt").write_text(text.replace("rate 1900Kbit", "rate 950Kbit"))
    other = perhop("compare", "--router", "slower.txt", UPLINK, *SHORT, *BUSY, "--strict")
    assert other.code == 4, other.err
    # The load of the output depends on the time over which the device counted.
    without = perhop("compare", "--router", "class.txt", UPLINK, *SHORT)
    assert (without.code, "the output has counters but no rates" in without.err) == (2, True)
    counted = perhop("compare", "--router", "class.txt", UPLINK, *SHORT, "--over", "1s")
    assert counted.code == 0, counted.err


# Numbers that only the kernel has: users of a device, times above a limit, packets lent and borrowed, tokens.
OF_THE_KERNEL = re.compile(r" refcnt \d+| overlimits \d+|^ lended: .*\n|^ tokens: .*\n", re.MULTILINE)
COUNTERS = re.compile(r"^ (?:Sent|backlog) .*$|direct_packets_stat \d+", re.MULTILINE)


@needs_namespaces
def test_the_layout_matches_the_kernel(perhop: Command, tmp_path: Path) -> None:
    near = Namespace()
    try:
        near.run("ip", "link", "add", "near0", "type", "veth", "peer", "name", "far0")
        for line in TREE.splitlines():
            near.run(*line.split())
        (tmp_path / "tree.tc").write_text(TREE)
        for kind in ("qdisc", "class"):
            printed = near.run("tc", "-s", kind, "show", "dev", "near0")
            shown = perhop("show", kind, "tree.tc", "near0", *SHORT)
            assert shown.code == 0, shown.err
            assert _objects(shown.out) == _objects(printed), kind
    finally:
        near.end()


def _objects(text: str) -> set[str]:
    """Return the disciplines or classes of an output without counters: kernels print them in any order."""
    lines = [line for line in text.splitlines() if not line.startswith("#")]
    text = OF_THE_KERNEL.sub("", "\n".join(lines) + "\n")
    text = COUNTERS.sub(lambda found: re.sub(r"\d+", "N", found[0]), text)
    return {section.strip() for section in re.split(r"\n(?=qdisc |class )", text)}
