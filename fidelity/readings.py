"""The readings of routers in tests/readings/routers-show.toml, and the same numbers of perhop."""

from __future__ import annotations

import json
import math
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import perhop
from perhop import _core
from perhop.results import Results
from perhop.show.output import sampled, shown

FILE = Path(__file__).parents[1] / "tests" / "readings" / "routers-show.toml"
CASES = {case["id"]: case for case in tomllib.loads(FILE.read_text())["case"]}
COMMAND = "policy-map interface"
PERCENT, POINTS = 5.0, 2.0
FACTORS = {"kb/s": 1000.0}
# The weight of a flow of precedence 0 in flow-based WFQ, and the weight of a flow of precedence 5: a sixth.
WEIGHTS = {"flood": 32_384, "tcp": 5397}


@dataclass(frozen=True)
class Reading:
    """One number of a case."""

    case: str
    values: dict[str, Any]

    def __str__(self) -> str:
        return f"{self.case}: {self.values['quantity']}"

    @property
    def wanted(self) -> float:
        """The router's number in perhop's unit. Rates are in b/s."""
        return float(self.values["value"] * FACTORS.get(self.values["unit"], 1.0))

    @property
    def width(self) -> float:
        """The allowed difference from the router's number; 0 for a configured number."""
        if self.values["kind"] == "configured":
            return 0.0
        # Shares may also differ by 2 percentage points.
        unit = self.values["unit"]
        part_of = float(self.values.get("whole", 1.0 if unit == "fraction" else 0.0))
        whole = part_of * FACTORS.get(unit, 1.0)
        return max(PERCENT / 100 * self.wanted, POINTS / 100 * whole)

    def meets(self, found: float | str) -> bool:
        """Whether a number agrees with the router's."""
        value, kind = self.values["value"], self.values["kind"]
        if isinstance(found, str) or isinstance(value, str):
            return bool(found == value)
        if kind == "at-most":
            return found <= self.wanted + self.width
        if kind == "at-least":
            return found >= self.wanted - self.width
        return abs(found - self.wanted) <= self.width


READINGS = [Reading(case["id"], values) for case in CASES.values() for values in case["readings"]]


@cache
def port(case_id: str) -> dict[str, Any]:
    """Return the interface of a case from the resolved configuration, without a run."""
    case = CASES[case_id]
    report = json.loads(_core.check_router(case["configuration"], case.get("platform")))
    wrong = [
        diagnostic["message"] for diagnostic in report["diagnostics"] if diagnostic["severity"] == "error"
    ]
    assert wrong == []
    [found] = [interface for interface in report["router"]["ports"] if interface["name"] == case["interface"]]
    return dict(found)


@cache
def results(case_id: str) -> Results:
    """Return the results of a case: one host on one side of the router, and two hosts on the other side."""
    case = CASES[case_id]
    inside, outside = case["other"], case["interface"]
    if case.get("side") == "input":
        inside, outside = outside, inside
    configuration = {"text": case["configuration"]}
    if "platform" in case:
        configuration["platform"] = {"profile": case["platform"]}
    lan = {"between": ["source", "router"], "rate": "100Gb/s", "interfaces": {"router": {"name": inside}}}
    wan = {"between": ["router", "far"], "rate": case["rate"], "interfaces": {"router": {"name": outside}}}
    if "ring" in case:
        wan["interfaces"]["router"]["ring"] = {"packets": case["ring"]}
    wan |= {key: case[key] for key in ("delay", "framing") if key in case}
    scenario = perhop.Scenario(
        {
            "perhop": 1,
            "name": case_id,
            "duration": case["duration"],
            "hosts": {"source": {}, "sink": {"address": "10.0.3.1"}, "second": {"address": "10.0.3.2"}},
            "routers": {"router": {"configuration": configuration}, "far": {}},
            "links": [
                lan,
                wan,
                {"between": ["far", "sink"], "rate": "100Gb/s"},
                {"between": ["far", "second"], "rate": "100Gb/s"},
            ],
            "traffic": [{"from": "source", "to": "sink", **entry} for entry in case["traffic"]],
            "measure": {"warmup": case["warmup"]},
        }
    )
    return (
        sampled(scenario.check(), [COMMAND]).run(seed=1)
        if "policy-map" in case["configuration"]
        else scenario.run(seed=1)
    )


@cache
def policy(case_id: str, side: str, after_s: float | None) -> dict[str, Any]:
    """Return the policy of a case with its counters."""
    [router] = shown(results(case_id), COMMAND, CASES[case_id]["interface"], after_s=after_s)
    [interface] = router["documents"]
    return dict(interface["policies"][side])


def at(value: Any, path: str) -> Any:  # noqa: ANN401 - any JSON
    """Return the value at a path of keys and indices."""
    for key in path.split("."):
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def class_at(found: dict[str, Any] | None, path: str) -> dict[str, Any]:
    """Return a class from a path of class names, outermost first."""
    node: dict[str, Any] = {"policy": found}
    for name in path.split("/"):
        [node] = [inside for inside in node["policy"]["classes"] if inside["name"] == name]
    return node


def siblings(found: dict[str, Any], path: str) -> list[dict[str, Any]]:
    """Return the classes at the level of a class, including the class."""
    outer = path.rpartition("/")[0]
    return list((class_at(found, outer)["policy"] if outer else found)["classes"])


def configured(reading: Reading) -> Any:  # noqa: ANN401 - a number or a text
    """Return the number of a reading from the resolved configuration."""
    values, here = reading.values, port(reading.case)
    if values["field"].startswith("port."):
        return at(here, values["field"].removeprefix("port."))
    side = values.get("side", CASES[reading.case].get("side", "output"))
    found = here["policies"][side]
    if values["field"] == "priority_limit":
        inner = class_at(found, values["class"])["policy"] if "class" in values else found
        [limit] = inner["priority_limits"]
        return limit["value"]
    return at(class_at(found, values["class"]), values["field"])


def of_traffic(reading: Reading, column: str) -> list[float]:
    """Return a column of the flows named in the field of a reading, from `tcp` or from `classes`."""
    name = reading.values["field"].partition(".")[2]
    table = results(reading.case).table("tcp" if column == "goodput_bps" else "classes")
    return [row[column] for row in table.iter_rows(named=True) if row["class"] == name]


def weight(reading: Reading) -> list[float]:
    """Return the weight of a flow from the rates and the other flow's weight; a lower weight gets more."""
    name = reading.values["field"].partition(".")[2]
    other = "tcp" if name == "flood" else "flood"
    rows = {
        row["class"]: row["throughput_bps"] for row in results(reading.case).classes.iter_rows(named=True)
    }
    return [WEIGHTS[other] * rows[other] / rows[name]]


def of_class(reading: Reading) -> Any:  # noqa: ANN401 - a number or a text
    """Return the number of a reading from the output of `perhop show policy-map interface`."""
    values = reading.values
    side = values.get("side", CASES[reading.case].get("side", "output"))
    found = policy(reading.case, side, values.get("after_s"))
    shown_class = class_at(found, values["class"])
    counters = shown_class["counters"]
    computed: dict[str, Callable[[], float]] = {
        "share_of_output": lambda: (
            counters["queue"]["output"]["bytes"]
            / sum(each["counters"]["queue"]["output"]["bytes"] for each in siblings(found, values["class"]))
        ),
        "bytes_of_packet": lambda: counters["classified"]["bytes"] / counters["classified"]["packets"],
        "bytes_of_output": lambda: (
            counters["queue"]["output"]["bytes"] / counters["queue"]["output"]["packets"]
        ),
        "passed_bps": lambda: counters["offered_bps"] - counters["drop_bps"],
        "exceeded_over_conformed": lambda: (
            counters["police"]["exceeded"]["bytes"] / counters["police"]["conformed"]["bytes"]
        ),
        "conformed_share": lambda: (
            counters["police"]["conformed"]["bytes"]
            / sum(color["bytes"] for color in counters["police"].values())
        ),
    }
    if values["field"] in computed:
        return computed[values["field"]]()
    number = at(shown_class, values["field"])
    # The run and the test on the router differ in length, so shares of the total are compared.
    if "whole" in values and values["field"].endswith((".bytes", ".packets")):
        key, parts = values["field"].rpartition(".")[::2]
        number *= values["whole"] / whole_of(found, values["class"], key, parts)
    return number


def whole_of(found: dict[str, Any], path: str, key: str, part: str) -> float:
    """Return the sum of a count over the colors of a policer, or over the classes at the same level."""
    if key.startswith("counters.police."):
        colors = class_at(found, path)["counters"]["police"].values()
        return math.fsum(color[part] for color in colors)
    return math.fsum(at(sibling, key)[part] for sibling in siblings(found, path))


def found_by_perhop(reading: Reading) -> list[Any]:
    """Return perhop's numbers for a reading: one number, or one number per flow."""
    return [configured(reading)] if reading.values["kind"] == "configured" else measured(reading)


def measured(reading: Reading) -> list[Any]:
    """Return the numbers of a reading from a run."""
    field = reading.values["field"]
    if field.startswith("goodput."):
        return [math.fsum(of_traffic(reading, "goodput_bps")) / reading.values.get("per", 1)]
    if field.startswith("goodput_share."):
        every = float(results(reading.case).tcp["goodput_bps"].sum())
        return [math.fsum(of_traffic(reading, "goodput_bps")) / every]
    if field.startswith("goodput_of_each."):
        return of_traffic(reading, "goodput_bps")
    if field.startswith("dropped_percent."):
        return of_traffic(reading, "dropped_percent")
    if field.startswith("weight."):
        return weight(reading)
    return [of_class(reading)]
