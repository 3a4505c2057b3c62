"""The quantities that are compared, and their values in results."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from perhop.results import Results

if TYPE_CHECKING:
    import polars as pl

# Suffix of the reverse direction of TCP: acknowledgments, which have no share.
_BACK = " (back)"
_CAUSE = "dropped_"
_NOT_CAUSES = ("dropped_packets", "dropped_percent")


@dataclass(frozen=True)
class Quantity:
    """A quantity that is compared."""

    key: str
    words: str
    unit: str

    @property
    def is_cause(self) -> bool:
        """Whether the quantity counts the drops of one cause."""
        return _is_cause(self.key)


SHARE = Quantity("share_percent", "share of throughput", "%")
GOODPUT_SHARE = Quantity("goodput_share_percent", "share of goodput", "%")
_CLASSES = (
    Quantity("throughput_bps", "throughput", "b/s"),
    SHARE,
    Quantity("dropped_percent", "dropped", "%"),
)
_DELAYS = (
    Quantity("delay_mean_s", "delay mean", "s"),
    Quantity("delay_p50_s", "delay p50", "s"),
    Quantity("delay_p95_s", "delay p95", "s"),
    Quantity("delay_p99_s", "delay p99", "s"),
    Quantity("ipdv_mean_abs_s", "|IPDV| mean", "s"),
    Quantity("ipdv_abs_p50_s", "|IPDV| p50", "s"),
    Quantity("ipdv_abs_p95_s", "|IPDV| p95", "s"),
    Quantity("ipdv_abs_p99_s", "|IPDV| p99", "s"),
)
_TRANSACTIONS = (
    Quantity("goodput_bps", "goodput", "b/s"),
    GOODPUT_SHARE,
    Quantity("transactions_per_s", "transactions", "1/s"),
    Quantity("completion_mean_s", "completion mean", "s"),
)
#: The values per replication, by class and quantity.
Figures = dict[str, dict[Quantity, list[float]]]


def figures(results: Results) -> Figures:
    """Return one value per replication by class and quantity, without the reverse direction of TCP."""
    classes = [row for row in _rows(results.classes) if not row["class"].endswith(_BACK)]
    found: Figures = {}
    for row, share in zip(classes, _shares(classes, "throughput_bps"), strict=True):
        of_class = found.setdefault(row["class"], {})
        values = row | {SHARE.key: share}
        for quantity in _CLASSES:
            of_class.setdefault(quantity, []).append(values[quantity.key])
        for cause in filter(_is_cause, row):
            words = cause.removeprefix(_CAUSE).replace("_", " ")
            quantity = Quantity(f"{cause}_percent", f"dropped: {words}", "%")
            of_class.setdefault(quantity, []).append(_percent(row[cause], row["offered_packets"]))
        for quantity in _DELAYS:
            of_class.setdefault(quantity, []).append(row[quantity.key])
    transactions = list(_rows(results.transactions))
    for row, share in zip(transactions, _shares(transactions, "goodput_bps"), strict=True):
        of_class = found.setdefault(row["class"], {})
        values = row | {GOODPUT_SHARE.key: share}
        for quantity in _TRANSACTIONS:
            if quantity.key != "transactions_per_s" or row["transactions"]:
                of_class.setdefault(quantity, []).append(values[quantity.key])
    return found


def _is_cause(column: str) -> bool:
    return column.startswith(_CAUSE) and column not in _NOT_CAUSES


def _rows(table: pl.DataFrame) -> Iterator[dict[str, Any]]:
    yield from table.iter_rows(named=True)


def _shares(rows: Sequence[Mapping[str, Any]], key: str) -> list[float]:
    """Return the share of each row in the sum of `key` over its replication, percent."""
    whole: dict[int, float] = {}
    for row in rows:
        whole[row["replication"]] = whole.get(row["replication"], 0.0) + row[key]
    return [_percent(row[key], whole[row["replication"]]) for row in rows]


def _percent(part: float, whole: float) -> float:
    return 100.0 * part / whole if whole else math.nan
