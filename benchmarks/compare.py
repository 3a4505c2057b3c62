"""Speed of perhop's engine beside other simulators that are installed, run in turn on one core.

    python benchmarks/compare.py [--runs N] [--scenario NAME]... [--output FILE]

A time is the processor's, of the whole process: perhop's from the scenario's text to its results, on
one core. On a shared machine only the ratio of runs side by side means anything, so every run of
perhop is followed by one of each peer, and medians are compared.
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
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent
_SCENARIOS = ("udp-50", "udp-500", "tcp-50", "tcp-500")


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
    parser.add_argument("--output", type=Path, default=Path("results/bench.json"))
    arguments = parser.parse_args()
    engine = build_engine()
    rows = []
    for scenario in arguments.scenario or _SCENARIOS:
        rows.append(_compare(scenario, engine, max(1, arguments.runs)))
        _print(rows[-1], with_head=len(rows) == 1)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps({"runs": arguments.runs, "scenarios": rows}, indent=2) + "\n")
    sys.stdout.write(f"written to {arguments.output}\n")
    return 0


def build_engine() -> Path:
    """Build the benchmark of the engine and say where it is."""
    command = [
        "cargo",
        "bench",
        "-p",
        "perhop-sim",
        "--bench",
        "engine",
        "--no-run",
        "--locked",
        "--message-format=json",
    ]
    built = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    messages = (json.loads(line) for line in built.stdout.splitlines() if line.startswith("{"))
    found = [m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == "engine"]
    return Path(found[-1])


def _compare(scenario: str, engine: Path, runs: int) -> dict[str, object]:
    simulators: dict[str, Callable[[], Run]] = {"perhop": lambda: _run_perhop(engine, scenario)}
    if shutil.which("ns"):
        simulators["ns-2"] = lambda: _run_ns2(scenario)
    taken: dict[str, list[Run]] = {name: [] for name in simulators}
    for _ in range(runs):
        for name, run in simulators.items():
            taken[name].append(run())
    row: dict[str, object] = {"scenario": scenario}
    for name, own in taken.items():
        seconds = statistics.median(run.seconds for run in own)
        paired = zip(own, taken["perhop"], strict=True)
        row[name] = {
            "seconds": seconds,
            "packet_hops": own[0].packet_hops,
            "million_packet_hops_per_second": own[0].packet_hops / seconds / 1e6,
            "peak_megabytes": statistics.median(run.peak_bytes for run in own) / 1e6,
            "times_as_long": statistics.median(run.seconds / mine.seconds for run, mine in paired),
        }
    return row


def _run_perhop(engine: Path, scenario: str) -> Run:
    output, seconds, peak_bytes = _run([engine, scenario])
    _, hops, *_ = output.split()
    return Run(seconds, int(hops), peak_bytes)


def _run_ns2(scenario: str) -> Run:
    kind, pairs = scenario.split("-")
    output, seconds, peak_bytes = _run(["ns", _HERE / "ns2" / f"{kind}.tcl", pairs])
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
        columns = ("scenario", "simulator", "seconds", "M packet-hops/s", "peak MB", "times as long")
        sys.stdout.write("{:9} {:9} {:>9} {:>16} {:>9} {:>14}\n".format(*columns))
    for name, figures in row.items():
        if isinstance(figures, dict):
            line = f"{row['scenario']:9} {name:9} {figures['seconds']:9.3f}"
            line += f" {figures['million_packet_hops_per_second']:16.2f} {figures['peak_megabytes']:9.1f}"
            sys.stdout.write(f"{line} {figures['times_as_long']:14.1f}\n")
    if "ns-2" not in row:
        sys.stdout.write(f"{row['scenario']:9} ns-2      (not installed)\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
