"""Compare the time per packet of the data plane with that of DPDK, if it is installed, in alternating runs.

The two programs are crates/perhop-qos/benches/data_plane and benchmarks/dpdk/data_plane.c. They have the same
packets, profiles and batches. On a shared machine, only ratios of alternating runs are meaningful.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from pathlib import Path

from building import MissingError, build_benchmark, build_twin

_SOURCE = Path(__file__).parent / "dpdk" / "data_plane.c"
# By case: nanoseconds per packet, and the shares of the outcomes of packets.
Lines = dict[str, tuple[float, tuple[str, ...]]]


def compare_data_plane(rounds: int) -> list[dict[str, object]]:
    """Run both programs in turn, print a table of times and return its rows."""
    ours = build_benchmark("perhop-qos", "data_plane")
    theirs = _find_dpdk()
    taken: list[tuple[Lines, Lines]] = []
    for _ in range(rounds):
        taken.append((_run([ours, "--bench"]), _run([theirs]) if theirs else {}))
    rows = [_row(case, taken) for case in taken[0][0]]
    _print(rows)
    return rows


def _find_dpdk() -> Path | None:
    try:
        # The header of rte_sched contains inline functions that DPDK calls experimental.
        program = build_twin(_SOURCE, "cc", ["-O3", "-DALLOW_EXPERIMENTAL_API"], ["libdpdk"])
        tried = subprocess.run([program, "none"], check=False, capture_output=True, text=True)
        if tried.returncode == 0:
            return program
        reason = (tried.stderr.strip().splitlines() or ["it does not start"])[-1]
    except MissingError as missing:
        reason = str(missing)
    sys.stdout.write(f"skipped: DPDK ({reason})\n")
    return None


def _run(command: list[str | Path]) -> Lines:
    found = subprocess.run([str(word) for word in command], check=True, capture_output=True, text=True).stdout
    lines = (line.split() for line in found.splitlines())
    return {case: (float(nanoseconds), tuple(shares)) for case, nanoseconds, *shares in lines}


def _twin(case: str) -> str:
    """Return the case of DPDK for a case of perhop. DPDK has one scheduler for all cases."""
    kind, _, rest = case.partition("/")
    return f"port/rte-sched/{rest.partition('/')[2]}" if kind == "port" else case


def _row(case: str, taken: list[tuple[Lines, Lines]]) -> dict[str, object]:
    row: dict[str, object] = {"case": case, "perhop": statistics.median(ours[case][0] for ours, _ in taken)}
    twin = _twin(case)
    if twin in taken[0][1]:
        row["dpdk"] = statistics.median(theirs[twin][0] for _, theirs in taken)
        # The median of the ratios of each round, because a slowdown of the machine affects both programs of a
        # round.
        row["ratio"] = statistics.median(ours[case][0] / theirs[twin][0] for ours, theirs in taken)
        row["shares"] = {"perhop": taken[0][0][case][1], "dpdk": taken[0][1][twin][1]}
    fifo = _fifo(case)
    if fifo:
        # The minimum of all rounds, because other programs on a shared machine can only increase a time.
        row["over-fifo"] = _least(taken, 0, case) - _least(taken, 0, fifo)
        if twin in taken[0][1]:
            row["dpdk-over-fifo"] = _least(taken, 1, twin) - _least(taken, 1, fifo)
    return row


def _fifo(case: str) -> str | None:
    """Return the case with tail drop with which a buffer manager of one queue is compared."""
    kind, _, rest = case.partition("/")
    manager, _, load = rest.partition("/")
    return f"{kind}/tail-drop/{load}" if kind == "one-queue" and manager != "tail-drop" else None


def _least(taken: list[tuple[Lines, Lines]], side: int, case: str) -> float:
    return min(round_[side][case][0] for round_ in taken)


def _print(rows: list[dict[str, object]]) -> None:
    sys.stdout.write(f"{'ns per packet':30} {'perhop':>8} {'DPDK':>8} {'ratio':>6} {'over a FIFO':>17}\n")
    for row in rows:
        line = f"{row['case']:30} {row['perhop']:8.1f}"
        line += f" {row['dpdk']:8.1f} {row['ratio']:6.2f}" if "dpdk" in row else " " * 16
        if "over-fifo" in row:
            line += f" {row['over-fifo']:8.1f}"
        if "dpdk-over-fifo" in row:
            line += f" {row['dpdk-over-fifo']:8.1f}"
        sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
