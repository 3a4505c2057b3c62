"""The study rfc7928, through the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from conftest import Command

AQMS = ("tail-drop", "red", "codel", "fq-codel", "pie", "dualpi2", "fq-pie", "cake")
SECTIONS = ("5.1.1", "5.1.2", "5.2", "5.3", "5.4", "6", "7", "8.2", "8.2.5", "8.2.6", "9.1", "9.2", "10")


@pytest.mark.touched
def test_congestion_that_does_not_vary(perhop: Command, tmp_path: Path) -> None:
    arguments = ("--only", "8.2", "--no-sensitivity", "--replications", "1", "--json", "-o", "out")
    ended = perhop("study", "run", "rfc7928", *arguments)
    assert ended.code == 4, ended.err
    report = ended.json()
    measured = {
        (row["case"]["aqm"], row["case"]["level"]): row["measured"]
        for row in report["curves"]
        if row["table"] == "8.2" and row["metric"] == "delay_ms"
    }
    assert set(measured) == {(aqm, level) for aqm in AQMS for level in ("mild", "medium", "heavy")}
    # RFC 8033 §4 and RFC 9332 appendix A: the target is 15 ms.
    for aqm in ("pie", "dualpi2"):
        for level in ("mild", "medium", "heavy"):
            assert measured[aqm, level] == pytest.approx(15, rel=0.2)
    ellipses = [ellipse for ellipse in report["ellipses"] if ellipse["table"] == "8.2"]
    assert len(ellipses) == 24
    assert {ellipse["samples"] for ellipse in ellipses} == {120}
    # The buffer stores 83 packets of 1.2 ms.
    assert max(ellipse["center"][0] for ellipse in ellipses) < 83 * 1.2
    drawn = perhop("plot", "ellipse", "out/rfc7928", "-o", "ellipses.html")
    assert drawn.code == 0, drawn.err
    assert (tmp_path / "ellipses.html").is_file()


def test_every_section_exists(perhop: Command) -> None:
    shown = perhop("study", "show", "rfc7928")
    assert shown.code == 0, shown.err
    for section in SECTIONS:
        assert section in shown.out


@pytest.mark.thorough
def test_the_published_results(perhop: Command, tmp_path: Path) -> None:
    """At full length: every claim, and the results that the README quotes."""
    ended = perhop("study", "run", "rfc7928", "--no-sensitivity", "--json", "-o", "results")
    assert ended.code == 4, ended.err
    verdicts = {claim["id"].partition(".")[2]: claim["verdict"] for claim in ended.json()["claims"]}
    assert verdicts == VERDICTS
    readme = (Path(__file__).parents[1] / "studies" / "rfc7928" / "README.md").read_text()
    for line in (tmp_path / "results" / "rfc7928" / "report.md").read_text().splitlines()[4:]:
        assert line in readme.splitlines(), "run `make quote-reports`"


VERDICTS = {
    "pie-target": "agrees",
    "dualpi2-target": "agrees",
    "codel-target": "partly",
    "trade-off": "partly",
    "loss-levels": "differs",
    "formula": "partly",
    "initial-window": "agrees",
    "aggressive": "partly",
    "overload": "agrees",
    "isolation": "partly",
    "less-than-best-effort": "partly",
    "rtt-fairness": "partly",
    "capacity": "partly",
    "bursts": "agrees",
    "series": "partly",
}
