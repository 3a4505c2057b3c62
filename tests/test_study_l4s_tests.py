"""The study l4s-tests, through the command line."""

from __future__ import annotations

import pytest

from conftest import Command


@pytest.mark.touched
def test_a_single_queue_with_rfc_3168_marks(perhop: Command) -> None:
    """Prague shares one queue with other flows: scenario 6."""
    arguments = ("--only", "s6", "--no-sensitivity", "--replications", "1", "--json")
    ended = perhop("study", "run", "l4s-tests", *arguments)
    assert ended.code in (0, 4), ended.err
    shares = [figure for figure in ended.json()["figures"] if figure["metric"] == "first_percent"]
    assert len(shares) == 16
    # With PIE, Reno with ECN has one or two points more, by chance up to 5 points.
    missed = [figure["case"] for figure in shares if figure["verdict"] != "agrees"]
    assert [(case["queue"], case["second"]) for case in missed] in ([], [("pie", "reno-ecn")]), missed


def test_every_table_of_scenario_1_exists(perhop: Command) -> None:
    shown = perhop("study", "show", "l4s-tests")
    assert shown.code == 0, shown.err
    for queue in ("dualpi2", "pfifo", "fq_codel"):
        for rate in (10, 50):
            assert f"s1:{queue}-{rate}" in shown.out
