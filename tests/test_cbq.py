"""Class-based queueing in the Python package: conversions, rates, pictures."""

from __future__ import annotations

from pathlib import Path

import pytest

from perhop import convert
from perhop.draw import words
from perhop.rates import class_rates

POLICY = """\
policies:
  wan:
    queueing:
      scheduler: cbq
      link-sharing: { guideline: top-level }
      classes:
        - name: voice
          match: { dscp: ef }
          share: { fraction: 0.3, borrow: false, extra-delay: 2ms }
        - name: agency
          share: { bandwidth: 4Mb/s }
          queueing:
            scheduler: cbq
            classes:
              - name: video
                match: { dscp: af41 }
                share: { fraction: 0.25 }
              - name: data
                share: { fraction: 0.1, level: 1 }
"""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    file = tmp_path / "wan.yaml"
    file.write_text(POLICY)
    return file


def test_tc_gets_rates_and_a_list_of_what_is_missing(policy: Path) -> None:
    # Allotments are fractions of 10 Mb/s, also inside the agency; they are the ceiling of a class that may
    # not borrow.
    converted = convert.convert(policy, to="tc", rate="10Mb/s")
    classes = [line.partition("htb ")[2].partition(" prio")[0] for line in converted.text.splitlines()]
    assert [part for part in classes if part][2:] == [
        "rate 3000000bit ceil 3000000bit",
        "rate 4000000bit ceil 10000000bit",
        "rate 2500000bit ceil 10000000bit",
        "rate 1000000bit ceil 10000000bit",
    ]
    assert any(remark.construct == "link sharing of cbq" for remark in converted.remarks)


def test_ios_gets_shares_and_a_list_of_what_is_missing(policy: Path) -> None:
    constructs = {remark.construct for remark in convert.convert(policy, to="ios", rate="10Mb/s").remarks}
    assert {"scheduler cbq", "borrow false of cbq", "extra-delay 2ms of cbq", "level 1 of cbq"} <= constructs


def test_allotments_are_guarantees() -> None:
    share = {"fraction": 0.3, "borrow": False}
    inner = {"scheduler": "cbq", "classes": [{"name": "b", "share": {"fraction": 0.2}}]}
    classes = [{"name": "a", "share": share}, {"name": "B", "share": {"fraction": 0.5}, "queueing": inner}]
    found = class_rates({"queueing": {"scheduler": "cbq", "classes": classes}}, 10e6)
    assert {row["queue"]: row["promised_bps"] for row in found} == {"a": 3e6, "B/b": 2e6}
    # The shares add up to more than the wire: each class gets its proportion of the wire.
    share["fraction"] = 1.0
    found = class_rates({"queueing": {"scheduler": "cbq", "classes": classes[:1] * 2}}, 10e6)
    assert found[0]["promised_bps"] == 5e6


def test_pictures_show_how_the_wire_is_shared() -> None:
    config = {"scheduler": "cbq", "link-sharing": {"guideline": "formal"}, "classes": []}
    assert [line for line, _ in words.queueing(config)] == ["CBQ", "guideline formal"]  # type: ignore[arg-type]
