"""Measure networks on one thread and in parts on several, and compute bounds for other numbers of cores.

    python benchmarks/parallel.py [--rounds N] [--threads N]

The runs alternate: the whole network on one thread, and the parts on one thread and on several threads. The
results are the minimum times, because other programs can only increase a time. The table is written to
docs/scale.md, which describes the measurement.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
from pathlib import Path

from building import build_benchmark
from measuring import Taken, condition, machine, measure

_PAGE = Path(__file__).parent.parent / "docs" / "scale.md"
_BEGIN, _END = "<!-- measured by benchmarks/parallel.py -->", "<!-- end of the parallel measurement -->"
# Kind, size, and simulated seconds. One thread takes about a second for the first three. perhop does not
# divide networks that take less than half a second.
_NETWORKS = (
    ("chain", 50, 100),
    ("topology", 500, 20),
    ("topology", 2000, 4),
    ("chain", 50, 2),
    ("topology", 500, 2),
    ("tcp", 1250, 2),
    ("tcp", 10_000, 2),
)
#: The number of processors for which bounds are computed.
_CORES = 16


def main() -> int:
    """Measure the networks, print the table, and store it in docs/scale.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="runs of each network (default: 5)")
    parser.add_argument(
        "--threads",
        type=int,
        default=os.cpu_count(),
        help="number of threads (default: the number of processors)",
    )
    arguments = parser.parse_args()
    program = build_benchmark("perhop-sim", "scale")
    lines = [
        condition(arguments.rounds, machine()),
        "",
        "| network | simulated, s | one thread, ms | parts on one thread, ms "
        f"| on {arguments.threads} threads, ms | speed-up | parts | rounds | work / span "
        f"| speed-up on {_CORES} cores |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---|",
    ]
    for kind, size, seconds in _NETWORKS:
        lines.append(_row(program, (kind, size, seconds), arguments.rounds, arguments.threads))
        sys.stdout.write(f"{lines[-1]}\n")
        sys.stdout.flush()
    before, _, rest = _PAGE.read_text().partition(_BEGIN)
    after = rest.partition(_END)[2]
    _PAGE.write_text("\n".join([f"{before}{_BEGIN}", "", *lines, "", f"{_END}{after}"]))
    return 0


def _row(program: Path, network: tuple[str, int, int], rounds: int, threads: int) -> str:
    kind, size, seconds = network
    stages = ("set-up", "run", "1", str(threads), str(_CORES))
    taken: dict[str, list[Taken]] = {stage: [] for stage in stages}
    for _ in range(rounds):
        for stage in stages[:-1]:
            taken[stage].append(measure([program, kind, str(size), stage, str(seconds)]))
    taken[str(_CORES)].append(measure([program, kind, str(size), str(_CORES), str(seconds)]))
    set_up = min(run.elapsed_seconds for run in taken["set-up"])
    times = (min(run.elapsed_seconds for run in taken[stage]) - set_up for stage in stages[1:4])
    whole, serial, several = times
    found = _counts(taken[str(threads)][0].output)
    wide = _counts(taken[str(_CORES)][0].output)
    if not found:
        return f"| {kind}, {size:,} | {seconds} | {whole * 1e3:.0f} | | | | 1 | | | |"
    # Brent 1974: the time of p processors is between max(work / p, span) and work / p + span.
    cost = serial / whole
    least = wide["work"] / (wide["work"] / _CORES + wide["span"]) / cost
    most = min(_CORES, wide["work"] / wide["span"]) / cost
    return (
        f"| {kind}, {size:,} | {seconds} | {whole * 1e3:.0f} | {serial * 1e3:.0f} | {several * 1e3:.0f} "
        f"| {whole / several:.2f} | {found['parts']} | {found['rounds']:,} "
        f"| {found['work'] / found['span']:.2f} | {least:.1f} to {most:.1f} in {wide['parts']} parts |"
    )


def _counts(output: str) -> dict[str, int]:
    """Return the counts of a run in parts; none if the network was not divided."""
    counts = {name: int(number) for name, number in re.findall(r"(\w+): (\d+)", output)}
    return counts if counts.get("parts", 1) > 1 else {}


if __name__ == "__main__":
    sys.exit(main())
