"""Advice on bursts, calls, limits and rings: compared with calculations by hand and with simulations."""

from __future__ import annotations

import math
from typing import Any

import pytest

from conftest import Command
from perhop import Scenario, design
from perhop.configuration import checked
from perhop.design.calls import CODECS, FRAMINGS
from perhop.errors import InvalidInputError


def test_policer_by_hand() -> None:
    # 10 Mb/s and 50 ms are 62 500 bytes; their square over 18 · 1460 is 148 640.
    advice = design.policer("10Mb/s", rtt="50ms")
    assert advice["BDP"] == 62_500
    assert math.isclose(advice["saw"], 62_500**2 / 26_280)
    assert advice["Bc"] == 148_640
    assert (advice["Be"], advice["Bc_CAR"], advice["Be_CAR"]) == (0, 1_875_000, 3_750_000)
    assert "police cir 10000000 bc 148640" in advice.ios
    # A slow policer still needs the burst for the initial window of a sender.
    assert design.policer("64kb/s", rtt="50ms")["Bc"] == 15_000
    # Between these limits, one round trip determines the burst.
    assert design.policer("2Mb/s", rtt="100ms")["Bc"] == 25_000


def test_voice_policer_by_hand() -> None:
    # G.729: 2 frames of 10 bytes and 40 of headers each 20 ms are 24 kb/s.
    advice = design.voice_policer(10, codec="g729", jitter="30ms")
    assert (advice["L"], advice["R"], advice["late"]) == (60, 240_000, 1.5)
    assert advice["Bc"] == 10 * 60 * 2.5
    assert "priority 240 1500" in advice.ios


@pytest.mark.parametrize(
    ("codec", "framing", "wire", "rate"),
    [
        # 160 + 40 + 38 bytes, 50 times a second.
        ("g711", "ethernet-wire", 238, 95_200),
        ("g729", "ppp", 67, 26_800),
        # 60 + 8 + 8 bytes in two cells.
        ("g729", "aal5-snap", 106, 42_400),
        # 24 + 40 bytes each 30 ms.
        ("g723-63", "raw", 64, 64 * 8 / 0.03),
        ("ilbc-20", "hdlc", 85, 34_000),
    ],
)
def test_calls_by_hand(codec: str, framing: str, wire: int, rate: float) -> None:
    advice = design.calls("10Mb/s", codec=codec, framing=framing)
    assert advice["wire"] == wire
    assert math.isclose(advice["call"], rate)
    assert advice["calls"] == int(3.3e6 // rate)


def test_shaper_queue_and_ring_by_hand() -> None:
    shaper = design.shaper("2Mb/s", line="10Mb/s")
    assert (shaper["Tc"], shaper["Bc"]) == (0.010, 20_000)
    assert math.isclose(shaper["wait"], 0.008)
    assert "shape average 2000000 20000 0" in shaper.ios
    assert design.shaper("2Mb/s", line="10Mb/s", traffic="data")["Bc"] == 250_000
    queue = design.queue("3Mb/s", "100ms", rtt="80ms", flows=4)
    assert (queue["limit"], queue["bytes"], queue["worst"]) == (25, 37_500, 0.1)
    assert (queue["min_1"], queue["min_2"], queue["min_th"], queue["max_th"]) == (17, 12, 8, 25)
    assert queue["busy"] == 15_000
    ring = design.ring("2Mb/s", "15ms")
    assert (ring["one"], ring["ring"], ring["worst"]) == (0.006, 2, 0.012)
    slow = design.ring("512kb/s", "10ms")
    assert (slow["ring"], slow["fragment"]) == (1, 640)
    assert "ppp multilink fragment delay 10" in slow.ios


def _scenario(policies: dict[str, Any], traffic: list[dict[str, Any]], **link: Any) -> Scenario:
    """A host, a router and a host: an input policy `in`, and an optional output policy `out`."""
    inner = {"input": "in"} if "in" in policies else {}
    outer: dict[str, Any] = {"output": "out"} if "out" in policies else {}
    if "ring" in link:
        outer["ring"] = {"packets": link.pop("ring")}
    access = link.pop("access", {})
    return Scenario({
        "perhop": 1,
        "name": "design",
        "duration": link.pop("duration", "30s"),
        "hosts": {"a": {}, "b": {}},
        "routers": {"r": {}},
        "links": [
            {"between": ["a", "r"], "rate": "1Gb/s", "interfaces": {"r": inner}, **access},
            {"between": ["r", "b"], "rate": "1Gb/s", "framing": "raw", "interfaces": {"r": outer}, **link},
        ],
        "policies": policies,
        "traffic": [{"from": "a", "to": "b", **flow} for flow in traffic],
    })  # fmt: skip


def _class(scenario: Scenario, name: str) -> dict[str, Any]:
    rows = scenario.run(seed=1, threads=1).classes.to_dicts()
    return next(row for row in rows if row["class"] == name)


@pytest.mark.parametrize(
    ("rate", "rtt"), [("500kb/s", "100ms"), ("2Mb/s", "100ms"), ("2Mb/s", "20ms"), ("10Mb/s", "50ms")]
)
def test_the_policer_lets_tcp_keep_its_rate_and_a_quarter_of_it_does_not(rate: str, rtt: str) -> None:
    burst = design.policer(rate, rtt=rtt)["Bc"]
    assert _share_of_rate(rate, rtt, burst) >= 0.9
    assert _share_of_rate(rate, rtt, burst / 4) < 0.9


def _share_of_rate(rate: str, rtt: str, burst: float) -> float:
    meter = {"token-bucket": {"rate": rate, "burst": f"{burst:.0f}B"}}
    stage = {"match": {"protocol": "tcp"}, "meter": meter, "green": ["transmit"], "red": ["drop"]}
    bulk = {"name": "bulk", "source": {"bulk": {"tcp": {"profile": "linux-modern"}}}}
    delay = f"{float(rtt.removesuffix('ms')) / 2}ms"
    scenario = _scenario(
        {"in": {"conditioners": [stage]}}, [bulk], access={"delay": delay}, duration="60s"
    ).set("measure.warmup", "10s")
    throughput: float = _class(scenario, "bulk")["throughput_bps"]
    return throughput / design.quantity.rate("rate", rate)


@pytest.mark.parametrize("calls", [1, 10, 40])
def test_the_policer_for_voice_drops_nothing_and_half_a_packet_less_drops(calls: int) -> None:
    # All calls start at the same instant, so their packets arrive at once.
    advice = design.voice_policer(calls)
    voice = {
        "name": "voice",
        "count": calls,
        "source": {"cbr": {"rate": "80kb/s", "packet": {"ip": "200B"}}},
    }

    def dropped(burst: float) -> int:
        meter = {"token-bucket": {"rate": f"{advice['R']:.0f}b/s", "burst": f"{burst:.0f}B"}}
        stage = {"meter": meter, "green": ["transmit"], "red": ["drop"]}
        count: int = _class(_scenario({"in": {"conditioners": [stage]}}, [voice]), "voice")["dropped_packets"]
        return count

    assert dropped(advice["Bc"]) == 0
    # Meanwhile a few bytes arrive by the access link, at 1.6 us a packet.
    assert dropped(advice["Bc"] - advice["L"] / 2) > 0


@pytest.mark.parametrize(("bandwidth", "delay"), [("2Mb/s", "50ms"), ("512kb/s", "200ms")])
def test_the_limit_of_a_queue_holds_the_delay(bandwidth: str, delay: str) -> None:
    advice = design.queue(bandwidth, delay)
    packet_s = 8 * 1500 / design.quantity.rate("bandwidth", bandwidth)
    limit = {"tail-drop": {"limit": f"{advice['limit']:.0f} packets"}}
    queueing = {"scheduler": "fifo", "classes": [{"name": "data", "buffer": limit}]}
    flood = {"name": "flood", "source": {"poisson": {"rate": "5Mb/s", "packet": {"ip": "1500B"}}}}
    longest = _class(_scenario({"out": {"queueing": queueing}}, [flood], rate=bandwidth, ring=1), "flood")[
        "delay_max_s"
    ]
    # In addition to the queue: the packet in the ring and the packet's own time on the line; microseconds of
    # access.
    waited = longest - 2 * packet_s
    assert advice["worst"] - packet_s < waited <= advice["worst"] + 1e-4


@pytest.mark.parametrize(("line", "delay"), [("2Mb/s", "15ms"), ("10Mb/s", "5ms"), ("512kb/s", "30ms")])
def test_the_ring_holds_the_delay_of_priority_packets(line: str, delay: str) -> None:
    advice = design.ring(line, delay)
    rate = design.quantity.rate("line", line)
    classes = [{"name": "voice", "match": {"dscp": "ef"}}, {"name": "rest"}]
    traffic = [
        {"name": "voice", "dscp": "ef", "source": {"cbr": {"rate": "24kb/s", "packet": {"ip": "60B"}}}},
        {"name": "rest", "source": {"poisson": {"rate": f"{rate * 2:.0f}b/s", "packet": {"ip": "1500B"}}}},
    ]
    policy = {"out": {"queueing": {"scheduler": "priority", "classes": classes}}}

    def longest(packets: int) -> float:
        row = _class(_scenario(policy, traffic, rate=line, ring=packets), "voice")
        own = 8 * 60 / rate
        seconds: float = row["delay_max_s"] - own
        return seconds

    budget = design.quantity.time("delay", delay)
    assert longest(int(advice["ring"])) <= advice["worst"] + 1e-4 <= budget + 1e-4
    assert longest(int(advice["ring"]) + 1) > budget


def test_exactly_the_advised_number_of_calls_fits() -> None:
    # On a link with this framing and no other load, a share of 1 is the whole link.
    number = int(design.calls("1Mb/s", codec="g729", framing="ppp", share=1)["calls"])
    assert number == 37

    def lost(calls: int) -> int:
        cbr = {"rate": "24kb/s", "packet": {"ip": "60B"}}
        voice = {"name": "voice", "count": calls, "start-within": "20ms", "source": {"cbr": cbr}}
        limit = {"tail-drop": {"limit": f"{calls} packets"}}
        queueing = {"scheduler": "fifo", "classes": [{"name": "all", "buffer": limit}]}
        link = {"rate": "1Mb/s", "framing": "ppp"}
        count: int = _class(_scenario({"out": {"queueing": queueing}}, [voice], **link), "voice")[
            "dropped_packets"
        ]
        return count

    assert lost(number) == 0
    assert lost(number + 1) > 0


def test_routers_accept_the_lines() -> None:
    advices = [
        design.policer("2Mb/s"),
        design.voice_policer(10),
        design.shaper("2Mb/s", line="10Mb/s"),
        design.calls("2Mb/s", codec="g729", framing="ppp"),
        design.queue("2Mb/s", "100ms"),
        design.ring("2Mb/s", "15ms"),
        design.ring("512kb/s", "10ms"),
    ]
    for advice in advices:
        report = checked(f"version 15.2\n{advice.ios}\n")
        assert not report["counts"]["not-recognized"], advice.ios
        # Only the class-maps are missing: advice is for the lines below them.
        assert {finding["message"].partition(" ")[0] for finding in report["diagnostics"]} <= {
            "class-map",
            "policy-map",
        }


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        ("burst of", lambda: design.policer("10Gb/s", rtt="1s")),
        ("leave no room for data", lambda: design.policer("2Mb/s", mtu="40B")),
        ("codec: `mp3`", lambda: design.voice_policer(1, codec="mp3")),
        ("calls: 0", lambda: design.voice_policer(0)),
        ("25 ms is not a whole number", lambda: design.calls("2Mb/s", interval="25ms")),
        ("framing: `token-ring`", lambda: design.calls("2Mb/s", framing="token-ring")),
        ("does not fit", lambda: design.calls("64kb/s")),
        ("share: 2", lambda: design.calls("2Mb/s", share=2)),
        ("above the line", lambda: design.shaper("20Mb/s", line="10Mb/s")),
        ("traffic: `video`", lambda: design.shaper("2Mb/s", line="10Mb/s", traffic="video")),
        ("takes 23.44 ms by itself", lambda: design.queue("512kb/s", "10ms")),
        ("flows: 0", lambda: design.queue("2Mb/s", "50ms", flows=0)),
        ("not above 0", lambda: design.ring("2Mb/s", 0)),
    ],
)
def test_impossible_values_are_refused_with_a_remedy(found: str, wrong: Any) -> None:
    with pytest.raises(InvalidInputError, match=found) as refused:
        wrong()
    assert refused.value.help


def test_every_step_names_its_source() -> None:
    advices = [
        design.policer("2Mb/s"),
        design.voice_policer(3),
        design.shaper("2Mb/s", line="10Mb/s"),
        *(design.calls("10Mb/s", codec=codec, framing=framing) for codec in CODECS for framing in FRAMINGS),
        design.queue("2Mb/s", "100ms", rtt="100ms"),
        design.ring("512kb/s", "10ms"),
    ]
    for advice in advices:
        assert all(step.source and step.formula and step.meaning for step in advice.steps)


def test_the_commands(perhop: Command) -> None:
    for line, expected in (
        ("policer --rate 2Mb/s --rtt 100ms", "Bc = max(saw, BDP, IW) = 25,000 B"),
        ("policer --calls 10 --codec g729 --jitter 30ms", "priority 240 1500"),
        ("shaper --rate 2Mb/s --line 10Mb/s", "shape average 2000000 20000 0"),
        ("calls --bandwidth 2Mb/s --codec g729 --framing ppp", "calls = share · bandwidth / call = 24"),
        ("queue --bandwidth 2Mb/s --delay 50ms", "queue-limit 8 packets"),
        ("ring --line 2Mb/s --delay 15ms", "tx-ring-limit 2"),
    ):
        ended = perhop("design", *line.split())
        assert (ended.code, expected in ended.out) == (0, True), ended.out
        document = perhop("design", *line.split(), "--json").json()
        assert document["schema_version"] == 1
        assert expected.split()[0] in json_names(document) or expected in document["ios"]
    both = perhop("design", "policer", "--rate", "2Mb/s", "--calls", "3")
    assert (both.code, "either --rate or --calls" in both.err) == (2, True)


def json_names(document: Any) -> set[str]:
    return {step["name"] for step in document["steps"]}
