"""`show policy-map interface` as JSON: the resolved policies, with counters in every class."""

from __future__ import annotations

from typing import Any

from perhop.show.counters import Traffic
from perhop.show.early_drops import EarlyDrops
from perhop.show.routers import InterfaceState
from perhop.show.state import ClassState, PoliceState, PolicyState, QueueState


def interface_document(state: InterfaceState) -> dict[str, Any]:
    """Return an interface and its policies."""
    return {
        "name": state.interface.name,
        "link_to": state.interface.neighbor,
        "load_interval_s": state.interface.load_interval_s,
        "policies": {side: _policy(policy) for side, policy in state.policies.items()},
    }


def _policy(state: PolicyState) -> dict[str, Any]:
    limits = [{**priority.limit, "counters": _queue(priority.queue)} for priority in state.priorities]
    return {
        **state.config,
        "priority_limits": limits,
        "classes": [_class(one) for one in state.classes],
    }


def _class(state: ClassState) -> dict[str, Any]:
    counters: dict[str, Any] = {
        "classified": _traffic(state.classified) if state.classified is not None else None,
        "dropped": _traffic(state.dropped),
        "offered_bps": state.offered_bps,
        "drop_bps": state.drop_bps,
        "queue": _queue(state.queue) if state.queue else None,
        "exceed_drops": state.exceed_drops,
        "police": _police(state.police) if state.police else None,
        "random_detect": _early_drops(state.early_drops) if state.early_drops else None,
    }
    return {**state.config, "counters": counters, "policy": _policy(state.policy) if state.policy else None}


def _traffic(traffic: Traffic) -> dict[str, int]:
    return {"packets": traffic.packets, "bytes": round(traffic.bytes)}


def _queue(state: QueueState) -> dict[str, Any]:
    return {
        "depth_packets": state.depth,
        "dropped_packets": state.drops.packets,
        "flow_dropped_packets": state.flow_drops,
        "output": _traffic(state.output),
    }


def _police(state: PoliceState) -> dict[str, Any]:
    named = {"conformed": state.conformed, "exceeded": state.exceeded, "violated": state.violated}
    return {
        name: {**_traffic(policed.traffic), "bps": policed.bps} for name, policed in named.items() if policed
    }


def _early_drops(state: EarlyDrops) -> dict[str, Any]:
    rows = [
        {
            "value": row.config["value"],
            "transmitted": _traffic(row.transmitted),
            "random": _traffic(row.random),
            "tail": _traffic(row.tail),
            "marked": _traffic(row.marked),
        }
        for row in state.rows
    ]
    return {"mean_depth": state.mean_depth, "rows": rows}
