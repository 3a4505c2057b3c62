"""The study wred-bottleneck, through the command line."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from conftest import Command

CLAIMS = {
    f"wred-bottleneck.{name}"
    for name in (
        "rates",
        "differentiation",
        "converges",
        "af11-floor",
        "off-proportional",
        "approximation",
    )
}


def test_the_rates_and_sampled_queues(perhop: Command, tmp_path: Path) -> None:
    arguments = ("--only", "rates", "--only", "slides", "--no-sensitivity", "--replications", "1")
    ended = perhop("study", "run", "wred-bottleneck", *arguments, "--json", "-o", "out")
    assert ended.code == 0, ended.err
    report = ended.json()
    assert [figure["verdict"] for figure in report["figures"]] == ["agrees", "agrees"]
    verdicts = {claim["id"]: claim["verdict"] for claim in report["claims"]}
    assert set(verdicts) == CLAIMS
    assert verdicts["wred-bottleneck.rates"] == "agrees"
    (queues,) = tmp_path.glob("out/wred-bottleneck/cases/*over time/queues.parquet")
    averages = pl.read_parquet(queues).filter(pl.col("queue") == "prec-only")["average"]
    # WRED keeps the average between its thresholds, 15 and 30.
    assert 10 < averages.mean() < 30


@pytest.mark.thorough
def test_the_published_results(perhop: Command, tmp_path: Path) -> None:
    """At full length: every claim, and the results that the README quotes."""
    ended = perhop("study", "run", "wred-bottleneck", "--no-sensitivity", "--json", "-o", "results")
    assert ended.code == 4, ended.err
    report = ended.json()
    # With 10 flows each the classes converge above the largest threshold tried; with 3 they are furthest
    # apart at the smallest.
    assert {claim["id"]: claim["verdict"] for claim in report["claims"]} == {
        **dict.fromkeys(CLAIMS, "agrees"),
        "wred-bottleneck.differentiation": "partly",
        "wred-bottleneck.converges": "partly",
    }
    assert {figure["verdict"] for figure in report["figures"]} == {"agrees"}
    readme = (Path(__file__).parents[1] / "studies" / "wred-bottleneck" / "README.md").read_text()
    for line in (tmp_path / "results" / "wred-bottleneck" / "report.md").read_text().splitlines()[4:]:
        assert line in readme.splitlines(), "run `make quote-reports`"
