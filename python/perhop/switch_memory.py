"""The packet memory of a switch: how its configuration divides it among ports and queues.

from perhop.switch_memory import switch_memory

memory = switch_memory("switch.cfg", model="c9300-24t", frame_bytes=1518)
for port in memory["ports"]:
    print(port["interface"], [queue["soft"] for queue in port["queues"]])
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NotRequired, TypedDict

from perhop import _core
from perhop.configuration import meant, read, refused_option
from perhop.errors import InvalidInputError

__all__ = [
    "Burst",
    "EgressMemory",
    "InputQueue",
    "PortMemory",
    "QueueMemory",
    "QueueSet",
    "QueueSetQueue",
    "Room",
    "SwitchMemory",
    "Threshold",
    "UnknownPort",
    "memory_in_text",
    "ports_named",
    "switch_memory",
]


class Room(TypedDict):
    """The number of whole frames that fit, their bytes, and the time in which the line sends them, ns."""

    frames: int
    bytes: int
    drain_ns: int | None


class Burst(TypedDict):
    """The longest burst without loss, bytes, and its duration at the rate of arrival, ns."""

    bytes: int
    duration_ns: int


class Threshold(TypedDict):
    """The length of a queue at which some packets are dropped; without `packets`, all other packets.

    `units` is `None` if the memory of the port is not known; `percent` is the percentage of the memory
    allocated to the queue, if a queue-set configures it.
    """

    units: int | None
    percent: NotRequired[int]
    packets: list[str]
    line: int | None
    room: Room | None
    burst: Burst | None


QueueMemory = TypedDict(
    "QueueMemory",
    {
        "number": int,
        "class": str,
        "line": int | None,
        "priority_level": int | None,
        "weight": int | None,
        #: `None` if the memory of the port is not known.
        "hard": int | None,
        "soft": int | None,
        "dynamic_factor": NotRequired[int],
        "port_soft_min": int | None,
        "global_soft_min": int | None,
        "thresholds": list[Threshold],
        #: Settings of queues with shaped round robin, as `perhop_device::SrrQueue`.
        "buffers_percent": NotRequired[int],
        "reserved_percent": NotRequired[int],
        "reserved_port_percent": NotRequired[float],
        "maximum_percent": NotRequired[int],
        "shaped_weight": NotRequired[int],
        "shared_weight": NotRequired[int],
        "ceiling_bps": NotRequired[int | None],
    },
)


class PortMemory(TypedDict):
    """The memory of a port, in units; `printed` is the output of the switch for the port."""

    interface: str
    rate_bps: int | None
    units: int | None
    policy: str | None
    multiplier_percent: int | None
    soft_start: int
    soft_end: int
    queues: list[QueueMemory]
    assumed: list[str]
    printed: str | None
    #: The reason why the switch refuses the policy; the queues are those of the configuration.
    refused: NotRequired[str]
    #: Settings of ports with shaped round robin, as `perhop_device::SrrPort`.
    has_qos: NotRequired[bool]
    trust: NotRequired[str]
    queue_set: NotRequired[int]
    priority_queue_out: NotRequired[bool]
    bandwidth_limit_percent: NotRequired[int]


class UnknownPort(TypedDict):
    """A port whose memory is unknown."""

    interface: str
    reason: str


class InputQueue(TypedDict):
    """A queue of arriving packets in front of the ring of a switch."""

    number: int
    buffers_percent: int
    bandwidth_weight: int
    priority_bandwidth_percent: int
    thresholds: list[Threshold]


class EgressMemory(TypedDict):
    """The published memory for departing packets."""

    ports: str
    megabytes: int


class QueueSetQueue(TypedDict):
    """A queue of a queue-set: its percentage of the port's memory, and percentages of that allocation."""

    number: int
    buffers_percent: int
    threshold1_percent: int
    threshold2_percent: int
    reserved_percent: int
    maximum_percent: int


class QueueSet(TypedDict):
    """Settings for the division of a port's memory among its queues."""

    number: int
    queues: list[QueueSetQueue]


class SwitchMemory(TypedDict):
    """The memory of the ports of a switch."""

    model: str
    chip: str
    unit_bytes: int
    #: The units that all ports share; `None` for an output of the switch.
    shared_units: int | None
    ports: list[PortMemory]
    unknown: list[UnknownPort]
    #: The arguments of `perhop.profiles.PlatformRule`.
    rules: list[dict[str, Any]]
    not_modeled: list[str]
    egress_memory: NotRequired[list[EgressMemory]]
    input_queues: NotRequired[list[InputQueue]]
    queue_sets: NotRequired[list[QueueSet]]
    #: The new value for each value of a field, by the name of the map: `cos-dscp`.
    maps: NotRequired[dict[str, list[int]]]


def switch_memory(
    file: str | os.PathLike[str],
    *,
    model: str | None = None,
    port_units: int | None = None,
    frame_bytes: int = 1518,
    arrival_bps: int | None = None,
) -> SwitchMemory:
    """Return the packet memory of a switch, from its configuration or its own output.

    Parameters
    ----------
    file
        The configuration, or the output of `show platform hardware fed … qos queue config interface`.
    model
        The product, such as `c9300-24t`; by default the product in the configuration.
    port_units
        The memory of each port, in units of the chip; by default by product and rate.
    frame_bytes
        The length of the frames of `room`, bytes with Ethernet header and check sequence.
    arrival_bps
        The rate at which a burst arrives, bit/s.

    Raises
    ------
    InvalidInputError
        The text has no such memory, or the product is unknown.

    """
    return memory_in_text(
        read(Path(file)),
        model=model,
        port_units=port_units,
        frame_bytes=frame_bytes,
        arrival_bps=arrival_bps,
    )


def memory_in_text(
    text: str,
    *,
    model: str | None = None,
    port_units: int | None = None,
    frame_bytes: int = 1518,
    arrival_bps: int | None = None,
) -> SwitchMemory:
    """Return the result of `switch_memory` for the text of a configuration or of an output."""
    request = {
        "model": model,
        "port_units": port_units,
        "frame_bytes": frame_bytes,
        "arrival_bps": arrival_bps,
    }
    try:
        found: SwitchMemory = json.loads(_core.switch_memory(text, json.dumps(request)))
    except ValueError as error:
        raise refused_option(error) from error
    return found


def ports_named(memory: SwitchMemory, interfaces: Sequence[str]) -> SwitchMemory:
    """Return the memory of the ports named by `interfaces`, which may be abbreviated.

    Raises `InvalidInputError` for a name without a port.
    """
    known = [port["interface"] for port in (*memory["ports"], *memory["unknown"])]
    chosen: set[str] = set()
    for short in interfaces:
        names = meant(short, known)
        if not names:
            raise InvalidInputError(
                f"there is no switch port `{short}`", f"switch ports: {', '.join(known) or 'none'}"
            )
        chosen.update(names)
    ports = [port for port in memory["ports"] if port["interface"] in chosen]
    unknown = [port for port in memory["unknown"] if port["interface"] in chosen]
    return {**memory, "ports": ports, "unknown": unknown}
