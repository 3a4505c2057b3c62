"""`perhop sweep --watch=web`: a chart that grows, and whose last points are the results."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import perhop
from chromium import screenshot
from conftest import Command, files_in
from watched import needs_view, needs_view_in_browser, until, view, watched

VALUES = ["1Mb/s", "2Mb/s", "4Mb/s", "8Mb/s"]
SWEPT = ["--set", f"links.1.rate={','.join(VALUES)}", "--replications", "3"]


@needs_view_in_browser
def test_the_chart_ends_with_the_results(scenario: Path, tmp_path: Path) -> None:
    arguments = ["sweep", scenario, *SWEPT, "--plot", "delay_mean=delay.svg", "--json"]
    with watched(arguments, tmp_path) as here:
        with view(here.link) as seen:
            until(seen.page, "document.documentElement.dataset.ran === '1'")
            lines = seen.page.evaluate("perhopView.lines")
            drawn = seen.page.evaluate(
                "perhopView.plot.getOption().series.map(({ name, data }) => [name, data])"
            )
            assert "over links.1.rate" in seen.page.inner_text("#chart-title")
            assert "4 points have ended" in seen.page.inner_text("#status")
            seen.page.wait_for_timeout(300)
            screenshot(seen.page, "watch-sweep")
        code, out = here.ended()
    assert code == 0
    assert drawn == [[line["name"], line["points"]] for line in lines]
    assert (tmp_path / "delay.svg").is_file()
    # Means over replications of every point, computed independently.
    for line in lines:
        assert [value for value, _ in line["points"]] == [1e6, 2e6, 4e6, 8e6]
        for (_, mean), rate in zip(line["points"], VALUES, strict=True):
            results = perhop.run(scenario, set={"links.1.rate": rate}, replications=3)
            (group,) = (row for row in results.summary["classes"] if row["class"] == line["name"])
            assert mean == pytest.approx(group["delay_mean_s"]["mean"], rel=1e-12)
    assert json.loads(out)


@needs_view
def test_a_watched_sweep_has_the_results_of_an_unwatched_sweep(
    perhop: Command, scenario: Path, tmp_path: Path
) -> None:
    assert perhop("sweep", scenario, *SWEPT, "-o", "plain", "-q").code == 0
    with watched(["sweep", scenario, *SWEPT, "-o", "watched", "-q"], tmp_path) as here:
        here.await_error("everything is done")
        assert here.interrupt() == (0, "")
    assert files_in(tmp_path / "watched") == files_in(tmp_path / "plain")
