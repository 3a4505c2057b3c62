"""Compare the speed of perhop's engine and data plane with the installed peers, run in turn on one core.

    python benchmarks/compare.py [--rounds N] [--scenario NAME]... [--only PART] [--quote PAGE]

On a shared machine, only ratios of alternating runs are meaningful. Each run of perhop is therefore followed
by one run of each peer, and medians are compared. docs/speed.md describes the measurements; `--quote` copies
the tables there.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from data_plane import compare_data_plane
from engines import SCENARIOS, compare_engines, start_of_the_command_line
from measuring import machine
from networks import compare_networks
from quoting import quote

_PARTS = ("engine", "networks", "data-plane")


def main() -> int:
    """Run the comparison, print its tables, and store them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rounds", type=int, default=5, help="runs of each program (default: 5)")
    parser.add_argument("--ns3-rounds", type=int, default=1, help="runs of ns-3, which is slow (default: 1)")
    parser.add_argument(
        "--scenario", action="append", choices=SCENARIOS, help="only this scenario (default: all; repeatable)"
    )
    parser.add_argument("--only", choices=_PARTS, help="only this part (default: all)")
    parser.add_argument("--output", type=Path, default=Path("results/bench.json"))
    parser.add_argument("--quote", type=Path, metavar="PAGE", help="copy the tables into PAGE: docs/speed.md")
    arguments = parser.parse_args()
    if arguments.quote and arguments.scenario:
        parser.error("--quote puts whole tables into a page: leave out --scenario")
    rounds = max(1, arguments.rounds)
    found: dict[str, object] = {"rounds": rounds, "machine": machine()}
    parts = [arguments.only] if arguments.only else _PARTS
    rounds_of_ns3 = max(1, arguments.ns3_rounds)
    if "engine" in parts:
        found["engine"] = compare_engines(arguments.scenario or SCENARIOS, rounds, rounds_of_ns3)
        found["start_of_the_command_line_seconds"] = start_of_the_command_line(rounds)
    if "networks" in parts:
        found["networks"] = compare_networks(rounds, rounds_of_ns3)
    if "data-plane" in parts:
        found["data_plane"] = compare_data_plane(rounds)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    arguments.output.write_text(json.dumps(found, indent=2) + "\n")
    sys.stdout.write(f"written to {arguments.output}\n")
    if arguments.quote:
        quote(found, arguments.quote)
    return 0


if __name__ == "__main__":
    sys.exit(main())
