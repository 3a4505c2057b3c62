"""The study linux-aqm, through the command line."""

from __future__ import annotations

import csv
import tomllib
from collections import Counter
from pathlib import Path

import pytest

from conftest import ROOT, Command
from perhop import study

READINGS = ROOT / "tests" / "readings"
VERDICTS = {
    "cells": "agrees",
    "constant-rate": "agrees",
    "hosts-of-today": "partly",
    "without-sack": "partly",
    "call": "agrees",
    "order": "agrees",
    "windows": "agrees",
}


def test_a_sender_that_does_not_respond(perhop: Command) -> None:
    arguments = ("--only", "cbr12", "--no-sensitivity", "--replications", "1", "--json")
    ended = perhop("study", "run", "linux-aqm", *arguments)
    assert ended.code in (0, 4), ended.err
    figures = ended.json()["figures"]
    assert len(figures) == 24
    assert {figure["verdict"] for figure in figures} == {"agrees"}
    [claim] = [claim for claim in ended.json()["claims"] if claim["id"] == "linux-aqm.constant-rate"]
    assert claim["verdict"] == "agrees"
    # The disciplines differ so clearly that none can be mistaken for another.
    waits = {
        figure["case"]["discipline"]: figure["measured"]
        for figure in figures
        if figure["metric"] == "wait_p50_ms"
    }
    assert waits["codel"] > 150 and 14 < waits["pie"] < 16 and 4 < waits["cake-besteffort"] < 6


@pytest.mark.touched
def test_windows_over_time(perhop: Command, tmp_path: Path) -> None:
    arguments = ("--only", "windows", "--no-sensitivity", "--replications", "1", "--json", "-o", "out")
    ended = perhop("study", "run", "linux-aqm", *arguments)
    assert ended.code in (0, 4), ended.err
    found = ended.json()
    assert len(found["figures"]) == 40
    assert {figure["verdict"] for figure in found["figures"]} == {"agrees"}
    assert len(found["traces"]) == 8
    for trace in found["traces"]:
        assert trace["places"][-1] == 60.0 and len(trace["places"]) == len(trace["measured"]) > 590
        # Slow start, HyStart's exit and the first losses are the kernel's, segment by segment.
        assert trace["measured"][:18] == trace["published"][:18], trace["case"]
    drawn = perhop("plot", "trace", "out/linux-aqm", "-o", "windows.html")
    assert drawn.code == 0, drawn.err
    assert "congestion window, pfifo, cubic-on" in (tmp_path / "windows.html").read_text()


def test_every_table_and_its_tolerances(perhop: Command) -> None:
    shown = perhop("study", "show", "linux-aqm")
    assert shown.code == 0, shown.err
    for table in ("cbr12", "four-flows", "fq_pie", "call", "windows"):
        assert f"Table {table}" in shown.out
    found = study.find("linux-aqm")
    assert (found.metrics["goodput_mbps"].relative, found.metrics["goodput_mbps"].absolute) == (0.03, None)
    assert (found.metrics["loss_percent"].relative, found.metrics["loss_percent"].absolute) == (0.1, 0.3)
    assert len(found.published) == 24 + 50 * 4 + 10 * 7 + 8 * 5
    assert Counter(len(row.runs) for row in found.published) == {3: 234, 1: 60, 0: 40}


def test_the_constant_rate_matches_the_readings_of_single_drops() -> None:
    """Rust's tests use two further files with such readings."""
    figures = {
        (row.case["discipline"], row.metric): row.runs
        for row in study.find("linux-aqm").published
        if row.table == "cbr12"
    }
    lines = (READINGS / "linux-pie.csv").read_text().splitlines()
    rows = list(csv.DictReader(line for line in lines if not line.startswith("#")))
    for name, metric in (
        ("loss", "loss_percent"),
        ("sojourn_p50", "wait_p50_ms"),
        ("sojourn_p99", "wait_p99_ms"),
    ):
        wanted = tuple(float(row["value"]) for row in rows if row["metric"] == name)
        assert figures["pie", metric] == pytest.approx(wanted, abs=1e-4)
    cases = {case["id"]: case for case in tomllib.loads((READINGS / "linux-aqm.toml").read_text())["case"]}
    for id, discipline in (("cbr12", "codel"), ("cbr12-fq-pie", "fq_pie"), ("cbr12-cake", "cake-besteffort")):
        case = cases[id]
        assert figures[discipline, "loss_percent"] == pytest.approx(
            (100 * case["drops"] / case["frames_in"],), abs=1e-4
        )
        assert figures[discipline, "wait_p50_ms"] == (case["wait_ms"]["p50"],)
        assert figures[discipline, "wait_p99_ms"] == (case["wait_ms"]["p99"],)


@pytest.mark.thorough
def test_the_published_results(perhop: Command, tmp_path: Path) -> None:
    """At full length: every claim, every miss in the README, and the results that the README quotes."""
    ended = perhop("study", "run", "linux-aqm", "--json", "-o", "results")
    assert ended.code == 4, ended.err
    verdicts = {claim["id"].partition(".")[2]: claim["verdict"] for claim in ended.json()["claims"]}
    assert verdicts == VERDICTS
    missed = [figure["case"] for figure in ended.json()["figures"] if figure["verdict"] == "differs"]
    assert len(missed) == 10 and sum(case["flows"].endswith("-plain") for case in missed) == 9
    readme = (ROOT / "studies" / "linux-aqm" / "README.md").read_text()
    for line in (tmp_path / "results" / "linux-aqm" / "report.md").read_text().splitlines()[4:]:
        assert line in readme.splitlines(), "run `make quote-reports`"
