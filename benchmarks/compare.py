"""Speed of perhop's engine and data plane beside their peers that are installed, run in turn on one core.

    python benchmarks/compare.py [--runs N] [--scenario NAME]... [--only PART] [--output FILE]

A time is the processor's, of the whole process: perhop's from the scenario's text to its results, on
one core. On a shared machine only the ratio of runs side by side means anything, so every run of
perhop is followed by one of each peer, and medians are compared. The time to the first result is that
of one simulated second: what somebody waits for who has just changed something.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from building import build_benchmark
from data_plane import compare_data_plane

_HERE = Path(__file__).parent
_SCENARIOS = ("udp-50", "udp-500", "tcp-50", "tcp-500")
_PARTS = ("engine", "data-plane")
# Simulated seconds.
_WHOLE, _FIRST = 100, 1


@dataclass(frozen=True)
class Run:
    """One run of one simulator."""

    seconds: float
    packet_hops: int
    peak_bytes: int


def main() -> int:
    """Run the comparison, print its table, and store it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="runs of each simulator (default: 5)")
    parser.add_argument(
        "--scenario", action="append", choices=_SCENARIOS, help="only this one (default: all; repeatable)"
    )
    parser.add_argument("--only", choices=_PARTS, help="only this part (default: both)")
    parser.add_argument("--output", type=Path, default=Path("results/bench.json"))
    arguments = parser.parse_args()
    runs = max(1, arguments.runs)
    found: dict[str, object] = {"runs": runs}
    if arguments.only != "data-plane":
        found["scenarios"] = _compare_engines(arguments.scenario or _SCENARIOS, runs)
        found["start-of-the-command-line-seconds"] = _start_of_the_command_line(runs)
    if arguments.only != "engine":
        found["data-plane"] = compare_data_plane(runs)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(found, indent=2) + "\n")
    sys.stdout.write(f"written to {arguments.output}\n")
    return 0


def _compare_engines(scenarios: Sequence[str], runs: int) -> list[dict[str, object]]:
    engine = build_benchmark("perhop-sim", "engine")
    rows = []
    for scenario in scenarios:
        rows.append(_compare(scenario, engine, runs))
        _print(rows[-1], with_head=len(rows) == 1)
    return rows


def _start_of_the_command_line(runs: int) -> float | None:
    """Seconds that Python and the command line take before any work: the engine's times lack them."""
    command = _HERE.parent / ".venv" / "bin" / "perhop"
    if not command.exists():
        sys.stdout.write("skipped: the start of the command line (make setup builds it)\n")
        return None
    seconds = statistics.median(_run([command, "--version"])[1] for _ in range(runs))
    sys.stdout.write(f"the command line takes {seconds:.3f} s to start\n")
    return seconds


def _compare(scenario: str, engine: Path, runs: int) -> dict[str, object]:
    simulators: dict[str, Callable[[int], Run]] = {
        "perhop": lambda length: _run_perhop(engine, scenario, length)
    }
    if shutil.which("ns"):
        simulators["ns-2"] = lambda length: _run_ns2(scenario, length)
    taken: dict[str, list[Run]] = {name: [] for name in simulators}
    first: dict[str, list[Run]] = {name: [] for name in simulators}
    for _ in range(runs):
        for name, run in simulators.items():
            taken[name].append(run(_WHOLE))
            first[name].append(run(_FIRST))
    row: dict[str, object] = {"scenario": scenario}
    for name, own in taken.items():
        seconds = statistics.median(run.seconds for run in own)
        paired = zip(own, taken["perhop"], strict=True)
        row[name] = {
            "seconds": seconds,
            "packet_hops": own[0].packet_hops,
            "million_packet_hops_per_second": own[0].packet_hops / seconds / 1e6,
            "first_result_seconds": statistics.median(run.seconds for run in first[name]),
            "peak_megabytes": statistics.median(run.peak_bytes for run in own) / 1e6,
            "times_as_long": statistics.median(run.seconds / mine.seconds for run, mine in paired),
        }
    return row


def _run_perhop(engine: Path, scenario: str, length: int) -> Run:
    output, seconds, peak_bytes = _run([engine, scenario, f"{length}s"])
    _, hops, *_ = output.split()
    return Run(seconds, int(hops), peak_bytes)


def _run_ns2(scenario: str, length: int) -> Run:
    kind, pairs = scenario.split("-")
    output, seconds, peak_bytes = _run(["ns", _HERE / "ns2" / f"{kind}.tcl", pairs, str(length)])
    # What came to the bottleneck has crossed one link; what it let out crosses two, and so do
    # the acknowledgments on three links.
    arrived, sent = (int(count) for count in re.findall(r"^All\s+(\d+)\s+(\d+)", output, re.MULTILINE)[0])
    return Run(seconds, arrived + {"udp": 2, "tcp": 5}[kind] * sent, peak_bytes)


def _run(command: list[str | Path]) -> tuple[str, float, int]:
    """Output, processor time in seconds and peak memory in bytes of a process."""
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, process.args, output)
    return output, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def _print(row: dict[str, object], *, with_head: bool) -> None:
    if with_head:
        columns = (
            "scenario",
            "simulator",
            "seconds",
            "first s",
            "M packet-hops/s",
            "peak MB",
            "times as long",
        )
        sys.stdout.write("{:9} {:9} {:>9} {:>9} {:>16} {:>9} {:>14}\n".format(*columns))
    for name, figures in row.items():
        if isinstance(figures, dict):
            line = f"{row['scenario']:9} {name:9} {figures['seconds']:9.3f}"
            line += f" {figures['first_result_seconds']:9.3f}"
            line += f" {figures['million_packet_hops_per_second']:16.2f} {figures['peak_megabytes']:9.1f}"
            sys.stdout.write(f"{line} {figures['times_as_long']:14.1f}\n")
    if "ns-2" not in row:
        sys.stdout.write(f"{row['scenario']:9} ns-2      (not installed)\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
