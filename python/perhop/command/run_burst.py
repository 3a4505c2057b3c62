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

#: Words for the causes of drops at a port of a switch, by the suffix of the column.
_CAUSES = {
    "queue_full": "threshold: the queue was at the limit of its packets",
    "shared_memory": "pool: the limit of the queue in the shared memory had fallen, or no unit was free",
    "port_memory": "port: the queues of the port together had reached the limit of the port",
    "headroom": "headroom: the neighbor was paused too late, or not at all",
    "policed": "policer",
    "early_random": "WRED, at random",
    "early_forced": "WRED, above its maximum",
    "no_class": "no class matches the packet",
}


@dataclass(frozen=True)
class Burst:
    """A burst of a run, and the configuration of its switch."""

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
        # The advice is for the interface of the run. Copies of a burst are named `CLASS at INTERFACE`.
        own = [row for row in rows if " at " not in row["class"]]
        lossy = [row["class"] for row in own if _mean(row, "dropped_queue_full") > 0]
        if lossy and self.file is not None and self._is_switch():
            for queue in lossy:
                yield from self._advice(self.file, queue)

    def _is_switch(self) -> bool:
        """Whether the file belongs to a switch that `perhop design buffers` supports."""
        from perhop.switch_memory import switch_memory  # lazy: only after losses

        try:
            ports = switch_memory(self.file or Path())["ports"]
        except InvalidInputError:
            return False
        return any(port["multiplier_percent"] is not None for port in ports)

    def _advice(self, file: Path, queue: str) -> Iterator[str]:
        """Generate the setting with which the queue drops no frame, and the command that explains it."""
        from perhop import design  # lazy: only after losses
        from perhop.inference.bursts import burst_of  # lazy: only after losses

        burst = burst_of(self.text)
        senders = burst["senders"]
        size = f"{burst['bytes'] * senders}B"
        arrival = f"{int(burst['arrival'].removesuffix('b/s')) * senders}b/s"
        interface, frame = self.interface or "", burst["frame-bytes"]
        try:
            advice = design.buffers(file, size, arrival, interface=interface, queue=queue, frame=frame)
        except InvalidInputError as refusal:
            yield f"{queue}: {'; '.join(filter(None, (str(refusal), refusal.help)))}"
            return
        yield f"{queue} loses nothing with: {'; '.join(map(str.strip, advice.ios.splitlines()))}"
        words = ["perhop", "design", "buffers", str(file), "--interface", interface, "--queue", queue]
        words += ["--burst", size, "--arrival", arrival, "--frame", str(frame)]
        yield f"explained by: {' '.join(map(shlex.quote, words))}"


def _loss(row: Mapping[str, Any]) -> str:
    """Return the loss of a class as text."""
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
