"""`perhop diff` of two scenarios, charts of the simulations, and data frames of differences."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from conftest import Command, command_line
from perhop import InvalidInputError, Scenario
from perhop.differing import difference, simulated

OLD = """\
perhop: 1
name: Edge
duration: 5s
hosts: { office: {}, server: {} }
routers: { edge: {} }
links:
  - { between: [office, edge], rate: 10Mb/s, delay: 1ms, interfaces: { edge: { input: admission } } }
  - { between: [edge, server], rate: 2Mb/s, delay: 5ms, interfaces: { edge: { output: wan } } }
policies:
  admission:
    conditioners:
      - { name: web, match: { dscp: cs1 }, actions: [ { mark: af21 } ] }
  wan:
    queueing:
      scheduler: wfq
      classes:
        - { name: voice, match: { dscp: ef }, share: { weight: 4 } }
        - { name: data, match: { dscp: [af21, af22] }, share: { weight: 2 } }
        - { name: rest, share: { weight: 1 } }
traffic:
  - name: voice
    from: office
    to: server
    dscp: ef
    source: { cbr: { rate: 160kb/s, packet: { ip: 200B } } }
  - name: bulk
    from: office
    to: server
    source: { poisson: { rate: 3Mb/s, packet: { ip: 1000B } } }
measure: { warmup: 1s }
"""
SAMPLED = ("--simulate", "--replications", "3")


@pytest.fixture
def old(tmp_path: Path) -> Path:
    file = tmp_path / "old.perhop.yaml"
    file.write_text(OLD)
    return file


def _changed(old: Path, *changes: tuple[str, str]) -> Path:
    text = OLD
    for before, after in changes:
        assert before in text
        text = text.replace(before, after)
    file = old.with_name("new.perhop.yaml")
    file.write_text(text)
    return file


def test_the_same_scenario_has_no_difference(perhop: Command, old: Path) -> None:
    new = _changed(old, ("name: Edge", "name: Renamed"))
    ended = perhop("diff", old, new, "--strict", *SAMPLED)
    assert ended.code == 0
    assert ended.out.splitlines()[-1] == "nothing differs"


def test_packets_that_change_queues_have_an_example(perhop: Command, old: Path) -> None:
    new = _changed(old, ("[af21, af22]", "af21"))
    ended = perhop("diff", old, new, "--strict")
    assert ended.code == 4
    assert ended.out.splitlines()[0] == "edge->server: packets that wait in another queue"
    (moved,) = perhop("diff", old, new, "--json").json()["moved"]
    assert moved["interface"] == "edge->server"
    assert (moved["before"], moved["after"]) == ("data", "rest")
    assert "dscp af22" in moved["packet"]


def test_packets_that_a_meter_sends_to_either_queue_have_not_moved(perhop: Command, old: Path) -> None:
    """A policer sends voice to data or voice in both scenarios; only packets of the changed match move."""
    meter = "meter: { token-bucket: { rate: 100kb/s, burst: 2kB } }"
    policed = f"{{ name: web, match: {{ dscp: ef }}, {meter}, red: [ {{ mark: af21 }} ] }}"
    web = "{ name: web, match: { dscp: cs1 }, actions: [ { mark: af21 } ] }"
    before = old.with_name("before.perhop.yaml")
    before.write_text(OLD.replace(web, policed))
    new = _changed(old, (web, policed), ("[af21, af22]", "af21"))
    found = perhop("diff", before, new, "--at", "edge:office", "--json").json()["moved"]
    assert [(move["before"], move["after"]) for move in found] == [("data", "rest")]


def test_a_policy_in_only_one_scenario(perhop: Command, old: Path) -> None:
    new = _changed(old, (", interfaces: { edge: { output: wan } }", ""))
    found = perhop("diff", old, new, "--json").json()
    assert {(move["before"], move["after"]) for move in found["moved"]} == {
        (name, None) for name in ("voice", "data", "rest")
    }
    assert {change["part"] for change in found["changed"] if change["after"] is None} == {
        "queue voice",
        "queue data",
        "queue rest",
    }


def test_parameters_of_queues_conditioners_and_links(perhop: Command, old: Path) -> None:
    new = _changed(
        old, ("weight: 4", "weight: 3"), ("mark: af21", "mark: af22"), ("2Mb/s, delay", "3Mb/s, delay")
    )
    lines = perhop("diff", old, new).out.splitlines()
    assert "  queue voice, share: weight 4 -> weight 3" in lines
    assert "  input conditioner web, actions: mark af21 -> mark af22" in lines
    assert "  link, rate: 2 Mb/s -> 3 Mb/s" in lines
    assert "  queue voice, guaranteed: 1,143 kb/s -> 1,500 kb/s" in lines


def test_the_input_policy_of_the_entrance_applies(perhop: Command, old: Path) -> None:
    """Packets that arrive as CS1 are marked and move with the mark; without an input interface none moves."""
    new = _changed(old, ("mark: af21", "mark: ef"))
    assert perhop("diff", old, new, "--json").json()["moved"] == []
    found = perhop("diff", old, new, "--at", "edge:office", "--out", "server", "--json").json()
    (moved,) = found["moved"]
    assert (moved["before"], moved["after"]) == ("data", "voice")
    assert "dscp cs1" in moved["packet"]
    assert [change["interface"] for change in found["changed"]] == ["edge->office"]
    assert perhop("diff", old, new, "--at", "office", "--json").json()["changed"] == []


def test_links_of_only_one_side_are_reported(perhop: Command, old: Path) -> None:
    new = _changed(
        old,
        ("routers: { edge: {} }", "routers: { edge: {}, spare: {} }"),
        ("policies:\n", "  - { between: [edge, spare], rate: 1Mb/s, delay: 1ms }\npolicies:\n"),
    )
    ended = perhop("diff", old, new, "--strict")
    assert ended.code == 4
    assert f"only {new} has the link edge - spare" in ended.out.splitlines()
    assert "  added: link rate 1 Mb/s; ring 1 packet; delay 1 ms; loss 0; cost 1" in ended.out.splitlines()


def test_markers_that_do_not_change_move_no_packet(perhop: Command, old: Path) -> None:
    """A meter may send a packet to either of two queues, before and after."""
    meter = "meter: { token-bucket: { rate: 1Mb/s, burst: 9kB } }, "
    meter += "green: [ { mark: ef } ], red: [ { mark: af21 } ]"
    text = OLD.replace("actions: [ { mark: af21 } ]", meter)
    old.write_text(text)
    new = old.with_name("new.perhop.yaml")
    for before, after in (("weight: 4", "weight: 3"), ("rate: 1Mb/s", "rate: 2Mb/s")):
        new.write_text(text.replace(before, after))
        found = perhop("diff", old, new, "--at", "edge:office", "--json").json()
        assert found["moved"] == []
        assert found["changed"]


def test_markdown_for_a_comment(perhop: Command, old: Path) -> None:
    new = _changed(old, ("[af21, af22]", "af21"), ("3Mb/s", "1Mb/s"))
    rows = perhop("diff", old, new, "--markdown", *SAMPLED).out.splitlines()
    assert rows[0] == "### QoS: `old.perhop.yaml` to `new.perhop.yaml`"
    assert any(row.startswith("| edge->server | data | rest | `") for row in rows)
    assert any(row.startswith("| bulk | throughput_bps | ") for row in rows)
    assert rows[-1] == "also different, but not compared: traffic"


def test_one_scenario_may_be_standard_input(old: Path) -> None:
    new = _changed(old, ("weight: 4", "weight: 3"))
    line = command_line(["diff", "-", new, *SAMPLED])
    ended = subprocess.run(line, input=OLD, capture_output=True, text=True, check=True)
    assert "queue voice, share: weight 4 -> weight 3" in ended.stdout


def test_incomparable_inputs_are_refused(perhop: Command, old: Path) -> None:
    new = _changed(old, ("weight: 4", "weight: 3"))
    policies = old.with_name("policies.yaml")
    policies.write_text("policies:\n  wan:\n    queueing: { scheduler: fifo, classes: [ { name: all } ] }\n")
    for arguments, message in (
        ((new, "--scenario", old), "give --simulate instead of --scenario"),
        ((new, "--platform", "hqf"), "`platform` applies only to router configurations"),
        ((new, "--at", "core"), f"{old} has no node `core`"),
        ((new, "--at", "edge:core"), f"{old}: edge has no link to `core`"),
        ((new, "--at", "edge", "--out", "core"), f"{old}: edge has no link to `core`"),
        ((new, "--out", "server"), "give --at NODE"),
        ((new, "--chart", "chart.svg"), "add --simulate"),
        ((new, "--simulate", "--chart", "chart.txt"), "no suffix of a known format"),
        ((new, "--simulate", "--chart", "no/chart.svg"), "is not a folder"),
        ((policies,), f"{policies} has policies but no network"),
        (("gone.yaml",), "there is no such file"),
    ):
        ended = perhop("diff", old, *arguments)
        assert (ended.code, ended.out) == (2, ""), arguments
        assert message in ended.err


def test_classes_of_only_one_side_are_reported(perhop: Command, old: Path) -> None:
    new = _changed(old, ("name: bulk", "name: backup"))
    found = perhop("diff", old, new, "--json", *SAMPLED).json()
    assert {row["class"] for row in found["simulated"]} == {"voice"}
    assert "only the old file has traffic of class bulk" in found["remarks"]
    assert "only the new file has traffic of class backup" in found["remarks"]


@pytest.mark.parametrize("suffix", [".svg", ".html"])
def test_a_chart_of_both(perhop: Command, old: Path, suffix: str) -> None:
    new = _changed(old, ("weight: 4", "weight: 1"))
    file = old.with_name(f"chart{suffix}")
    ended = perhop("diff", old, new, *SAMPLED, "--chart", file, "--json")
    assert ended.code == 0, ended.err
    assert ended.json()["simulated"]
    written = [file] if suffix == ".html" else [file, *(file.with_stem(f"chart-{n}") for n in (2, 3))]
    assert ended.err.splitlines() == [f"written to {picture}" for picture in written]
    text = "".join(picture.read_text() for picture in written)
    for expected in (
        old.name,
        new.name,
        "Throughput",
        "Dropped",
        "Delay p99",
        "voice",
        "bulk",
        "95 % confidence",
    ):
        assert expected in text, expected


def test_a_chart_of_a_router_in_a_scenario(perhop: Command, tmp_path: Path) -> None:
    text = "policy-map P\n class class-default\n  shape average 500000\ninterface Serial0/0\n"
    text += " bandwidth 2000\n ip address 192.0.2.1 255.255.255.252\n service-policy output P\n"
    (tmp_path / "old.cfg").write_text(text)
    (tmp_path / "new.cfg").write_text(text.replace("500000", "900000"))
    assert perhop("init", "--from", "old.cfg", "lab.perhop.yaml").code == 0
    scenario = ("--scenario", "lab.perhop.yaml", "--replications", "2", "--chart", "chart.svg")
    ended = perhop("diff", "old.cfg", "new.cfg", *scenario)
    assert ended.code == 0, ended.err
    assert "new.cfg" in (tmp_path / "chart.svg").read_text()
    ended = perhop("diff", "old.cfg", "new.cfg", "--simulate", "--replications", "2", "--chart", "own.svg")
    assert ended.code == 0, ended.err
    assert "new.cfg" in (tmp_path / "own.svg").read_text()


def test_frames_of_files_and_scenarios(old: Path) -> None:
    new = _changed(old, ("[af21, af22]", "af21"), ("weight: 4", "weight: 3"))
    found = difference(old, new)
    frame = found.frame()
    assert frame.columns == ["kind", "interface", "arrives", "part", "what", "before", "after", "packet"]
    assert frame["kind"].unique(maintain_order=True).to_list() == ["moved", "changed"]
    assert frame.row(0, named=True)["after"] == "rest"
    loaded = Scenario.load(old)
    assert difference(loaded, loaded.changed({"policies.wan.queueing.classes.0.share.weight": 3})).changed
    assert not difference(loaded, loaded)
    assert difference(loaded, loaded).frame().is_empty()


def test_the_frame_of_simulated_results(old: Path) -> None:
    loaded = Scenario.load(old)
    faster = loaded.changed({"links.1.rate": "4Mb/s"})
    found = difference(loaded, faster).including(simulated(loaded, faster, replications=3))
    frame = found.simulated_frame()
    assert frame.height == len(found.simulated)
    [bulk] = frame.filter((frame["class"] == "bulk") & (frame["quantity"] == "throughput_bps")).to_dicts()
    assert bulk["differs"]
    assert bulk["before_low"] <= bulk["before"] <= bulk["before_high"] < bulk["after_low"]
    with pytest.raises(InvalidInputError, match="both files are scenarios"):
        simulated(loaded, faster, old)


def test_simulation_options_require_a_simulation(perhop: Command, old: Path) -> None:
    for option in ("--seed", "--replications"):
        ended = perhop("diff", old, old, option, "3")
        assert ended.code == 2
        assert "--seed and --replications are for simulations" in ended.err
        assert "--simulate" in ended.err


def test_folders_of_results_are_refused_with_a_hint_to_compare(perhop: Command, tmp_path: Path) -> None:
    for name in ("fifo", "cake"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "manifest.json").write_text("{}")
    ended = perhop("diff", "fifo", "cake")
    assert (ended.code, ended.out) == (2, "")
    assert "to compare two results: perhop compare fifo cake" in ended.err
