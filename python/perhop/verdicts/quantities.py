"""The quantities for assertions: columns of the tables of classes and TCP, and figures of a call."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from perhop.verdicts.figures import Figure
from perhop.verdicts.verdict import Verdict

#: Short names for columns of `classes`. Other columns have the name of the column, with or without the unit.
SHORT = {
    "loss": "dropped_percent",
    "jitter": "ipdv_mean_abs_s",
    "jitter_p50": "ipdv_abs_p50_s",
    "jitter_p95": "ipdv_abs_p95_s",
    "jitter_p99": "ipdv_abs_p99_s",
    "offered": "offered_packets",
    "delivered": "delivered_packets",
    "dropped": "dropped_packets",
    "in_network": "in_network_packets",
}
#: The class of ITU-T Y.1541, a number from 0 to 5.
Y1541 = "y1541"
#: The quantities of a call through the class, with their units.
OF_CALLS = {"r": "", "mos": "", "mouth_to_ear": "s", "late": "%"}
#: Columns of `tcp` in a summary, which a class without TCP lacks.
OF_TCP = {
    "transactions": "",
    "transactions_per_s": "1/s",
    "completion_mean_s": "s",
    "completion_p50_s": "s",
    "completion_p95_s": "s",
    "completion_p99_s": "s",
    "goodput_bps": "b/s",
    "reply_goodput_bps": "b/s",
    "segments": "",
    "retransmissions": "",
    "fast_retransmits": "",
    "timeouts": "",
    "congestion_marks": "",
}
_UNITS = ("_s", "_bps", "_percent")
_PERCENTILES = {
    "delay": ("mean", "min", "max", "p50", "p90", "p95", "p99", "p999"),
    "ipdv": ("mean", "mean_abs", "min", "max", "abs_p50", "abs_p95", "abs_p99"),
    "pdv": ("p50", "p95", "p99"),
}
#: Columns of `classes` and their units, as docs/results.md lists them.
OF_CLASSES = {
    **{f"{count}_{unit}": unit for count in ("offered", "delivered") for unit in ("packets", "bytes")},
    "dropped_packets": "packets",
    "in_network_packets": "packets",
    **{
        f"dropped_{cause}": "packets"
        for cause in (
            "queue_full",
            "early_random",
            "early_forced",
            "policed",
            "no_route",
            "no_class",
            "lost",
            "too_big",
        )
    },
    "dropped_percent": "%",
    "throughput_bps": "b/s",
    **{f"{quantity}_{which}_s": "s" for quantity, every in _PERCENTILES.items() for which in every},
    "fairness": "",
    "flows": "",
}
#: Columns of `classes` if a policy has a shared memory.
OF_SHARED_MEMORY = {"dropped_shared_memory": "packets", "dropped_port_memory": "packets"}
#: Columns of `classes` if a policy has priority flow control.
OF_PAUSES = {"dropped_headroom": "packets"}


def units() -> dict[str, str]:
    """Return every name of a quantity and its unit: `s`, `b/s`, `%`, `packets`, `bytes`, `1/s`, or empty."""
    columns = {**OF_CLASSES, **OF_SHARED_MEMORY, **OF_PAUSES, **OF_TCP}
    short = {without_unit(name): unit for name, unit in columns.items()}
    return {
        **short,
        **columns,
        **{name: columns[column] for name, column in SHORT.items()},
        **OF_CALLS,
        Y1541: "",
    }


def figure_of(quantity: str, verdict: Verdict, summary: Mapping[str, Any]) -> Figure | None:
    """Return a quantity of a class; `None` if it was not measured."""
    if quantity in OF_CALLS:
        figure: Figure | None = getattr(verdict.call, quantity)
        return figure
    if quantity == Y1541:
        return None if verdict.y1541 is None else Figure(float(verdict.y1541), None, "")
    column = SHORT.get(quantity, quantity)
    for group in _groups(verdict.name, summary):
        for key in (column, *(column + unit for unit in _UNITS)):
            if key in group:
                return Figure.from_summary(group[key])
    return None


def why_not(quantity: str, verdict: Verdict, summary: Mapping[str, Any]) -> str:
    """Return the reason why a quantity was not measured."""
    if quantity in {*OF_TCP, *map(without_unit, OF_TCP)}:
        has_tcp = any(group["class"] == verdict.name for group in summary["tcp"])
        return "no transaction was completed" if has_tcp else "the class has no TCP"
    if quantity in OF_SHARED_MEMORY:
        return "no policy has a shared memory"
    if quantity in OF_PAUSES:
        return "no policy has priority flow control"
    if quantity in OF_CALLS:
        return verdict.call.remark
    if verdict.state == "idle":
        return "no packet was sent in the measured time"
    return "no packet arrived" if not verdict.call.mouth_to_ear else "the run does not measure it"


def _groups(name: str, summary: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    tables: Sequence[Sequence[Mapping[str, Any]]] = (summary["classes"], summary["tcp"])
    yield from (group for table in tables for group in table if group["class"] == name)


def without_unit(name: str) -> str:
    """Return the name of a column without its unit: `delay_p99` of `delay_p99_s`."""
    return next((name.removesuffix(unit) for unit in _UNITS if name.endswith(unit)), name)
