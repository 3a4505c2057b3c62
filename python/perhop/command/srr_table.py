"""The queues of a port with shaped round robin, as a table."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from perhop.codepoints import dscp_number
from perhop.command.columns import Column, show
from perhop.command.lines import show_lines
from perhop.printable import printable
from perhop.quantity import NOTHING, rate_words
from perhop.switch_memory import InputQueue, PortMemory, QueueMemory, SwitchMemory, Threshold


def show_srr_port(port: PortMemory, memory: SwitchMemory) -> None:
    """Print the queues of a port: percentages, and units if the memory of the port is given."""
    rows = [(queue, limit) for queue in port["queues"] for limit in _used(queue["thresholds"])]
    keys = [
        Column("queue", [printable(queue["class"]) for queue, _ in rows], numeric=False),
        Column("packets", [packet_words(limit["packets"]) for _, limit in rows], numeric=False),
    ]
    columns = [
        Column("buffers\n%", [_cell(queue.get("buffers_percent")) for queue, _ in rows]),
        Column("reserved\n%", [_cell(queue.get("reserved_percent")) for queue, _ in rows]),
        Column("most\n%", [_cell(queue.get("maximum_percent")) for queue, _ in rows]),
        Column("dropped\nat %", [_cell(limit.get("percent")) for _, limit in rows]),
    ]
    if any(limit["units"] is not None for _, limit in rows):
        columns += [
            Column("hard\nunits", [_cell(queue["hard"]) for queue, _ in rows]),
            Column("dropped\nat units", [_cell(limit["units"]) for _, limit in rows]),
            Column("frames", [_frames(limit) for _, limit in rows]),
        ]
    columns += [
        Column("service", [_service(queue) for queue, _ in rows], numeric=False),
    ]
    show(printable(_title(port, memory)), keys, columns)
    for text in port["assumed"]:
        show_lines(f"assumed: {text}", {})


def show_input_queues(queues: Sequence[InputQueue]) -> None:
    """Print the queues in front of the ring of the switch."""
    rows = [(queue, limit) for queue in queues for limit in queue["thresholds"] if limit["packets"]]
    keys = [
        Column("queue", [str(queue["number"]) for queue, _ in rows]),
        Column("packets", [packet_words(limit["packets"]) for _, limit in rows], numeric=False),
    ]
    columns = [
        Column("buffers\n%", [str(queue["buffers_percent"]) for queue, _ in rows]),
        Column("weight", [str(queue["bandwidth_weight"]) for queue, _ in rows]),
        Column("priority\n%", [str(queue["priority_bandwidth_percent"]) for queue, _ in rows]),
        Column("dropped\nat %", [_cell(limit.get("percent")) for _, limit in rows]),
    ]
    show("queues in front of the ring", keys, columns)


def _used(limits: Sequence[Threshold]) -> Sequence[Threshold]:
    """Return the thresholds with packets; the last for a queue without packets."""
    return [limit for limit in limits if limit["packets"]] or limits[-1:]


def packet_words(packets: Sequence[str]) -> str:
    """Return the packets of a threshold in short: `dscp 0-15, cos 0, 1`; a dash without packets."""
    values: dict[str, list[int]] = {}
    for packet in packets:
        field, value = packet.split(maxsplit=1)
        values.setdefault(field, []).append(dscp_number(value))
    return "; ".join(f"{field} {', '.join(_ranges(numbers))}" for field, numbers in values.items()) or NOTHING


def _ranges(numbers: Iterable[int]) -> Iterator[str]:
    ranges: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if ranges and ranges[-1][1] == number - 1:
            ranges[-1] = (ranges[-1][0], number)
        else:
            ranges.append((number, number))
    yield from (str(first) if first == last else f"{first}-{last}" for first, last in ranges)


def _service(queue: QueueMemory) -> str:
    if queue["priority_level"] is not None:
        return "before all others"
    ceiling = queue.get("ceiling_bps")
    if ceiling is not None:
        return f"{rate_words(ceiling)}, shaped"
    weight = queue.get("shared_weight")
    return "all" if weight is None else f"shares by {weight}"


def _title(port: PortMemory, memory: SwitchMemory) -> str:
    parts = [rate_words(port["rate_bps"] or 0)]
    if port["units"] is not None:
        parts.append(f"{port['units']} units of {memory['unit_bytes']} bytes")
    if not port.get("has_qos", True):
        return f"{port['interface']}: {', '.join(parts)}, no mls qos: one queue"
    parts.append(f"queue-set {port.get('queue_set')}")
    limit = port.get("bandwidth_limit_percent")
    if limit is not None and limit < 100:
        parts.append(f"limited to {limit} %")
    return f"{port['interface']}: {', '.join(parts)}, trust {port.get('trust')}"


def _frames(limit: Threshold) -> str:
    return NOTHING if limit["room"] is None else str(limit["room"]["frames"])


def _cell(value: int | None) -> str:
    return NOTHING if value is None else str(value)
