"""The rates that policies guarantee to their queues, and the rates at which queues sent in a run."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import TYPE_CHECKING, Any, Literal, TypedDict, cast

from perhop import _core
from perhop.configuration import examined_as
from perhop.core_types import RecognizedPlatform, RouterReport
from perhop.ports import ports, resolved
from perhop.quantity import bits_per_second

if TYPE_CHECKING:
    from perhop._core import TableColumns
    from perhop.schema_types import PolicyConfig, ScenarioConfig


class QueueRates(TypedDict):
    """The rates of one queue, in bits per second of the bytes that the policy counts."""

    #: The name of the queue in results.
    queue: str
    #: Whether the queue has strict priority.
    priority: bool
    #: The guaranteed rate, regardless of the traffic of the other classes; `None` without a guarantee.
    promised_bps: float | None
    #: The rate while all classes send as much as they may; `None` for an unknown line.
    while_busy_bps: float | None
    #: The rate of the queue's own policer, shaper, cap or ceiling.
    limit_bps: float | None
    #: Whether `limit_bps` applies `always` or `under-congestion`.
    limit_holds: Literal["always", "under-congestion"] | None
    #: The highest rate of the queue: the lowest of its limit, the limits of the outer classes, and the rate
    #: of the line.
    maximum_bps: float | None
    #: Whether these rates are an approximation, because the rates of the queues of HTB add up to more than
    #: the available rate.
    approximate: bool
    #: The queue's share of the excess among the classes of its scheduler, 0 to 1.
    excess: float | None


def class_rates(policy: PolicyConfig | Mapping[str, Any], line_bps: float | None) -> list[QueueRates]:
    """Return the rates of each queue of a policy on a line of `line_bps` bits per second."""
    return _class_rates(json.dumps(policy), None if line_bps is None else round(line_bps))


@lru_cache(maxsize=64)
def _class_rates(policy: str, line_bps: int | None) -> list[QueueRates]:
    return cast("list[QueueRates]", json.loads(_core.class_rates(policy, line_bps)))


def rates(
    scenario: ScenarioConfig | Mapping[str, Any], summary: Mapping[str, Any], sampled: TableColumns
) -> list[dict[str, Any]]:
    """Return a row for each queue of the ports whose policy has several queues, or limits the only queue.

    The obtained rate is the rate that the queue sent, in IP bits per second. The backlog is known if the
    queue was sampled at the end: `sampled` is the table `queues`.
    """
    seconds = summary["duration_s"] - summary["warmup_s"]
    queued = _queued(sampled, summary["duration_s"])
    rows = []
    for port in ports(scenario):
        found = class_rates(port.policy, bits_per_second(port.rate)) if port.policy else []
        if len(found) > 1 or any(queue["limit_bps"] is not None for queue in found):
            sent = _sent(port.name, summary, seconds)
            rows += [
                {
                    "port": port.name,
                    "queue": queue["queue"],
                    "priority": queue["priority"],
                    "guaranteed_bps": _beyond_limit(queue),
                    "limit_bps": _limit(queue),
                    "remaining": _remaining(queue),
                    "obtained_bps": sent.get(queue["queue"]) or {"mean": None, "ci95": None, "unit": "b/s"},
                    "queued_packets": queued.get((port.name, queue["queue"])),
                }
                for queue in found
            ]
    return rows


def _beyond_limit(queue: QueueRates) -> float | None:
    """Return the guaranteed rate of a queue, if it differs from its priority rate and its limit."""
    promised, limit = queue["promised_bps"], _limit(queue)
    if queue["priority"] or promised is None or (limit is not None and limit <= promised):
        return None
    return promised


def _limit(queue: QueueRates) -> float | None:
    """Return the rate of a queue's limit, or of a limit of all packets below its guaranteed rate."""
    promised, limit, maximum = queue["promised_bps"], queue["limit_bps"], queue["maximum_bps"]
    return maximum if promised is not None and maximum is not None and maximum < promised else limit


def _remaining(queue: QueueRates) -> str | None:
    """Return the share of the excess as text, for a queue without any other rate."""
    if queue["priority"] or queue["promised_bps"] is not None or queue["excess"] is None:
        return None
    return f"{100 * queue['excess']:.3g} %"


def policers(
    scenario: ScenarioConfig | Mapping[str, Any], summary: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """Return a row with place and rate for each conditioner that drops above a rate and had packets.

    The place is needed, because classes of policies for both directions often have the same names.
    """
    used = {
        (row["node"], row["neighbor"], row["side"], name)
        for row in summary["conditioners"]
        if row["packets"]["mean"]
        for name in row["stage"].split(".")
    }
    policies = resolved(scenario).get("policies", {})
    rows = []
    for port in ports(scenario):
        for side in ("input", "output"):
            policy = policies.get(str(port.interface.get(side)))
            found = json.loads(_core.policers(json.dumps(policy))) if policy else []
            place = {"node": port.sender, "neighbor": port.receiver, "side": side}
            for policer in found:
                name = policer["name"].rpartition(".")[2]
                if (*place.values(), name) in used:
                    rows.append({**place, "class": name, "limit_bps": policer["limit_bps"]})
    return rows


def platforms(scenario: ScenarioConfig | Mapping[str, Any]) -> dict[str, RecognizedPlatform]:
    """Return the platforms of the routers that have a configuration, if known."""
    found = {name: report.get("platform") for name, report in _reports(scenario)}
    return {name: platform for name, platform in found.items() if platform is not None}


def _queued(sampled: TableColumns, end_s: float) -> dict[tuple[str, str], float]:
    """Return the packets in each sampled queue at the end of the run, as means over the replications."""
    found: dict[tuple[str, str], list[float]] = {}
    columns = sampled.lists(["time_s", "precedence", "port", "queue", "packets"])
    for time_s, precedence, port, queue, packets in zip(*columns.values(), strict=True):
        if time_s == end_s and precedence == 0:
            found.setdefault((port, queue), []).append(float(packets))
    return {place: sum(values) / len(values) for place, values in found.items()}


def _sent(port: str, summary: Mapping[str, Any], seconds: float) -> dict[str, dict[str, Any]]:
    """Return the sent rate of each queue of a port; the sum of several precedences has no interval."""
    found: dict[str, dict[str, Any]] = {}
    for row in summary["ports"]:
        if row["port"] == port:
            mean, ends = row["sent_bytes"]["mean"], row["sent_bytes"]["ci95"]
            before = found.get(row["queue"])
            found[row["queue"]] = {
                "mean": 8 * mean / seconds + (before["mean"] if before else 0.0),
                "ci95": None if before or ends is None else [8 * end / seconds for end in ends],
                "unit": "b/s",
            }
    return found


def _reports(scenario: ScenarioConfig | Mapping[str, Any]) -> Iterator[tuple[str, RouterReport]]:
    """Generate the report of each router whose configuration text is in the scenario."""
    for name, router in scenario.get("routers", {}).items():
        configuration = router.get("configuration")
        if configuration and configuration.get("text"):
            text = "\n".join([str(configuration["text"]).rstrip("\n"), *configuration.get("add", []), ""])
            yield name, examined_as(text, configuration)
