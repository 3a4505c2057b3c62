"""The layout of a saved run: the columns of its tables and the shape of its summary.

The simulator writes both; tests/test_forged.py compares them with a run. If a saved run lacks a listed part,
the reader raises an error that names the part. Additions of a later version are not errors.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from perhop.shape import METRIC, ByName, Optional, OrNull, Pair

#: The type of a column: names, whole numbers, or decimal numbers, with NaN if not measured.
Kind = Literal["text", "count", "float"]


def _table(text: str, counts: str, floats: str = "") -> Mapping[str, Kind]:
    columns: dict[str, Kind] = {"replication": "count"}
    columns |= dict.fromkeys(text.split(), "text")
    columns |= dict.fromkeys(counts.split(), "count")
    return columns | dict.fromkeys(floats.split(), "float")


_DROPPED = (
    "dropped_packets dropped_queue_full dropped_early_random dropped_early_forced dropped_policed "
    "dropped_no_route dropped_no_class dropped_lost dropped_too_big "
)
_TRAFFIC = "offered_packets offered_bytes delivered_packets delivered_bytes in_network_packets " + _DROPPED
_DELAYS = "delay_mean_s delay_min_s delay_max_s ipdv_mean_abs_s ipdv_min_s ipdv_max_s "
_QUANTILES = "delay_p50_s delay_p95_s delay_p99_s pdv_p50_s pdv_p95_s pdv_p99_s "
_RATES = "dropped_percent throughput_bps ipdv_mean_s " + _DELAYS + _QUANTILES
_SEGMENTS = "segments retransmissions fast_retransmits timeouts congestion_marks "
_CLASS_QUANTILES = "delay_p90_s delay_p999_s ipdv_abs_p50_s ipdv_abs_p95_s ipdv_abs_p99_s "

#: The columns of every table, in SI units, with their contents.
TABLES: Mapping[str, Mapping[str, Kind]] = {
    "classes": _table("class", "flows " + _TRAFFIC, "fairness " + _RATES + _CLASS_QUANTILES),
    "flows": _table("flow class from to", _TRAFFIC, _RATES),
    "ports": _table(
        "port queue",
        "precedence arrived_packets arrived_bytes sent_packets sent_bytes marked_packets " + _DROPPED,
        "dropped_percent",
    ),
    "conditioners": _table("node neighbor side stage color", "packets bytes"),
    "queues": _table("port queue", "packets bytes precedence", "time_s average deciding_average"),
    "throughput": _table("class", "received_packets", "time_s throughput_bps"),
    "packets": _table("flow", "number bytes", "sent_s delay_s"),
    "delays": _table("class", "packets", "time_s " + _DELAYS),
    "histogram": _table("class quantity", "packets", "up_to_s"),
    "tcp": _table(
        "flow class from to",
        "connections transactions received_bytes reply_bytes " + _SEGMENTS,
        "completion_mean_s goodput_bps reply_goodput_bps",
    ),
    "transactions": _table(
        "class",
        "transactions " + _SEGMENTS,
        "transactions_per_s completion_mean_s completion_p50_s completion_p95_s completion_p99_s "
        "goodput_bps reply_goodput_bps",
    ),
    "connections": _table(
        "flow end", "connection in_flight_bytes", "time_s cwnd_segments ssthresh_segments srtt_s rto_s"
    ),
    "colors": _table("class color", "delivered_packets delivered_bytes", "throughput_bps delay_mean_s"),
    "calls": _table(
        "flow class codec",
        "delivered_packets dropped_packets late_packets",
        "late_percent missing_percent burst_ratio playout_delay_s mouth_to_ear_s r mos",
    ),
    "games": _table(
        "flow class",
        "commands ticks",
        "lost_commands_percent late_ticks_percent up_p50_s up_p99_s down_p50_s down_p99_s up_jitter_s "
        "down_jitter_s response_p50_s response_p95_s response_p99_s",
    ),
    "videos": _table(
        "flow class",
        "segments switches stalls",
        "startup_delay_s stalled_s stalled_percent played_s bitrate_mean_bps",
    ),
    "pages": _table("flow class", "pages objects", "load_mean_s load_p50_s load_p75_s load_p95_s"),
    "speed_tests": _table("flow class", "connections probes", "rate_bps rate_mean_bps loaded_latency_s rpm"),
    "pauses": _table(
        "port",
        "priority pauses spread_pauses deepest_links most_bytes",
        "paused_s longest_s deadlocked_s",
    ),
    "pools": _table("port holder", "pool_units first_units fullest_units", "first_drop_s fullest_drop_s"),
    "runs": _table("", "packet_hops", "fairness"),
}

#: Tables of runs saved by this version that older runs may lack.
ADDED_TABLES = frozenset({"calls", "games", "videos", "pages", "speed_tests", "pauses", "pools"})

#: Columns of runs saved by this version that older runs may lack.
ADDED: Mapping[str, Mapping[str, Kind]] = {
    "queues": {"most_packets": "count", "most_bytes": "count"},
    "throughput": {"dropped_packets": "float"},
}


def _groups(table: str, *keys: str) -> list[dict[str, Any]]:
    """Return the shape of a table's means over replications: the rows with equal `keys` are one group."""
    columns = TABLES[table]
    shapes: dict[str, Any] = {key: str if columns[key] == "text" else int for key in keys}
    metrics = (name for name, kind in columns.items() if name not in keys and name != "replication")
    return [shapes | {name: METRIC for name in metrics if columns[name] != "text"}]


_RATE = {
    "port": str,
    "queue": str,
    "priority": bool,
    "guaranteed_bps": OrNull(float),
    "limit_bps": OrNull(float),
    "remaining": OrNull(str),
    "obtained_bps": METRIC,
    "queued_packets": OrNull(float),
}
_POLICER = {"node": str, "neighbor": str, "side": str, "class": str, "limit_bps": float}
_INFERRED = {
    "file": str,
    "interface": OrNull(str),
    "offered": [[str]],
    "assumed": [str],
    "queues": ByName(Pair(str)),
    "not_looked_at": [str],
}

#: The shape of the parts of summary.json that are read.
SUMMARY: Mapping[str, Any] = {
    "schema_version": int,
    "perhop": str,
    "scenario": str,
    "seed": int,
    "replications": int,
    "duration_s": float,
    "warmup_s": float,
    "classes": _groups("classes", "class"),
    "ports": _groups("ports", "port", "queue", "precedence"),
    "conditioners": _groups("conditioners", "node", "neighbor", "side", "stage", "color"),
    "colors": _groups("colors", "class", "color"),
    "tcp": _groups("transactions", "class"),
    "roles": Optional([{"class": str, "role": str, "from": str}]),
    "calls": Optional(_groups("calls", "class", "codec")),
    "games": Optional(_groups("games", "class")),
    "videos": Optional(_groups("videos", "class")),
    "pages": Optional(_groups("pages", "class")),
    "speed_tests": Optional(_groups("speed_tests", "class")),
    "pauses": Optional(_groups("pauses", "port", "priority")),
    "pools": Optional(_groups("pools", "port", "holder")),
    "fairness": METRIC,
    "packet_hops": int,
    "rates": Optional([_RATE]),
    "policers": Optional([_POLICER]),
    "kind": Optional(str),
    "inferred": Optional(_INFERRED),
    "fidelity": Optional({"doubts": Optional([str])}),
}
