"""Compare perhop with every peer that is installed, and write docs/fidelity.md.

python -m fidelity [--only PEER]... [--page FILE] [--quick]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from fidelity import analytic, kernel, l4s, linux_aqm, linux_gred, linux_tcp, live_tcp, ns2, router
from fidelity.document import Part, page
from fidelity.simulating import QUICK, WHOLE, Effort

PAGE = Path(__file__).parents[1] / "docs" / "fidelity.md"
PEERS = ("analytic", "router", "ns-2", "linux-tcp", "linux-aqm", "linux-gred", "l4s", "kernel", "live-tcp")


def parts(effort: Effort, only: Sequence[str] = PEERS) -> list[Part]:
    """Return what was compared with each peer."""
    makers = {
        "analytic": analytic.part,
        "router": router.part,
        "ns-2": ns2.part,
        "linux-tcp": linux_tcp.part,
        "linux-aqm": linux_aqm.part,
        "linux-gred": linux_gred.part,
        "l4s": l4s.part,
        "kernel": kernel.part,
        "live-tcp": live_tcp.part,
    }
    return [makers[peer](effort) for peer in PEERS if peer in only]


def main(arguments: Sequence[str] | None = None) -> int:
    """Compare, write the page, and say how many comparisons are met."""
    parser = argparse.ArgumentParser(prog="fidelity", description=__doc__.splitlines()[0])
    parser.add_argument("--only", action="append", choices=PEERS, help="only this peer (repeatable)")
    parser.add_argument(
        "--page", type=Path, help="where to write; by default docs/fidelity.md, if all is run"
    )
    parser.add_argument("--quick", action="store_true", help="short runs, with wide intervals")
    given = parser.parse_args(arguments)
    found = parts(QUICK if given.quick else WHOLE, given.only or PEERS)
    text = page(found)
    target = given.page or (None if given.only or given.quick else PAGE)
    if target is None:
        sys.stdout.write(text)
    else:
        target.write_text(text, encoding="utf-8")
        sys.stdout.write(f"written to {target}\n")
    for part in found:
        met = sum(one.met for one in part.comparisons)
        sys.stdout.write(f"{part.title}: {met} of {len(part.comparisons)} met\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
