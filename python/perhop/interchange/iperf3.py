"""Flows in the JSON format of iperf3: one stream per flow, with iperf3's keys and units."""

from __future__ import annotations

from os import PathLike
from pathlib import Path
from typing import Any

import polars as pl

from perhop import _core
from perhop.errors import InvalidInputError
from perhop.results import Results
from perhop.saving import json_text, replace_file

# Sources whose flows are TCP streams.
_TCP = (
    "bulk",
    "request-response",
    "connect-request-response",
    "file-transfer",
    "web",
    "video",
    "page-load",
    "speed-test",
)
# Suffix of the reverse direction of TCP, which iperf3 does not report.
_BACK = " (back)"


def write_iperf3(results: Results, file: str | PathLike[str], *, replication: int = 0) -> None:
    """Write the flows of one replication as iperf3 JSON.

    Raises:
        InvalidInputError: there is no such replication.
        OSError: the file cannot be written.

    """
    document = iperf3_document(results, replication=replication)
    replace_file(Path(file), json_text(document))


def iperf3_document(results: Results, *, replication: int = 0) -> dict[str, Any]:
    """Return the flows of one replication in the format of iperf3.

    The keys `start`, `intervals` and `end` have the meaning of iperf3. The `sender` of a stream counts
    offered bytes, the `receiver` delivered bytes, both after the warm-up. `intervals` has the sums of
    `measure.throughput-every`. Data without a counterpart in iperf3 is under `perhop`.

    Raises:
        InvalidInputError: there is no such replication.

    """
    check_replication(results, replication)
    flows = results.flows.filter(pl.col("replication") == replication)
    kinds = _kinds(results)
    seconds = results.summary["duration_s"] - results.summary["warmup_s"]
    retransmits = _retransmits(results, replication)
    streams, connected = [], []
    for number, row in enumerate(
        (row for row in flows.iter_rows(named=True) if not row["flow"].endswith(_BACK)), start=1
    ):
        protocol = kinds.get(row["flow"].partition("#")[0], "UDP")
        connected.append({"socket": number, "local_host": row["from"], "remote_host": row["to"]})
        streams.append(_stream(number, row, protocol, seconds, retransmits.get(row["flow"], 0)))
    protocols = {kinds.get(name, "UDP") for name in kinds}
    return {
        "start": {
            "connected": connected,
            "version": f"perhop {_core.__version__}",
            "system_info": "simulated",
            "test_start": {
                "protocol": protocols.pop() if len(protocols) == 1 else "TCP and UDP",
                "num_streams": len(streams),
                "duration": seconds,
                "omit": results.summary["warmup_s"],
            },
        },
        "intervals": _intervals(results, replication),
        "end": {"streams": streams, **_sums(streams, seconds)},
        "perhop": {"scenario": results.summary["scenario"], "seed": results.seed, "replication": replication},
    }


def _stream(
    number: int, row: dict[str, Any], protocol: str, seconds: float, retransmits: int
) -> dict[str, Any]:
    def half(bytes_: int, *, sender: bool) -> dict[str, Any]:
        return {
            "socket": number,
            "start": 0,
            "end": seconds,
            "seconds": seconds,
            "bytes": bytes_,
            "bits_per_second": bytes_ * 8 / seconds,
            "sender": sender,
        }

    extra = {"flow": row["flow"], "class": row["class"], "delay_mean_ms": _milliseconds(row["delay_mean_s"])}
    if protocol == "TCP":
        sender = half(row["offered_bytes"], sender=True) | {"retransmits": retransmits}
        return {"sender": sender, "receiver": half(row["delivered_bytes"], sender=False), "perhop": extra}
    lost = row["dropped_packets"]
    udp = half(row["offered_bytes"], sender=True) | {
        "jitter_ms": _milliseconds(row["ipdv_mean_abs_s"]),
        "lost_packets": lost,
        "packets": row["offered_packets"],
        "lost_percent": 100 * lost / row["offered_packets"] if row["offered_packets"] else 0,
    }
    return {"udp": udp, "perhop": extra | {"received_bytes": row["delivered_bytes"]}}


def _sums(streams: list[dict[str, Any]], seconds: float) -> dict[str, Any]:
    """Return the totals: the sent and received data of TCP streams, and the UDP streams with their loss."""
    found: dict[str, Any] = {}
    for name, side in (("sum_sent", "sender"), ("sum_received", "receiver")):
        parts = [stream[side] for stream in streams if side in stream]
        if parts:
            bytes_ = sum(part["bytes"] for part in parts)
            found[name] = {
                "start": 0,
                "end": seconds,
                "seconds": seconds,
                "bytes": bytes_,
                "bits_per_second": bytes_ * 8 / seconds,
            }
    datagrams = [stream["udp"] for stream in streams if "udp" in stream]
    if datagrams:
        packets, lost = (sum(counts[key] for counts in datagrams) for key in ("packets", "lost_packets"))
        found["sum"] = {
            "start": 0,
            "end": seconds,
            "seconds": seconds,
            "bytes": sum(counts["bytes"] for counts in datagrams),
            "bits_per_second": sum(counts["bits_per_second"] for counts in datagrams),
            "packets": packets,
            "lost_packets": lost,
            "lost_percent": 100 * lost / packets if packets else 0,
        }
    return found


def _intervals(results: Results, replication: int) -> list[dict[str, Any]]:

    table = results.throughput.filter(pl.col("replication") == replication)
    warmup = results.summary["warmup_s"]
    sums = table.group_by("time_s").agg(pl.col("throughput_bps").sum()).sort("time_s")
    found, begin = [], 0.0
    for ends_at, rate in sums.iter_rows():
        end = ends_at - warmup
        length = end - begin
        found.append(
            {
                "streams": [],
                "sum": {
                    "start": begin,
                    "end": end,
                    "seconds": length,
                    "bytes": round(rate * length / 8),
                    "bits_per_second": rate,
                    "omitted": False,
                },
            }
        )
        begin = end
    return found


def _kinds(results: Results) -> dict[str, str]:
    return {
        entry["name"]: "TCP" if next(iter(entry["source"])) in _TCP else "UDP"
        for entry in results.scenario["traffic"]
    }


def _retransmits(results: Results, replication: int) -> dict[str, int]:

    if "tcp" not in results.names:
        return {}
    table = results.tcp.filter(pl.col("replication") == replication)
    return {str(flow): count for flow, count in table.select("flow", "retransmissions").iter_rows()}


def _milliseconds(seconds: float) -> float | None:
    # NaN, the value without an arrived packet, differs from itself.
    return None if seconds != seconds else seconds * 1e3  # noqa: PLR0124


def check_replication(results: Results, replication: int) -> None:
    """Refuse a replication that was not run; raises `InvalidInputError`."""
    if not 0 <= replication < results.replications:
        raise InvalidInputError(
            f"there is no replication {replication}",
            f"expected a whole number from 0 to {results.replications - 1}",
        )
