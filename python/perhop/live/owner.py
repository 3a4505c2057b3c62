"""The owner of a testbed: the process whose identity is in every name that the testbed creates.

A process is identified by its id and start time, because ids are reused. Every name contains both, so the
remains of a crashed testbed can be distinguished from a running testbed even without a state file.
"""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path

# Prefix of all names that perhop creates.
PREFIX = "perhop-"
_TAG = re.compile(r"(?P<pid>\d+)\.(?P<started>\d+)")
# Fields of /proc/PID/stat after the name in parentheses, which may contain spaces: the state is the first,
# the start time in clock ticks since boot (field 22 of proc(5)) the twentieth.
_STATE = 0
_STARTED = 19
_DEAD = "ZX"


@dataclass(frozen=True)
class Owner:
    """A process that owns a testbed."""

    pid: int
    #: Clock ticks since boot.
    started: int

    @classmethod
    def current(cls) -> Owner:
        """Return this process."""
        found = _stat(os.getpid())
        if found is None:
            raise OSError("/proc/self/stat cannot be read: is /proc mounted?")
        return cls(os.getpid(), found[1])

    @classmethod
    def of_tag(cls, tag: str) -> Owner | None:
        """Return the owner of a tag; `None` if the tag is not a tag of perhop."""
        match = _TAG.fullmatch(tag)
        return cls(int(match["pid"]), int(match["started"])) if match else None

    @classmethod
    def of_name(cls, name: str) -> Owner | None:
        """Return the owner of the namespace `name`; `None` if perhop did not create the namespace."""
        if not name.startswith(PREFIX):
            return None
        tag, dash, _ = name.removeprefix(PREFIX).partition("-")
        return cls.of_tag(tag) if dash else None

    @property
    def tag(self) -> str:
        """The text in names that identifies the owner."""
        return f"{self.pid}.{self.started}"

    @property
    def alive(self) -> bool:
        """Whether the process still runs."""
        found = _stat(self.pid)
        return found is not None and found[1] == self.started and found[0] not in _DEAD


def _stat(pid: int) -> tuple[str, int] | None:
    """Return the state and the start time of a process; `None` if the process does not exist."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    fields = text.rpartition(")")[2].split()
    return fields[_STATE], int(fields[_STARTED])
