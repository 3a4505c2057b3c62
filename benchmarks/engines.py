"""Time and memory of the engine for its benchmark scenarios, and of ns-2 and ns-3 if they are installed.

The equivalent programs are crates/perhop-sim/benches/engine.rs, benchmarks/ns2 and benchmarks/ns3. Times are
processor times of the whole process. The time of perhop covers all steps from the text of the scenario to its
results, on one core. The time to the first result is the time of a run of one simulated second, for which a
user waits after a change. A packet-hop is the entry of one packet into a wire.
"""

from __future__ import annotations

import re
import shutil
import statistics
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from building import MissingError, build_benchmark, build_ns3
from measuring import measure

SCENARIOS = ("udp-50", "udp-500", "tcp-50", "tcp-500")
_HERE = Path(__file__).parent
# Simulated seconds.
_WHOLE, _FIRST = 100, 1


@dataclass(frozen=True)
class Run:
    """One run of one simulator."""

    seconds: float
    packet_hops: int
    peak_bytes: int

    @property
    def seconds_per_hop(self) -> float:
        """Seconds per packet-hop, including set-up."""
        return self.seconds / self.packet_hops


@dataclass(frozen=True)
class Simulator:
    """A simulator that can run the scenarios."""

    name: str
    run: Callable[[str, int], Run]
    """Run a scenario for the given number of simulated seconds."""
    rounds: int
    """The number of rounds, because some simulators take minutes."""


def compare_engines(scenarios: Sequence[str], rounds: int, rounds_of_ns3: int) -> list[dict[str, object]]:
    """Run all simulators in turn, print a table of times and return its rows."""
    simulators = [_perhop(rounds)]
    for name, find, turns in (("ns-2", find_ns2, rounds), ("ns-3", find_ns3, min(rounds, rounds_of_ns3))):
        try:
            simulators.append(find(turns))
        except MissingError as reason:
            sys.stdout.write(f"skipped: {name} ({reason})\n")
    rows: list[dict[str, object]] = []
    _print_head()
    for scenario in scenarios:
        of_scenario = _compare(scenario, simulators, rounds)
        for row in of_scenario:
            _print(row)
        rows += of_scenario
    return rows


def start_of_the_command_line(rounds: int) -> float | None:
    """Measure the start-up time of Python and the command line, which the engine's times exclude."""
    command = _HERE.parent / ".venv" / "bin" / "perhop"
    if not command.exists():
        sys.stdout.write("skipped: the start of the command line (make setup builds it)\n")
        return None
    seconds = statistics.median(measure([command, "--version"]).seconds for _ in range(rounds))
    sys.stdout.write(f"the command line takes {seconds:.3f} s to start\n")
    return seconds


def _perhop(rounds: int) -> Simulator:
    engine = build_benchmark("perhop-sim", "engine")

    def run(scenario: str, length: int) -> Run:
        taken = measure([engine, scenario, f"{length}s"])
        return Run(taken.seconds, int(taken.output.split()[1]), taken.peak_bytes)

    return Simulator("perhop", run, rounds)


def find_ns2(rounds: int) -> Simulator:
    """Find ns-2 and its scenarios, which are Tcl scripts."""
    if not shutil.which("ns"):
        raise MissingError("ns2 is not installed")

    def run(scenario: str, length: int) -> Run:
        kind, pairs = scenario.split("-")
        taken = measure(["ns", _HERE / "ns2" / f"{kind}.tcl", pairs, str(length)])
        # Packets that arrive at the bottleneck have crossed one link. Packets that leave the bottleneck cross
        # two further links, and acknowledgments cross three.
        counts = re.findall(r"^All\s+(\d+)\s+(\d+)", taken.output, re.MULTILINE)[0]
        arrived, sent = (int(count) for count in counts)
        return Run(taken.seconds, arrived + {"udp": 2, "tcp": 5}[kind] * sent, taken.peak_bytes)

    return Simulator("ns-2", run, rounds)


def find_ns3(rounds: int) -> Simulator:
    """Build the scenarios of ns-3, which are programs in C++."""
    program = build_ns3("bottleneck.cc")

    def run(scenario: str, length: int) -> Run:
        taken = measure([program, *scenario.split("-"), str(length)])
        return Run(taken.seconds, int(taken.output), taken.peak_bytes)

    return Simulator("ns-3", run, rounds)


def _compare(scenario: str, simulators: Sequence[Simulator], rounds: int) -> list[dict[str, object]]:
    """Run `scenario` and return a row for each simulator."""
    taken: dict[str, list[Run]] = {simulator.name: [] for simulator in simulators}
    first: dict[str, list[float]] = {simulator.name: [] for simulator in simulators}
    for number in range(rounds):
        for simulator in simulators:
            if number < simulator.rounds:
                taken[simulator.name].append(simulator.run(scenario, _WHOLE))
                first[simulator.name].append(simulator.run(scenario, _FIRST).seconds)
    return [
        {"scenario": scenario, "simulator": name} | _figures(own, first[name], taken["perhop"])
        for name, own in taken.items()
    ]


def _figures(own: list[Run], first: list[float], ours: list[Run]) -> dict[str, object]:
    seconds = statistics.median(run.seconds for run in own)
    # The median of the ratios of each round, because a slowdown of the machine affects both programs of a
    # round.
    paired = list(zip(own, ours, strict=False))
    return {
        "rounds": len(own),
        "seconds": seconds,
        "first_result_seconds": statistics.median(first),
        "packet_hops": own[0].packet_hops,
        "million_packet_hops_per_second": own[0].packet_hops / seconds / 1e6,
        "peak_megabytes": statistics.median(run.peak_bytes for run in own) / 1e6,
        "times_as_long": statistics.median(run.seconds / mine.seconds for run, mine in paired),
        "times_as_long_per_packet_hop": statistics.median(
            run.seconds_per_hop / mine.seconds_per_hop for run, mine in paired
        ),
    }


def _print_head() -> None:
    columns = ("scenario", "simulator", "rounds", "seconds", "first s", "packet-hops", "M hops/s", "peak MB")
    line = "{:9} {:9} {:>6} {:>8} {:>8} {:>12} {:>8} {:>8}".format(*columns)
    sys.stdout.write(f"{line} {'times as long':>13} {'per hop':>8}\n")


def _print(row: dict[str, object]) -> None:
    sys.stdout.write(
        "{scenario:9} {simulator:9} {rounds:6} {seconds:8.3f} {first_result_seconds:8.3f} {packet_hops:12,}"
        " {million_packet_hops_per_second:8.2f} {peak_megabytes:8.1f} {times_as_long:13.1f}"
        " {times_as_long_per_packet_hop:8.1f}\n".format(**row)
    )
    sys.stdout.flush()
