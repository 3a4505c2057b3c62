"""The numbers of the tables, computed by the method that follows from the numbers of the paper.

All published throughputs except the averages are whole multiples of 576 B in 100.1 s, in units of 1000 b/s.
They therefore count packets that reached their receiver, including headers and duplicates, over the whole
run.
"""

from collections.abc import Callable
from math import fsum

from perhop import Results

PACKET_BITS = 576 * 8
SECONDS = 100.1


def tcp_max(results: Results, case: dict[str, str]) -> list[float]:
    """Return the throughput of the fastest TCP flow; per replication."""
    return each(results, lambda tcp, udp: max(tcp))


def tcp_min(results: Results, case: dict[str, str]) -> list[float]:
    """Return the throughput of the slowest TCP flow; per replication."""
    return each(results, lambda tcp, udp: min(tcp))


def tcp_mean(results: Results, case: dict[str, str]) -> list[float]:
    """Return the mean throughput of the TCP flows; per replication."""
    return each(results, lambda tcp, udp: fsum(tcp) / len(tcp))


def udp_max(results: Results, case: dict[str, str]) -> list[float]:
    """Return the throughput of the fastest UDP flow; per replication."""
    return each(results, lambda tcp, udp: max(udp))


def udp_min(results: Results, case: dict[str, str]) -> list[float]:
    """Return the throughput of the slowest UDP flow; per replication."""
    return each(results, lambda tcp, udp: min(udp))


def fairness(results: Results, case: dict[str, str]) -> list[float]:
    """Return Jain's index over all flows, TCP and UDP; per replication."""
    return each(results, lambda tcp, udp: jain(tcp + udp))


def jain(throughputs: list[float]) -> float:
    """Return Jain's index, (Σx)² / (n Σx²): 1 if all throughputs are equal, 1/n if only one is above 0."""
    return fsum(throughputs) ** 2 / (
        len(throughputs) * fsum(throughput * throughput for throughput in throughputs)
    )


def each(results: Results, compute: Callable[[list[float], list[float]], float]) -> list[float]:
    """Return the result of `compute` for the throughputs of TCP and UDP flows, kb/s, in each replication."""
    flows = results.flows.select("replication", "class", "delivered_packets").to_dicts()
    rates: dict[tuple[int, str], list[float]] = {}
    for flow in flows:
        rate = flow["delivered_packets"] * PACKET_BITS / SECONDS / 1000
        rates.setdefault((flow["replication"], flow["class"]), []).append(rate)
    return [compute(rates[number, "tcp"], rates[number, "udp"]) for number in range(results.replications)]
