"""Compare the percentage of lines that the Rust tests run, by crate, with a minimum.

    python tools/coverage.py [--crate perhop-qos]... [--missed]

cargo-tarpaulin measures the lines with LLVM's counters. It does not need LLVM's tools, which the distribution
of the compiler does not contain. Lines of tests and runs of the Python tests do not count.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

_ROOT = Path(__file__).resolve().parent.parent
_FOLDER = _ROOT / "target" / "coverage"
#: The percentage of lines that each crate's tests must run.
FLOORS = {"perhop-qos": 95.0, "perhop-ios": 95.0, "perhop-measure": 0.0, "perhop-net": 0.0}
#: Crates that are tested by other packages: the simulator's tests run the plain engine and the measurements.
_TESTERS = {
    "perhop-measure": "perhop-sim-tests",
    "perhop-net": "perhop-sim-tests",
    "perhop-qos": "perhop-qos-tests",
}

#: By file: its lines, and whether each line was run.
_Lines = dict[str, dict[int, bool]]


def measured(crates: list[str]) -> _Lines:
    """Run the tests of `crates` with counters, and return the lines of the crates that they ran."""
    packages = sorted({*crates, *(_TESTERS[crate] for crate in crates if crate in _TESTERS)})
    command = ["cargo", "tarpaulin", "--engine", "llvm", "--skip-clean", "--locked", "--out", "Json"]
    # A test program with counters is slow, also because the machine may be shared.
    command += ["--timeout", "1800"]
    command += ["--target-dir", str(_FOLDER / "build"), "--output-dir", str(_FOLDER)]
    command += [argument for package in packages for argument in ("--packages", package)]
    command += [argument for crate in crates for argument in ("--include-files", f"crates/{crate}/src/*")]
    subprocess.run(command, cwd=_ROOT, check=True, stdout=subprocess.DEVNULL)
    report = json.loads((_FOLDER / "tarpaulin-report.json").read_text(encoding="utf-8"))
    lines: _Lines = defaultdict(dict)
    for file in report["files"]:
        name = str(Path(*file["path"]).relative_to(_ROOT))
        for trace in file["traces"]:
            lines[name][trace["line"]] = trace["stats"]["Line"] > 0
    return lines


def main() -> int:
    """Print a table; return 1 if a crate is below its minimum."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--crate", action="append", choices=list(FLOORS), help="measure only this crate (repeatable)"
    )
    parser.add_argument("--missed", action="store_true", help="list the lines that no test runs")
    arguments = parser.parse_args()
    if shutil.which("cargo-tarpaulin") is None:
        raise SystemExit("error: cargo-tarpaulin is missing; run: cargo install --locked cargo-tarpaulin")
    crates = arguments.crate or list(FLOORS)
    lines, is_low = measured(crates), False
    for crate in crates:
        files = {name: found for name, found in lines.items() if name.startswith(f"crates/{crate}/src/")}
        run = sum(sum(found.values()) for found in files.values())
        count = sum(map(len, files.values()))
        share, floor = 100 * run / max(1, count), FLOORS[crate]
        is_low |= share < floor
        sys.stdout.write(f"{crate:16} {run:6} of {count:6} lines {share:6.1f} %, floor {floor:.0f} %\n")
    if arguments.missed:
        for name, found in sorted(lines.items()):
            missed = [line for line, was_run in sorted(found.items()) if not was_run]
            if missed:
                sys.stdout.write(f"{name}: {', '.join(map(str, missed))}\n")
    return int(is_low)


if __name__ == "__main__":
    sys.exit(main())
