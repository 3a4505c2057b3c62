"""The sweep of single statements: blocks, changes, and the outcomes of a small network."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from conftest import ROOT

sys.path.insert(0, str(ROOT / "tools"))

import line_sweep
from line_sweep_kinds import KINDS

INDENTED = """hostname R1
policy-map WAN
 class VOICE
  priority percent 10
!
 class class-default
interface GigabitEthernet0/0
 description mtu 9000
 mtu 1500
"""
BRACES = """class-of-service {
    schedulers {
        voice {
            priority high;
        }
    }
}
"""
#: Two ends of a link with the same MTU.
END = "hostname R{0}\ninterface GigabitEthernet0/0\n ip address 192.0.2.{0} 255.255.255.252\n ip mtu 1400\n"


@pytest.mark.parametrize(
    ("text", "first", "last", "headers"),
    [(INDENTED, 3, 4, [2]), (INDENTED, 2, 6, []), (BRACES, 3, 5, [2, 1]), (BRACES, 4, 4, [3, 2, 1])],
)
def test_a_statement_has_its_block_and_its_headers(
    text: str, first: int, last: int, headers: list[int]
) -> None:
    found = {statement.first: statement for statement in line_sweep.statements(text)}
    assert (found[first].last, found[first].headers) == (last, headers)


def test_a_change_keeps_the_numbers_of_the_other_lines() -> None:
    kinds = [kind for kind in KINDS if kind.name in ("classes", "mtu")]
    found = list(line_sweep.changes("r1.cfg", INDENTED, kinds))
    deleted = next(change for change in found if change.first == 3 and not change.new)
    assert deleted.apply(INDENTED).split("\n")[2:6] == ["", "", "!", " class class-default"]
    altered = [change for change in found if change.kind == "mtu" and change.new]
    assert [(change.first, change.new) for change in altered] == [(9, " mtu 150")], "descriptions stay"
    assert altered[0].apply(INDENTED).split("\n")[8] == " mtu 150"


def test_a_sample_has_the_same_number_of_each_kind() -> None:
    found = list(line_sweep.changes("r1.cfg", INDENTED, KINDS))
    kept = line_sweep.sampled(found, 1, seed=1)
    assert sorted(change.kind for change in kept) == sorted({change.kind for change in found})
    assert kept == line_sweep.sampled(found, 1, seed=1)


def test_an_mtu_of_one_end_is_reported_and_a_third_device_is_not(tmp_path: Path) -> None:
    for number in (1, 2):
        (tmp_path / f"r{number}.cfg").write_text(END.format(number))
    (tmp_path / "r3.cfg").write_text("hostname R3\ninterface GigabitEthernet0/0\n mtu 1500\n")
    kinds = [kind for kind in KINDS if kind.name == "mtu"]
    done = line_sweep.sweep(tmp_path, kinds, size=100, seed=1, jobs=1)
    outcomes = {(result.file, result.how): result.outcome for result in done}
    assert outcomes == {
        ("r1.cfg", "deleted"): "reported",
        ("r1.cfg", "digit"): "reported",
        ("r2.cfg", "deleted"): "reported",
        ("r2.cfg", "digit"): "reported",
        ("r3.cfg", "deleted"): "missed",
        ("r3.cfg", "digit"): "missed",
    }
    head, own, total = line_sweep.table(done)
    assert head.split()[:3] == ["kind", "changes", "reported"]
    assert own.split() == ["mtu", "6", "67", "%", "0", "2"]
    assert total.split() == ["all", "6", "67", "%", "0", "2"]


def test_alterations_name_what_they_change() -> None:
    lines = {
        "routes": ("ip route 10.1.0.0 255.255.255.0 192.0.2.1", {"host": "192.0.2.4", "mask": "255.255.0.0"}),
        "lists": ("ip prefix-list A seq 5 permit 10.1.0.0/16", {"action": "deny", "address": "10.1.3.0/16"}),
        "targets": ("route-target import 64500:7", {"number": "64500:10"}),
        "lacp": ("channel-group 4 mode active", {"mode": "mode on", "number": "channel-group 7"}),
    }
    for name, (line, expected) in lines.items():
        kind = next(kind for kind in KINDS if kind.selects(line, line))
        assert kind.name == name
        altered = dict(kind.alterations(line))
        assert altered.pop("deleted") == ""
        assert set(altered) == set(expected)
        assert all(text in altered[how] for how, text in expected.items())
