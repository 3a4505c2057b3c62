"""Configured rates: what scenarios write, and what routers say themselves."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import perhop as library
from conftest import ROOT, Command
from perhop import Scenario
from perhop.rates import Configured, of_classes

CONFIGURATIONS = ROOT / "tests" / "configurations"


def resolved(name: str, **said: Any) -> Any:
    """A class as a router's resolved policy has it, with a queue of its own."""
    keys = ("bandwidth", "priority", "police", "shape", "policy")
    return {**dict.fromkeys(keys), "name": name, "queue": f"p/{name}", **said}


def test_what_a_router_resolves_itself_is_taken() -> None:
    """Its bandwidth, priority and shaper of each class; the lowest limit counts."""
    police = {"kind": "bps", "cir_bps": 400_000, "pir_bps": None}
    children = [
        resolved("VOICE", priority={"rate_bps": 512_000}, police=police),
        resolved("DATA", bandwidth={"kind": "kbps", "rate_bps": 768_000}, shape={"target_bps": 2_000_000}),
        resolved("STRICT", priority={"rate_bps": None}),
        resolved("REST", bandwidth={"kind": "remaining-percent", "value": 40, "rate_bps": 0}),
        resolved("RATIO", bandwidth={"kind": "remaining-ratio", "value": 3, "rate_bps": 0}),
        resolved("class-default"),
    ]
    parent = resolved("class-default", queue=None, shape={"target_bps": 1}, policy={"classes": children})
    assert dict(of_classes([parent])) == {
        "p/VOICE": Configured(None, 400_000, priority=True),
        "p/DATA": Configured(768_000, 2_000_000),
        "p/STRICT": Configured(None, None, priority=True),
        "p/REST": Configured(remaining="40 %"),
        "p/RATIO": Configured(remaining="ratio 3"),
    }, "of class-default nothing is written: what the policy gives it stands"


@pytest.mark.parametrize(
    ("example", "queue", "wanted"),
    [
        # Of 10 Mb/s by quantum; WRR's weights count packets, and say no rate.
        ("drr", "gold", (5e6, None)),
        ("wrr", "gold", (None, None)),
        # A shaper below the rate that the queue has anyway.
        ("shaping", "all", (None, 2e6)),
        # Strict priority up to a cap.
        ("strict-priority", "voice", (None, 500e3)),
    ],
)
def test_guarantees_and_limits_of_scenarios(example: str, queue: str, wanted: tuple[Any, Any]) -> None:
    results = library.run(ROOT / "examples" / f"{example}.perhop.yaml", duration="4s")
    rows = {row["queue"]: row for row in results.summary["rates"]}
    assert (rows[queue]["guaranteed_bps"], rows[queue]["limit_bps"]) == wanted


def test_what_is_still_queued_is_within_what_is_in_the_network() -> None:
    scenario = Scenario.infer(CONFIGURATIONS / "branch-15-subrate.cfg")
    results = scenario.run(threads=1)
    queued = {(row["port"], row["queue"]): row["queued_packets"] for row in results.summary["rates"]}
    inside = {one["class"]: one["in_network_packets"]["mean"] for one in results.summary["classes"]}
    for name, place in scenario.queues.items():
        # A packet or two are on the line, which takes 6 ms.
        assert queued[place] <= inside[name] <= queued[place] + 6, name
    assert queued[scenario.queues["class-default"]] > 50, "greedy TCP fills its queue"


def test_policers_have_their_limits() -> None:
    results = Scenario.infer(CONFIGURATIONS / "police-only.cfg").run(threads=1)
    (row,) = results.summary["policers"]
    assert (row["class"], row["side"], row["limit_bps"]) == ("P2P", "output", 500e3)


def test_a_folder_of_results_holds_the_rates(tmp_path: Path) -> None:
    results = library.run(ROOT / "examples" / "drr.perhop.yaml", duration="2s")
    results.save(tmp_path / "out")
    assert library.Results.load(tmp_path / "out").summary["rates"] == results.summary["rates"]


def test_strict_priority_goes_by_level(perhop: Command, tmp_path: Path) -> None:
    """The class that takes what others leave is written last, and need not be the last to be served."""
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
