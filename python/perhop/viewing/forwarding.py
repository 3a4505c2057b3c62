"""The view of forwarders of real packets, with their reported counters."""

from __future__ import annotations

import json
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from perhop import _core
from perhop.errors import InvalidInputError
from perhop.live.control import read_counters
from perhop.viewing.hub import Hub

Reports = Mapping[str, dict[str, Any]]


class Forwarding:
    """Forwarders for pages: each direction of a link is a port with its queues."""

    def __init__(
        self,
        hub: Hub,
        name: str,
        duration_s: float | None = None,
        resolved: Mapping[str, Any] | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Start with counters of 0. A bridge has no duration and no scenario."""
        self._hub, self._clock = hub, clock
        queues = json.loads(_core.queue_descriptions(json.dumps(resolved))) if resolved else []
        self._about: dict[str, Any] = {
            "name": name,
            "duration": duration_s,
            "warmup": 0.0,
            "resolved": resolved,
            "queues": queues,
        }
        self._began: float | None = None
        self._shown_ports: list[dict[str, Any]] | None = None

    def add(self, reports: Reports) -> None:
        """Publish the counters of all forwarders."""
        now = self._clock()
        if self._began is None:
            self._began = now
        directions = [direction for report in reports.values() for direction in report["directions"]]
        ports = [
            {
                "name": direction["name"],
                "rate": direction.get("rate"),
                "queues": [queue["queue"] for queue in direction["waiting"]],
            }
            for direction in directions
        ]
        if ports != self._shown_ports:
            self._shown_ports = ports
            self._hub.publish("started", self._about | {"ports": ports})
        self._hub.publish(
            "doubts", {"doubts": [doubt for report in reports.values() for doubt in report["doubts"]]}
        )
        self._hub.frame(
            {"at": now - self._began, "ports": [_queue_counters(direction) for direction in directions]}
        )

    def progress(self, share: float) -> None:
        """Publish the completed share of the run."""
        self._hub.publish("state", {"fraction": share})

    def finish(self, reports: Reports, words: str, summary: Mapping[str, Any] | None = None) -> None:
        """Publish the final counters with remarks."""
        self.add(reports)
        self._hub.publish("done", {"words": words, "summary": summary})

    def answer(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """Raise `InvalidInputError`: real packets cannot be paused."""
        raise InvalidInputError(f"unknown question `{question['ask']}`")


def _queue_counters(direction: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the counters of each queue of a direction, summed over drop precedences."""
    found = []
    for waiting in direction["waiting"]:
        parts = [part for part in direction["queues"] if part["queue"] == waiting["queue"]]
        dropped: dict[str, int] = {}
        for part in parts:
            for cause, count in part["dropped"].items():
                dropped[cause] = dropped.get(cause, 0) + count["packets"]
        found.append(
            {
                "arrived": sum(part["arrived"]["packets"] for part in parts),
                "sent": sum(part["sent"]["packets"] for part in parts),
                "sent_bytes": sum(part["sent"]["bytes"] for part in parts),
                "marked": sum(part["marked"]["packets"] for part in parts),
                "dropped": dropped,
                "waiting": waiting["packets"],
            }
        )
    return found


class Poller:
    """Polls the counters of forwarders several times a second, in its own thread."""

    def __init__(self, publish: Callable[[Reports], None], every_s: float = 0.3) -> None:
        """Pass the answers to `publish`."""
        self._publish, self._every_s = publish, every_s
        self._ended = threading.Event()
        self._thread: threading.Thread | None = None

    def poll(self, sockets: Mapping[str, Path]) -> None:
        """Poll only these control sockets from now on."""
        self.close()
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._poll, args=(dict(sockets), self._ended), daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Stop polling."""
        self._ended.set()
        if self._thread is not None:
            self._thread.join()

    def _poll(self, sockets: Mapping[str, Path], ended: threading.Event) -> None:
        while not ended.wait(self._every_s):
            # A forwarder that does not answer does not listen yet, or has ended.
            with suppress(OSError, ValueError):
                reports = {node: read_counters(socket) for node, socket in sockets.items()}
                if not ended.is_set():
                    self._publish(reports)
