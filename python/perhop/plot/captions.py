"""What stands under a plot: where its numbers come from."""

from __future__ import annotations

from perhop.quantity import number
from perhop.results import Results


def caption(results: Results, *said: str, replication: int | None = None) -> str:
    """Return seed, replications, warm-up and assumptions; `said` goes first."""
    runs = results.replications
    if replication is not None and runs > 1:
        times = f"replication {replication + 1} of {runs}"
    else:
        times = f"{runs} replications" if runs > 1 else "1 replication"
    warmup = results.summary["warmup_s"]
    left_out = f"first {number(warmup)} s left out" if warmup else "from the start"
    parts = [
        *said,
        f"{results.summary['scenario']}: seed {results.seed}, {times}, {left_out}",
        results.assumptions or "what the scenario leaves open: perhop's defaults, in scenario.json",
    ]
    return "; ".join(parts) + "."
