"""`perhop check` of router configurations."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import ROOT, Command

VECTORS = ROOT / "vectors" / "ios"

CONFIGURATION = """\
hostname edge
class-map match-all voice
 match ip dscp ef
policy-map wan
 class voice
  priority 128
 class nobody
  bandwidth 64
interface Serial0/0
 bandwidth 512
 ip address 192.0.2.1 255.255.255.252
 ip nat outside
 frobnicate
 service-policy output wan
"""


@pytest.fixture
def router(tmp_path: Path) -> Path:
    file = tmp_path / "router.cfg"
    file.write_text(CONFIGURATION)
    return file


def test_lines_that_need_attention_are_listed_by_state(perhop: Command, router: Path) -> None:
    ended = perhop("check", router)
    assert ended.code == 1, "an error in a policy of an interface"
    counts = "10 modelled, 1 irrelevant, 1 not modelled, 1 suspicious, 1 not recognized"
    assert f"{router}: router, not ok: 14 lines: {counts}\n" in ended.out
    heads = [line.partition(":")[0] for line in ended.out.splitlines()[:-1] if line and line[0] != " "]
    sections = [head for head in heads if head != str(router)]
    assert sections == ["suspicious", "not recognized", "not modelled"]
    assert (
        "     7  class nobody\n        error[class-map-undefined]: class-map nobody is not defined\n"
        in ended.out
    )
    assert "    12  ip nat outside\n        the device translates addresses" in ended.out
    assert "priority 128" not in ended.out
    assert ended.out.endswith("\n1 error: `perhop run` leaves out the interfaces with errors: Serial0/0\n")
    assert perhop("run", router).code == 2


def test_errors_in_unused_parts_do_not_stop_run(perhop: Command, router: Path) -> None:
    """A part with an error is not reported as `ok`."""
    unused = CONFIGURATION.replace(" class nobody\n  bandwidth 64\n", "")
    router.write_text(f"{unused}!\npolicy-map other\n class nobody\n  bandwidth 64\n")
    ended = perhop("check", router)
    assert ended.code == 1
    assert f"{router}: router, not ok: 15 lines: " in ended.out
    assert ended.out.endswith(": `perhop run` runs all interfaces with a policy\n")
    found = perhop("check", router, "--json").json()["files"][0]
    assert (found["valid"], found["attached_errors"]) == (False, [])
    ended = perhop("run", router, "--quiet")
    assert ended.code == 0
    assert "warning[class-map-undefined]: class-map nobody is not defined" in ended.err


def test_an_error_in_a_nested_policy_belongs_to_its_interface(perhop: Command, router: Path) -> None:
    """The interface attaches a policy, whose child has a class without a definition."""
    router.write_text(NESTED)
    found = perhop("check", router, "--json").json()["files"][0]
    assert not found["valid"]
    assert found["attached_errors"] == [{"line": 2, "interfaces": ["GigabitEthernet0/1.7"]}]


NESTED = """\
policy-map child
 class partners
  bandwidth 500
policy-map parent
 class class-default
  shape average 2000000
  service-policy child
interface GigabitEthernet0/1.7
 encapsulation dot1Q 7
 service-policy output parent
interface GigabitEthernet0/2
 ip address 10.1.1.1 255.255.255.0
"""


@pytest.mark.parametrize("option", ["--lines", "--all"])
def test_every_line_is_listed_on_demand(perhop: Command, router: Path, option: str) -> None:
    ended = perhop("check", router, option)
    for number, line in enumerate(CONFIGURATION.splitlines(), 1):
        assert f"{number:>6}  {line.strip()}\n" in ended.out


@pytest.mark.parametrize("text", ["", "!\n\n!\n"])
def test_a_file_without_commands_gets_a_warning(perhop: Command, router: Path, text: str) -> None:
    router.write_text(text)
    ended = perhop("check", router)
    assert ended.code == 1
    assert f"{router}: router, not ok: 0 lines: " in ended.out
    assert "\nwarning[little-recognized]: nothing to check: the file has no commands\n" in ended.out
    assert "\nerror[scenario-invalid]: the configuration has no interface that is up\n" in ended.out
    ended = perhop("check", router, "--strict", "--json")
    (found,) = ended.json()["files"]
    assert (ended.code, found["valid"]) == (1, False)
    assert found["findings"][0]["message"] == "nothing to check: the file has no commands"


TWICE = """\
hostname edge
interface FastEthernet0/0
 ip address 10.1.1.1 255.255.255.0
interface Serial0/0
 bandwidth 512
 ip address 10.1.1.1 255.255.255.0
"""


def test_two_interfaces_with_one_address_are_named_with_their_lines(perhop: Command, router: Path) -> None:
    router.write_text(TWICE)
    ended = perhop("check", router)
    assert ended.code == 1
    assert (
        "     6  ip address 10.1.1.1 255.255.255.0\n"
        "        error[address-repeated]: 10.1.1.1 is already the address of FastEthernet0/0 (line 3)\n"
    ) in ended.out
    ended = perhop("run", router)
    assert ended.code == 2
    assert "10.1.1.1 is already the address of FastEthernet0/0 (line 3)" in ended.err
    assert "sender" not in ended.err


def test_two_tables_of_routes_may_have_the_same_address(perhop: Command, router: Path) -> None:
    router.write_text(TWICE.replace("\n bandwidth", "\n ip vrf forwarding customer\n bandwidth"))
    assert perhop("check", router, "--strict").code == 0
    ended = perhop("run", router, "--json")
    assert ended.code == 0, ended.err


def test_strict_refuses_lines_that_may_change_the_result(perhop: Command, router: Path) -> None:
    assert perhop("check", router, "--strict").code == 1
    kept = [line for line in CONFIGURATION.splitlines() if "nat" not in line and "frob" not in line]
    clean = "\n".join(line for line in kept if "nobody" not in line and "bandwidth 64" not in line)
    router.write_text(clean)
    ended = perhop("check", router, "--strict")
    assert (ended.code, "router, ok" in ended.out) == (0, True)


def test_json_has_lines_and_policies(perhop: Command, router: Path) -> None:
    ended = perhop("check", router, "--json")
    (found,) = ended.json()["files"]
    assert (ended.code, found["holds"], found["valid"]) == (1, "router", False)
    assert found["attached_errors"] == [{"line": 7, "interfaces": ["Serial0/0"]}]
    assert [line["number"] for line in found["lines"]] == list(range(1, 15))
    assert found["lines"][12] == {
        "number": 13, "state": "not-recognized", "text": " frobnicate", "block": 9,
    }  # fmt: skip
    (diagnostic,) = found["diagnostics"]
    assert (diagnostic["line"], diagnostic["severity"]) == (7, "error")
    (port,) = found["router"]["ports"]
    assert port["addresses"] == [["192.0.2.1", 30]]
    voice, others = port["output"]["queueing"]["classes"]
    assert voice["police"] == {"rate": "128kb/s", "burst": "3200B", "when": "congested"}
    # The part of 512 kb/s that the priority class leaves.
    assert others["queueing"]["classes"][0]["share"]["bandwidth"] == "384kb/s"


def test_a_configuration_is_recognized_by_its_content(
    perhop: Command, tmp_path: Path, scenario: Path
) -> None:
    renamed = tmp_path / "router.txt"
    renamed.write_text(CONFIGURATION)
    ended = perhop("check", renamed, scenario, "--json")
    assert [file["holds"] for file in ended.json()["files"]] == ["router", "scenario"]


def test_a_configuration_that_powershell_wrote(perhop: Command, tmp_path: Path) -> None:
    """On Windows, `show run > router.txt` writes UTF-16."""
    (tmp_path / "plain.txt").write_text(CONFIGURATION)
    (tmp_path / "router.txt").write_text(CONFIGURATION, encoding="utf-16")
    ended = perhop("check", "plain.txt", "router.txt", "--json")
    plain, wide = ended.json()["files"]
    assert wide["counts"] == plain["counts"]


def test_every_line_of_a_cfg_has_a_state(perhop: Command, tmp_path: Path) -> None:
    noise = tmp_path / "noise.cfg"
    noise.write_bytes(bytes(range(256)) * 8)
    ended = perhop("check", noise, "--json")
    (found,) = ended.json()["files"]
    assert (ended.code, found["counts"]["modelled"]) == (1, 0)
    assert perhop("check", noise, "--strict").code == 1


def test_the_papers_configurations_have_no_unmodeled_lines(perhop: Command) -> None:
    files = [VECTORS / f"car-wfq-tcp-scenario-{number}.cfg" for number in (1, 3)]
    ended = perhop("check", *files, "--strict")
    assert ended.code == 0, ended.out


def test_a_scenario_is_not_taken_for_a_configuration(perhop: Command, tmp_path: Path) -> None:
    scenario = (ROOT / "examples" / "class-based-wfq.perhop.yaml").read_text()
    for name in ("class-based.yaml", "class-based"):
        (tmp_path / name).write_text(scenario)
        ended = perhop("check", tmp_path / name, "--strict")
        assert (ended.code, ended.out) == (0, f"{tmp_path / name}: scenario, ok\n"), ended.err
