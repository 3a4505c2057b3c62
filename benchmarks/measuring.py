"""Time and memory of a process."""

from __future__ import annotations

import os
import platform
import re
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Taken:
    """The resources that a process used from its start to its end."""

    output: str
    """The standard output of the process."""
    seconds: float
    """The CPU time, user and system."""
    peak_bytes: int
    """The peak resident memory."""
    elapsed_seconds: float
    """The wall time."""


def measure(command: Sequence[str | Path]) -> Taken:
    """Run `command` and measure it."""
    began = time.perf_counter()
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        output = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        raise subprocess.CalledProcessError(process.returncode, process.args, output)
    elapsed = time.perf_counter() - began
    return Taken(output, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024, elapsed)


def machine() -> dict[str, object]:
    """Describe the machine and its load."""
    known = Path("/proc/cpuinfo")
    models = re.findall(r"^model name\s*:\s*(.*)$", known.read_text(), re.MULTILINE) if known.exists() else []
    return {
        "processor": models[0] if models else platform.processor(),
        "processors": os.cpu_count(),
        "load_before": os.getloadavg()[0],
    }


def condition(rounds: int, found: dict[str, object]) -> str:
    """Return a sentence on the rounds and the machine of a measurement."""
    plural = "" if rounds == 1 else "s"
    return (
        f"Last measured in {rounds} round{plural} on {found['processor']}, {found['processors']} processors, "
        f"load average before {found['load_before']:.1f}."
    )
