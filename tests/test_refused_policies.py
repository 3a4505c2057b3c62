"""Policies that a router refuses: `check` reports all of them, and `run` names those that it omits."""

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

#: Another interface has a policy that the router refuses.
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
def test_a_run_names_left_out_policies_first(perhop: Command, tmp_path: Path, case: str) -> None:
    file = _file(tmp_path, REFUSED[case], GOOD)
    assert perhop("check", file).code == 1
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
    # No interface uses the policy.
    ended = perhop("run", _file(tmp_path, TOO_MUCH, GOOD), "--duration", "100ms")
    assert ended.code == 0
    assert "left out" not in ended.err


#: Policies whose guaranteed rates exceed the available rate, and a part of the message.
ABOVE = {
    "percent under a shaper": (TOO_MUCH + SHAPED, "add up to 125"),
    "percent, attached to nothing": (TOO_MUCH, "add up to 125"),
    "priority and bandwidth percent": (
        TOO_MUCH.replace("bandwidth percent 60", "priority percent 60"),
        "bandwidth and priority percent of the classes of policy OVER add up to 125",
    ),
    "rates under a shaper": (
        TOO_MUCH.replace("percent 60", "4000").replace("percent 65", "3000") + SHAPED,
        "guarantees 7000 kb/s to its classes, more than the 5000 kb/s to which class class-default",
    ),
    "a rate and a percentage under a shaper": (
        TOO_MUCH.replace("bandwidth percent 60", "priority 4000").replace("percent 65", "percent 30")
        + SHAPED,
        "guarantees 5500 kb/s to its classes",
    ),
    "the third level": (
        TOO_MUCH + SHAPED + "policy-map TOP\n class class-default\n  service-policy SHAPED\n",
        "add up to 125",
    ),
}


@pytest.mark.parametrize("version", ["15.4", "12.4"])
@pytest.mark.parametrize("attached", ["alone", "attached"])
@pytest.mark.parametrize("case", ABOVE)
def test_excessive_nested_guarantees_are_errors(
    perhop: Command, tmp_path: Path, case: str, attached: str, version: str
) -> None:
    policies, message = ABOVE[case]
    outermost = policies.rsplit("policy-map ", 1)[1].split()[0]
    at = ON_AN_INTERFACE.format(side="output", policy=outermost)
    parts = [policies, at] if attached == "attached" and outermost != "OVER" else [policies]
    ended = perhop("check", _file(tmp_path, *parts, GOOD, version=version), "--strict")
    assert ended.code == 1, ended.out
    (error,) = [line for line in ended.out.splitlines() if "error[" in line]
    assert "promised-above-rate" in error
    assert message in error


#: Policies whose guarantees do not exceed the rate around them.
WITHIN = {
    "percent": TOO_MUCH.replace("65", "40"),
    "rates": TOO_MUCH.replace("percent 60", "3000").replace("percent 65", "2000") + SHAPED,
    "a rate and a percentage": (
        TOO_MUCH.replace("percent 60", "3000").replace("bandwidth percent 65", "priority percent 40") + SHAPED
    ),
}


@pytest.mark.parametrize("case", WITHIN)
def test_guarantees_up_to_the_rate_are_accepted(perhop: Command, tmp_path: Path, case: str) -> None:
    ended = perhop("check", _file(tmp_path, WITHIN[case], GOOD))
    assert ended.code == 0, ended.out
    assert "promised-above-rate" not in ended.out
