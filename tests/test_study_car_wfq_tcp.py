"""The study car-wfq-tcp, through the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command

CLAIMS = {
    "car-wfq-tcp.udp-starves": "partly",
    "car-wfq-tcp.many-streams": "partly",
    "car-wfq-tcp.drop-costs": "partly",
    "car-wfq-tcp.counters": "partly",
}
# Figures that differ from the published ones by more than a quarter; the README explains each.
DIFFER = {
    ("scenario-1", "10", "udp", "priority_mbps"),
    ("scenario-1", "20", "udp", "priority_mbps"),
    ("scenario-2", "10", "10", "background_mbps"),
    ("scenario-2", "10", "1", "background_mbps"),
    ("scenario-3", "10", "10", "background_mbps"),
    ("scenario-3", "20", "20", "exceeded_kbps"),
    ("scenario-3", "10", "1", "exceeded_kbps"),
}


@pytest.mark.touched
def test_a_deep_ring_starves_a_connection(perhop: Command) -> None:
    """The connection gets its window per round trip, regardless of the queue limit and CAR."""
    tables = ("scenario-1", "mechanism", "queue-limit")
    only = [argument for table in tables for argument in ("--only", table)]
    ended = perhop("study", "run", "car-wfq-tcp", *only, "--no-sensitivity", "--replications", "2", "--json")
    assert ended.code in {0, 4}, ended.err
    report = ended.json()
    points = {
        (point["table"], point["metric"], *point["case"].values()): point["measured"]
        for point in report["curves"]
    }

    def starved(changed: str) -> float:
        return points["mechanism", "tcp_mbps", changed, "1"]

    assert starved("nothing") == pytest.approx(0.10, rel=0.25)
    # With a short ring, the class gets its guarantee: 1.27 Mb/s of payload.
    assert starved("ring-of-5") > 1.1
    assert starved("ring-of-40") > 10 * starved("nothing") * 0.9
    # The throughput is the window divided by the round-trip time: half the window gives half the throughput.
    assert starved("half-the-window") == pytest.approx(starved("nothing") / 2, rel=0.1)
    assert starved("twice-the-window") == pytest.approx(starved("nothing") * 2, rel=0.1)
    assert starved("queue-limit-of-10") == starved("nothing")
    assert points["mechanism", "exceeding_percent", "nothing", "1"] == 0
    # "The queue-limit parameter is not relevant" is true only with a deep ring.
    deep, shallow = (
        [points["queue-limit", "tcp_mbps", ring, limit] for limit in ("1", "10", "64")]
        for ring in ("1024", "40")
    )
    assert deep[0] == deep[1] == deep[2]
    assert shallow[0] < shallow[2] / 10


@pytest.mark.thorough
def test_the_published_results(perhop: Command, tmp_path: Path) -> None:
    """At full length: the verdicts, and the results that the README quotes."""
    ended = perhop("study", "run", "car-wfq-tcp", "--no-sensitivity", "--json", "-o", "results")
    assert ended.code == 4, ended.err
    report = ended.json()
    assert {claim["id"]: claim["verdict"] for claim in report["claims"]} == CLAIMS
    differ = {
        (figure["table"], figure["case"]["priority_streams"], figure["case"]["background"], figure["metric"])
        for figure in report["figures"]
        if figure["verdict"] != "agrees"
    }
    assert differ == DIFFER
    readme = (Path(__file__).parents[1] / "studies" / "car-wfq-tcp" / "README.md").read_text()
    for line in (tmp_path / "results" / "car-wfq-tcp" / "report.md").read_text().splitlines()[4:]:
        assert line in readme.splitlines(), "run `make quote-reports`"
