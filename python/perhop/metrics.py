"""The metrics of a class as users name them: `delay_p99`, `throughput`, `loss`, `voice.share`."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from typing import Literal, NamedTuple

from perhop.errors import InvalidInputError
from perhop.quantity import metric_words
from perhop.verdicts.figures import listed
from perhop.verdicts.quantities import (
    OF_CLASSES,
    OF_PAUSES,
    OF_SHARED_MEMORY,
    OF_TCP,
    SHORT,
    without_unit,
)

#: The share of a class in the total throughput, which is not a column of a table.
SHARE = "share_percent"
#: Every metric by its column, and its unit: `s`, `b/s`, `%`, `packets`, `bytes`, `1/s`, or empty.
UNITS = {**OF_CLASSES, **OF_SHARED_MEMORY, **OF_PAUSES, **OF_TCP, SHARE: "%"}
_SMALL = (
    *("delay", "ipdv", "pdv", "dropped", "completion", "in_network"),
    *("retransmissions", "fast_retransmits", "timeouts"),
)
_EXAMPLES = "metrics, among others: throughput, share, loss, delay_mean, delay_p99, jitter"


class Metric(NamedTuple):
    """A metric, for one class or for any class."""

    class_name: str | None
    #: The column, as in `Results.classes`.
    column: str
    unit: str

    @property
    def words(self) -> str:
        """The metric as words, without its class and unit: `delay p99`."""
        return metric_words(self.column, self.unit)


def resolve(text: str) -> Metric:
    """Return the metric that `text` names: a column with or without its unit, or a word such as `loss`.

    A name of a class may precede the metric: `voice.delay_p99` is `("voice", "delay_p99_s", "s")`.

    Raises:
        InvalidInputError: there is no such metric; the help lists the most similar ones.

    """
    before, dot, name = text.strip().rpartition(".")
    column = _columns().get(name)
    if column is None or (dot and not before):
        near = get_close_matches(name, _columns(), n=3)
        words = (
            f"did you mean {listed((f'`{candidate}`' for candidate in near), 'or')}?" if near else _EXAMPLES
        )
        raise InvalidInputError(f"`{text}`: there is no metric `{name}`", words)
    return Metric(before or None, column, UNITS[column])


def better(column: str) -> Literal["small", "large"]:
    """Return the default goal for a metric: few drops and short delays, otherwise a high value."""
    return "small" if column.startswith(_SMALL) else "large"


@cache
def _columns() -> dict[str, str]:
    """Return the column for each name."""
    return {without_unit(column): column for column in UNITS} | {column: column for column in UNITS} | SHORT
