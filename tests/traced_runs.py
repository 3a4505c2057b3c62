"""Runs of one flow through a device, compared with the paths that `trace` names for its packets.

A run sends packets of one flow through a device, behind which another counts them by codepoint. Every counted
queue must be in a path of `trace`; every path that a packet surely takes must count packets, also if it ends
with a drop.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import perhop
from perhop.tracing import traced
from seeds import SEED

#: Bits per second of a meter that most packets of a run exceed.
SLOW = 8000
CODEPOINTS = ["default", "ef", "af11", "af21", "af22", "af41", "cs1", "cs3", "cs6"]
SCENARIO = """\
perhop: 1
name: one flow
duration: 100ms
hosts: {a: {address: 10.0.0.2}, b: {address: 203.0.113.2}}
routers: {r: {configuration: {file: FILE}}, p: {}}
links:
  - {between: [a, r], rate: 1Gb/s, interfaces: {r: {name: ARRIVES}}}
  - {between: [r, p], rate: 1Gb/s, interfaces: {r: {name: LEAVES}, p: {input: count}}}
  - {between: [p, b], rate: 1Gb/s}
traffic:
  - {name: flow, from: a, to: b, dscp: DSCP, destination-port: PORT,
     source: {cbr: {rate: 400kb/s, packet: {ip: 500B}}}}
policies:
  count:
    conditioners:
STAGES
measure: {warmup: 0s}
"""


@dataclass(frozen=True)
class Language:
    """A language of configurations: the name of a file, and the interfaces of a path through a device.

    `choices` are those of `trace`, for a language whose files have no routes.
    """

    file: str
    arrives: str
    leaves: str
    choices: dict[str, str] = field(default_factory=dict)

    def compare(self, folder: Path, trial: int, text: str, draw: random.Random) -> bool:
        """Compare what a run counts with the paths of `trace`; return whether a conditioner drops."""
        file = folder / self.file
        file.write_text(text)
        dscp, port = draw.choice(CODEPOINTS), draw.choice([9000, 9001, 9002])
        packet = f"udp 10.0.0.2:40000 > 203.0.113.2:{port} dscp {dscp} len 500"
        paths = traced(file, at=self.choices.get("at"), out=self.choices.get("out")).answer(packet)["paths"]
        run = self._counted(folder, dscp, port)
        details = f"trial {trial}: {packet}\n{text}"
        for key, found in run.items():
            possible = set().union(*(named_by(path)[key] for path in paths))
            assert found <= possible, f"{key}: the run counts {found - possible}\n{details}"
        for path in filter(occurs, paths):
            for key, named in named_by(path).items():
                assert named <= run[key], f"{key}: the run counts none of {named - run[key]}\n{details}"
        return bool(run["drops"])

    def _counted(self, folder: Path, dscp: str, port: int) -> dict[str, set[Any]]:
        """Return the stages, queues and codepoints of a run, and whether a conditioner drops."""
        stages = "\n".join(
            f"      - {{name: {codepoint}, match: {{dscp: {codepoint}}}, actions: [transmit]}}"
            for codepoint in every()
        )
        text = SCENARIO.replace("DSCP", dscp).replace("PORT", str(port)).replace("STAGES", stages)
        text = text.replace("ARRIVES", self.arrives).replace("LEAVES", self.leaves).replace("FILE", self.file)
        file = folder / "one.perhop.yaml"
        file.write_text(text)
        results = perhop.run(perhop.Scenario.load(file), replications=1, threads=1)
        rows = [row for row in results.conditioners.iter_rows(named=True) if row["packets"]]
        ports = [row for row in results.ports.iter_rows(named=True) if row["port"] == "r->p"]
        return {
            "stages": {(row["side"], row["stage"]) for row in rows if row["node"] == "r"},
            "queues": {row["queue"] for row in ports if row["arrived_packets"] and row["queue"] != "(none)"},
            "codepoints": {row["stage"] for row in rows if row["node"] == "p"},
            "drops": {True} if sum(results.classes["dropped_policed"]) else set(),
        }


def drawn(name: str, trial: int) -> random.Random:
    """Return the random numbers of a trial; each language has its own."""
    return random.Random(f"{SEED}/{name}/{trial}")


def every() -> list[str]:
    """Return all codepoints that a mark can set."""
    return [*CODEPOINTS, "cs2", "cs4", "cs5", "cs7"]


def named_by(path: dict[str, Any]) -> dict[str, set[Any]]:
    """Return the stages, queues and codepoints of a path of `trace`, and whether it drops."""
    conditioners = [stage for stage in path["stages"] if stage["stage"] == "conditioner"]
    words = path["packet"].split()
    is_queued = path["end"] == "queued"
    return {
        "stages": {(stage["side"], stage["name"]) for stage in conditioners},
        "queues": {path["queue"]} if is_queued else set(),
        "codepoints": {words[words.index("dscp") + 1]} if is_queued else set(),
        "drops": {True} if path["end"] == "dropped" else set(),
    }


def occurs(path: dict[str, Any]) -> bool:
    """Whether a run surely has packets on a path.

    Every meter has tokens for the first packets. A slow meter then has none: its later packets
    exceed, if no other slow meter meters the same packets.
    """
    colors = [(stage["color"], is_slow(stage)) for stage in path["stages"] if stage.get("color") is not None]
    if all(color == "green" for color, _ in colors):
        return True
    return sum(slow for _, slow in colors) == 1 and all(slow or color == "green" for color, slow in colors)


def is_slow(conditioner: dict[str, Any]) -> bool:
    """Whether the packets of a run exceed a meter."""
    return f'"rate": "{SLOW // 1000}kb/s"' in json.dumps(conditioner["meter"])
