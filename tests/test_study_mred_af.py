"""The study mred-af, through the command line."""

from __future__ import annotations

import csv
from pathlib import Path

import polars as pl
import pytest

from conftest import Command

STUDY = Path(__file__).parents[1] / "studies" / "mred-af"
CLAIMS = {
    "mred-af.onoff-rioc-protects",
    "mred-af.onoff-wred-order",
    "mred-af.onoff-yellow",
    "mred-af.figure4",
    "mred-af.gross-stagger",
}


def test_one_table_with_its_sensitivity(perhop: Command) -> None:
    ended = perhop("study", "run", "mred-af", "--only", "3", "--replications", "1", "--json")
    report = ended.json()
    assert [figure["table"] for figure in report["figures"]] == ["3"] * 12
    assert {figure["verdict"] for figure in report["figures"] if figure["unit"] == "packets"} == {
        "not-comparable"
    }
    verdicts = {claim["id"]: claim["verdict"] for claim in report["claims"]}
    assert set(verdicts) == CLAIMS
    assert verdicts["mred-af.onoff-yellow"] == "not-comparable", "table 2 was not run"
    for assumption in report["assumptions"]:
        assert assumption["why"]
        assert all(tried["figures"] for tried in assumption["sensitivity"] or [])
    spacing = next(one for one in report["assumptions"] if one["name"] == "spacing of random drops")
    assert [tried["value"] for tried in spacing["sensitivity"]] == [
        "uniform (Floyd & Jacobson)",
        "wait (ns-2)",
    ]


@pytest.mark.slow
def test_the_published_results(perhop: Command, tmp_path: Path) -> None:
    """At full length, as the README quotes it: same seed, same figures, on every machine."""
    ended = perhop("study", "run", "mred-af", "--no-sensitivity", "--json", "-o", "results")
    assert ended.code == 0, ended.err
    report = ended.json()
    assert {claim["id"]: claim["verdict"] for claim in report["claims"]} == dict.fromkeys(CLAIMS, "agrees")

    measured = {(one["table"], one["metric"], *one["case"].values()): one for one in report["figures"]}
    with (STUDY / "reference" / "on-off.csv").open() as lines:
        published = {
            (row["table"], row["metric"], row["scheme"], row["drop_precedence"]): float(row["value"])
            for row in csv.DictReader(lines)
        }
    assert {key: one["published"] for key, one in measured.items()} == published
    for (table, metric, *_), one in measured.items():
        assert one["replications"] == 10
        if metric != "dropped_percent":
            assert one["verdict"] == "not-comparable"
        elif table not in ("3", "4"):
            assert one["verdict"] == "agrees", one
            near = abs(one["measured"] - one["published"]) <= 1
            assert near or 1 / 1.5 <= one["measured"] / one["published"] <= 1.5, one

    readme = (STUDY / "README.md").read_text(encoding="utf-8").splitlines()
    for line in (tmp_path / "results" / "mred-af" / "report.md").read_text(encoding="utf-8").splitlines():
        if "| not comparable |" not in line and "mred-af: " not in line and "Makkar" not in line:
            assert line in readme, "run `make quote-reports`"


def test_figure_4_is_there_to_be_drawn(perhop: Command, tmp_path: Path) -> None:
    ended = perhop(
        "study",
        "run",
        "mred-af",
        "--only",
        "figure-4",
        "--no-sensitivity",
        "--replications",
        "1",
        "-o",
        "out",
    )
    assert ended.code == 0, ended.err
    (rioc,) = tmp_path.glob("out/mred-af/cases/*rio-c/queues.parquet")
    rows = pl.read_parquet(rioc).select("precedence", "bytes", "average", "deciding_average").to_dicts()
    green, yellow = rows[::2], rows[1::2]
    assert {row["precedence"] for row in green} == {0}
    assert {row["precedence"] for row in yellow} == {1}
    assert all(row["deciding_average"] == row["average"] for row in green)
    # Green's average is added to yellow's or not, nothing in between; both happen.
    added = [two["deciding_average"] - two["average"] for two in yellow]
    assert all(
        more == pytest.approx(one["average"], abs=1e-6) or more == 0
        for more, one in zip(added, green, strict=True)
    )
    assert 0.2 < sum(more > 0 for more in added) / len(added) < 0.9
