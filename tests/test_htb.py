"""HTB in the Python package: conversions, rates, pictures; and the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command
from perhop import convert
from perhop.draw import words
from perhop.rates import class_rates

POLICY = """\
policies:
  wan:
    queueing:
      scheduler: htb
      rate-to-quantum: 20
      classes:
        - name: control
          match: { dscp: cs6 }
          share: { direct: true }
        - name: link
          share: { rate: 8Mb/s, ceil: 9Mb/s, burst: 3kB }
          queueing:
            scheduler: htb
            classes:
              - name: voice
                match: { dscp: ef }
                share: { rate: 1Mb/s, ceil: 8Mb/s, quantum: 300B }
              - name: video
                match: { dscp: af41 }
                share:
                  rate: 4Mb/s
                  ceil: 8Mb/s
                  level: 1
                  link-layer: { overhead: 8, mpu: 64, cells: atm }
              - name: rest
                share: { rate: 80kb/s, ceil: 8Mb/s, level: 2 }
"""


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    file = tmp_path / "wan.yaml"
    file.write_text(POLICY)
    return file


def test_tc_gets_the_written_classes(policy: Path) -> None:
    # 4 Mb/s are 500000 bytes per second, a twentieth 25000; 80 kb/s would be 500 bytes. An outermost class
    # cannot borrow.
    converted = convert.convert(policy, to="tc", rate="10Mb/s")
    classes = [line.partition("parent ")[2] for line in converted.text.splitlines() if " class add " in line]
    assert classes[1:] == [
        "1:1 classid 1:2 htb rate 10000000bit ceil 10000000bit burst 1600b cburst 1600b prio 0 quantum 62500",
        "1:1 classid 1:3 htb rate 8000000bit ceil 8000000bit burst 3000b cburst 1600b",
        "1:3 classid 1:4 htb rate 1000000bit ceil 8000000bit burst 1600b cburst 1600b prio 0 quantum 300",
        "1:3 classid 1:5 htb rate 4000000bit ceil 8000000bit burst 1600b cburst 1600b mpu 64 overhead 8"
        " linklayer atm prio 1 quantum 25000",
        "1:3 classid 1:6 htb rate 80000bit ceil 8000000bit burst 1600b cburst 1600b prio 2 quantum 1000",
    ]
    assert [remark.construct for remark in converted.remarks] == ["direct class"]


def test_ios_gets_guarantees_and_a_list_of_what_is_missing(policy: Path) -> None:
    constructs = {remark.construct for remark in convert.convert(policy, to="ios", rate="10Mb/s").remarks}
    assert {"scheduler htb", "ceil 8Mb/s of htb", "level 1 of htb", "quantum 300B of htb"} <= constructs


def test_rates_are_the_written_rates_of_classes() -> None:
    inner = {"scheduler": "htb", "classes": [{"name": "b", "share": {"rate": "2Mb/s", "ceil": "6Mb/s"}}]}
    classes = [
        {"name": "a", "share": {"rate": "1Mb/s"}, "queueing": inner},
        {"name": "c", "share": {"rate": "3Mb/s"}},
    ]
    inside, beside = class_rates({"queueing": {"scheduler": "htb", "classes": classes}}, 10e6)
    assert (inside["promised_bps"], inside["limit_bps"]) == (2e6, 6e6)
    # The class around it has 1 Mb/s and cannot borrow, because it is an outermost class.
    assert inside["maximum_bps"] == 2e6
    assert (beside["promised_bps"], beside["limit_bps"]) == (3e6, 3e6)


def test_a_picture_names_htb() -> None:
    lines = words.queueing({"scheduler": "htb", "rate-to-quantum": 20, "classes": []})
    assert [line for line, _ in lines] == ["HTB", "quantum: rate / 20"]


def test_a_class_without_a_rate_is_refused(tmp_path: Path, perhop: Command) -> None:
    file = tmp_path / "wan.yaml"
    file.write_text(POLICY.replace("share: { rate: 80kb/s, ceil: 8Mb/s, level: 2 }", "share: { level: 2 }"))
    ended = perhop("check", file)
    assert ended.code != 0
    assert "no rate" in ended.out + ended.err
    assert "its guaranteed rate" in ended.out + ended.err
