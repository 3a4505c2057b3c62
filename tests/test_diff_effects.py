"""The effect of a change on each class: short simulations of both configurations under one load."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from conftest import Command
from perhop.differing import Difference, difference, felt_by_default, load_of, opened
from perhop.scenario import Scenario

OLD = """\
version 15.7
hostname br1
class-map match-all VOICE
 match dscp ef
class-map match-all DATA
 match dscp af31
policy-map WAN
 class VOICE
  priority 1000
 class DATA
  bandwidth 4000
 class class-default
  bandwidth 4000
interface GigabitEthernet0/0
 ip address 10.0.0.1 255.255.255.0
interface GigabitEthernet0/1
 ip address 10.1.0.1 255.255.255.0
 speed 10
 service-policy output WAN
end
"""
#: The policy without its voice class: the voice packets wait in class-default.
FORGOTTEN = OLD.replace("class-map match-all VOICE\n match dscp ef\n", "").replace(
    " class VOICE\n  priority 1000\n", ""
)


@pytest.fixture
def files(tmp_path: Path) -> tuple[Path, Path]:
    """The old configuration, and a new one without the voice class."""
    old, new = tmp_path / "old.cfg", tmp_path / "new.cfg"
    old.write_text(OLD)
    new.write_text(FORGOTTEN)
    return old, new


def ending(out: str) -> list[str]:
    """Return the lines about classes at the end of the text."""
    lines = out.splitlines()
    begins = [place for place, line in enumerate(lines) if line.startswith("simulated under")]
    return lines[begins[-1] :] if begins else []


def test_a_forgotten_voice_class_has_more_delay(perhop: Command, files: tuple[Path, Path]) -> None:
    ended = perhop("diff", *files)
    assert ended.code == 0, ended.err
    lines = ending(ended.out)
    assert lines[0] == "simulated under the busy load of old.cfg, 5 replications, ± 95 %:"
    assert "p99 of delay" in next(line for line in lines if line.startswith("  VOICE:"))
    lines = ending(perhop("diff", *files, "--load", "overload").out)
    assert lines[0].startswith("simulated under the overload load of old.cfg")
    voice = next(line for line in lines if line.startswith("  VOICE:"))
    # The load of voice exceeds its priority rate, so voice lost packets before the change.
    assert "loss " in voice and "p99 of delay" in voice
    assert 2 <= len(lines) <= 5
    document = json.loads(perhop("diff", *files, "--json").out)
    felt = document["felt"]
    assert felt["reason"] is None and felt["replications"] == 5
    row = next(row for row in felt["classes"] if row["name"] == "VOICE")
    delay = row["delay_p99_s"]
    assert delay["differs"] and 2 * delay["before"]["mean"] < delay["after"]["mean"]
    low, high = delay["after"]["ci95"]
    assert low <= delay["after"]["mean"] <= high
    markdown = perhop("diff", *files, "--markdown").out
    assert "\n- VOICE: p99 of delay " in markdown


def test_both_get_the_same_packets(files: tuple[Path, Path]) -> None:
    """The packets of a class that only one configuration has are classified by the other, too."""
    for first, second in (files, files[::-1]):
        sides = opened(first, second)
        found = difference(first, second)
        before, after = load_of(found, out=None, options={}).scenarios(*sides)
        assert before["traffic"] == after["traffic"] and before["hosts"] == after["hosts"]
        names = [flow["name"] for flow in before["traffic"]]
        assert sorted(names) == ["DATA", "VOICE", "class-default"]
        texts = [scenario["routers"]["br1"]["configuration"]["file"] for scenario in (before, after)]
        assert texts == [first.name, second.name]


def test_a_codepoint_is_offered_once(tmp_path: Path) -> None:
    """A call is inferred for EF without a class, and not next to a voice class of the other side."""
    signaling = "class-map match-all SIG\n match dscp cs3\npolicy-map WAN\n class SIG\n  bandwidth 500\n"
    old, new = tmp_path / "old.cfg", tmp_path / "new.cfg"
    old.write_text(OLD.replace("policy-map WAN\n", signaling))
    new.write_text(FORGOTTEN.replace("policy-map WAN\n", signaling))
    for first, second, voice in ((old, new, "VOICE"), (new, old, "voice")):
        load = load_of(difference(first, second), out=None, options={})
        before, _ = load.scenarios(*opened(first, second))
        assert [flow["name"] for flow in before["traffic"] if flow["dscp"] == "ef"] == [voice]


def test_many_classes_are_summarized_in_five_lines(perhop: Command, tmp_path: Path) -> None:
    names = [f"C{number}" for number in range(6)]
    maps = "".join(f"class-map {name}\n match dscp {8 + 8 * place}\n" for place, name in enumerate(names))
    classes = "".join(f" class {name}\n  bandwidth percent 14\n" for name in names)
    text = OLD[: OLD.index("class-map")] + maps + f"policy-map WAN\n{classes}" + OLD[OLD.index("interface") :]
    (tmp_path / "old.cfg").write_text(text)
    (tmp_path / "slow.cfg").write_text(text.replace("percent 14", "percent 14\n  queue-limit 400 packets"))
    lines = ending(perhop("diff", "old.cfg", "slow.cfg", "--load", "overload").out)
    assert len(lines) == 5 and lines[-1].endswith("more classes: --json has all"), lines


def test_a_long_simulation_is_left_to_an_option(perhop: Command, files: tuple[Path, Path]) -> None:
    ended = perhop("diff", *files, "--replications", "500")
    last = ended.out.splitlines()[-1]
    assert last.startswith("not simulated: the simulation takes about "), last
    assert last.endswith("above 2 million, give --simulate"), last
    assert json.loads(perhop("diff", *files, "--replications", "500", "--json").out)["felt"]["classes"] == []
    without = perhop("diff", *files, "--no-simulate")
    assert without.code == 0 and "simulated" not in without.out
    ended = perhop("diff", *files, "--simulate", "--replications", "2", "--seed", "3")
    assert ended.code == 0, ended.err
    assert "figures differ" in ended.out and len(ending(ended.out)) > 1
    ended = perhop("diff", *files, "--no-simulate", "--replications", "2")
    assert ended.code == 2 and "are for simulations" in ended.err


def test_a_missing_simulation_has_a_reason(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "old.cfg").write_text(OLD)
    (tmp_path / "down.cfg").write_text(OLD.replace(" speed 10\n", " speed 10\n shutdown\n"))
    ended = perhop("diff", "old.cfg", "down.cfg")
    assert ended.code == 0, ended.err
    assert ended.out.splitlines()[-1].startswith("not simulated: "), ended.out


def test_equal_configurations_are_not_simulated(
    perhop: Command, files: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    ended = perhop("diff", files[0], files[0])
    assert ended.out.strip() == "nothing differs"
    # A renamed class counts as one class: its packets are not offered twice.
    sides = opened(*files)
    renamed = load_of(Difference([], []), out=None, options={})
    assert renamed.interfaces == []
    felt = felt_by_default(*sides, renamed, seed=None, replications=3)
    assert felt.replications == 3 and felt.seed == Scenario.infer(files[0])["seed"]


def test_a_renamed_class_is_offered_once(perhop: Command, tmp_path: Path) -> None:
    old, new = tmp_path / "old.cfg", tmp_path / "new.cfg"
    old.write_text(OLD)
    new.write_text(OLD.replace("VOICE", "REALTIME").replace("bandwidth 4000", "bandwidth 3000", 1))
    sides, found = opened(old, new), difference(old, new)
    before, _ = load_of(found, out=None, options={}).scenarios(*sides)
    assert [flow["name"] for flow in before["traffic"]].count("REALTIME") == 0
