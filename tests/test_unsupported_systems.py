"""Switches and other systems that perhop does not simulate are named, and no question is answered."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import ROOT, Command

CONFIGURATIONS = ROOT / "tests" / "configurations"
SWITCH = CONFIGURATIONS / "catalyst-9300.cfg"
HELP = "--platform reads it by the rules of another platform"
#: The beginning of every question about a configuration.
QUESTIONS = {
    "run": ["run"],
    "trace": ["trace", "--reach", "all"],
    "show": ["show", "policy-map", "interface"],
    "draw": ["draw", "-o", "-"],
    "convert-tc": ["convert", "--to", "tc"],
    "convert-yaml": ["convert", "--to", "yaml"],
    "bounds": ["bounds"],
    "init": ["init", "--from"],
}


@pytest.mark.parametrize("question", QUESTIONS)
def test_commands_name_a_switch_and_refuse_it(perhop: Command, question: str) -> None:
    refused = perhop(*QUESTIONS[question], SWITCH)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(
        "error: this is a configuration of Catalyst (UADP), which perhop does not simulate (line 3: switch 1"
    )


def test_comparing_a_switch_with_a_router_is_refused(perhop: Command) -> None:
    router = CONFIGURATIONS / "shape-only.cfg"
    for files in ((SWITCH, SWITCH), (SWITCH, router), (router, SWITCH)):
        refused = perhop("diff", *files)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err.startswith("error: this is a configuration of Catalyst (UADP), which")


def test_a_switch_in_a_scenario_is_refused(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "switch.cfg").write_text(SWITCH.read_text())
    (tmp_path / "a.yaml").write_text(
        "perhop: 1\nname: a\nduration: 1s\nhosts: {a: {}, b: {}}\n"
        "routers: {s: {configuration: {file: switch.cfg}}}\n"
        "links:\n- {between: [a, s], rate: 1Gb/s, interfaces: {s: {name: Gi1/0/1}}}\n"
        "- {between: [s, b], rate: 10Gb/s, interfaces: {s: {name: Te1/1/1}}}\ntraffic: []\n"
    )
    refused = perhop("run", "a.yaml")
    assert (refused.code, refused.out) == (2, "")
    assert "this is a configuration of Catalyst (UADP), which perhop does not simulate" in refused.err


def test_check_names_a_switch_and_gives_no_verdict(perhop: Command) -> None:
    ended = perhop("check", SWITCH)
    assert ended.code == 2
    first, second, *rest = ended.out.splitlines()
    assert (
        first == f"{SWITCH}: platform: Catalyst (UADP), not supported (line 3: switch 1 provision c9300-24t)"
    )
    assert second.startswith(f"{SWITCH}: router, not supported: ")
    assert rest[0] == "" and rest[1].startswith("error[platform-not-supported]: this is a configuration of ")
    # Wrapped at the width of the terminal.
    assert " ".join(rest[2:]) == f"perhop buffers FILE shows the memory of its queues; {HELP}"
    listed = perhop("check", SWITCH, "--lines")
    assert "    26  end" in listed.out and "ok" not in listed.out.split()
    found = json.loads(perhop("check", SWITCH, "--json").out)["files"][0]
    assert [one["rule"] for one in found["findings"]] == ["platform-not-supported"]
    assert (found["valid"], found["router"]["ports"]) == (False, [])


OTHER_SYSTEMS = {
    "Cisco 8000": "!! IOS XR Configuration 7.5.2\nhostname xr\nPID: 8201-SYS, VID: V01\n"
    "interface HundredGigE0/0/0/1\n shutdown\n!\n",
    "NX-OS": "!Command: show running-config\nversion 9.2(3)\nfeature bgp\ninterface Ethernet1/1\n",
    "Catalyst (mls qos)": "version 12.2\nmls qos\nswitch 1 provision ws-c3750x-24\n"
    "interface GigabitEthernet1/0/1\n srr-queue bandwidth share 10 10 60 20\n",
    "ASR 900 and 920": "version 16.9\nlicense udi pid ASR-920-12CZ-A sn X\ninterface GigabitEthernet0/0/1\n",
}


@pytest.mark.parametrize("name", OTHER_SYSTEMS)
def test_other_systems_are_named_and_not_run(perhop: Command, tmp_path: Path, name: str) -> None:
    (tmp_path / "other.cfg").write_text(OTHER_SYSTEMS[name])
    ended = perhop("check", "other.cfg", "--lines")
    assert ended.code == 2
    assert f"platform: {name}, not supported (line " in ended.out.splitlines()[0]
    assert "router, not supported: " in ended.out.splitlines()[1]
    assert "interface " in ended.out, "what is recognized is shown"
    refused = perhop("run", "other.cfg")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(
        f"error: this is a configuration of {name}, which perhop does not simulate (line "
    )
