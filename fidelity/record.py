"""Files of all comparisons: one row per comparison in results.csv, and the peers in peers.json.

The page is generated from these files alone, so it can be generated again without a measurement.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fidelity.comparison import Comparison
    from fidelity.document import Part

FOLDER = Path(__file__).parent
RESULTS, PEERS = "results.csv", "peers.json"
MET, MISSED = "met", "missed"
UNKNOWN = "unknown"
DIGITS = 6


@dataclass(frozen=True)
class Row:
    """One comparison, as its line in results.csv."""

    #: The name of the peer for `--only`.
    peer: str
    compared: str
    case: str
    quantity: str
    #: The unit of the reference, of perhop's value, of the half widths and of `allowed`; `1` for a ratio.
    unit: str
    reference: str
    #: Half the width of the 95 % confidence interval; empty for a value that is not random.
    reference_half: str
    perhop: str
    perhop_half: str
    #: The greatest difference at which the two values agree.
    allowed: str
    rule: str
    #: `met` or `missed`.
    verdict: str
    #: If missed: the distance divided by the allowed difference; empty if no difference is allowed.
    times_allowed: str
    #: The origin of the reference value.
    source: str
    #: If missed: the reason in docs/deviations.toml, or `unknown`.
    reason: str


@dataclass(frozen=True)
class Peer:
    """A peer that perhop is compared with, and the comparisons that were not possible."""

    peer: str
    title: str
    about: str
    skipped: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Record:
    """The files of `make fidelity`."""

    peers: Sequence[Peer]
    rows: Sequence[Row]

    def rows_of(self, peer: Peer) -> list[Row]:
        """Return the comparisons with one peer."""
        return [row for row in self.rows if row.peer == peer.peer]


def record(parts: Sequence[Part]) -> Record:
    """Return all comparisons as rows."""
    peers = [Peer(part.peer, part.title, part.about, dict(part.skipped)) for part in parts]
    return Record(peers, [_row(comparison) for part in parts for comparison in part.comparisons])


def write(kept: Record, folder: Path = FOLDER) -> None:
    """Write results.csv and peers.json to a folder."""
    with (folder / RESULTS).open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, [column.name for column in fields(Row)], lineterminator="\n")
        writer.writeheader()
        writer.writerows(asdict(row) for row in kept.rows)
    peers = json.dumps([asdict(peer) for peer in kept.peers], indent=2, ensure_ascii=False)
    (folder / PEERS).write_text(f"{peers}\n", encoding="utf-8")


def read(folder: Path = FOLDER) -> Record:
    """Return the content of a folder that `write` wrote.

    Raises:
        OSError: a file is missing.
        ValueError: the columns of results.csv are not those of `Row`.

    """
    with (folder / RESULTS).open(encoding="utf-8", newline="") as file:
        reader = csv.DictReader(file)
        wanted = [column.name for column in fields(Row)]
        if reader.fieldnames != wanted:
            raise ValueError(f"{folder / RESULTS} has other columns; write {', '.join(wanted)}")
        rows = [Row(**line) for line in reader]
    peers = json.loads((folder / PEERS).read_text(encoding="utf-8"))
    return Record([Peer(**peer) for peer in peers], rows)


def _row(comparison: Comparison) -> Row:
    times = (
        "" if comparison.met or math.isinf(comparison.times_allowed) else f"{comparison.times_allowed:.2g}"
    )
    why = f"{comparison.reason.sentence} ({comparison.reason.source})" if comparison.reason else UNKNOWN
    return Row(
        peer=comparison.peer,
        compared=comparison.name,
        case=comparison.case,
        quantity=comparison.quantity,
        unit=comparison.unit,
        reference=plain(comparison.reference.mean),
        reference_half=plain(comparison.reference.half) if comparison.reference.half else "",
        perhop=plain(comparison.measured.mean),
        perhop_half=plain(comparison.measured.half) if comparison.measured.half else "",
        allowed=plain(comparison.allowed),
        rule=str(comparison.rule),
        verdict=MET if comparison.met else MISSED,
        times_allowed=times,
        source=comparison.source,
        reason="" if comparison.met else why,
    )


def plain(value: float) -> str:
    """Return a number with six significant digits and without an exponent; an integer in full."""
    if math.isnan(value):
        return ""
    if value == round(value):
        return f"{value:.0f}"
    places = max(DIGITS - 1 - math.floor(math.log10(abs(value))), 0)
    return f"{value:.{places}f}".rstrip("0").rstrip(".")
