"""`perhop buffers`."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Literal

from perhop.command.columns import Column, show
from perhop.command.explain import show_platform_rules
from perhop.command.lines import show_lines
from perhop.command.options import Json
from perhop.command.parameter import Parameter
from perhop.command.srr_table import show_input_queues, show_srr_port
from perhop.command.terminal import print_json, print_note
from perhop.errors import Exit, InvalidInputError
from perhop.printable import printable
from perhop.profiles import PlatformRule
from perhop.quantity import NOTHING, number, quantity, rate_words
from perhop.switch_memory import (
    PortMemory,
    SwitchMemory,
    Threshold,
    ports_named,
    switch_memory,
)

# The smallest and the largest Ethernet frame with one tag (IEEE 802.3) and the jumbo frames of switches.
_FRAMES = range(64, 9217)
#: The order of kinds of evidence, the strongest first.
_CERTAINTIES = ("documented", "printed", "measured", "inferred", "recalled")


def buffers(
    file: Path,
    /,
    *,
    interface: Annotated[list[str] | None, Parameter(name="--interface", negative=())] = None,
    model: str | None = None,
    port_units: int | None = None,
    frame: int = 1518,
    arrival: str | None = None,
    printed: Annotated[bool, Parameter(negative=())] = False,
    rules: Annotated[bool, Parameter(negative=())] = False,
    json: Json = False,
) -> Exit:
    """Show how a switch divides the packet memory of a port among its queues, and the bursts that fit.

    Catalyst 3650, 3850 and 9000 with UADP or Silicon One chips, Catalyst 2960, 3560 and 3750 with `mls qos`,
    Nexus 9300-FX2 and 3064. Nothing is simulated: the numbers are limits of single queues while the rest of
    the shared memory is free.

    Parameters
    ----------
    file
        The configuration of the switch, or its output of `show platform hardware fed switch active qos queue
        config interface`.
    interface
        Show only this port. May be given several times.
    model
        The product, for example c9300-24t, if the configuration does not name it.
    port_units
        The memory of each port in units of 256 bytes, if it is not published.
    frame
        The length of a frame, bytes with Ethernet header and check sequence.
    arrival
        The rate at which a burst arrives, for example 10Gb/s: the sum of all senders.
    printed
        Print the limits in the format of the switch's own command.
    rules
        Show the rules behind the numbers, with their evidence.

    """
    if frame not in _FRAMES:
        raise InvalidInputError(f"--frame {frame} is not the length of an Ethernet frame", "64 to 9216 bytes")
    found = switch_memory(
        file, model=model, port_units=port_units, frame_bytes=frame, arrival_bps=_arrival(arrival)
    )
    chosen = ports_named(found, interface) if interface else found
    if json:
        print_json({"schema_version": 1, "file": str(file), "frame_bytes": frame, **chosen})
    elif printed:
        if any(port["printed"] is None for port in chosen["ports"]):
            raise InvalidInputError(
                "perhop does not print the output of this switch",
                "--printed is for Catalyst switches (UADP)",
            )
        for port in chosen["ports"]:
            print(f"{port['interface']}\n{port['printed']}" if port["interface"] else port["printed"])
        for line in _omissions(chosen):
            print_note(printable(line))
    else:
        for port in chosen["ports"]:
            if "has_qos" in port:
                show_srr_port(port, chosen)
            else:
                _show_port(port, chosen, frame)
        if chosen.get("input_queues"):
            show_input_queues(chosen["input_queues"])
        _show_remarks(chosen)
        if rules:
            show_platform_rules([PlatformRule(**rule) for rule in chosen["rules"]])
    return Exit.OK if chosen["ports"] else Exit.INVALID_INPUT


def _arrival(text: str | None) -> int | None:
    if text is None:
        return None
    found = quantity(text)
    if found is None or found[1] != "b/s" or found[0] <= 0:
        raise InvalidInputError(f"--arrival {text} is not a rate", "give a rate and its unit: 10Gb/s")
    return int(found[0])


def _show_port(port: PortMemory, memory: SwitchMemory, frame: int) -> None:
    rows = [
        (queue, threshold, threshold is queue["thresholds"][-1])
        for queue in port["queues"]
        for threshold in queue["thresholds"]
        if threshold["packets"] or threshold is queue["thresholds"][-1]
    ]
    keys = [
        Column(
            "queue",
            [printable(f"{queue['number']} {queue['class']}") for queue, _, _ in rows],
            numeric=False,
        ),
        Column("packets", [", ".join(limit["packets"]) or "others" for _, limit, _ in rows], numeric=False),
    ]
    numbers = [
        Column("hard\nunits", [str(queue["hard"]) for queue, _, _ in rows]),
        Column("soft\nunits", [str(queue["soft"]) for queue, _, _ in rows]),
        Column("dropped\nat units", [str(limit["units"]) for _, limit, _ in rows]),
        Column(f"frames of\n{frame} B", [_room(limit, "frames") for _, limit, _ in rows]),
        Column("bytes", [_room(limit, "bytes") for _, limit, _ in rows]),
        Column("drained\nin us", [_drained(limit) for _, limit, _ in rows]),
    ]
    if any(limit["burst"] for _, limit, _ in rows):
        numbers += [
            Column("burst\nbytes", [_burst(limit)[0] for _, limit, _ in rows]),
            Column("burst\nus", [_burst(limit)[1] for _, limit, _ in rows]),
        ]
    show(printable(_title(port, memory)), keys, numbers)
    if port["soft_end"]:
        show_lines(
            f"The limits of soft parts begin to fall when the port uses {port['soft_start']} units of "
            f"shared memory, and reach their minimum at {port['soft_end']}.",
            {},
        )
    for text in port["assumed"]:
        show_lines(f"assumed: {text}", {})


def _title(port: PortMemory, memory: SwitchMemory) -> str:
    parts = [port["interface"] or "port"]
    if port["rate_bps"] is not None:
        parts.append(rate_words(port["rate_bps"]))
    if port["units"] is not None:
        parts.append(f"{port['units']} units of {memory['unit_bytes']} bytes")
    elif memory["unit_bytes"] == 1:
        parts.append("limits in bytes")
    if port["rate_bps"] is not None:
        parts.append(f"policy {port['policy']}" if port["policy"] else "no output policy")
    if port["multiplier_percent"] is not None:
        parts.append(f"multiplier {port['multiplier_percent']} %")
    return f"{parts[0]}: {', '.join(parts[1:])}" if parts[1:] else parts[0]


def _microseconds(nanoseconds: int | None) -> str:
    return NOTHING if nanoseconds is None else number(nanoseconds / 1000)


def _room(limit: Threshold, key: Literal["frames", "bytes"]) -> str:
    return NOTHING if limit["room"] is None else str(limit["room"][key])


def _drained(limit: Threshold) -> str:
    return _microseconds(limit["room"]["drain_ns"] if limit["room"] else None)


def _burst(limit: Threshold) -> tuple[str, str]:
    burst = limit["burst"]
    return (NOTHING, NOTHING) if burst is None else (str(burst["bytes"]), _microseconds(burst["duration_ns"]))


def _show_remarks(memory: SwitchMemory) -> None:
    for line in _remarks(memory):
        show_lines(printable(line), {})


def _omissions(memory: SwitchMemory) -> Iterator[str]:
    for known in memory["ports"]:
        if reason := known.get("refused"):
            yield f"refused: {known['interface']}: policy {known['policy']} is not attached: {reason}"
    for port in memory["unknown"]:
        yield f"unknown: {port['interface']}: {port['reason']}"
    yield from (f"not modeled: {text}" for text in memory["not_modeled"])


def _remarks(memory: SwitchMemory) -> Iterator[str]:
    yield from _omissions(memory)
    for part in memory.get("egress_memory", []):
        yield f"published: {part['megabytes']} MB for departing packets of {part['ports']}"
    if any("has_qos" in port and port["units"] is None for port in memory["ports"]):
        yield (
            "The memory of a port is not published: thresholds are percentages of the memory that is "
            "allocated to the queue. --port-units gives it in units."
        )
    if memory["ports"]:
        whole = " Frames of other lengths occupy whole units of memory." if memory["unit_bytes"] > 1 else ""
        yield f"A queue reaches its limit only while the shared memory of the chip has room.{whole}"
    for certainty in _CERTAINTIES:
        names = [rule["rule"] for rule in memory["rules"] if rule["certainty"] == certainty]
        if names:
            yield f"{certainty}: {', '.join(names)}"
