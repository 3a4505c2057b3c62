"""Time and memory of large networks in perhop, and in ns-3 if it is installed.

The equivalents are crates/perhop-sim/benches/scale.rs and benchmarks/ns3/scale.cc. Times are processor times
of the whole process. Debian's ns-3 is built without MPI, so both simulators run on one core.
"""

from __future__ import annotations

import statistics
import sys

from building import MissingError, build_benchmark, build_ns3
from engines import Run, Simulator
from measuring import measure

#: Kinds and sizes of benches/scale.rs.
NETWORKS = ("chain-50", "topology-500", "tcp-1250")
# Simulated seconds.
_LENGTH = 2


def compare_networks(rounds: int, rounds_of_ns3: int) -> list[dict[str, object]]:
    """Run the simulators in turn, print a table of times and return its rows."""
    simulators = [_perhop(rounds)]
    try:
        simulators.append(find_ns3_networks(min(rounds, rounds_of_ns3)))
    except MissingError as reason:
        sys.stdout.write(f"skipped: ns-3 ({reason})\n")
    sys.stdout.write(
        "network       simulator  rounds  seconds  packet-hops  peak MB  times as long  per hop\n"
    )
    rows = [row for network in NETWORKS for row in _compare(network, simulators, rounds)]
    sys.stdout.write("\n")
    return rows


def find_ns3_networks(rounds: int) -> Simulator:
    """Build the networks of ns-3, which are programs in C++."""
    program = build_ns3("scale.cc")

    def run(network: str, length: int) -> Run:
        taken = measure([program, *network.split("-"), str(length)])
        return Run(taken.seconds, int(taken.output), taken.peak_bytes)

    return Simulator("ns-3", run, rounds)


def _perhop(rounds: int) -> Simulator:
    program = build_benchmark("perhop-sim", "scale")

    def run(network: str, _length: int) -> Run:
        taken = measure([program, *network.split("-"), "run"])
        return Run(taken.seconds, int(taken.output.split()[0]), taken.peak_bytes)

    return Simulator("perhop", run, rounds)


def _compare(network: str, simulators: list[Simulator], rounds: int) -> list[dict[str, object]]:
    taken: dict[str, list[Run]] = {simulator.name: [] for simulator in simulators}
    for number in range(rounds):
        for simulator in simulators:
            if number < simulator.rounds:
                taken[simulator.name].append(simulator.run(network, _LENGTH))
    rows = [_row(network, name, own, taken["perhop"]) for name, own in taken.items()]
    for row in rows:
        sys.stdout.write(
            "{network:13} {simulator:9} {rounds:7} {seconds:8.3f} {packet_hops:12,} {peak_megabytes:8.1f}"
            " {times_as_long:14.1f} {times_as_long_per_packet_hop:8.1f}\n".format(**row)
        )
    sys.stdout.flush()
    return rows


def _row(network: str, simulator: str, own: list[Run], ours: list[Run]) -> dict[str, object]:
    # The median of the ratios of each round, because a slowdown of the machine affects both programs of a
    # round.
    paired = list(zip(own, ours, strict=False))
    return {
        "network": network,
        "simulator": simulator,
        "rounds": len(own),
        "seconds": statistics.median(run.seconds for run in own),
        "packet_hops": own[0].packet_hops,
        "peak_megabytes": statistics.median(run.peak_bytes for run in own) / 1e6,
        "times_as_long": statistics.median(run.seconds / mine.seconds for run, mine in paired),
        "times_as_long_per_packet_hop": statistics.median(
            run.seconds_per_hop / mine.seconds_per_hop for run, mine in paired
        ),
    }
