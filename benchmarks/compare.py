"""Speed of perhop's engine beside other simulators that are installed, run in turn on one core.

    python benchmarks/compare.py [--runs N] [--output FILE]

A peer's time is that of its whole process; perhop's is the engine from the scenario's text to its
results. On a shared machine only the ratio of runs side by side means anything, so every run of
perhop is followed by one of each peer, and medians are compared.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

_HERE = Path(__file__).parent
_SCENARIOS = ("udp-50", "udp-500")
_TIMEOUT_S = 300


@dataclass(frozen=True)
class Run:
    """One run of one simulator."""

    seconds: float
    packet_hops: int | None = None


def main() -> int:
    """Run the comparison, print its table, and store it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=5, help="runs of each simulator (default: 5)")
    parser.add_argument("--output", type=Path, default=Path("results/bench.json"))
    arguments = parser.parse_args()
    engine = _engine()
    rows = [_compare(scenario, engine, max(1, arguments.runs)) for scenario in _SCENARIOS]
    _print(rows)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps({"runs": arguments.runs, "scenarios": rows}, indent=2) + "\n")
    sys.stdout.write(f"written to {arguments.output}\n")
    return 0


def _engine() -> Path:
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
    perhop: list[Run] = []
    peers: dict[str, list[Run]] = {"ns-2": []} if shutil.which("ns") else {}
    for _ in range(runs):
        perhop.append(_run_perhop(engine, scenario))
        for name, own in peers.items():
            own.append(_run_peer(name, scenario))
    seconds = statistics.median(run.seconds for run in perhop)
    hops = perhop[0].packet_hops or 0
    row: dict[str, object] = {
        "scenario": scenario,
        "packet_hops": hops,
        "perhop_seconds": seconds,
        "million_packet_hops_per_second": hops / seconds / 1e6,
    }
    for name, own in peers.items():
        ratios = [peer.seconds / mine.seconds for peer, mine in zip(own, perhop, strict=True)]
        row[f"{name}_seconds"] = statistics.median(run.seconds for run in own)
        row[f"{name}_ratio"] = statistics.median(ratios)
    return row


def _run_perhop(engine: Path, scenario: str) -> Run:
    output = subprocess.run(
        [engine, scenario], check=True, capture_output=True, text=True, timeout=_TIMEOUT_S
    ).stdout
    _, hops, _, seconds, *_ = output.split()
    return Run(float(seconds), int(hops))


def _run_peer(name: str, scenario: str) -> Run:
    kind, pairs = scenario.split("-")
    command = {"ns-2": ["ns", str(_HERE / "ns2" / f"{kind}.tcl"), pairs]}[name]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, timeout=_TIMEOUT_S, env=os.environ)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return Run(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)


def _print(rows: list[dict[str, object]]) -> None:
    for row in rows:
        line = "{scenario:8} perhop {perhop_seconds:7.3f} s".format(**row)
        line += " {million_packet_hops_per_second:6.2f} million packet-hops/s".format(**row)
        peer = (
            "ns-2 {ns-2_seconds:7.3f} s, {ns-2_ratio:.1f} times as long"
            if "ns-2_ratio" in row
            else "(ns-2 is not installed)"
        )
        sys.stdout.write(f"{line}   {peer.format(**row)}\n")


if __name__ == "__main__":
    sys.exit(main())
