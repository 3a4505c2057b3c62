"""Set-up, run and memory of growing networks and tables: twice as dear when twice as large, or worse.

    python benchmarks/scale.py [--rounds N] [--kind KIND]...

Every size runs in processes of its own, in rounds from the smallest to the largest; medians of their
processor times count. The table goes to docs/scale.md, which says what is measured.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from dataclasses import dataclass
from pathlib import Path

from building import build_benchmark
from measuring import measure

_PAGE = Path(__file__).parent.parent / "docs" / "scale.md"
_BEGIN, _END = "<!-- measured by make bench-scale -->", "<!-- end of what was measured -->"


@dataclass(frozen=True)
class Kind:
    """A thing that grows."""

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
    """One size, once."""

    set_up_seconds: float
    run_seconds: float
    work: int
    peak_bytes: int


def main() -> int:
    """Measure, print, and store the tables in docs/scale.md."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=3, help="runs of each size (default: 3)")
    parser.add_argument(
        "--kind", action="append", choices=_KINDS, help="only this one, and store nothing (repeatable)"
    )
    arguments = parser.parse_args()
    program = build_benchmark("perhop-sim", "scale")
    tables = [_measure(program, name, max(1, arguments.rounds)) for name in arguments.kind or _KINDS]
    if not arguments.kind:
        before, _, rest = _PAGE.read_text().partition(_BEGIN)
        _, _, after = rest.partition(_END)
        _PAGE.write_text("\n\n".join([f"{before}{_BEGIN}", *tables, f"{_END}{after}"]))
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
    set_up = statistics.median(run.set_up_seconds for run in runs)
    run = statistics.median(run.run_seconds for run in runs)
    peak, work = statistics.median(run.peak_bytes for run in runs), runs[0].work
    return (
        f"| {size:,} | {set_up * 1e3:.1f} | {set_up / size * 1e6:.2f} | {work:,} | {run * 1e3:.0f} "
        f"| {run / work * 1e9:.0f} | {peak / 1e6:.1f} | {peak / size / 1e3:.2f} |"
    )


def _run(program: Path, name: str, size: int) -> Run:
    """One size as far as its input, its set-up and its results: what each adds is what it takes."""
    (_, without, _), (_, set_up, _), (work, whole, peak_bytes) = (
        _stage(program, name, size, stage) for stage in ("input", "set-up", "run")
    )
    return Run(max(0.0, set_up - without), max(0.0, whole - set_up), work, peak_bytes)


def _stage(program: Path, name: str, size: int, stage: str) -> tuple[int, float, int]:
    """Go as far as `stage`: the work, processor time in seconds and peak memory in bytes."""
    taken = measure([program, name, str(size), stage])
    return int(taken.output), taken.seconds, taken.peak_bytes


if __name__ == "__main__":
    sys.exit(main())
