"""`perhop run FOLDER`: a folder of devices as one scenario, with results for each pair of sites and class."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from conftest import ROOT, Command, Terminal
from test_answers import faults
from test_network import branch, hub, network

#: 2 Mb/s behind each branch, of which VOICE has 400 kb/s.
SHAPER = """\
policy-map LINE
 class class-default
  shape average 2000000
  service-policy WAN
"""
#: Two sites in the first columns of a matrix.
PAIR = "B1 10.1.0.0/24,B2 10.2.0.0/24"
_CODES = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]|\r")


def star(folder: Path, branches: int = 2) -> Path:
    """Return a hub with branches whose lines are shaped to 2 Mb/s in both directions."""
    files = {f"b{number}": shaped(branch(number)) for number in range(1, branches + 1)}
    return network(folder, hub=shaped(hub(branches)), **files)


def shaped(text: str) -> str:
    shaper = text.replace("interface ", f"{SHAPER}interface ", 1)
    return shaper.replace(" service-policy output WAN\n", " service-policy output LINE\n")


def run(perhop: Command, folder: Path, *arguments: object) -> dict[str, Any]:
    ended = perhop("run", folder, "--json", "--replications", "1", *arguments)
    assert ended.code == 0, ended.err
    found: dict[str, Any] = ended.json()
    assert faults("run", found) == []
    return found


def matrix(folder: Path, *lines: str, header: str = "from,to,class,rate,packet_bytes,kind") -> Path:
    file = folder / "matrix.csv"
    file.write_text("\n".join([header, *lines]) + "\n")
    return file


def by_class(found: dict[str, Any]) -> dict[tuple[str, str], dict[str, Any]]:
    return {(pair["from"].split()[0], pair["class"]): pair for pair in found["pairs"]}


def test_a_matrix_runs_and_the_hop_of_loss_is_named(perhop: Command, tmp_path: Path) -> None:
    """3 Mb/s of best effort into a shaper of 2 Mb/s lose a third; voice loses nothing."""
    folder = star(tmp_path)
    traffic = matrix(tmp_path, f"{PAIR},voice,200kb/s,200,voice", f"{PAIR},default,3Mb/s,1000,datagrams")
    found = run(perhop, folder, "--traffic", traffic, "--duration", "10s")
    pairs = by_class(found)
    voice, rest = pairs["B1", "voice"], pairs["B1", "default"]
    assert [stop["device"] for stop in voice["ways"][0]] == ["B1", "HUB", "B2"]
    assert voice["loss_percent"] == 0
    assert voice["mos"] > 4
    assert voice["delivered_bps"] == pytest.approx(200e3, rel=0.02)
    # 2 Mb/s with the frames of Ethernet that a shaper counts, minus voice.
    assert rest["delivered_bps"] == pytest.approx(1.75e6, rel=0.03)
    at = rest["loss_at"]
    assert (at["device"], at["interface"]) == ("B1", "GigabitEthernet0/0")
    assert at["queue"].split("/")[-1] == "class-default"
    assert rest["delay_at"]["device"] == "B1"
    # The reported place of the loss is that of the run's counters.
    counted = {(row["port"], row["queue"]): row["dropped_packets"]["mean"] for row in found["ports"]}
    assert counted[at["port"], at["queue"]] > 0
    assert sum(counted.values()) == counted[at["port"], at["queue"]]


def test_the_text_fits_a_terminal_and_names_what_is_assumed(terminal: Terminal, tmp_path: Path) -> None:
    folder = star(tmp_path)
    traffic = matrix(tmp_path, f"{PAIR},voice,200kb/s,,", f"{PAIR},default,3Mb/s,1000,datagrams")
    arguments = ("run", folder, "--traffic", traffic, "--duration", "5s", "--replications", "1")
    printed = _CODES.sub("", terminal.shown(tmp_path, *arguments, columns=80))
    assert "B1 10.1.0.0/24 > B2 10.2.0.0/24" in printed
    assert "B1 Gi0/0" in printed
    assert "assumed: links between devices have a delay of 1 ms" in printed
    # The progress display overwrites itself.
    table = printed.partition(" simulated,")[2]
    assert max(map(len, table.splitlines())) <= 80


@pytest.mark.parametrize(("level", "part"), [("quiet", 0.7), ("busy", 0.9)])
def test_every_access_link_has_the_load(perhop: Command, tmp_path: Path, level: str, part: float) -> None:
    """The load of each branch is a part of the 20 % of its line for VOICE, divided between the other two."""
    folder = star(tmp_path, branches=3)
    found = run(perhop, folder, "--load", level)
    voice = [pair for pair in found["pairs"] if pair["class"] == "VOICE"]
    assert len(voice) == 6
    for pair in voice:
        assert pair["rate"] == pytest.approx(part * 0.2 * 2e6 / 2, rel=0.15)
    assert found["load"].startswith(f"load: {level}")


CALLS = """\
ip access-list extended CALLS
 permit udp any range 16384 32767 any
class-map match-any CALLS
 match access-group name CALLS
policy-map LAN
 class CALLS
  set dscp ef
 class class-default
  set dscp default
"""


@pytest.mark.parametrize("marks_calls", [True, False])
def test_a_class_is_loaded_with_packets_that_the_entrance_marks_for_it(
    perhop: Command, tmp_path: Path, marks_calls: bool
) -> None:
    """A LAN port resets all marks except those of calls: unmarked EF would wait with best effort."""
    lan = CALLS if marks_calls else "policy-map LAN\n class class-default\n  set dscp default\n"
    inside = re.compile(r"( ip address 10\.\d\.0\.1 255\.255\.255\.0\n)")
    files = {
        f"b{number}": lan + inside.sub(r"\1 service-policy input LAN\n", shaped(branch(number)))
        for number in (1, 2)
    }
    found = run(perhop, network(tmp_path, hub=shaped(hub(2)), **files), "--load", "busy")
    voice = [pair for pair in found["pairs"] if pair["class"] == "VOICE"]
    if marks_calls:
        assert len(voice) == 2
        for pair in voice:
            assert pair["ways"][0][0]["queue"].split("/")[-1] == "VOICE"
            assert re.match(r"udp 16384 > \d+ ", pair["packet"]), pair["packet"]
    else:
        assert voice == []
        start = "B1 GigabitEthernet0/0: class VOICE gets no load"
        (named,) = (text for text in found["missing"] if text.startswith(start))
        assert "VOICE gets no load: perhop found no packet from B1 10.1.0.0/24 that waits" in named


def test_a_pair_without_a_known_path_is_left_out_by_name(perhop: Command, tmp_path: Path) -> None:
    lost = branch(3).replace("router ospf 1", "router eigrp 1")
    folder = network(tmp_path, b1=branch(1), b2=branch(2), b3=lost, hub=hub(3))
    found = run(perhop, folder, "--load", "busy")
    assert {(pair["from"].split()[0], pair["to"].split()[0]) for pair in found["pairs"]} == {
        ("B1", "B2"), ("B2", "B1"),
    }  # fmt: skip
    names = {(pair["from"].split()[0], pair["to"].split()[0]) for pair in found["left_out"]}
    assert names == {("B3", "B1"), ("B3", "B2"), ("B1", "B3"), ("B2", "B3")}
    printed = perhop("run", folder, "--replications", "1").out
    assert "left out: B3 10.3.0.0/24 > B1 10.1.0.0/24: path unknown at B3" in printed


def test_a_network_without_a_known_path_is_one_error(perhop: Command, tmp_path: Path) -> None:
    texts = [branch(number).replace("router ospf 1", "router eigrp 1") for number in (1, 2)]
    folder = network(tmp_path, b1=texts[0], b2=texts[1], hub=hub(2))
    ended = perhop("run", folder)
    assert ended.code == 2
    assert "no packet arrives: packets from B1 10.1.0.0/24 to B2 10.2.0.0/24 stop at B1" in ended.err
    assert "add the routes of B1" in ended.err


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("B1,B2 10.2.0.0/24,voice,1Mb/s,,", "there is no site `B1`"),
        ("B1 10.1.0.0/24,B1 10.1.0.0/24,voice,1Mb/s,,", "`from` and `to` are the same site"),
        ("B1 10.1.0.0/24,B2 10.2.0.0/24,voice,fast,,", "`fast` is not a rate"),
        ("B1 10.1.0.0/24,B2 10.2.0.0/24,blue,1Mb/s,,", "the codepoint of class `blue` is not known"),
        ("B1 10.1.0.0/24,B2 10.2.0.0/24,voice,1Mb/s,20,", "`20` is not a packet size"),
        ("B1 10.1.0.0/24,B2 10.2.0.0/24,voice,1Mb/s,,loud", "there is no kind of traffic `loud`"),
    ],
)
def test_a_wrong_line_of_the_matrix_is_named(
    perhop: Command, tmp_path: Path, line: str, message: str
) -> None:
    folder = star(tmp_path)
    ended = perhop("run", folder, "--traffic", matrix(tmp_path, line))
    assert ended.code == 2
    assert "matrix.csv`, line 2:" in ended.err
    assert message in ended.err


def test_options_of_one_router_are_refused(perhop: Command, tmp_path: Path) -> None:
    folder = star(tmp_path)
    ended = perhop("run", folder, "--interface", "Gi0/0")
    assert ended.code == 2
    assert "--interface" in ended.err
    assert "--traffic, --load" in ended.err


def test_routes_are_for_folders(perhop: Command, tmp_path: Path) -> None:
    ended = perhop("run", ROOT / "examples" / "first-steps.perhop.yaml", "--routes", tmp_path / "routes.csv")
    assert ended.code == 2
    assert "--routes is for a folder of configurations" in ended.err


def test_given_routes_lead_a_run(perhop: Command, tmp_path: Path) -> None:
    texts = [branch(number).replace("router ospf 1", "router eigrp 1") for number in (1, 2)]
    folder = network(tmp_path, b1=texts[0], b2=texts[1], hub=hub(2))
    routes = tmp_path / "routes.csv"
    rows = ["B1,0.0.0.0/0,192.0.2.6", "B2,0.0.0.0/0,192.0.2.10"]
    rows += ["HUB,10.1.0.0/24,192.0.2.5", "HUB,10.2.0.0/24,192.0.2.9"]
    routes.write_text("\n".join(["device,prefix,next_hop", *rows, ""]))
    found = run(perhop, folder, "--routes", routes, "--traffic", matrix(tmp_path, f"{PAIR},ef,200kb/s,200,"))
    (pair,) = found["pairs"]
    assert [stop["device"] for stop in pair["ways"][0]] == ["B1", "HUB", "B2"]
    assert pair["delivered_bps"] == pytest.approx(200e3, rel=0.02)


def test_bounds_are_end_to_end(perhop: Command, tmp_path: Path) -> None:
    """The longest simulated delay of voice is below its bound."""
    folder = star(tmp_path)
    arguments = (folder, "--traffic", matrix(tmp_path, f"{PAIR},voice,200kb/s,200,voice"))
    bounded = perhop("bounds", *arguments, "--json").json()
    (bound,) = [row for row in bounded["classes"] if row["class"].endswith("voice")]
    found = run(perhop, *arguments, "--duration", "10s")
    (simulated,) = [row for row in found["classes"] if row["class"].endswith("voice")]
    assert 0 < simulated["delay_max_s"]["mean"] <= bound["delay_s"]
    printed = perhop("bounds", *arguments).out
    assert "B1->HUB" in printed
    assert "assumed: links between devices have a delay of 1 ms" in printed
