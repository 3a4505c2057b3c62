"""`perhop bounds`, `Scenario.bounds` and the comparison with a run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import perhop as package
from conftest import ROOT, Command
from perhop.bounds import bounds_of, expedited_queue, longest_delays, seen_in
from perhop.errors import InvalidInputError

EXAMPLES = sorted(ROOT.glob("examples/*.perhop.yaml"))
STUDIES = sorted(ROOT.glob("studies/*/*.perhop.yaml"))
CONFIGURATIONS = sorted(ROOT.glob("tests/configurations/*.cfg"))

# Voice of 200 bytes each 20 ms (80 kb/s) above bulk on 1 Mb/s: a byte takes 8 µs.
SCENARIO: dict[str, Any] = {
    "perhop": 1,
    "name": "voice",
    "duration": "5s",
    "hosts": {"a": {}, "b": {}},
    "routers": {"R1": {}, "R2": {}},
    "links": [
        {"between": ["a", "R1"], "rate": "100Mb/s"},
        {"between": ["R1", "R2"], "rate": "1Mb/s", "interfaces": {"R1": {"output": "wan"}}},
        {"between": ["R2", "b"], "rate": "100Mb/s"},
    ],
    "policies": {
        "wan": {
            "queueing": {
                "scheduler": "priority",
                "classes": [
                    {"name": "voice", "match": {"dscp": "ef"}},
                    {"name": "rest", "buffer": {"tail-drop": {"limit": "40 packets"}}},
                ],
            }
        }
    },
    "traffic": [
        {
            "name": "voice",
            "from": "a",
            "to": "b",
            "dscp": "ef",
            "source": {"cbr": {"rate": "80kb/s", "packet": {"ip": "200B"}}},
        },
        {
            "name": "bulk",
            "from": "a",
            "to": "b",
            "source": {"poisson": {"rate": "2Mb/s", "packet": {"ip": "1500B"}}},
        },
    ],
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """The scenario in a file."""
    path = tmp_path / "voice.perhop.yaml"
    path.write_text(json.dumps(SCENARIO), encoding="utf-8")
    return path


def test_voice_waits_for_one_packet(perhop: Command, file: Path) -> None:
    found = perhop("bounds", file, "--json").json()
    at = {(queue["port"], queue["queue"]): queue for queue in found["queues"]}
    voice, rest = at["R1->R2", "voice"], at["R1->R2", "rest"]
    # A packet waits for one packet of 1500 bytes on the wire and for its own 200 bytes. The same holds at the
    # host's port, whose link is fast. A second packet of voice may therefore follow the first 0.12 ms earlier
    # than 20 ms: it arrives 19.8 ms after the first.
    assert voice["delay_s"] == pytest.approx(1700 * 8e-6, rel=1e-4)
    assert [step["rule"] for step in voice["rules"]] == ["priority"]
    assert all(step["formula"] and step["source"] for step in voice["rules"])
    # For any arrivals, at most 40 packets wait, in addition to 80 kb/s of voice and a packet on the wire.
    assert rest["overflows"] and rest["backlog_packets"] == 40
    assert [step["rule"] for step in rest["rules"]] == ["priority", "queue-limit"]
    assert rest["delay_s"] > 41 * 1500 * 8e-6
    assert {row["class"]: row["hops"] for row in found["classes"]} == {"voice": 3, "bulk": 3}


def test_simulated_delays_are_within_the_bound(perhop: Command, file: Path) -> None:
    found = perhop("bounds", file, "--simulate", "--json").json()
    bounds = {(queue["port"], queue["queue"]): queue for queue in found["queues"]}
    assert len(found["simulated"]) == len(bounds) == 6 - 2
    for seen in found["simulated"]:
        bound = bounds[seen["port"], seen["queue"]]
        assert seen["delay_max_s"] <= bound["delay_s"]
        assert seen["backlog_max_bytes"] <= bound["backlog_bytes"]
        assert seen["backlog_max_packets"] <= bound["backlog_packets"]
    # The queue of the rest was full.
    assert max(queue["backlog_max_packets"] for queue in found["simulated"]) == 40


def test_tables_show_bounds_reasons_and_formulas(perhop: Command, file: Path) -> None:
    unlimited = "traffic.voice.source={poisson: {rate: 80kb/s, packet: {ip: 200B}}}"
    ended = perhop("bounds", file, "--explain", "--set", unlimited)
    assert ended.code == 0
    assert "Bounds of queues" in ended.out and "Bounds from end to end" in ended.out
    assert "no bound at R1->R2 rest: classes with priority over this one may take the whole rate" in ended.out
    assert "sent at least: 1,000 kb/s·(t - 12 ms)" in ended.out and "arrives at most: " in ended.out
    assert "source: " in ended.out and "queue-limit: D = T(limit)" in ended.out
    assert "no bound: classes with priority over this one" in ended.out.split("Bounds from end to end")[1]


def test_one_class(perhop: Command, file: Path) -> None:
    found = perhop("bounds", file, "--class", "voice", "--json").json()
    assert [row["class"] for row in found["classes"]] == ["voice"]
    assert ("R1->R2", "rest") not in {(queue["port"], queue["queue"]) for queue in found["queues"]}
    ended = perhop("bounds", file, "--class", "video")
    assert ended.code == 2
    assert "there is no traffic class `video`" in ended.err and "voice, bulk" in ended.err


def test_ef_error_is_at_most_one_packet(perhop: Command, file: Path) -> None:
    found = perhop("bounds", file, "--ef", "R1->R2:voice=1Mb/s", "--json").json()
    [terms] = found["expedited"]
    assert terms["packets"] == 250
    # RFC 3247 §5.1 on strict priority: the packet on the wire, 1500 bytes at 1 Mb/s, and nothing else.
    assert 0 < terms["aggregate_s"] <= 1500 * 8e-6
    assert terms["packet_s"] == terms["aggregate_s"]
    assert "E_a " in perhop("bounds", file, "--ef", "voice=100kb/s").out


@pytest.mark.parametrize("given", ["voice", "voice=5", "video=1Mb/s", "fifo=1Mb/s", "R1->R2:voice=0b/s"])
def test_a_wrong_ef_queue_is_one_clear_error(perhop: Command, file: Path, given: str) -> None:
    ended = perhop("bounds", file, "--ef", given, "--json")
    assert ended.code == 2
    assert "--ef" in json.loads(ended.out)["error"]["message"]


def test_wrong_files_are_refused(perhop: Command, tmp_path: Path) -> None:
    ended = perhop("bounds", tmp_path / "none.yaml")
    assert ended.code == 2 and "Traceback" not in ended.err
    (tmp_path / "bad.yaml").write_text("perhop: 1\nname: x\n", encoding="utf-8")
    assert perhop("bounds", tmp_path / "bad.yaml").code == 2


def test_frames() -> None:
    scenario = package.Scenario(SCENARIO)
    queues = scenario.bounds()
    assert queues.columns[:4] == ["port", "queue", "classes", "guaranteed_bps"]
    voice = queues.row(by_predicate=pl.col("queue") == "voice", named=True)
    assert voice["guaranteed_bps"] == pytest.approx(1e6) and voice["rate_bps"] == pytest.approx(80e3)
    classes = scenario.bounds(end_to_end=True)
    assert classes["class"].to_list() == ["voice", "bulk"]
    assert classes["delay_s"].null_count() == 0


def test_a_run_next_to_its_bounds(perhop: Command, file: Path, tmp_path: Path) -> None:
    ended = perhop("run", file, "--bounds", "-o", tmp_path / "run")
    assert ended.code == 0 and "Bounds from end to end" in ended.out
    found = perhop("run", file, "--bounds", "--json").json()["bounds"]
    assert {row["class"] for row in found["classes"]} == {"voice", "bulk"}
    assert perhop("report", tmp_path / "run", "-o", tmp_path / "report.html").code == 0
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "Bounds from end to end" in page and "delay simulated" in page


def _assert_kept(scenario: package.Scenario) -> None:
    """Check that no queue and no delay of a run exceeds its bound."""
    bounds, seen = bounds_of(scenario), seen_in(scenario)
    for bound in bounds.queues:
        assert (bound["delay_s"] is None) == (bound["reason"] is not None)
        most = seen.queue(bound["port"], bound["queue"])
        if most is None:
            continue
        at = f"{bound['port']} {bound['queue']}"
        for limit, value in (
            (bound["delay_s"], most["delay_max_s"]),
            (bound["backlog_bytes"], most["backlog_max_bytes"]),
            (bound["backlog_packets"], most["backlog_max_packets"]),
        ):
            assert limit is None or value <= limit, f"{at}: {bound} {most}"
    longest = longest_delays(scenario.run())
    for row in bounds.classes:
        delay = row["delay_s"]
        assert delay is None or longest.get(row["class"], 0.0) <= delay, row


@pytest.mark.parametrize("file", [*EXAMPLES, *STUDIES], ids=lambda file: file.name)
def test_no_example_exceeds_its_bounds(file: Path) -> None:
    # Some flows of varying-level start late in the run.
    duration = "140s" if file.stem.startswith("varying-level") else "14s"
    # Examples that last milliseconds have flows of many Gb/s.
    own = str(package.Scenario.load(file)["duration"])
    duration = own if own.endswith(("ms", "us")) else duration
    _assert_kept(package.Scenario.load(file, {"duration": duration, "measure.warmup": "0s"}))


@pytest.mark.parametrize("file", CONFIGURATIONS, ids=lambda file: file.name)
def test_no_router_exceeds_its_bounds(file: Path) -> None:
    try:
        scenario = package.Scenario.load(file)
    except InvalidInputError as error:
        pytest.skip(str(error))
    _assert_kept(scenario.changed({"duration": "400ms", "measure.warmup": "0s"}))


def test_a_router_configuration(perhop: Command) -> None:
    found = perhop("bounds", ROOT / "examples" / "router.cfg", "--simulate", "--json")
    assert found.code == 0, found.err
    document = found.json()
    bounds = {(queue["port"], queue["queue"]): queue for queue in document["queues"]}
    assert any(queue["delay_s"] for queue in bounds.values())
    for seen in document["simulated"]:
        delay = bounds[seen["port"], seen["queue"]]["delay_s"]
        assert delay is None or seen["delay_max_s"] <= delay


def test_a_queue_is_found_by_name() -> None:
    bounds = bounds_of(SCENARIO)
    assert expedited_queue(bounds, "voice=64kb/s") == ("R1->R2", "voice", 64_000)
    assert expedited_queue(bounds, "R1->R2:voice=64kb/s") == ("R1->R2", "voice", 64_000)
    with pytest.raises(InvalidInputError, match="several queues"):
        expedited_queue(bounds, "fifo=64kb/s")
