"""The view of a simulation: its counters over time, and its packets at a port."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping
from typing import Any

from perhop import _core
from perhop.document import Document
from perhop.errors import InvalidInputError
from perhop.pacing import Pace, speed_of, speed_words
from perhop.results import Results
from perhop.running import Progress, Snapshot
from perhop.viewing.hub import Hub

# The maximum number of ports whose queues are drawn over time.
_MOST_PORTS = 24
_MOST_PACKETS = 5000


class Simulation:
    """A simulation for pages: its events, and the answers to requests of pages."""

    def __init__(self, hub: Hub, scenario: Document, pace: Pace, *, seed: int, replications: int) -> None:
        """Publish the scenario; raises the errors of `perhop.run`."""
        self._hub, self._pace = hub, pace
        self._playback = _core.Playback(scenario.embedded().to_json(), scenario.base, seed)
        about = json.loads(self._playback.about())
        self._ports = [*_of_interest(about)][:_MOST_PORTS]
        self._about = about | {"probes": self._ports, "replications": replications}
        self._classes: list[str] = []
        self._fraction = 0.0

    def add(self, snapshot: Snapshot) -> None:
        """Publish a snapshot of the run."""
        if not self._classes:
            self._classes = [*snapshot.counted]
            self._hub.publish("started", self._about | {"classes": self._classes})
        waiting: dict[str, list[int]] = {}
        for queue in snapshot.queues:
            waiting.setdefault(queue.port, []).append(queue.packets)
        counted = [
            [state.received_bytes, state.offered, state.delivered, sum(state.dropped), state.delay_sum_s]
            for state in snapshot.counted.values()
        ]
        queues = [waiting[port] for port in self._ports]
        frame = {"at": snapshot.time_s, "classes": counted, "queues": queues, "left_out": snapshot.left_out}
        self._hub.frame(frame)

    def progress(self, now: Progress) -> None:
        """Publish the progress and the pace of the run."""
        self._fraction = now.fraction
        self._send_state()

    def finish(self, results: Results) -> None:
        """Publish the results."""
        self._fraction = 1.0
        self._send_state()
        self._hub.publish("done", {"summary": results.summary})

    def answer(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Handle a request of a page; raises `InvalidInputError`, or the error of a malformed request."""
        match question["ask"]:
            case "packets":
                return self._packets(**{name: question[name] for name in ("port", "from", "until", "enough")})
            case "pause":
                self._pace.pause()
            case "resume":
                self._pace.resume()
            case "step":
                self._pace.step_to(_number(question["until"]))
            case "speed":
                self._pace.set_speed(speed_of(question["speed"]))
            case other:
                raise InvalidInputError(f"unknown question `{other}`")
        self._send_state()
        return {}

    def _send_state(self) -> None:
        state = {
            "fraction": self._fraction,
            "reached": self._pace.reached_s,
            "speed": speed_words(self._pace.speed),
            "paused": self._pace.paused,
        }
        self._hub.publish("state", state)

    def _packets(self, **request: Any) -> Mapping[str, Any]:  # noqa: ANN401 - as a page has written it
        port, enough = int(request["port"]), min(int(request["enough"]), _MOST_PACKETS)
        begin, end = _number(request["from"]), _number(request["until"])
        if not 0 <= port < len(self._about["ports"]) or enough < 1:
            raise InvalidInputError(f"there is no port number {port}")
        duration = float(self._about["duration"])
        if not 0.0 <= begin <= end or begin > duration:
            raise InvalidInputError(
                f"the range must be within 0 to {duration:g} s, and {begin:g} to {end:g} s is not"
            )
        # After the end there are no packets, but the playback would search for them.
        end = min(end, duration)
        since, until, columns = self._playback.packets(port, begin, end, enough)
        cells = {name: [None if math.isnan(value) else value for value in values] for name, values in columns}
        return {"from": since, "until": until, "columns": cells}


def _number(value: object) -> float:
    if not isinstance(value, int | float) or not math.isfinite(value):
        raise InvalidInputError(f"`{value}` is not a time")
    return float(value)


def _of_interest(about: Mapping[str, Any]) -> Iterator[str]:
    """Generate the ports with an output policy; without such a port, a router's port to the slowest link."""
    resolved = about["resolved"]
    ends = [
        (link, port, near)
        for number, port in enumerate(about["ports"])
        for link in [resolved["links"][number // 2]]
        for near in [link["between"][number % 2]]
        if near not in resolved["hosts"]
    ]
    policies = resolved.get("policies") or {}
    found = [
        port["name"]
        for link, port, near in ends
        for name in [((link.get("interfaces") or {}).get(near) or {}).get("output")]
        if name is not None and (policies.get(name) or {}).get("queueing")
    ]
    yield from found
    if not found and ends:

        def rate(end: tuple[dict[str, Any], dict[str, Any], str]) -> float:
            quantity = _core.quantity(str(end[0].get("rate")))
            return quantity[0] if quantity else math.inf

        yield min(ends, key=rate)[1]["name"]
