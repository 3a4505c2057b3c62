"""Packets get the marks, queues and shares in three Linux routers that `trace` and `run` predict.

The configurations are in `tests/network_lab/configs`: BRANCH marks, PROVIDER remarks, and both have
queues at a slow line. Linux forwards, and HTB implements the queues (`perhop convert --to tc`).
"""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations
from pathlib import Path
from typing import Any

import pytest

from cables import missing_right
from network_lab.building import SLOT_S, Lab, Passed
from perhop.codepoints import dscp_number
from perhop.network import Network, packet_between
from perhop.network.running import NetworkRun, queue_figures
from perhop.quantity import quantity

CONFIGS = Path(__file__).parent / "network_lab" / "configs"
# The TTL of a packet of Linux.
TTL = 64
# Packets without addresses, each with separate ports: those of classes, and marks that are not trusted.
PACKETS = (
    "udp 20000 > 20001",
    "udp 20002 > 5060 dscp cs1",
    "udp 20003 > 1433",
    "udp 20004 > 8001 dscp ef",
    "udp 20005 > 8002 dscp af31",
    "udp 20006 > 8003 dscp cs6",
)
# Few enough for any queue of 64 packets.
COUNT = 10
# Seconds of traffic, and the measured seconds: the last queue is full after 1.3 seconds.
SENT_S = 7.0
MEASURED_S = (2.0, 6.5)
# Attempts on a busy machine, and the allowed lateness of a packet in seconds: after 0.12 s, a queue is empty.
ATTEMPTS = 3
LATE_S = 0.06
# The greatest differences in percentage points. Shares differed by at most 0.5, losses by 0.7; a guarantee
# that is wrong by 5 % of the line moves a share by 2 points.
SHARE_WITHIN = 1.5
LOSS_WITHIN = 3.0
# The same for the loss of a class that shares a full queue: three standard deviations of 340 packets. This
# loss differed by 3.9.
SHARED_LOSS_WITHIN = 8.0
# The smallest allowed fraction of the predicted rate, because HTB loses the rate of every stop of the machine
# above 4 ms. Such stops explain losses of `LOSS_WITHIN` more. The greatest allowed fraction is a hundredth
# more than predicted.
LEAST_OF_RATE, MOST_OF_RATE = 0.9, 1.01


def missing() -> str:
    """Return the reason why this machine cannot run the lab, if any."""
    if reason := missing_right():
        return reason
    if shutil.which("tc") is None:
        return "the program tc is missing"
    trial = "ip link add near0 type veth peer name far0 && tc qdisc add dev near0 root handle 1: htb"
    trial += " && tc filter add dev near0 parent 1: protocol ip u32 match u8 0 0 at 1 flowid 1:1"
    tried = subprocess.run(
        ["unshare", "--net", "sh", "-c", trial], capture_output=True, text=True, check=False
    )
    return f"tc has no HTB with u32 here: {tried.stderr.strip()}" if tried.returncode else ""


pytestmark = pytest.mark.skipif((reason := missing()) != "", reason=reason)


@pytest.fixture(scope="module")
def network() -> Network:
    return Network.read(CONFIGS)


@pytest.fixture(scope="module")
def lab(network: Network, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with Lab(network, tmp_path_factory.mktemp("lab")) as built:
        yield built


def flow_of(packet: str) -> dict[str, Any]:
    """Return the packet of a walk as a flow: `udp 10.1.0.2:5 > 10.3.0.2:7 dscp ef len 500`."""
    _, source, _, destination, *fields = packet.split()
    (start, near), (end, far) = (endpoint.split(":") for endpoint in (source, destination))
    named = dict(zip(fields[::2], fields[1::2], strict=True))
    return {
        "source": start,
        "destination": end,
        "ports": [int(near), int(far)],
        "dscp": dscp_number(named["dscp"]),
        "bytes": int(named["len"]),
    }


def key_of(flow: dict[str, Any]) -> tuple[Any, ...]:
    return (flow["source"], flow["destination"], *flow["ports"])


@dataclass
class Predicted:
    """The counts of packets that walks predict."""

    #: Packets that leave a router or arrive at a host, by node, device, flow, DSCP and TTL.
    passing: dict[tuple[Any, ...], int] = field(default_factory=dict)
    #: Packets that wait in a queue, by device, interface and class.
    waiting: Counter[tuple[str, str, str]] = field(default_factory=Counter)

    def add(self, lab: Lab, walk: dict[str, Any], receiver: str) -> int:
        """Add the packets of a walk; returns how often their mark changes."""
        (path,) = walk["paths"]
        assert path["end"] == "delivered" and len(path["hops"]) == 3
        flow = key_of(flow_of(walk["packet"]))
        for number, hop in enumerate(path["hops"], 1):
            dscp, device = flow_of(hop["packet"])["dscp"], lab.ports[hop["device"], hop["leaves"]].device
            self.passing[hop["device"], device, flow, dscp, TTL - number] = COUNT
            self.waiting[hop["device"], hop["leaves"], hop["queue"].rpartition("/")[2]] += COUNT
        self.passing[receiver, "eth0", flow, dscp_number(path["dscp"]), TTL - len(path["hops"])] = COUNT
        return len(path["changes"])


def test_marks_and_queues_are_those_of_trace(network: Network, lab: Lab) -> None:
    predicted, sent, changed = Predicted(), {}, 0
    for site, other in permutations(lab.sites, 2):
        ends = [lab.sites[name]["address"] for name in (site, other)]
        walks = [network.walk(packet_between(*ends, packet)) for packet in PACKETS]
        changed += sum(predicted.add(lab, walk, other) for walk in walks)
        each = {"start": 0.0, "gap": 0.01, "packets": COUNT}
        sent[site] = [flow_of(walk["packet"]) | each for walk in walks]
    assert changed >= len(PACKETS), "the folder has marks that change"
    before = {place: end.counters() for place, end in lab.ports.items() if end.classes}
    with lab.counting([flow["ports"][1] for flow in next(iter(sent.values()))]) as passed:
        for site, flows in sent.items():
            lab.send(site, flows)
    passing: Counter[tuple[Any, ...]] = Counter()
    for row in passed:
        if row.leaves != (row.node in lab.sites):
            passing[row.node, row.device, row.flow, row.dscp, row.ttl] += row.packets
    assert passing == predicted.passing
    assert len(before) == 3
    for place, counters in before.items():
        after = lab.ports[place].counters()
        leaves = {queue for *port, queue in predicted.waiting if tuple(port) == place}
        assert len(leaves) > 2
        for queue in leaves:
            assert after[queue] - counters[queue] == predicted.waiting[*place, queue], (place, queue)


def number_of(text: str) -> float:
    found = quantity(text)
    assert found is not None
    return float(found[0])


def flows_of(entry: dict[str, Any], start: str, end: str) -> Iterator[dict[str, Any]]:
    """Generate the flows of an entry of the scenario's traffic."""
    source = entry["source"]["cbr"]
    size = int(number_of(source["packet"]["ip"]))
    gap = 8 * size / number_of(source["rate"])
    for number in range(entry["count"]):
        yield {
            "source": start,
            "destination": end,
            "ports": [entry["source-port"] + number, entry["destination-port"]],
            "dscp": dscp_number(entry["dscp"]),
            "bytes": size,
            "start": number_of(entry["start-within"]) * number / entry["count"],
            "gap": gap,
            "packets": round(SENT_S / gap),
        }


def measured(passed: list[Passed], classes: dict[int, str]) -> Counter[tuple[str, str, bool, str]]:
    """Return IP bits by node, device, direction (leaving or not) and class, in the measured seconds."""
    first = min(row.slot for row in passed)
    window = range(*(first + round(second / SLOT_S) for second in MEASURED_S))
    bits: Counter[tuple[str, str, bool, str]] = Counter()
    for row in passed:
        if row.slot in window:
            bits[row.node, row.device, row.leaves, classes[row.flow[3]]] += 8 * row.bytes
    return bits


def shares(rates: dict[str, float]) -> dict[str, float]:
    """Return the shares of queues in percent."""
    return {queue: 100 * rate / sum(rates.values()) for queue, rate in rates.items()}


def passed_in_time(lab: Lab, site: str, flows: list[dict[str, Any]], ports: list[int]) -> list[Passed]:
    """Send flows and return the packets that passed, in an attempt in which the sender was punctual."""
    late = 0.0
    for _ in range(ATTEMPTS):
        with lab.counting(ports) as passed:
            late = lab.send(site, flows)
        if late < LATE_S:
            return passed
    pytest.skip(f"the machine is too busy: a packet left {1000 * late:.0f} ms late")


def test_shares_and_losses_are_those_of_run(network: Network, lab: Lab) -> None:
    changes = {"duration": "12s", "measure.warmup": "2s"}
    run = NetworkRun.from_network(network, traffic=CONFIGS / "traffic.csv", changes=changes)
    results = run.scenario.run(replications=3, threads=1)
    pairs = run.document(results, [])["pairs"]
    site, other = pairs[0]["from"], pairs[0]["to"]
    ends = [lab.sites[name]["address"] for name in (site, other)]
    traffic = run.scenario["traffic"]
    classes = {entry["destination-port"]: entry["name"] for entry in traffic}
    flows = [flow for entry in traffic for flow in flows_of(entry, *ends)]
    bits = measured(passed_in_time(lab, site, flows, list(classes)), classes)
    # The queues of the two slow lines, with the classes in them.
    members: dict[tuple[str, str, str], dict[str, list[str]]] = {}
    for pair in pairs:
        for stop in pair["ways"][0]:
            port = stop["device"], stop["interface"], stop["port"]
            members.setdefault(port, {}).setdefault(stop["queue"], []).append(pair["name"])
    lines = {port: queues for port, queues in members.items() if len(queues) > 1}
    assert len(lines) == 2
    figures = {(row["port"], row["queue"]): row["sent_bps"] for row in queue_figures(results)}
    for (device, interface, port), queues in lines.items():
        end = lab.ports[device, interface]
        sent = {
            queue: sum(bits[device, end.device, True, name] for name in names)
            for queue, names in queues.items()
        }
        expected = {queue: figures[port, queue] for queue in queues}
        assert shares(sent) == pytest.approx(shares(expected), abs=SHARE_WITHIN), device
        seconds = MEASURED_S[1] - MEASURED_S[0]
        rate = sum(sent.values()) / seconds / sum(expected.values())
        assert LEAST_OF_RATE < rate < MOST_OF_RATE, device
    # The packets that a full queue drops depend on the order of arrivals.
    shared = {
        name for queues in lines.values() for names in queues.values() if len(names) > 1 for name in names
    }
    for pair in pairs:
        name = pair["name"]
        loss = 100 * (1 - bits[other, "eth0", False, name] / bits[site, "eth0", True, name])
        within = SHARED_LOSS_WITHIN if name in shared else LOSS_WITHIN
        assert loss == pytest.approx(pair["loss_percent"], abs=within), name
