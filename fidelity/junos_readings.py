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
    wrong = [
        diagnostic["message"] for diagnostic in report["diagnostics"] if diagnostic["severity"] == "error"
    ]
    assert wrong == []
    [found] = [interface for interface in report["router"]["ports"] if interface["name"] == case["interface"]]
    return dict(found)


def classes(queueing: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the classes of a queueing and all classes inside them."""
    own = queueing["classes"]
    return [*own, *(inner for outer in own if outer.get("queueing") for inner in classes(outer["queueing"]))]


def bits(text: str | None) -> float:
    """Return a rate in b/s; 0 if there is none."""
    return float(bits_per_second(text)) if text else 0.0


def configured(reading: Reading) -> float:
    """Return the number of the configuration as perhop resolves it."""
    values = reading.values
    if values["field"] in ("queue_of_class", "queue_of_dscp"):
        return float(queue_number(reading))
    here = port(reading.case)
    if values["field"] == "counted_bytes":
        return float(here["counted_bytes"]["queues"] + values["packet"])
    found = classes(here["output"]["queueing"])
    if values["class"] == "*" and values["field"] == "bytes":
        return sum(size(limit(config)) for config in found)
    if values["class"] == "*":
        sure = [
            config["share"] for config in found if config["share"].get("rate") != config["share"].get("ceil")
        ]
        return sum(bits(share.get("rate")) for share in sure) / float(values["whole"]) * 100
    [config] = [candidate for candidate in found if candidate["name"] == values["class"]]
    if values["field"] == "shared_bytes":
        memory, factor = here["output"]["queueing"]["memory"], config["buffer"]["shared-memory"]["alpha"]
        return float(memory["shared"] * memory["unit-bytes"] * factor / (1 + factor * values["queues"]))
    share, bytes_ = config["share"], size(limit(config))
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
            return bytes_
        case "buffer_us":
            return bytes_ * 8e6 / bits(share["rate"])
        case field:
            assert field == "drop_percent", field
            return drop_percent(config["buffer"], values["fill"], values["precedence"])


def limit(queue: dict[str, Any]) -> str:
    """Return the limit of a queue with tail drop; 0 bytes for another class."""
    return str((queue.get("buffer") or {}).get("tail-drop", {}).get("limit", "0B"))


def queue_number(reading: Reading) -> int:
    """Return the number of the queue of a class, or of packets with a codepoint."""
    case, values = CASES[reading.case], reading.values

    def objects(command: str, name: str | None = None) -> list[dict[str, Any]]:
        text = _core.print_configured(case["configuration"], command, name, case["platform"])
        return [entry["document"] for entry in json.loads(text)["objects"]]

    [classes] = objects("class-of-service forwarding-class")
    name = values.get("class")
    if name is None:
        [classifier] = objects("class-of-service classifier", values["classifier"])
        points = {entry["code_point"]: entry["forwarding_class"] for entry in classifier["code_points"]}
        name = points[f"{values['dscp']:06b}"]
    return int(next(row["queue"] for row in classes["classes"] if row["name"] == name))


def size(text: str) -> float:
    """Return a size in bytes."""
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
            "name": offer["name"],
            "from": "source",
            "to": "sink",
            "dscp": offer["dscp"],
            "source": {
                "cbr": {
                    "rate": f"{round(offer['mbps'] * scale * 1e6)}b/s",
                    "packet": {"ip": f"{case['packet']}B"},
                }
            },
        }
        for offer in case["offered"]
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


def queued_mbps(reading: Reading) -> float:
    """Return the rate of the packets that reach a queue, in the bytes that the device counts."""
    case, found = CASES[reading.case], results(reading.case)
    rows = found.table("ports").iter_rows(named=True)
    own = [row for row in rows if row["queue"].rsplit("/", 1)[-1] == reading.values["class"]]
    seconds = float(case["duration"].removesuffix("s")) - float(case["warmup"].removesuffix("s"))
    packets: int = sum(row["arrived_packets"] for row in own if row["port"] == "router->sink")
    return packets * float(case["counted"]) * 8 / seconds / 1e6


def measured(reading: Reading) -> float:
    """Return the number of a reading from a run."""
    values, case = reading.values, CASES[reading.case]
    rows = {row["class"]: row for row in results(reading.case).classes.iter_rows(named=True)}
    rows = {name: row for name, row in rows.items() if values["class"] in ("", name)}
    mbps: float = sum(row["throughput_bps"] for row in rows.values()) / 1e6 / case["packet"] * case["counted"]
    offered: float = sum(offer["mbps"] for offer in case["offered"] if offer["name"] in rows)
    match values["field"]:
        case "mbps":
            return mbps
        case "delivered_percent":
            return mbps / offered * 100
        case "queued_mbps":
            return queued_mbps(reading)
        case "lost_percent":
            return 100 - mbps / offered * 100
        case field:
            assert field == "dropped_pps", field
            return (offered - mbps) * 1e6 / 8 / float(case["counted"])


def found_by_perhop(reading: Reading) -> float:
    """Return perhop's number for a reading."""
    is_configured = reading.values["kind"] in ("configured", "rounded")
    return configured(reading) if is_configured else measured(reading)
