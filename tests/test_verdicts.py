"""Verdicts on the classes of a run: state, fitness and cause of losses."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import polars as pl
import pytest

import perhop
from conftest import ROOT, Command
from perhop.verdicts import Telephony
from perhop.verdicts.classifying import queues_by_class
from perhop.verdicts.telephony import CALL_COLUMNS, Heard, calls
from perhop.verdicts.y1541 import y1541

# A link of 2 Mb/s with voice before data; the rates of both determine the verdicts.
SCENARIO = """\
perhop: 1
name: Verdicts
duration: 10s
hosts: {{ a: {{}}, b: {{}} }}
routers: {{ r: {{}} }}
links:
  - {{ between: [a, r], rate: 100Mb/s, delay: 1ms, interfaces: {{ a: {{ output: edge }} }} }}
  - {{ between: [r, b], rate: 2Mb/s, delay: 10ms, loss: {loss}, interfaces: {{ r: {{ output: wan }} }} }}
policies:
  edge:
    conditioners:
      - name: limited
        match: {{ dscp: af11 }}
        meter: {{ token-bucket: {{ rate: 100kb/s, burst: 3kB }} }}
        red: [drop]
  wan:
    queueing:
      scheduler: priority
      classes:
        - {{ name: voice, match: {{ dscp: ef }}, share: {{ level: 0, cap: {{ rate: {cap}, burst: 3kB }} }} }}
        - {{ name: data, share: {{ level: 1 }} }}
traffic:
  - name: voice
    from: a
    to: b
    dscp: ef
    source: {{ cbr: {{ rate: {voice}, packet: {{ ip: 200B }} }} }}
  - {{ name: data, from: a, to: b, source: {{ poisson: {{ rate: {data}, packet: {{ ip: 1000B }} }} }} }}
  - name: limited
    from: a
    to: b
    dscp: af11
    source: {{ cbr: {{ rate: 200kb/s, packet: {{ ip: 500B }} }} }}
  - name: silent # but for the warm-up
    from: a
    to: b
    stop: 500ms
    source: {{ cbr: {{ rate: 8kb/s, packet: {{ ip: 200B }} }} }}
measure: {{ warmup: 1s }}
"""


@pytest.fixture
def judged(tmp_path: Path) -> Any:
    def run(voice: str = "80kb/s", data: str = "800kb/s", cap: str = "1.9Mb/s", loss: float = 0.0) -> Any:
        file = tmp_path / "scenario.perhop.yaml"
        file.write_text(SCENARIO.format(voice=voice, data=data, cap=cap, loss=loss))
        return {row["class"]: row for row in perhop.run(file).verdicts().iter_rows(named=True)}

    return run


def test_a_class_without_losses_is_fit_for_its_role(judged: Any) -> None:
    voice = judged()["voice"]
    assert (voice["state"], voice["cause"], voice["loss_percent"]) == ("clean", None, 0.0)
    assert (voice["role"], voice["role_from"], voice["verdict"]) == ("voice", "codepoint", "fit")
    assert voice["text"].startswith("no losses; fit for voice (R 9")


def test_a_policed_class_names_its_policer(judged: Any) -> None:
    limited = judged()["limited"]
    assert (limited["state"], limited["cause"], limited["port"]) == ("policed", "policed", "a->r")
    assert limited["loss_percent"] == pytest.approx(50.0, abs=2.0)
    assert "by a policer above 100 kb/s at a->r" in limited["text"]
    # The guaranteed rate of its queue is the rate that voice does not use: 100 kb/s, the rate of the policer.
    assert (limited["role"], limited["verdict"]) == ("bulk", "fit")


def test_an_overloaded_class_names_its_queue_and_its_own_load(judged: Any) -> None:
    data = judged(data="4Mb/s")["data"]
    assert (data["state"], data["cause"], data["port"]) == ("congested", "queue_full", "r->b")
    assert "lost by full queues (tail drop) at r->b" in data["text"]
    assert (data["role"], data["verdict"]) == ("best-effort", "fit")


def test_a_starved_class_names_the_class_that_uses_the_link(judged: Any) -> None:
    data = judged(voice="4Mb/s", cap="4Mb/s")["data"]
    assert (data["state"], data["holder"]) == ("starved", "voice")
    assert data["verdict"] == "unfit"
    assert data["holder_percent"] > 95.0
    assert data["served_percent"] < 10.0
    assert "voice holds" in data["text"]
    assert data["r"] is None or data["r"] < 50.0


def test_a_lossy_link_is_named(judged: Any) -> None:
    voice = judged(loss=0.1)["voice"]
    assert (voice["state"], voice["cause"]) == ("lossy", "lost")
    assert "loss on a link" in voice["text"]


def test_a_class_that_sends_nothing_is_idle(judged: Any) -> None:
    silent = judged()["silent"]
    assert (silent["state"], silent["r"], silent["verdict"]) == ("idle", None, None)
    assert silent["text"] == "idle: no packet was sent in the measured time"


def test_a_class_without_packets_so_far_is_reported(judged: Any, scenario: Path) -> None:
    results = perhop.run(scenario, duration="5ms", set={"measure.warmup": "0s"})
    row = results.verdicts().row(0, named=True)
    assert (row["state"], row["r"], row["loss_percent"]) == ("waiting", None, None)
    assert "in transit" in row["text"]


@pytest.mark.parametrize(
    ("mean", "p999", "loss", "expected"),
    [
        (0.050, 0.060, 0.0, 0),
        (0.050, 0.0901, 0.1, 2),
        (0.101, 0.0899, 0.0, 1),
        (0.101, 0.140, 0.0, 3),
        (0.401, 0.500, 0.0, 4),
        (1.001, 1.010, 0.0, 5),
        (0.050, 0.060, 0.11, 5),
        (None, None, 100.0, None),
    ],
)
def test_classes_of_y1541(mean: float | None, p999: float | None, loss: float, expected: int | None) -> None:
    least = None if mean is None else 0.040
    group = {"delay_mean_s": {"mean": mean}, "delay_p999_s": {"mean": p999}, "delay_min_s": {"mean": least}}
    assert y1541(group, loss) == expected


TREES = [
    "class-based-wfq",
    "drr",
    "fair-queueing",
    "nested-classes",
    "red-family",
    "strict-priority",
    "tcp",
    "transmit-ring",
]


@pytest.mark.parametrize("example", TREES)
def test_queues_classified_by_codepoints_count_those_packets(example: str) -> None:
    results = perhop.run(ROOT / "examples" / f"{example}.perhop.yaml", duration="8s", replications=1)
    offered = {row["class"]: row["offered_packets"]["mean"] for row in results.summary["classes"]}
    sent: dict[tuple[str, str], float] = {}
    for name, queues in queues_by_class(results.scenario).items():
        (queue,) = queues
        sent[queue] = sent.get(queue, 0.0) + offered[name]
    assert sent
    for (port, queue), packets in sent.items():
        rows = [row for row in results.summary["ports"] if (row["port"], row["queue"]) == (port, queue)]
        arrived = sum(row["arrived_packets"]["mean"] for row in rows)
        # A few packets are on their way to the router at the start and at the end of the measured time.
        assert arrived == pytest.approx(packets, abs=10.0)


@pytest.mark.parametrize(
    ("change", "known"),
    [
        ({}, True),
        ({"policies.wan.queueing.classes.1.match": "{source: 10.0.0.0/8}"}, False),
        ({"policies.edge.conditioners.0.red": "[{mark: af12}]"}, False),
        ({"links.0.headers": "[gre]"}, False),
        ({"traffic.data.class": "voice"}, False),
    ],
)
def test_an_uncertain_queue_is_not_reported(tmp_path: Path, change: dict[str, str], known: bool) -> None:
    file = tmp_path / "scenario.perhop.yaml"
    file.write_text(SCENARIO.format(voice="80kb/s", data="800kb/s", cap="1Mb/s", loss=0))
    found = queues_by_class(perhop.Scenario.load(file, change))
    assert ("data" in found) is known
    if known:
        assert found["data"] == found["limited"] == [("r->b", "data")]


@pytest.mark.parametrize("seed", range(20))
def test_traffic_waits_in_all_queues_of_its_path(seed: int) -> None:
    """Each further router of the tree is connected to an earlier one; every interface has a queue."""
    draw = Random(seed)
    between = [(draw.randrange(number), number) for number in range(1, draw.randint(2, 12))]
    routers = [f"r{number}" for number in range(len(between) + 1)]
    output = {"output": "wan"}
    links = [
        {
            "between": [router, other],
            "rate": "1Mb/s",
            "interfaces": {router: output, other: output},
        }
        for router, other in ([f"r{number}", f"r{other}"] for number, other in between)
    ]
    start, end = draw.choice(routers), draw.choice(routers)
    links += [{"between": [host, at], "rate": "1Mb/s"} for host, at in (("a", start), ("b", end))]
    scenario = {
        "hosts": {"a": {}, "b": {}},
        "routers": {name: {} for name in routers},
        "links": links,
        "policies": {"wan": {"queueing": {"classes": [{"name": "all"}]}}},
        "traffic": [{"name": "flow", "from": "a", "to": "b", "source": {}}],
    }

    def way(node: str, before: str) -> list[str] | None:
        if node == end:
            return []
        for link in links[: len(between)]:
            if node in link["between"] and before not in link["between"]:
                (other,) = set(link["between"]) - {node}
                rest = way(other, node)
                if rest is not None:
                    return [f"{node}->{other}", *rest]
        return None

    expected = [(port, "all") for port in way(start, "") or []]
    assert queues_by_class(scenario) == ({"flow": expected} if expected else {})


def test_a_class_without_its_guarantee_names_the_class_that_takes_it(perhop: Command, tmp_path: Path) -> None:
    text = (ROOT / "examples" / "class-based-wfq.perhop.yaml").read_text()
    (tmp_path / "wfq.perhop.yaml").write_text(text)
    # Voice fills the line and is not policed, so business starves regardless of its name in the traffic.
    more = ["--set", "traffic.voice.source.cbr.rate=3Mb/s"]
    more += ["--set", "policies.wan.queueing.classes.0.police=null"]
    ended = perhop("run", "wfq.perhop.yaml", "--json", *more)
    verdicts = {verdict["class"]: verdict for verdict in ended.json()["verdicts"]}
    assert (verdicts["gold"]["state"], verdicts["gold"]["holder"]) == ("starved", "voice")
    assert "800 kb/s guaranteed" in verdicts["gold"]["text"]


def test_the_rating_matches_measured_delays_by_hand(judged: Any) -> None:
    """A buffer of 5 ms plays delays of 10 and 12 ms in time; one packet in ten, with 20 ms, is lost."""
    classes = {
        "replication": [0],
        "class": ["v"],
        "delivered_packets": [10],
        "dropped_packets": [0],
        "delay_min_s": [0.010],
        "delay_mean_s": [0.012],
    }
    own: dict[str, list[Any]] = {column: [] for column in CALL_COLUMNS}
    histogram = {
        "replication": [0, 0, 0, 0],
        "class": ["v"] * 4,
        "quantity": ["delay", "delay", "delay", "ipdv"],
        "up_to_s": [0.010, 0.012, 0.020, 0.5],
        "packets": [4, 5, 1, 9],
    }
    call = calls(Heard(classes, histogram, own), Telephony.from_options("g729a-vad", "5ms"))["v"]
    assert call.late and call.mouth_to_ear and call.r
    assert call.late.mean == pytest.approx(10.0)
    # 10 ms on the path, 5 ms in the buffer, 35 ms of coding: two frames in a packet, one ahead, look-ahead.
    assert call.mouth_to_ear.mean == pytest.approx(0.050)
    # The fit of Cole and Rosenbluth for the delay, which is within 0.3.
    assert call.r.mean == pytest.approx(93.2 - 0.024 * 50 - (11 + 84 * 10 / 29), abs=0.3)


def test_a_longer_buffer_loses_less_and_delays_more(judged: Any, tmp_path: Path) -> None:
    (tmp_path / "s.perhop.yaml").write_text(
        SCENARIO.format(voice="80kb/s", data="4Mb/s", cap="1Mb/s", loss=0)
    )
    results = perhop.run(tmp_path / "s.perhop.yaml")
    short, long = (results.verdicts(jitter_buffer=buffer).row(0, named=True) for buffer in ("1ms", "200ms"))
    assert short["late_percent"] > 5.0
    assert long["late_percent"] == 0.0
    assert long["mouth_to_ear_s"] - short["mouth_to_ear_s"] == pytest.approx(0.199)


ROLES = [
    ("voice", "fit"),
    ("video", "unfit"),
    ("streaming", "unfit"),
    ("signaling", "unfit"),
    ("control", "unfit"),
    ("transactions", "unfit"),
    ("bulk", "unfit"),
    ("best-effort", "fit"),
    ("scavenger", "fit"),
]


@pytest.mark.parametrize(("role", "verdict"), ROLES)
def test_a_class_is_judged_only_by_its_own_role(tmp_path: Path, role: str, verdict: str) -> None:
    """A link loses 6 % of CBR at 80 kb/s: G.711 and best effort tolerate that, the others do not."""
    text = SCENARIO.format(voice="80kb/s", data="100kb/s", cap="1Mb/s", loss=0.06)
    (tmp_path / "s.perhop.yaml").write_text(text)
    change = {"traffic.voice.role": role, "duration": "60s"}
    results = perhop.Scenario.load(tmp_path / "s.perhop.yaml", change).run(replications=20)
    row = results.verdicts().row(0, named=True)
    assert (row["role"], row["role_from"], row["verdict"]) == (role, "scenario", verdict), row["text"]


def test_a_bound_within_the_interval_is_undecided(tmp_path: Path) -> None:
    """R of G.711 falls to 70 at some loss: three replications of few packets do not decide."""
    text = SCENARIO.format(voice="80kb/s", data="100kb/s", cap="1Mb/s", loss=0.075)
    (tmp_path / "s.perhop.yaml").write_text(text)
    results = perhop.run(tmp_path / "s.perhop.yaml", replications=3)
    row = results.verdicts().row(0, named=True)
    assert row["r_low"] < 70.0 < row["r_high"]
    assert row["verdict"] == "undecided"
    assert re.search(r"voice: undecided \(R \d+(\.\d+)?–\d+(\.\d+)?\)", row["text"])  # noqa: RUF001
    once = perhop.run(tmp_path / "s.perhop.yaml").verdicts().row(0, named=True)
    assert once["verdict"] in ("fit", "unfit") and once["r_low"] is None


def test_queued_packets_are_not_lost(tmp_path: Path) -> None:
    """With a queue of ten seconds and a short run, the verdict reports waiting packets and no loss."""
    text = SCENARIO.format(voice="80kb/s", data="4Mb/s", cap="1Mb/s", loss=0)
    text = text.replace(
        "{ name: data, share: { level: 1 } }",
        "{ name: data, share: { level: 1 }, buffer: { tail-drop: { limit: 10000 packets } } }",
    )
    (tmp_path / "s.perhop.yaml").write_text(text)
    row = perhop.run(tmp_path / "s.perhop.yaml").verdicts().row(1, named=True)
    assert (row["class"], row["loss_percent"]) == ("data", 0.0)
    assert "no losses; 5" in row["text"] and "% queued or in transit at the end" in row["text"]


def test_the_default_number_of_replications_follows_from_the_packets(perhop: Command, tmp_path: Path) -> None:
    text = SCENARIO.format(voice="80kb/s", data="800kb/s", cap="1Mb/s", loss=0)
    (tmp_path / "s.perhop.yaml").write_text(text)

    def times(*options: str) -> int:
        ended = perhop("run", "s.perhop.yaml", "--json", *options)
        assert ended.code == 0, ended.err
        count: int = ended.json()["replications"]
        return count

    assert times() == 10
    # Each replication has about 250 packets a second over two links: three have more than 1.5 million.
    assert times("--duration", "1200s") == 3
    assert times("--replications", "2") == 2
    (tmp_path / "s.perhop.yaml").write_text(text + "replications: 1\n")
    assert times() == 1
    assert "1 replication: no interval" in perhop("run", "s.perhop.yaml").out


CALL = """\
perhop: 1
name: one call
duration: 20s
hosts: {{ a: {{}}, b: {{}} }}
routers: {{ r: {{}} }}
links:
  - {{ between: [a, r], rate: 100Mb/s }}
  - between: [r, b]
    rate: 1Mb/s
    interfaces: {{ r: {{ output: fifo }} }}
policies:
  fifo: {{ queueing: {{ classes: [ {{ name: all, buffer: {{ tail-drop: {{ limit: 100 packets }} }} }} ] }} }}
traffic:
  - name: call
    from: a
    to: b
    source: {{ voice: {{ codec: {codec}{buffer} }} }}
  - {{ name: data, from: a, to: b, source: {{ poisson: {{ rate: 800kb/s, packet: {{ ip: 1000B }} }} }} }}
"""


@pytest.mark.parametrize("codec", ["g711", "g729a-vad"])
@pytest.mark.parametrize("buffer", ["", ", jitter-buffer: { fixed: 40ms }"])
def test_a_call_has_one_rating_in_its_table_and_its_verdict(tmp_path: Path, codec: str, buffer: str) -> None:
    (tmp_path / "s.perhop.yaml").write_text(CALL.format(codec=codec, buffer=buffer))
    results = perhop.run(tmp_path / "s.perhop.yaml", replications=3)
    table, verdict = results.summary["calls"][0], results.verdicts().row(0, named=True)
    assert 20 < verdict["r"] < 92
    for column in ("r", "mos", "mouth_to_ear_s", "late_percent"):
        assert verdict[column] == pytest.approx(table[column]["mean"], rel=1e-12)
    # A codec given as an argument is rated by the class's packets, not by the call.
    assert results.verdicts(codec="g723.1-vad").row(0, named=True)["r"] != verdict["r"]


def test_a_class_of_packets_is_rated_by_the_rule_of_a_call(tmp_path: Path) -> None:
    """The packets of G.711 without a call have the rating of the call, except for runs of lost packets."""
    text = CALL.format(codec="g711", buffer="").replace("limit: 100 packets", "limit: 1000 packets")
    (tmp_path / "call.perhop.yaml").write_text(text)
    results = perhop.run(tmp_path / "call.perhop.yaml")
    call, own = results.verdicts().row(0, named=True), results.table("calls").row(0, named=True)
    packets = results.verdicts("g711", burst_ratio=own["burst_ratio"]).row(0, named=True)
    assert packets["r"] == pytest.approx(call["r"], rel=1e-12)


def test_the_first_packet_decides_no_rating(tmp_path: Path) -> None:
    """A fixed buffer from the first packet on gave R 86 and R 21 for two seeds of one loss."""
    text = CALL.format(codec="g711", buffer="").replace("limit: 100 packets", "limit: 10 packets")
    (tmp_path / "s.perhop.yaml").write_text(text)
    rated = [perhop.run(tmp_path / "s.perhop.yaml", seed=seed).verdicts()["r"][0] for seed in range(1, 9)]
    assert max(rated) - min(rated) < 8.0, rated


def test_replications_bring_intervals_of_r_and_mos(scenario: Path) -> None:
    light = {"traffic.random.source.poisson.rate": "1.19Mb/s"}
    table = perhop.run(scenario, replications=3, set=light).verdicts()
    row = table.row(by_predicate=pl.col("class") == "random", named=True)
    assert row["r_low"] < row["r"] < row["r_high"]
    assert row["mos_low"] < row["mos"] < row["mos_high"]


def test_saved_results_have_the_same_verdicts(scenario: Path, tmp_path: Path) -> None:
    results = perhop.run(scenario, replications=2)
    results.save(tmp_path / "out")
    assert perhop.Results.load(tmp_path / "out").verdicts().equals(results.verdicts())


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"codec": "g728a"}, "there is no codec `g728a`"),
        ({"jitter_buffer": "60"}, "`60` is not a de-jitter buffer"),
        ({"jitter_buffer": "-5ms"}, "`-5ms` is not a de-jitter buffer"),
        ({"jitter_buffer": "1Mb/s"}, "`1Mb/s` is not a de-jitter buffer"),
        ({"burst_ratio": 0.0}, "the burst ratio must be above 0"),
    ],
)
def test_wrong_assumptions_are_refused(scenario: Path, arguments: dict[str, Any], said: str) -> None:
    results = perhop.run(scenario, duration="2s")
    with pytest.raises(perhop.InvalidInputError, match=said):
        results.verdicts(**arguments)


OPTIONS = ("--codec", "g729a-vad", "--duration", "20s", "--load", "overload")


def test_a_router_has_a_line_for_each_class(perhop: Command) -> None:
    ended = perhop("run", ROOT / "examples" / "router.cfg", *OPTIONS)
    assert ended.code == 0, ended.err
    verdicts = ended.out.partition("verdicts; calls: G.729A with VAD")[2]
    lines = {line.split(":")[0].strip(): line for line in verdicts.splitlines()[1:] if ":" in line[:20]}
    assert set(lines) == {"voice", "business", "class-default"}
    assert "policed: 16" in lines["voice"]
    assert "branch->far-side" in lines["business"]


def test_json_has_the_verdicts(perhop: Command, scenario: Path) -> None:
    document = perhop("run", scenario, "--json").json()
    assert [verdict["class"] for verdict in document["verdicts"]] == ["steady", "random"]
    assert document["verdicts"][0]["mos"]["mean"] >= 1.0
    assert "assertions" not in document


def test_the_report_has_the_verdicts(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    assert perhop("run", scenario, "-o", "out").code == 0
    assert perhop("report", "out").code == 0
    page = (tmp_path / "report.html").read_text()
    assert "lost by full queues (tail drop) at router-&gt;sink" in page
    assert "G.711 with loss concealment" in page
