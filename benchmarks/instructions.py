"""Instructions that the engine takes for short scenarios, held against a stored baseline.

    python benchmarks/instructions.py [--bless]

Counted by callgrind, so other programs on the machine do not matter. More than 5 % above the baseline
is a failure; `--bless` stores what is counted as the new baseline. Another compiler makes other
instructions: a baseline of another one is not compared.
"""

from __future__ import annotations

import argparse
import json
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from compare import build_engine

_BASELINE = Path(__file__).parent / "instructions.json"
# Long enough that the engine outweighs setting it up, short enough to wait for.
_SCENARIOS = {"udp-50": "2s", "udp-500": "1s", "tcp-50": "2s", "tcp-500": "1s"}
_TOLERANCE_PERCENT = 5.0


def main() -> int:
    """Count, print, and compare or store."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bless", action="store_true", help="store the counts as the new baseline")
    arguments = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.stdout.write("valgrind is not installed: nothing is counted\n")
        return 0
    engine = build_engine()
    counts = {scenario: _count(engine, scenario, duration) for scenario, duration in _SCENARIOS.items()}
    found = {"compiler": _compiler(), "instructions": counts}
    if arguments.bless:
        _BASELINE.write_text(json.dumps(found, indent=2) + "\n")
    return _compare(found, json.loads(_BASELINE.read_text()))


def _count(engine: Path, scenario: str, duration: str) -> int:
    with tempfile.TemporaryDirectory() as directory:
        profile = Path(directory) / "callgrind.out"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}"]
        command += [str(engine), scenario, duration]
        subprocess.run(command, check=True, capture_output=True)
        return int(re.findall(r"^(?:totals|summary): (\d+)", profile.read_text(), re.MULTILINE)[0])


def _compiler() -> str:
    return subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.strip()


def _compare(found: dict, baseline: dict) -> int:
    if found["compiler"] != baseline["compiler"]:
        sys.stdout.write(
            f"the baseline is of {baseline['compiler']}, not compared with {found['compiler']}\n"
        )
        return 0
    failed = False
    for scenario, count in found["instructions"].items():
        before = baseline["instructions"][scenario]
        percent = 100 * (count - before) / before
        failed |= percent > _TOLERANCE_PERCENT
        sys.stdout.write(
            f"{scenario:9} {count:>13,} instructions, baseline {before:>13,}, {percent:+.1f} %\n"
        )
    if failed:
        sys.stdout.write(f"more than {_TOLERANCE_PERCENT:g} % above the baseline; if it must be: --bless\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
