"""Asking a forwarder that runs: its counters as JSON, through its socket."""

from __future__ import annotations

import json
import socket
from pathlib import Path
from typing import Any

# A forwarder looks at its socket some ten times a second.
_ANSWER_WITHIN_S = 2.0


def ask(path: Path) -> dict[str, Any]:
    """Return a forwarder's counters now; raises `OSError` if nobody answers."""
    answer: dict[str, Any] = json.loads(_say(path, "json"))
    return answer


def count_from(path: Path, nanoseconds: int) -> None:
    """Have a forwarder begin its counts at a reading of the monotonic clock."""
    answer = _say(path, f"count-from {nanoseconds}").strip()
    if answer != "ok":
        raise ConnectionError(f"{path}: {answer}")


def _say(path: Path, request: str) -> str:
    """Say something to a forwarder, and return all that it answers."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as asking:
        asking.settimeout(_ANSWER_WITHIN_S)
        asking.connect(str(path))
        asking.sendall(f"{request}\n".encode())
        said = b""
        while more := asking.recv(65536):
            said += more
    if not said:
        raise ConnectionError(f"{path}: the forwarder said nothing")
    return said.decode()
