"""The names of metrics."""

from __future__ import annotations

import pytest

from perhop import InvalidInputError
from perhop.layout import TABLES
from perhop.metrics import SHARE, UNITS, resolve
from perhop.verdicts.quantities import units


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("throughput", (None, "throughput_bps", "b/s")),
        ("delay_p99", (None, "delay_p99_s", "s")),
        ("delay_p99_s", (None, "delay_p99_s", "s")),
        ("loss", (None, "dropped_percent", "%")),
        ("dropped_percent", (None, "dropped_percent", "%")),
        ("dropped", (None, "dropped_packets", "packets")),
        ("share", (None, "share_percent", "%")),
        ("jitter_p95", (None, "ipdv_abs_p95_s", "s")),
        ("goodput", (None, "goodput_bps", "b/s")),
        ("voice.delay_p99", ("voice", "delay_p99_s", "s")),
        (" EF 1.2.share ", ("EF 1.2", "share_percent", "%")),
    ],
)
def test_names_resolve_to_metrics(text: str, found: tuple[str | None, str, str]) -> None:
    assert tuple(resolve(text)) == found


def test_every_number_of_a_class_and_every_asserted_column_has_a_name() -> None:
    numbers = {name for name, kind in TABLES["classes"].items() if kind != "text"} - {"replication"}
    assert numbers | {SHARE} <= set(UNITS)
    own_units = {
        name: unit for name, unit in units().items() if name not in ("r", "mos", "mouth_to_ear", "late")
    }
    del own_units["y1541"]
    assert {name: resolve(name).unit for name in own_units} == own_units


def test_metrics_have_words() -> None:
    assert [resolve(name).words for name in ("delay_p99", "loss", "share", "fairness")] == [
        "delay p99",
        "dropped",
        "share",
        "fairness",
    ]


@pytest.mark.parametrize(
    ("text", "message", "help"),
    [
        ("voice.delay_p98", "there is no metric `delay_p98`", "did you mean `delay_p9"),
        ("latency", "there is no metric `latency`", "metrics, among others: throughput"),
        (".share", "`.share`", "`share`"),
        ("", "there is no metric ``", "among others"),
    ],
)
def test_unknown_names_give_the_nearest(text: str, message: str, help: str) -> None:
    with pytest.raises(InvalidInputError) as refused:
        resolve(text)
    assert message in str(refused.value)
    assert help in refused.value.help
