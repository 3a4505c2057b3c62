"""Compare perhop with every peer that is installed; write fidelity/results.csv and docs/fidelity.md.

python -m fidelity [--only PEER]... [--output FOLDER] [--quick] | --render
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from fidelity import analytic, kernel, l4s, linux_aqm, linux_gred, linux_tcp, live_tcp, ns2, router, switch
from fidelity.document import Part, render
from fidelity.record import FOLDER, Record, read, record, write
from fidelity.simulating import QUICK, WHOLE, Effort

PAGE = Path(__file__).parents[1] / "docs" / "fidelity.md"
PEERS = (
    "analytic",
    "router",
    "switch",
    "ns-2",
    "linux-tcp",
    "linux-aqm",
    "linux-gred",
    "l4s",
    "kernel",
    "live-tcp",
)


def parts(effort: Effort, only: Sequence[str] = PEERS) -> list[Part]:
    """Return the comparisons with each peer."""
    makers = {
        "analytic": analytic.part,
        "router": router.part,
        "switch": switch.part,
        "ns-2": ns2.part,
        "linux-tcp": linux_tcp.part,
        "linux-aqm": linux_aqm.part,
        "linux-gred": linux_gred.part,
        "l4s": l4s.part,
        "kernel": kernel.part,
        "live-tcp": live_tcp.part,
    }
    return [makers[peer](effort) for peer in PEERS if peer in only]


def save(kept: Record, folder: Path | None) -> None:
    """Write data and page to their places in the tree, or to a folder."""
    target = PAGE if folder is None else folder / PAGE.name
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
    write(kept, folder or FOLDER)
    target.write_text(render(kept), encoding="utf-8")
    sys.stdout.write(f"written to {target} and {folder or FOLDER}\n")


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, write the data and the page, and print how many comparisons are met."""
    parser = argparse.ArgumentParser(prog="fidelity", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--only", action="append", choices=PEERS, help="only this peer (repeatable)")
    parser.add_argument(
        "--output",
        type=Path,
        metavar="FOLDER",
        help="write results.csv, peers.json and fidelity.md there; by default the files of the tree are"
        " written if all peers are compared, else the page is printed",
    )
    parser.add_argument("--quick", action="store_true", help="short runs, with wide intervals")
    parser.add_argument(
        "--render", action="store_true", help="write docs/fidelity.md from the data of the tree, without runs"
    )
    given = parser.parse_args(arguments)
    if given.render:
        PAGE.write_text(render(read()), encoding="utf-8")
        return 0
    found = parts(QUICK if given.quick else WHOLE, given.only or PEERS)
    kept = record(found)
    if given.output is None and (given.only or given.quick):
        sys.stdout.write(render(kept))
    else:
        save(kept, given.output)
    for part in found:
        met = sum(comparison.met for comparison in part.comparisons)
        sys.stdout.write(f"{part.title}: {met} of {len(part.comparisons)} met\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
