"""Systems that perhop does not simulate, and switches of unknown products: every command refuses them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import ROOT, Command

CONFIGURATIONS = ROOT / "tests" / "configurations"
HELP = "the rules of platform NAME"
#: A switch without a line that names its product.
SWITCH = (
    (CONFIGURATIONS / "catalyst-9300.cfg")
    .read_text()
    .replace("switch 1 provision c9300-24t", "qos queue-softmax-multiplier 1200")
)
ASKS = "the configuration does not name the product of the switch"
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


@pytest.fixture
def switch(tmp_path: Path) -> Path:
    file = tmp_path / "switch.cfg"
    file.write_text(SWITCH)
    return file


@pytest.mark.parametrize("question", QUESTIONS)
def test_commands_ask_for_the_product_of_a_switch(perhop: Command, switch: Path, question: str) -> None:
    refused = perhop(*QUESTIONS[question], switch)
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.startswith(f"error: {ASKS}")
    assert "--platform c3650, c3850, c9200, c9300" in " ".join(refused.err.split())


def test_comparing_such_a_switch_is_refused(perhop: Command, switch: Path) -> None:
    router = CONFIGURATIONS / "shape-only.cfg"
    for files in ((switch, switch), (switch, router), (router, switch)):
        refused = perhop("diff", *files)
        assert (refused.code, refused.out) == (2, "")
        assert refused.err.startswith(f"error: {ASKS}")


def test_such_a_switch_in_a_scenario_is_refused(perhop: Command, switch: Path) -> None:
    (switch.parent / "a.yaml").write_text(
        "perhop: 1\nname: a\nduration: 1s\nhosts: {a: {}, b: {}}\n"
        "routers: {s: {configuration: {file: switch.cfg}}}\n"
        "links:\n- {between: [a, s], rate: 1Gb/s, interfaces: {s: {name: Gi1/0/1}}}\n"
        "- {between: [s, b], rate: 10Gb/s, interfaces: {s: {name: Te1/1/1}}}\ntraffic: []\n"
    )
    refused = perhop("run", "a.yaml")
    assert (refused.code, refused.out) == (2, "")
    assert ASKS in refused.err


def test_check_names_such_a_switch_and_gives_no_verdict(perhop: Command, switch: Path) -> None:
    ended = perhop("check", switch)
    assert ended.code == 2
    first, second, *rest = ended.out.splitlines()
    assert first == (
        f"{switch}: platform: Catalyst (UADP), not supported (line 3: qos queue-softmax-multiplier 1200)"
    )
    assert second.startswith(f"{switch}: router, not supported: ")
    assert rest[0] == "" and rest[1] == f"error[platform-not-supported]: {ASKS}"
    listed = perhop("check", switch, "--lines")
    assert "    26  end" in listed.out and "ok" not in listed.out.split()
    found = json.loads(perhop("check", switch, "--json").out)["files"][0]
    assert [finding["rule"] for finding in found["findings"]] == ["platform-not-supported"]
    assert (found["valid"], found["router"]["ports"]) == (False, [])


def test_the_product_may_be_given(perhop: Command, switch: Path) -> None:
    ended = perhop("check", switch, "--platform", "c9300-24t")
    assert ended.code == 0 and "platform: c9300-24t (--platform); memory: " in ended.out
    other = perhop("run", switch, "--platform", "c9500x-28c8d")
    assert (other.code, other.out) == (2, "") and "Silicon One" in other.err
    wrong = perhop("run", switch, "--platform", "c9300,buffers=3")
    assert (wrong.code, wrong.out) == (2, "") and "there is no platform `c9300,buffers=3`" in wrong.err


OTHER_SYSTEMS = {
    "Cisco 8000": "!! IOS XR Configuration 7.5.2\nhostname xr\nPID: 8201-SYS, VID: V01\n"
    "interface HundredGigE0/0/0/1\n shutdown\n!\n",
    "Catalyst 4500": "version 15.0\npolicy-map P\n class class-default\n  dbl\n"
    "interface TenGigabitEthernet1/1\n",
    "Catalyst 6500 (WRR)": "version 12.2\nmls qos\n"
    "interface GigabitEthernet1/1\n wrr-queue bandwidth 20 80\n",
    "Catalyst (switchport)": "version 15.2\ninterface GigabitEthernet0/1\n switchport mode access\n",
    "ASR 900": "version 16.9\nlicense udi pid ASR-903 sn X\ninterface GigabitEthernet0/0/1\n",
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
    assert HELP in " ".join(refused.err.split())
