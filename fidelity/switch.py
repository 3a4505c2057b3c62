"""perhop compared with Catalyst and Nexus switches: the division of the packet memory, and the policies.

The readings are in tests/readings/switches.toml. perhop's numbers come from `perhop buffers`, whose limits
also apply in a run, and from the policies of the ports.
"""

from __future__ import annotations

import math
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from fidelity.comparison import EQUAL, Comparison, Value
from fidelity.document import Part
from fidelity.reasons import reason
from fidelity.simulating import Effort
from perhop.codepoints import dscp_number
from perhop.configuration import checked
from perhop.switch_memory import SwitchMemory, memory_in_text

PEER = "switch"
FILE = Path(__file__).parents[1] / "tests" / "readings" / "switches.toml"
_READ = tomllib.loads(FILE.read_text(encoding="utf-8"))
CASES = {case["id"]: case for case in _READ["case"]}
LEFT_OUT = {entry["what"]: entry["why"] for entry in _READ["left-out"]}


def compare() -> Iterator[Comparison]:
    """Generate the comparisons with all readings."""
    for case in CASES.values():
        for reading in case["readings"]:
            yield Comparison(
                PEER,
                case["id"],
                case["switch"],
                reading["quantity"],
                reading["unit"],
                Value(float(reading["value"])),
                case["source"],
                Value(_found(case["id"], reading)),
                EQUAL,
                reason("switch readings", case["source"]) if reading.get("departs") else None,
            )


@cache
def _memory(case_id: str) -> SwitchMemory:
    case = CASES[case_id]
    return memory_in_text(_text(case), model=case.get("model"), port_units=case.get("port_units"))


def _text(case: Mapping[str, Any]) -> str:
    """Return the configuration of a case with the line from which perhop recognizes its system."""
    if case.get("system") == "ios-xr":
        return f"!! IOS XR Configuration 7.5.2\n{case['configuration']}"
    release = "9.3(5)" if case.get("system") == "nx-os" else "16.12"
    return f"version {case.get('version', release)}\n{case['configuration']}"


@cache
def _classes(case_id: str, direction: str) -> list[dict[str, Any]]:
    """Return the classes of the policy of the port of a case."""
    case = CASES[case_id]
    report: Any = checked(_text(case), platform=case["model"])
    [port] = [port for port in report["router"]["ports"] if port["name"] == case["interface"]]
    classes: list[dict[str, Any]] = port["policies"][direction]["classes"]
    return classes


def _found(case_id: str, reading: Mapping[str, Any]) -> float:
    """Return perhop's number for a reading; NaN if perhop has no such number."""
    if "classes" in reading:
        return _of_classes(_classes(case_id, reading["classes"]), reading)
    memory: Any = _memory(case_id)
    place = memory
    if "input_queue" in reading:
        place = memory["input_queues"][reading["input_queue"] - 1]
    elif "egress" in reading:
        place = memory["egress_memory"][reading["egress"]]
    elif not reading.get("memory") and not reading.get("input"):
        ports = [port for port in memory["ports"] if port["interface"] == CASES[case_id]["interface"]]
        if not ports:
            return math.nan
        [place] = ports
    if reading.get("sum"):
        return float(sum(queue[reading["field"]] for queue in place["queues"]))
    fields = [field for field in ("dscp", "cos") if field in reading]
    if fields:
        queues = place["queues"] if "queues" in place else memory["input_queues"]
        return _place_of(queues, fields[0], _numbers(reading[fields[0]]), reading["field"])
    if "queue" in reading:
        place = place["queues"][reading["queue"]]
    if "threshold" in reading:
        place = place["thresholds"][reading["threshold"]]
    value = place[reading["field"]]
    if reading.get("megabytes") and value is not None:
        return float(round(value * memory["unit_bytes"] / 1e6, 1))
    return math.nan if value is None else float(value) / float(reading.get("unit_bytes", 1))


def _numbers(ranges: str) -> set[int]:
    """Return the set of numbers of a text such as `32-39, 48-63`."""
    ends = [[int(end) for end in part.split("-")] for part in ranges.split(",")]
    return {number for end in ends for number in range(end[0], end[-1] + 1)}


def _place_of(queues: Sequence[Mapping[str, Any]], field: str, values: set[int], wanted: str) -> float:
    """Return the number of the queue or of the threshold for packets with these values.

    Return NaN if the packets do not share a queue or threshold.
    """
    for queue in queues:
        places = [
            {dscp_number(value) for own, value in map(str.split, limit["packets"]) if own == field}
            for limit in queue["thresholds"]
        ]
        if wanted == "threshold":
            own = [number for number, packets in enumerate(places, start=1) if values <= packets]
            if own:
                return float(own[0])
        elif values <= set().union(*places):
            return float(queue["number"])
    return math.nan


def _of_classes(classes: list[dict[str, Any]], reading: Mapping[str, Any]) -> float:
    if reading.get("count"):
        return float(len(classes))
    value: Any = next(own for own in classes if own["name"] == reading["class"])
    for key in reading["field"].split("."):
        value = value[key]
    if "rate_bps" in reading:
        return float(value) * 8000 / float(reading["rate_bps"])
    return float(value) / float(reading.get("unit_bytes", 1))


def part(_: Effort) -> Part:
    """Return the comparisons with switches as a part of the page."""
    about = (
        "Limits and thresholds of queues in units of memory come from `tests/readings/switches.toml`:\n"
        "Cisco documents them, or switches print them in published outputs. For switches with `mls qos`\n"
        "they are percentages, weights and places in maps. perhop's values come from `perhop buffers`,\n"
        "whose limits also apply in a run of the same configuration, and from the policies of a port."
    )
    return Part(PEER, "Switches", about, list(compare()), LEFT_OUT)
