"""Time the installation of a wheel into an empty environment, and the first commands after it.

    python benchmarks/install.py [--wheel FILE] [--rounds N] [--output FILE]

The wheel is the one in dist/ (`make wheel`). Each round creates a new virtual environment. With pip, it
installs the wheel and the required packages in the versions of requirements/dev.lock, from pip's cache or
from the network. `first run` is the first `perhop run` of the scenario of `perhop init` after the
installation; `next run` is the median of later runs of the same command. The times are wall times, which
other work on the machine increases.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
import venv
from collections.abc import Callable
from pathlib import Path

from measuring import machine

_ROOT = Path(__file__).parent.parent
# The targets for the waits of a new user, seconds.
_TARGETS = {"install": 15.0, "first run": 0.5}
_REPEATED = 5


def main() -> int:
    """Measure, print, and store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--wheel", type=Path, help="the wheel (default: the newest in dist/)")
    parser.add_argument("--rounds", type=int, default=3, help="number of environments (default: 3)")
    parser.add_argument("--output", type=Path, default=Path("results/install.json"))
    arguments = parser.parse_args()
    wheel = arguments.wheel or newest_wheel(_ROOT / "dist")
    if wheel is None:
        sys.stderr.write("error: there is no wheel in dist/; run: make wheel\n")
        return 5
    rounds = []
    for _ in range(max(1, arguments.rounds)):
        with tempfile.TemporaryDirectory(prefix="perhop-install-") as folder:
            rounds.append(install_and_run(wheel.resolve(), Path(folder)))
    found = {name: statistics.median(measured[name] for measured in rounds) for name in rounds[0]}
    for name, seconds in found.items():
        target = _TARGETS.get(name)
        verdict = f"at most {target:g} s: {'met' if seconds <= target else 'not met'}" if target else ""
        sys.stdout.write(f"{name:12} {seconds:8.2f} s  {verdict}".rstrip() + "\n")
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    stored = {"machine": machine(), "rounds": rounds, "seconds": found, "targets": _TARGETS}
    arguments.output.write_text(json.dumps(stored, indent=2) + "\n")
    sys.stdout.write(f"written to {arguments.output}\n")
    return 0


def newest_wheel(folder: Path) -> Path | None:
    """Return the newest wheel of perhop in a folder."""
    wheels = sorted(folder.glob("perhop-*-abi3-*.whl"), key=lambda path: path.stat().st_mtime)
    return wheels[-1] if wheels else None


def install_and_run(wheel: Path, folder: Path) -> dict[str, float]:
    """Install `wheel` into a new environment in `folder`, run the first scenario, and return the seconds."""
    taken = {"environment": _timed(lambda: venv.create(folder / "venv", with_pip=True))}
    constraints = folder / "constraints.txt"
    constraints.write_text(pins())
    pip = [
        folder / "venv" / "bin" / "python",
        "-m",
        "pip",
        "install",
        "--quiet",
        "--disable-pip-version-check",
    ]
    perhop = folder / "venv" / "bin" / "perhop"
    run = [perhop, "run", "first.perhop.yaml"]
    taken["install"] = _run([*pip, "--constraint", constraints, wheel], folder)
    taken["init"] = _run([perhop, "init", "first"], folder)
    taken["first run"] = _run(run, folder)
    taken["next run"] = statistics.median(_run(run, folder) for _ in range(_REPEATED))
    return taken


def pins() -> str:
    """Return the versions of the lock as constraints of pip."""
    lock = (_ROOT / "requirements" / "dev.lock").read_text()
    return "\n".join(line.removesuffix(" \\") for line in lock.splitlines() if line[:1].isalnum())


def clean_environment() -> dict[str, str]:
    """Return this process's environment without the variables by which Python would import another perhop."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "VIRTUAL"))}


def _run(command: list[str | Path], folder: Path) -> float:
    def run() -> None:
        subprocess.run(
            [str(word) for word in command],
            cwd=folder,
            env=clean_environment(),
            stdout=subprocess.DEVNULL,
            check=True,
        )

    return _timed(run)


def _timed(action: Callable[[], object]) -> float:
    started = time.monotonic()
    action()
    return time.monotonic() - started


if __name__ == "__main__":
    sys.exit(main())
