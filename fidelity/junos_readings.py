"""The readings of Junos devices in tests/readings/junos.toml, and the same numbers of perhop."""

from __future__ import annotations

import json
import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import perhop
from perhop import _core
from perhop.quantity import bits_per_second
from perhop.results import Results

FILE = Path(__file__).parents[1] / "tests" / "readings" / "junos.toml"
CASES = {case["id"]: case for case in tomllib.loads(FILE.read_text())["case"]}
PERCENT, POINTS, SHARE_PERCENT = 5.0, 2.0, 1.0


@dataclass(frozen=True)
class Reading:
    """One number of a case."""

    case: str
    values: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.case}: {self.values['quantity']}"

    @property
    def width(self) -> float:
        """The allowed difference: 0 for a configured number."""
        value, kind = float(self.values["value"]), self.values["kind"]
        if kind == "configured":
            return 0.0
        if kind in ("share", "rounded"):
            return SHARE_PERCENT / 100 * value
        return max(PERCENT / 100 * value, POINTS / 100 * float(self.values.get("whole", 0)))

    def meets(self, found: float) -> bool:
        """Whether a number agrees with the documented one."""
        return abs(found - float(self.values["value"])) <= self.width


READINGS = [Reading(case["id"], values) for case in CASES.values() for values in case["readings"]]


@cache
def port(case_id: str) -> dict[str, Any]:
    """Return the interface of a case as the configuration resolves, without a run."""
    case = CASES[case_id]
    report = json.loads(_core.check_router(case["configuration"], case["platform"]))
    wrong = [one["message"] for one in report["diagnostics"] if one["severity"] == "error"]
    assert wrong == []
    [found] = [one for one in report["router"]["ports"] if one["name"] == case["interface"]]
    return dict(found)


def classes(queueing: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the classes of a queueing and all classes inside them."""
    own = queueing["classes"]
    return [*own, *(inner for one in own if one.get("queueing") for inner in classes(one["queueing"]))]


def bits(text: str | None) -> float:
    """Return a rate; 0 for none."""
    return float(bits_per_second(text)) if text else 0.0


def configured(reading: Reading) -> float:
    """Return the number of the configuration as perhop resolves it."""
    values, here = reading.values, port(reading.case)
    if values["field"] == "counted_bytes":
        return float(here["counted_bytes"]["queues"] + values["packet"])
    found = classes(here["output"]["queueing"])
    if values["class"] == "*":
        sure = [one["share"] for one in found if one["share"].get("rate") != one["share"].get("ceil")]
        return sum(bits(share.get("rate")) for share in sure) / float(values["whole"]) * 100
    [one] = [one for one in found if one["name"] == values["class"]]
    if values["field"] == "shared_bytes":
        memory, factor = here["output"]["queueing"]["memory"], one["buffer"]["shared-memory"]["alpha"]
        return float(memory["shared"] * memory["unit-bytes"] * factor / (1 + factor * values["queues"]))
    share, limit = one["share"], one.get("buffer", {}).get("tail-drop", {}).get("limit", "0B")
    match values["field"]:
        case "rate_bps":
            return bits(share.get("rate"))
        case "maximum_bps":
            return bits(share.get("ceil")) or bits(here["bandwidth"])
        case "share_percent":
            return float(bits(share["rate"]) / values["whole"] * 100 // 1)
        case "weight":
            return float(share["weight"])
        case "bytes":
            return size(limit)
        case "buffer_us":
            return size(limit) * 8e6 / bits(share["rate"])
        case field:
            assert field == "drop_percent", field
            return drop_percent(one["buffer"], values["fill"], values["precedence"])


def size(text: str) -> float:
    """Return the bytes of a size."""
    factors = {"k": 1e3, "M": 1e6, "G": 1e9, "Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "": 1}
    count = text.removesuffix("B").rstrip("kKMGi")
    return float(count) * factors[text.removesuffix("B")[len(count) :]]


def drop_percent(buffer: dict[str, Any], fill: int, precedence: int) -> float:
    """Return the drop probability of a precedence at a fill level, from the table of a buffer."""
    table = buffer["fill-profile"]["precedences"][precedence]
    return float(max((step["fill"], step["drop"]) for step in table if step["fill"] <= fill)[1])


@cache
def results(case_id: str) -> Results:
    """Return the run of a case: a host on each side of the router."""
    case = CASES[case_id]
    scale = case["packet"] / case["counted"]
    traffic = [
        {
            "name": one["name"],
            "from": "source",
            "to": "sink",
            "dscp": one["dscp"],
            "source": {
                "cbr": {
                    "rate": f"{round(one['mbps'] * scale * 1e6)}b/s",
                    "packet": {"ip": f"{case['packet']}B"},
                }
            },
        }
        for one in case["offered"]
    ]
    configuration = {"text": case["configuration"], "platform": {"profile": case["platform"]}}
    lan, wan = case["other"], case["interface"]
    scenario = perhop.Scenario(
        {
            "perhop": 1,
            "name": case_id,
            "duration": case["duration"],
            "hosts": {"source": {}, "sink": {}},
            "routers": {"router": {"configuration": configuration}},
            "links": [
                {"between": ["source", "router"], "rate": "100Gb/s", "interfaces": {"router": {"name": lan}}},
                {
                    "between": ["router", "sink"],
                    "rate": case["rate"],
                    "framing": "ethernet-wire",
                    "interfaces": {"router": {"name": wan}},
                },
            ],
            "traffic": traffic,
            "measure": {"warmup": case["warmup"]},
        }
    )
    return scenario.check().run(seed=1)


def measured(reading: Reading) -> float:
    """Return the number of a run."""
    values, case = reading.values, CASES[reading.case]
    rows = {row["class"]: row for row in results(reading.case).classes.iter_rows(named=True)}
    rows = {name: row for name, row in rows.items() if values["class"] in ("", name)}
    mbps: float = sum(row["throughput_bps"] for row in rows.values()) / 1e6 / case["packet"] * case["counted"]
    offered: float = sum(one["mbps"] for one in case["offered"] if one["name"] in rows)
    match values["field"]:
        case "mbps":
            return mbps
        case "delivered_percent":
            return mbps / offered * 100
        case "lost_percent":
            return 100 - mbps / offered * 100
        case field:
            assert field == "dropped_pps", field
            return (offered - mbps) * 1e6 / 8 / float(case["counted"])


def found_by_perhop(reading: Reading) -> float:
    """Return perhop's number for a reading."""
    is_configured = reading.values["kind"] in ("configured", "rounded")
    return configured(reading) if is_configured else measured(reading)
