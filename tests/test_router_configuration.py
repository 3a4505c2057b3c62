"""Scenarios with Cisco IOS router configurations."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import perhop as library
from conftest import ROOT, Command

EXAMPLE = ROOT / "examples" / "router-configuration.perhop.yaml"
LINE = "routers.branch.configuration"


def delay_ms(results: library.Results, name: str) -> float:
    rows = results.classes.filter(**{"class": name})
    return float(1e3 * rows["delay_mean_s"].mean())


def test_the_configuration_becomes_behavior() -> None:
    """Voice has priority; an added command removes it, as in a router."""
    usual = library.run(EXAMPLE, duration="6s")
    add = ["policy-map leased-line", "class voice", "no priority", "bandwidth 32"]
    without = library.run(EXAMPLE, duration="6s", set={f"{LINE}.add": add})
    # Without load: 0.8 ms of transmission, 8 ms of propagation, behind at most two packets of 1507 B in the
    # ring.
    assert 8.8 < delay_ms(usual, "voice") < 8.8 + 2 * 6.1
    assert delay_ms(without, "voice") > delay_ms(usual, "voice") + 6
    dropped = usual.classes.filter(**{"class": "voice"})["dropped_packets"].sum()
    assert dropped == 0, "160 kb/s is within the priority of 256"


def test_access_lists_match_addresses() -> None:
    """The business class matches the server's address; with another address it loses its share."""
    arrived = {}
    for address in ("10.1.0.20", "10.1.0.21"):
        results = library.run(EXAMPLE, duration="4s", set={"hosts.server.address": address})
        port = results.ports.filter(port="branch->headquarters")
        queues = zip(port["queue"], port["arrived_packets"], strict=True)
        arrived[address] = sum(count for name, count in queues if name.endswith("business"))
    assert arrived["10.1.0.20"] > 100
    assert arrived["10.1.0.21"] == 0


def test_results_hold_the_configuration(tmp_path: Path) -> None:
    results = library.run(EXAMPLE, duration="3s")
    results.save(tmp_path / "out")
    scenario = json.loads((tmp_path / "out" / "scenario.json").read_text())
    kept = scenario["routers"]["branch"]["configuration"]
    assert kept["text"] == (ROOT / "examples" / "router.cfg").read_text()
    assert "file" not in kept
    again = library.run(tmp_path / "out" / "scenario.json")
    assert again.summary == results.summary, "it needs no other file"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("links.1.interfaces.branch.name=Serial0/1", "did you mean `Serial0/0`"),
        ("links.1.interfaces.branch.rate=1Mb/s", "`rate` of `Serial0/0` is set twice"),
        (f"{LINE}.platform.profile=cisco-9000", "platforms: pre-hqf, 7500-vip, hqf, iosv, ios-xe,"),
        (f"{LINE}.file=routr.cfg", "there is no file"),
        (f"{LINE}.add=[interface Serial0/0, service-policy output nowhere]", "nowhere"),
    ],
)
def test_errors_are_reported(perhop: Command, change: str, said: str) -> None:
    ended = perhop("run", EXAMPLE, "--set", change)
    assert ended.code == 2, ended.out
    assert said in ended.err


def test_lines_that_are_not_simulated_are_reported(perhop: Command, tmp_path: Path) -> None:
    text = (ROOT / "examples" / "router.cfg").read_text()
    (tmp_path / "router.cfg").write_text(text.replace(" tx-ring-limit 2", " frobnicate 2"))
    (tmp_path / EXAMPLE.name).write_text(EXAMPLE.read_text())
    ended = perhop("check", EXAMPLE.name, "--json")
    assert ended.code == 0, ended.err
    ((warning,),) = [file["diagnostics"] for file in ended.json()["files"]]
    assert warning["file"].endswith("router.cfg")
    assert warning["line"] == 1 + text.splitlines().index(" tx-ring-limit 2")
    assert "`frobnicate 2`: not simulated" in warning["message"]


def test_a_repeated_line_is_listed_once(perhop: Command, tmp_path: Path) -> None:
    text = (ROOT / "examples" / "router.cfg").read_text()
    twice = text.replace("interface Serial0/0\n", "interface Serial0/0\n mpls ip\n frobnicate 3\n")
    twice = twice.replace("interface FastEthernet0/0\n", "interface FastEthernet0/0\n mpls ip\n")
    (tmp_path / "router.cfg").write_text(twice)
    ended = perhop("run", "router.cfg", "--duration", "1s")
    assert "`mpls ip` (2 lines), `frobnicate 3`: not simulated" in ended.err


def test_results_are_plotted_without_their_traces(tmp_path: Path) -> None:
    """Saved results are plotted without the traces and configurations of the run."""
    import perhop.plot
    from perhop.draw import policies

    there = tmp_path / "there"
    there.mkdir()
    (there / "trace.csv").write_text((ROOT / "examples" / "trace.csv").read_text())
    (there / "router.cfg").write_text((ROOT / "examples" / "router.cfg").read_text())
    traced = EXAMPLE.read_text().replace(
        "poisson: { rate: 2Mb/s, packet: { ip: 1500B } }", "trace: { file: trace.csv }"
    )
    assert "trace.csv" in traced
    probe = "measure:\n  queues: [{ from: branch, to: headquarters, every: 100ms }]"
    (there / "own.perhop.yaml").write_text(traced.replace("measure:", probe))
    library.run(there / "own.perhop.yaml", duration="5s").save(tmp_path / "out")
    for file in there.iterdir():
        file.unlink()
    results = library.Results.load(tmp_path / "out")
    shown = perhop.plot.queue(results, queue="voice")
    assert shown.title.startswith("Queue voice")
    assert any(picture.title == "port branch to headquarters" for picture in policies(results.scenario))
