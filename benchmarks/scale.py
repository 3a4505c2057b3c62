"""Measure set-up, run and memory of growing networks and tables, to find cost that grows faster than size.

    python benchmarks/scale.py [--rounds N] [--kind KIND]...

Every size runs in separate processes, in rounds from the smallest to the largest. The minimum of the
processor times is used, because other programs can only increase a time, and a result is the difference of
two times. The table is written to docs/scale.md, which describes the measurement.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

from building import build_benchmark
from measuring import Taken, condition, machine, measure

_PAGE = Path(__file__).parent.parent / "docs" / "scale.md"
_BEGIN, _END = "<!-- measured by make bench-scale -->", "<!-- end of what was measured -->"


@dataclass(frozen=True)
class Kind:
    """A kind of input with a size."""

    title: str
    unit: str
    work: str
    sizes: tuple[int, ...]


_KINDS = {
    "tcp": Kind(
        "TCP flows, each between hosts of its own, over one bottleneck of 1 Mb/s for each, 2 s",
        "flow",
        "packet-hop",
        (1250, 2500, 5000, 10_000),
    ),
    "meters": Kind(
        "srTCMs, one for each flow, 10 of them busy", "meter", "packet", (10_000, 100_000, 1_000_000)
    ),
    "chain": Kind(
        "routers in a row, 4 flows through all of them, 2 s", "router", "packet-hop", (13, 25, 50, 100)
    ),
    "topology": Kind(
        "nodes, a tenth of them routers in a ring with chords, a flow from every host, 2 s",
        "node",
        "packet-hop",
        (125, 250, 500, 1000, 2000),
    ),
}


@dataclass(frozen=True)
class Run:
    """One measurement of a size: the runs that end after the input, after set-up, and with the results."""

    input: Taken
    set_up: Taken
    whole: Taken


def main() -> int:
    """Measure the kinds of inputs, print their tables, and store the tables in docs/scale.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="runs of each size (default: 3)")
    parser.add_argument(
        "--kind",
        action="append",
        choices=_KINDS,
        help="measure only this kind, and store nothing (repeatable)",
    )
    arguments = parser.parse_args()
    rounds = max(1, arguments.rounds)
    program = build_benchmark("perhop-sim", "scale")
    how = condition(rounds, machine())
    tables = [_measure(program, name, rounds) for name in arguments.kind or _KINDS]
    if not arguments.kind:
        before, _, rest = _PAGE.read_text().partition(_BEGIN)
        _, _, after = rest.partition(_END)
        _PAGE.write_text("\n\n".join([f"{before}{_BEGIN}", how, *tables, f"{_END}{after}"]))
        sys.stdout.write(f"written to {_PAGE}\n")
    return 0


def _measure(program: Path, name: str, rounds: int) -> str:
    kind = _KINDS[name]
    taken: dict[int, list[Run]] = {size: [] for size in kind.sizes}
    for _ in range(rounds):
        for size in kind.sizes:
            taken[size].append(_run(program, name, size))
    lines = [
        f"**{name}**: {kind.title}",
        "",
        f"| {kind.unit}s | set-up, ms | μs per {kind.unit} | {kind.work}s | run, ms | ns per {kind.work} "
        f"| peak memory, MB | kB per {kind.unit} |",
        "|---:|---:|---:|---:|---:|---:|---:|---:|",
    ]
    lines += [_line(size, taken[size]) for size in kind.sizes]
    table = "\n".join(lines)
    sys.stdout.write(f"{table}\n\n")
    sys.stdout.flush()
    return table


def _line(size: int, runs: list[Run]) -> str:
    """Return a row. The cost of a stage is its run minus the run of the previous stage."""
    set_up_from = min(run.input.seconds for run in runs)
    run_from = min(run.set_up.seconds for run in runs)
    set_up = max(0.0, run_from - set_up_from)
    run = max(0.0, min(run.whole.seconds for run in runs) - run_from)
    peak = statistics.median(run.whole.peak_bytes for run in runs)
    work = int(runs[0].whole.output)
    return (
        f"| {size:,} | {set_up * 1e3:.1f} | {set_up / size * 1e6:.2f} | {work:,} | {run * 1e3:.0f} "
        f"| {run / work * 1e9:.0f} | {peak / 1e6:.1f} | {peak / size / 1e3:.2f} |"
    )


def _run(program: Path, name: str, size: int) -> Run:
    return Run(*(measure([program, name, str(size), stage]) for stage in ("input", "set-up", "run")))


if __name__ == "__main__":
    sys.exit(main())
