"""Outputs of devices with their counters as traffic: `--traffic show.txt`."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from conftest import Command
from perhop import Results, Scenario
from perhop.errors import InvalidInputError
from perhop.show.output import sampled, shown

#: Packets and rates of the same traffic differ by less than this fraction.
RATE = 0.02
#: Percentage points.
DROPS = 2.0
CASES = range(10)
COMMANDS = {"cfg": "policy-map interface", "tc": "class"}


def ios_policy(draw: random.Random) -> str:
    """Return a policy of four classes with random guaranteed rates and queues."""
    voice, signaling, data = draw.randint(10, 33), draw.randint(3, 10), draw.randint(15, 40)
    limit = draw.choice(["", "  queue-limit 120 packets\n"])
    rest = draw.choice(["  fair-queue\n", "", "  random-detect\n"])
    shape = draw.randint(2, 20) * 1_000_000
    return f"""\
class-map match-any VOICE
 match dscp ef
class-map match-any SIGNALING
 match dscp cs3
class-map match-any DATA
 match dscp af21
policy-map EDGE
 class VOICE
  priority percent {voice}
 class SIGNALING
  bandwidth percent {signaling}
 class DATA
  bandwidth percent {data}
{limit} class class-default
{rest}policy-map SHAPE
 class class-default
  shape average {shape}
  service-policy EDGE
interface GigabitEthernet0/0
 ip address 192.0.2.1 255.255.255.252
 service-policy output SHAPE
interface GigabitEthernet0/1
 ip address 10.0.0.1 255.255.255.0
"""


def tc_policy(draw: random.Random) -> str:
    """Return three classes of HTB with random rates."""
    whole = draw.randint(2, 20)
    parts = [draw.uniform(0.15, 0.4), draw.uniform(0.15, 0.4)]
    rates = [1000 * whole * part for part in [*parts, 1 - sum(parts)]]
    lines = [
        "tc qdisc add dev eth0 root handle 1: htb default 30",
        f"tc class add dev eth0 parent 1: classid 1:1 htb rate {whole}mbit",
    ]
    for number, rate in zip((10, 20, 30), rates, strict=True):
        lines.append(
            f"tc class add dev eth0 parent 1:1 classid 1:{number} htb rate {rate:.0f}kbit ceil {whole}mbit"
        )
        lines.append(f"tc qdisc add dev eth0 parent 1:{number} handle {number}: pfifo limit 100")
    lines.append("tc filter add dev eth0 parent 1: protocol ip u32 match ip dsfield 0xb8 0xfc flowid 1:10")
    lines.append("tc filter add dev eth0 parent 1: protocol ip u32 match ip dsfield 0x28 0xfc flowid 1:20")
    return "\n".join(lines) + "\n"


POLICIES = {"cfg": ios_policy, "tc": tc_policy}


def ran(scenario: Scenario, command: str) -> Results:
    return sampled(scenario, [command]).run(threads=1)


def output(results: Results, command: str) -> str:
    return "\n".join(text for device in shown(results, command) for text in device["texts"])


def seconds(results: Results) -> float:
    return float(results.summary["duration_s"] - results.summary["warmup_s"])


def per_class(results: Results) -> dict[str, tuple[float, float]]:
    """Return the rate that arrives at each queue of the router, and its loss in percent of the bytes."""
    sums: dict[str, list[float]] = {}
    for row in results.ports.iter_rows(named=True):
        if row["port"].endswith("->far-side") and not row["queue"].startswith(("(", "all")):
            waits = row["arrived_packets"] - row["sent_packets"] - row["dropped_packets"]
            counts = (row["arrived_bytes"], row["sent_bytes"], row["arrived_packets"], waits)
            before = sums.setdefault(row["queue"], [0, 0, 0, 0])
            sums[row["queue"]] = [total + more for total, more in zip(before, counts, strict=True)]
    found = {}
    for queue, (arrived, sent, packets, waits) in sums.items():
        if packets:
            lost = arrived - sent - waits * arrived / packets
            found[queue] = (8 * arrived / seconds(results), 100 * lost / arrived)
    return found


#: Kinds of traffic, all but the first with bursts. tc does not count the bytes of dropped packets, so that
#: the rate of transfers would be wrong: their short packets are dropped less often.
KINDS = {"cfg": ("constant", "bursts", "transfers", "greedy"), "tc": ("constant", "bursts", "greedy")}


def rates_file(
    draw: random.Random, inferred: Scenario, folder: Path, kinds: tuple[str, ...] = ("constant",)
) -> Path:
    """Return a file with a random load of each class, up to twice its guarantee."""
    lines = ["class,rate,packet_bytes,kind"]
    for line in (inferred.inferred or "").splitlines():
        words = line.split()
        if line.startswith("  ") and words[2:3] == ["kb/s"] and words[0] != "voice":
            rate = float(words[1].replace(",", "")) * draw.uniform(0.5, 2)
            kind = draw.choice(kinds) if len(kinds) > 1 else kinds[0]
            offered = "" if kind == "greedy" else f"{rate:.0f}kb/s"
            lines.append(f"{words[0]},{offered},{draw.randint(100, 1500)},{kind}")
    file = folder / "rates.csv"
    file.write_text("\n".join(lines) + "\n")
    return file


def reproduced(file: Path, first: Results, *, is_printed: bool = False) -> tuple[Scenario, list[str]]:
    """Run the load that the output of a run shows; return the load and the queues with different drops.

    Rates must not differ.
    """
    command = COMMANDS[file.suffix[1:]]
    (file.parent / "show.txt").write_text(output(first, command))
    over = None if is_printed else f"{seconds(first)}s"
    inferred = Scenario.infer(file, traffic=file.parent / "show.txt", over=over)
    before, after = per_class(first), per_class(inferred.run(threads=1))
    assert set(before) == set(after)
    for queue, (rate, _) in before.items():
        assert after[queue][0] == pytest.approx(rate, rel=RATE), queue
    return inferred, [queue for queue, (_, lost) in before.items() if abs(after[queue][1] - lost) > DROPS]


@pytest.mark.parametrize("kind", POLICIES)
@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("is_printed", [True, False], ids=["printed rates", "counters"])
def test_an_output_gives_the_rates_and_drops_of_its_run(
    tmp_path: Path, kind: str, case: int, is_printed: bool
) -> None:
    if kind == "tc" and is_printed:
        pytest.skip("tc prints no rates")
    draw = random.Random(case)
    file = tmp_path / f"edge.{kind}"
    file.write_text(POLICIES[kind](draw))
    load = ("busy", "overload", None)[case % 3]
    if load is None:
        traffic = rates_file(draw, Scenario.infer(file), tmp_path)
        first = ran(Scenario.infer(file, traffic=traffic), COMMANDS[kind])
    else:
        first = ran(Scenario.infer(file, load=load), COMMANDS[kind])
    assert reproduced(file, first, is_printed=is_printed)[1] == []


def with_short_queues(draw: random.Random, text: str) -> str:
    """Return a policy whose queues lose bursts."""
    text = text.replace("pfifo limit 100", f"pfifo limit {draw.randint(5, 30)}")
    text = text.replace("  queue-limit 120 packets\n", "")
    for name in ("SIGNALING", "DATA"):
        text = text.replace(
            f" class {name}\n  bandwidth",
            f" class {name}\n  queue-limit {draw.randint(5, 30)} packets\n  bandwidth",
        )
    return text


def in_bursts(folder: Path, kind: str, case: int) -> tuple[Scenario, list[str]]:
    draw = random.Random(case)
    folder.mkdir(exist_ok=True)
    file = folder / f"edge.{kind}"
    file.write_text(with_short_queues(draw, POLICIES[kind](draw)))
    traffic = rates_file(draw, Scenario.infer(file), folder, KINDS[kind])
    return reproduced(file, ran(Scenario.infer(file, traffic=traffic), COMMANDS[kind]))


@pytest.mark.parametrize("kind", POLICIES)
@pytest.mark.parametrize("case", range(4))
def test_an_output_gives_the_drops_of_bursts(tmp_path: Path, kind: str, case: int) -> None:
    assert in_bursts(tmp_path, kind, case)[1] == []


@pytest.mark.thorough
@pytest.mark.parametrize("kind", POLICIES)
def test_drops_of_bursts_that_differ_are_rare_and_reported(tmp_path: Path, kind: str) -> None:
    differing = 0
    for case in range(4, 40):
        inferred, different = in_bursts(tmp_path / str(case), kind, case)
        differing += bool(different)
        for queue in different:
            assert f"class `{queue.rpartition('/')[2]}`: the output shows" in (inferred.inferred or ""), case
            assert "the inferred load loses" in (inferred.inferred or ""), case
    # The drops of a class do not determine the order of its packets: docs/decisions/0024.
    assert differing <= 4


@pytest.mark.parametrize("kind", POLICIES)
def test_two_outputs_give_the_rates_between_them(perhop: Command, tmp_path: Path, kind: str) -> None:
    draw = random.Random(3)
    file = tmp_path / f"edge.{kind}"
    file.write_text(POLICIES[kind](draw))
    traffic = rates_file(draw, Scenario.infer(file), tmp_path)
    for name, duration in (("before", "4s"), ("after", "10s")):
        scenario = Scenario.load(file, {"duration": duration, "measure.warmup": "1s"}, traffic=traffic)
        results = ran(scenario, COMMANDS[kind])
        (tmp_path / f"{name}.txt").write_text(output(results, COMMANDS[kind]))
    found = Scenario.infer(file, traffic=f"{tmp_path}/before.txt,{tmp_path}/after.txt", over="6s")
    again, first = per_class(found.run(threads=1)), per_class(results)
    for queue, (rate, _) in first.items():
        assert again[queue][0] == pytest.approx(rate, rel=RATE), queue
    reset = perhop("run", file, "--traffic", "after.txt,before.txt", "--over", "6s")
    assert (reset.code, "the counters were reset" in reset.err) == (2, True)
    without = perhop("run", file, "--traffic", "before.txt,after.txt")
    assert (without.code, "the time between the two outputs is not known" in without.err) == (2, True)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"over": "300s"}, "--over needs --traffic"),
        ({"traffic": "rates.csv", "over": "300s"}, "--over: `rates.csv` is not an output"),
        ({"traffic": "show.txt", "over": "fast"}, "--over: `fast` is not a time"),
        ({"traffic": "show.txt"}, "the output has counters but no rates"),
        ({"traffic": "rates.csv,show.txt"}, "`rates.csv` is not an output of a device with counters"),
    ],
)
def test_incompatible_outputs_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: dict[str, Any], message: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "edge.tc").write_text(tc_policy(random.Random(0)))
    (tmp_path / "rates.csv").write_text("class,rate\n1:10,100kb/s\n")
    (tmp_path / "show.txt").write_text(
        "class htb 1:10 parent 1:1 leaf 10: prio 0 rate 1Mbit ceil 2Mbit burst 1600b cburst 1600b\n"
        " Sent 125000 bytes 125 pkt (dropped 0, overlimits 0 requeues 0)\n backlog 0b 0p requeues 0\n"
    )
    with pytest.raises(InvalidInputError, match=message):
        Scenario.infer("edge.tc", **options)


def test_an_output_of_another_device_is_refused(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "edge.cfg").write_text(ios_policy(random.Random(0)))
    (tmp_path / "show.txt").write_text(
        "class htb 1:10 parent 1:1 leaf 10: prio 0 rate 1Mbit ceil 2Mbit burst 1600b cburst 1600b\n"
        " Sent 125000 bytes 125 pkt (dropped 0, overlimits 0 requeues 0)\n backlog 0b 0p requeues 0\n"
    )
    ended = perhop("run", "edge.cfg", "--traffic", "show.txt")
    assert (ended.code, "no counters of the kind of device that" in ended.err) == (2, True)
