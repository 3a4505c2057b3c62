"""Queues that share memory: bursts of `perhop buffers` in a run, and policies in other languages."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import perhop
from conftest import ROOT
from perhop import convert
from perhop.switch_memory import switch_memory
from perhop.verdicts import assertions
from perhop.verdicts.telephony import Telephony

SWITCH = ROOT / "tests" / "configurations" / "catalyst-9300.cfg"


def port_of(switch: Any) -> dict[str, Any]:
    """Return the queueing of the first port of a switch: two queues, because it has no policy."""
    port = switch["ports"][0]
    classes = []
    for queue, match in zip(port["queues"], [{"dscp": ["cs4", "cs6", "cs7"]}, None], strict=True):
        shared = {
            "reserved": queue["hard"],
            "limit": queue["soft"],
            "port-minimum": queue["port_soft_min"],
            "thresholds": [threshold["units"] for threshold in reversed(queue["thresholds"])],
        }
        named = {"name": f"queue{queue['number']}", "buffer": {"shared-memory": shared}}
        classes.append(named if match is None else {**named, "match": match})
    return {
        "memory": {
            "unit-bytes": switch["unit_bytes"],
            "shared": 10_000,
            "port-fall": {"start": port["soft_start"], "end": port["soft_end"]},
        },
        "scheduler": "priority",
        "classes": classes,
    }


def burst(queueing: dict[str, Any], frames: int) -> Any:
    """Two senders of one gigabit per second send `frames` frames of 1518 bytes each to a third port."""
    wire = {"rate": "1Gb/s", "framing": "ethernet-wire"}
    source = {"cbr": {"rate": "960Mb/s", "packet": {"ip": "1500B"}}}
    traffic = [
        {"name": name, "from": name, "to": "c", "stop": f"{frames * 12_500 - 6_000}ns", "source": source}
        for name in "ab"
    ]
    return {
        "perhop": 1,
        "name": "burst",
        "duration": "50ms",
        "hosts": {name: {} for name in "abc"},
        "routers": {"switch": {}},
        "links": [
            {"between": ["a", "switch"], **wire},
            {"between": ["b", "switch"], **wire},
            {"between": ["switch", "c"], **wire, "interfaces": {"switch": {"output": "port"}}},
        ],
        "policies": {"port": {"queueing": queueing}},
        "traffic": traffic,
    }


def run(scenario: Any) -> perhop.Results:
    return perhop.Scenario(scenario).run(replications=1)


def test_a_run_loses_nothing_of_the_burst_that_fits_and_some_of_a_longer_one() -> None:
    # Two senders bring two frames while one leaves.
    switch = switch_memory(SWITCH, arrival_bps=2_000_000_000)
    fits = switch["ports"][0]["queues"][1]["thresholds"][-1]["burst"]["bytes"] // 1518
    lost = [
        int(run(burst(port_of(switch), frames)).classes["dropped_packets"].sum())
        for frames in (fits // 2 - 2, fits // 2 + 10)
    ]
    assert lost[0] == 0
    assert 5 <= lost[1] <= 12


def test_drops_name_the_memory_and_only_where_there_is_one() -> None:
    queueing = port_of(switch_memory(SWITCH))
    queueing["memory"]["shared"] = 300
    results = run(burst(queueing, 200))
    dropped = results.drops.filter(results.drops["packets"] > 0)
    assert set(dropped["cause"]) == {"shared_memory"}
    heard = results.judged(Telephony.from_options())
    (judged,) = assertions.judge(assertions.read(["b.dropped_shared_memory > 10"]), heard, results.summary)
    assert judged.measured is not None and judged.measured.mean > 10
    plain = run(burst({"classes": [{"name": "all"}]}, 200))
    assert "dropped_shared_memory" not in plain.classes.columns
    assert "dropped_queue_full" in plain.classes.columns


@pytest.mark.parametrize("language", ["ios", "tc"])
def test_languages_without_shared_memory_say_so(language: Any, tmp_path: Path) -> None:
    file = tmp_path / "burst.perhop.yaml"
    file.write_text(json.dumps(burst(port_of(switch_memory(SWITCH)), 10)), encoding="utf-8")
    remarks = [str(remark) for remark in convert.convert(file, to=language).remarks]
    assert any("shared-memory" in remark for remark in remarks), remarks
