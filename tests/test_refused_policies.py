"""Policies that a router refuses: `check` reports them in every place, and `run` names what it leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command

CLASSES = """\
class-map match-any A
 match dscp ef
class-map match-any B
 match dscp af21
"""
GOOD = """\
policy-map WAN
 class A
  priority 1000
interface GigabitEthernet0/1
 ip address 10.0.1.1 255.255.255.0
 service-policy output WAN
interface GigabitEthernet0/2
 ip address 10.0.2.1 255.255.255.0
"""
TOO_MUCH = """\
policy-map OVER
 class A
  bandwidth percent 60
 class B
  bandwidth percent 65
"""
ON_AN_INTERFACE = """\
interface GigabitEthernet0/0
 ip address 10.0.0.1 255.255.255.0
 service-policy {side} {policy}
"""
SHAPED = """\
policy-map SHAPED
 class class-default
  shape average 5000000
  service-policy OVER
"""
QUEUES_ON_INPUT = "policy-map OVER\n class A\n  priority 100\n"

#: Policies of another interface that the router refuses.
REFUSED = {
    "promises on the interface": TOO_MUCH + ON_AN_INTERFACE.format(side="output", policy="OVER"),
    "promises under a shaper": TOO_MUCH + SHAPED + ON_AN_INTERFACE.format(side="output", policy="SHAPED"),
    "queues on input": QUEUES_ON_INPUT + ON_AN_INTERFACE.format(side="input", policy="OVER"),
}


def _file(folder: Path, *parts: str, version: str = "15.4") -> Path:
    file = folder / "router.cfg"
    file.write_text("".join([f"version {version}\n", CLASSES, *parts]))
    return file


@pytest.mark.parametrize("case", REFUSED)
def test_a_run_names_first_what_it_leaves_out(perhop: Command, tmp_path: Path, case: str) -> None:
    file = _file(tmp_path, REFUSED[case], GOOD)
    assert perhop("check", file).code == 2
    for command in ("run", "bounds"):
        ended = perhop(command, file, *(["--duration", "100ms"] if command == "run" else []))
        assert ended.code == 0, ended.err
        first = ended.err.splitlines()[0]
        assert first.startswith("left out: GigabitEthernet0/0: error in line "), first


def test_a_run_of_the_interface_itself_is_refused(perhop: Command, tmp_path: Path) -> None:
    over = REFUSED["promises on the interface"]
    ended = perhop(
        "run", _file(tmp_path, over, GOOD), "--interface", "GigabitEthernet0/0", "--duration", "100ms"
    )
    assert ended.code == 2
    assert "promised-above-rate" in ended.err


def test_a_run_without_errors_leaves_nothing_out(perhop: Command, tmp_path: Path) -> None:
    # Nothing uses the policy.
    ended = perhop("run", _file(tmp_path, TOO_MUCH, GOOD), "--duration", "100ms")
    assert ended.code == 0
    assert "left out" not in ended.err
