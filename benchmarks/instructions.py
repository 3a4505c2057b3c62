"""Compare the instructions of the engine for short scenarios and of the data plane per packet to a baseline.

    python benchmarks/instructions.py [--bless]

Callgrind counts the instructions, so the counts depend neither on the machine nor on its load. A count of
more than 5 % above the baseline is a failure; `--bless` stores the counts as the new baseline. Another
compiler generates other instructions. In this case, nothing is compared until `--bless` has stored a baseline
of that compiler.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from building import build_benchmark

_BASELINE = Path(__file__).parent / "instructions.json"
# Simulated seconds. The instructions are counted for a run with this duration and for a run with twice this
# duration. The difference is the engine. The rest is set-up, which is the larger part of a short run with
# many flows.
_SCENARIOS = {"udp-50": 2, "udp-500": 1, "tcp-50": 2, "tcp-500": 1}
# Prefixes of case names in crates/perhop-qos/benches/data_plane; each selects one case.
_CASES = (
    "meter/srtcm-blind/1",
    "meter/trtcm-aware/1",
    "meter/rfc4115-blind/1",
    "meter/car/1",
    "red/below-min/1",
    "red/in-region/1",
    "scheduler/three-parameter",
    "port/scfq/light",
    "port/scfq/overloaded",
    "port/priority-drr/light",
    "port/priority-drr/overloaded",
    "port/hqf/light",
    "port/hqf/overloaded",
    "one-queue/tail-drop/light",
    "one-queue/codel/light",
    "one-queue/fq-codel/light",
    "one-queue/shared-memory/light",
)
# Packets of one batch of the benchmark of the data plane.
_BATCH = 16_384
_TOLERANCE_PERCENT = 5.0


def main() -> int:
    """Count the instructions, print the counts, and compare them with the baseline or store them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bless", action="store_true", help="store the counts as the new baseline")
    arguments = parser.parse_args()
    if not shutil.which("valgrind"):
        sys.stdout.write("skipped: valgrind is not installed\n")
        return 0
    engine = build_benchmark("perhop-sim", "engine")
    data_plane = build_benchmark("perhop-qos", "data_plane")
    # Counts do not depend on other processes.
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        scenarios = [
            pool.submit(_count_engine, engine, name, seconds) for name, seconds in _SCENARIOS.items()
        ]
        cases = {case: pool.submit(_count_per_packet, data_plane, case) for case in _CASES}
        counts = {name: count for future in scenarios for name, count in future.result().items()}
        counts |= {case: future.result() for case, future in cases.items()}
    found = {"compiler": _compiler(), "instructions": counts}
    if arguments.bless:
        _BASELINE.write_text(json.dumps(found, indent=2) + "\n")
    return _compare(found, json.loads(_BASELINE.read_text()))


def _count(engine: Path, scenario: str, duration: str) -> int:
    with tempfile.TemporaryDirectory() as directory:
        profile = Path(directory) / "callgrind.out"
        command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}"]
        command += [str(engine), scenario, duration, "--bench"]
        subprocess.run(command, check=True, capture_output=True)
        return int(re.findall(r"^(?:totals|summary): (\d+)", profile.read_text(), re.MULTILINE)[0])


def _count_engine(engine: Path, scenario: str, seconds: int) -> dict[str, int]:
    """Return the instructions for `seconds` of simulated time, and the instructions for the rest of a run."""
    once, twice = (_count(engine, scenario, f"{duration}s") for duration in (seconds, 2 * seconds))
    return {scenario: twice - once, f"{scenario}/set-up": 2 * once - twice}


def _count_per_packet(data_plane: Path, case: str) -> int:
    """Return the instructions per packet, computed from an additional batch, so that set-up is excluded."""
    # Each batch is run once for warm-up and once for timing.
    single, double = (_count(data_plane, case, batches) for batches in ("1", "2"))
    return (double - single) // (2 * _BATCH)


def _compiler() -> str:
    return subprocess.run(["rustc", "--version"], check=True, capture_output=True, text=True).stdout.strip()


def _compare(found: dict, baseline: dict) -> int:
    if found["compiler"] != baseline["compiler"]:
        sys.stdout.write(
            f"skipped: the baseline is from {baseline['compiler']}, this is {found['compiler']}:"
            " --bless renews it\n"
        )
        return 0
    failed = False
    for scenario, count in found["instructions"].items():
        before = baseline["instructions"].get(scenario)
        if before is None:
            failed = True
            sys.stdout.write(f"{scenario:28} {count:>13,} instructions, no baseline: --bless\n")
            continue
        percent = 100 * (count - before) / before
        failed |= percent > _TOLERANCE_PERCENT
        sys.stdout.write(
            f"{scenario:28} {count:>13,} instructions, baseline {before:>13,}, {percent:+.1f} %\n"
        )
    if failed:
        sys.stdout.write(f"more than {_TOLERANCE_PERCENT:g} % above the baseline; if it must be: --bless\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
