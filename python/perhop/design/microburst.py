"""A burst into a queue of a switch, simulated: the frames that its memory drops."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from perhop.switch_memory import PortMemory, QueueMemory

# Header and check sequence of an Ethernet frame, and the preamble and gap around it, bytes (IEEE 802.3, 3.1.1
# and 4.4.2).
_HEADER, _BETWEEN = 18, 20


@dataclass(frozen=True)
class Microburst:
    """A burst of frames: its bytes, its rate on the wire in bits per second, and the bytes of a frame."""

    length: float
    arrival_bps: float
    frame: int

    @property
    def frames(self) -> int:
        """The number of frames."""
        return math.ceil(self.length / self.frame)

    def lost(self, port: PortMemory, queue: QueueMemory, unit_bytes: int) -> int:
        """Return the number of frames that a simulation drops, for packets without a threshold of their own.

        The other queues of the port are empty, and the memory of the chip has room for all packets of the
        queue.
        """
        from perhop.scenario import Scenario  # lazy: other designs need no simulator

        results = Scenario(self._scenario(port, queue, unit_bytes)).run(replications=1)
        return int(results.classes["dropped_packets"].sum())

    def _scenario(self, port: PortMemory, queue: QueueMemory, unit_bytes: int) -> dict[str, Any]:
        frame_s = (self.frame + _BETWEEN) * 8 / self.arrival_bps
        wire = {"framing": "ethernet-wire"}
        ip = self.frame - _HEADER
        # The burst stops half a gap before the next frame.
        stop_ns = int((self.frames - 0.5) * frame_s * 1e9)
        drained_s = self.frames * (self.frame + _BETWEEN) * 8 / float(port["rate_bps"] or self.arrival_bps)
        return {
            "perhop": 1,
            "name": "microburst",
            "duration": f"{math.ceil((drained_s + 0.01) * 1e3)}ms",
            "hosts": {"sender": {}, "receiver": {}},
            "routers": {"switch": {}},
            "links": [
                {"between": ["sender", "switch"], "rate": f"{self.arrival_bps:.0f}b/s", **wire},
                {
                    "between": ["switch", "receiver"],
                    "rate": f"{port['rate_bps']}b/s",
                    "interfaces": {"switch": {"output": "port"}},
                    **wire,
                },
            ],
            "policies": {"port": {"queueing": _queueing(port, queue, unit_bytes)}},
            "traffic": [
                {
                    "name": "burst",
                    "from": "sender",
                    "to": "receiver",
                    "stop": f"{stop_ns}ns",
                    "source": {"cbr": {"rate": f"{int(ip * 8 / frame_s)}b/s", "packet": {"ip": f"{ip}B"}}},
                }
            ],
        }


def _queueing(port: PortMemory, queue: QueueMemory, unit_bytes: int) -> dict[str, Any]:
    memory: dict[str, Any] = {"unit-bytes": unit_bytes, "shared": max(queue["soft"] or 0, 1)}
    shared: dict[str, Any] = {
        "reserved": queue["hard"],
        "limit": queue["soft"],
        "thresholds": [queue["thresholds"][-1]["units"]],
    }
    # Without a published minimum of the chip, the simulated limits do not fall as the port fills. This
    # seldom changes the result, because one queue seldom fills the port.
    if queue["port_soft_min"] is not None and port["soft_start"] < port["soft_end"]:
        memory["port-fall"] = {"start": port["soft_start"], "end": port["soft_end"]}
        shared["port-minimum"] = queue["port_soft_min"]
    queue_of_class = {
        "name": queue["class"] or f"queue {queue['number']}",
        "buffer": {"shared-memory": shared},
    }
    return {"memory": memory, "classes": [queue_of_class]}
