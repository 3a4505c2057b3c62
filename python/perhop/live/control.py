"""Requests to a running forwarder through its control socket."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

# A forwarder polls its socket about ten times a second.
_ANSWER_WITHIN_S = 2.0


def read_counters(path: Path) -> dict[str, Any]:
    """Return the current counters of a forwarder; raises `OSError` if the forwarder does not answer."""
    answer: dict[str, Any] = json.loads(_request(path, "json"))
    return answer


def count_from(path: Path, nanoseconds: int) -> None:
    """Make a forwarder start its counters at a time of the monotonic clock; raises `OSError`."""
    answer = _request(path, f"count-from {nanoseconds}").strip()
    if answer != "ok":
        raise ConnectionError(f"{path}: {answer}")


def _request(path: Path, request: str) -> str:
    """Send a request to a forwarder and return the answer."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(_ANSWER_WITHIN_S)
        connection.connect(str(path))
        connection.sendall(f"{request}\n".encode())
        answer = b""
        while more := connection.recv(65536):
            answer += more
    if not answer:
        raise ConnectionError(f"{path}: the forwarder did not answer")
    return answer.decode()
