"""The study ef-star, through the command line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl
import pytest

from conftest import Command

CLAIMS = {
    f"ef-star.{name}"
    for name in (
        "bound",
        "size",
        "ipdv-flat",
        "ipdv-max",
        "periodic",
        "delta",
        "priority",
        "tx-ring",
        "rfc2598",
    )
}
# Claims that are not met, or only in part, each with its reason in the README.
NOT_WHOLE = {
    "ef-star.ipdv-flat": "partly",
    "ef-star.periodic": "partly",
    "ef-star.rfc2598": "partly",
}
BE_MS = 22 * 424 / 2e6 * 1e3


def test_delay_over_time(perhop: Command, tmp_path: Path) -> None:
    """Figure 2 once: minima apart by whole best-effort packets, and the data of its curves."""
    ended = perhop(
        "study",
        "run",
        "ef-star",
        "--only",
        "figure-2",
        "--no-sensitivity",
        "--replications",
        "1",
        "--json",
        "-o",
        "out",
    )
    assert ended.code == 0, ended.err
    report = ended.json()
    assert pytest.approx(4.664) == BE_MS
    least = {point["case"]["service_rate"]: point["measured"] for point in report["curves"]}
    assert (least["300"] - least["900"]) / BE_MS == pytest.approx(3, abs=0.1)
    assert (least["600"] - least["900"]) / BE_MS == pytest.approx(1, abs=0.1)
    verdicts = {claim["id"]: claim["verdict"] for claim in report["claims"]}
    assert set(verdicts) == CLAIMS
    assert verdicts["ef-star.delta"] == verdicts["ef-star.tx-ring"] == "agrees"
    (file,) = tmp_path.glob("out/ef-star/cases/*service_rate 300/packets.parquet")
    packets = pl.read_parquet(file)
    # 10 s of frames that come every 27.84 ms, none lost.
    assert packets.height in (358, 359, 360)
    assert packets["number"].cast(int).diff().drop_nulls().unique().to_list() == [1]


def test_the_ring_meets_the_readings_of_the_router(perhop: Command) -> None:
    """33 readings, with two numbers fitted to the seven of WFQ at 1450 kb/s and stated in the scenario."""
    tables = ("--only", "router-wfq", "--only", "router-priority")
    ended = perhop("study", "run", "ef-star", *tables, "--no-sensitivity", "--replications", "2", "--json")
    figures = ended.json()["figures"]
    assert len(figures) == 33
    errors = {figure["metric"]: [] for figure in figures}
    residuals = []
    for figure in figures:
        error_ms = figure["measured"] - figure["published"]
        errors[figure["metric"]].append((abs(error_ms), abs(error_ms) / figure["published"]))
        if figure["case"].get("service_rate") == "1450":
            residuals.append((float(figure["case"]["frame_size"]), error_ms))
    both = [error for one in errors.values() for error, _ in one]
    assert sum(both) / len(both) < 0.6
    assert max(relative for _, relative in errors["router_delay_ms"]) < 0.15
    # The two numbers are those of least squares: nothing is left of a constant or of a slope.
    slope, constant = np.polyfit(*zip(*residuals, strict=True), 1)
    assert abs(constant) < 0.01
    assert abs(slope * 1500) < 0.02


def test_the_ratio_of_rfc_2598(perhop: Command) -> None:
    """The 90th percentiles of table 2 fall from 1.03 to 1.5 and then no more, for both sizes."""
    ended = perhop(
        "study", "run", "ef-star", "--only", "rfc2598-2", "--no-sensitivity", "--replications", "2", "--json"
    )
    assert ended.code == 0, ended.err
    figures = {
        (one["case"].get("packet"), one["case"].get("ratio")): one["measured"]
        for one in ended.json()["figures"]
        if one["metric"] == "jitter_p90_percent"
    }
    for packet in ("1500", "160"):
        knee = figures[packet, "1.50"]
        assert figures[packet, "1.03"] > 1.3 * knee
        for ratio in ("1.70", "2.00", "3.00"):
            assert abs(figures[packet, ratio] - knee) <= max(0.15 * knee, 2.5), (packet, ratio)


@pytest.mark.slow
def test_the_published_results(perhop: Command, tmp_path: Path) -> None:
    """At full length: every claim, and the README quotes what comes out."""
    ended = perhop("study", "run", "ef-star", "--no-sensitivity", "--json", "-o", "results")
    assert ended.code == 4, ended.err
    report = ended.json()
    verdicts = {claim["id"]: claim["verdict"] for claim in report["claims"]}
    assert verdicts == dict.fromkeys(CLAIMS, "agrees") | NOT_WHOLE
    delays = {
        tuple(point["case"].values()): point["measured"]
        for point in report["curves"]
        if point["table"] == "figure-1"
    }
    assert len(delays) == 90
    assert delays["1518", "300"] - delays["1518", "1450"] == pytest.approx(5 * BE_MS, abs=0.3)
    readme = (Path(__file__).parents[1] / "studies" / "ef-star" / "README.md").read_text().splitlines()
    for line in (tmp_path / "results" / "ef-star" / "report.md").read_text().splitlines()[4:]:
        assert line in readme, "run `make quote-reports`"
