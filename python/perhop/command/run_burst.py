"""The answer of `perhop run --traffic microburst(...)`: the frames that each class loses, by cause."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perhop.command.lines import show_lines
from perhop.errors import InvalidInputError
from perhop.printable import printable
from perhop.quantity import counted
from perhop.results import Results
from perhop.scenario import Scenario

#: Words for the causes of drops at a port of a switch, by the end of their column's name.
_CAUSES = {
    "queue_full": "threshold: the queue was at the limit of its packets",
    "shared_memory": "pool: the limit of the queue in the shared memory had fallen, or no unit was free",
    "port_memory": "port: the queues of the port were at its limit",
    "policed": "policer",
    "early_random": "WRED, at random",
    "early_forced": "WRED, above its maximum",
    "no_class": "no class takes the packet",
}


@dataclass(frozen=True)
class Burst:
    """A burst of a run, and the configuration that it was sent through."""

    text: str
    file: Path | None
    interface: str | None

    @classmethod
    def requested(cls, traffic: Path | None, file: Path | None, scenario: Scenario) -> Burst | None:
        """Return the burst of `--traffic`; `None` for other traffic."""
        text = "" if traffic is None else str(traffic)
        interface = (scenario.origin or {}).get("interface")
        return cls(text, file, interface) if text.lstrip().startswith("microburst") else None

    def show(self, results: Results) -> None:
        """Print a line for each class."""
        print()
        for line in self._lines(results.summary):
            show_lines(printable(line), {})

    def _lines(self, summary: Mapping[str, Any]) -> Iterator[str]:
        rows = summary["classes"]
        for row in rows:
            yield f"{row['class']}: {_loss(row)}"
        lossy = [row["class"] for row in rows if _mean(row, "dropped_queue_full") > 0]
        if lossy and self.file is not None and self._is_switch():
            yield f"the value that lets it pass: {self._design(lossy[-1])}"

    def _is_switch(self) -> bool:
        from perhop.switch_memory import switch_memory  # lazy: only after losses

        try:
            return bool(switch_memory(self.file or Path())["ports"])
        except InvalidInputError:
            return False

    def _design(self, queue: str) -> str:
        from perhop.inference.bursts import burst_of  # lazy: only after losses

        burst = burst_of(self.text)
        senders = burst["senders"]
        arrival = int(burst["arrival"].removesuffix("b/s")) * senders
        words = ["perhop", "design", "buffers", str(self.file), "--interface", self.interface or "INTERFACE"]
        words += ["--queue", queue, "--burst", f"{burst['bytes'] * senders}B", "--arrival", f"{arrival}b/s"]
        return " ".join(map(shlex.quote, words))


def _loss(row: Mapping[str, Any]) -> str:
    """Return the loss of a class in words."""
    offered = f"{_mean(row, 'offered_packets'):.0f}"
    dropped = _mean(row, "dropped_packets")
    if not dropped:
        return f"no loss, {counted(int(float(offered)), 'frame')}"
    causes = [
        f"{_mean(row, key):.0f} by {_CAUSES.get(name, name.replace('_', ' '))}"
        for key in row
        if key.startswith("dropped_") and (name := key.removeprefix("dropped_")) not in ("packets", "percent")
        if isinstance(row[key], Mapping) and _mean(row, key) > 0
    ]
    return f"{dropped:.0f} of {offered} frames dropped: {'; '.join(causes)}"


def _mean(row: Mapping[str, Any], key: str) -> float:
    value = row.get(key)
    return float(value["mean"] or 0.0) if isinstance(value, Mapping) else 0.0
