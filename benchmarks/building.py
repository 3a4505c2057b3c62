"""Builds perhop's benchmarks."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path


def build_benchmark(package: str, name: str) -> Path:
    """Build benchmark `name` of crate `package` and say where it is."""
    command = [
        "cargo",
        "bench",
        "-p",
        package,
        "--bench",
        name,
        "--no-run",
        "--locked",
        "--message-format=json",
    ]
    built = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    messages = (json.loads(line) for line in built.stdout.splitlines() if line.startswith("{"))
    found = [m["executable"] for m in messages if m.get("executable") and m["target"]["name"] == name]
    return Path(found[-1])
