"""The report of all studies, as `make reproduce` ends with it: small, quick to open, complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chromium import needs_chromium, opened, screenshot
from conftest import command_line
from perhop.study import identifiers

# A report is sent about: mail takes 10 MB, and half of that is enough for all studies.
MOST_BYTES = 5_000_000


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every study once: fewer replications make it no smaller, since every table and figure is there."""
    import subprocess

    folder = tmp_path_factory.mktemp("studies")
    run = ["study", "run", "--all", "--replications", "1", "--no-sensitivity", "-q", "-o", folder / "results"]
    ended = subprocess.run(command_line(run), cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode in (0, 4), ended.stderr
    made = ["report", folder / "results", "-o", folder / "report.html"]
    subprocess.run(command_line(made), cwd=folder, capture_output=True, check=True)
    return folder / "report.html"


def test_it_is_small_and_holds_each_picture_once(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert len(text.encode()) < MOST_BYTES
    pictures = re.findall(r'<g id="picture-\d+" class="pd">(.*?)</g></svg>', text, flags=re.DOTALL)
    assert len(pictures) > 100
    assert len(set(pictures)) == len(pictures)
    known = set(re.findall(r'id="(picture-\d+)"', text))
    assert set(re.findall(r'data-like="(picture-\d+)"', text)) <= known
    for study in identifiers():
        article = text.partition(f'<article id="{study}">')[2].partition("</article>")[0]
        assert "claims hold" in article
        # Verdicts with a scale: how far the figures are from the published ones.
        assert "figures within 10 %" in article and "Errors: how many figures" in article
    assert '<span class="verdict partly">partly</span>' in text


@needs_chromium
def test_it_opens_in_under_a_second(report: Path) -> None:
    """By the processor time of the page's own thread: other work on the machine does not count."""
    with opened(report, width=1280, height=900, scheme="light") as seen:
        tab = seen.page
        tools = tab.context.new_cdp_session(tab)
        tools.send("Performance.enable", {"timeDomain": "threadTicks"})
        tab.reload(wait_until="load")
        tab.evaluate("document.querySelector('figure.chart').scrollIntoView({ behavior: 'instant' })")
        tab.wait_for_selector("figure.chart[data-drawn]")
        metrics = {one["name"]: one["value"] for one in tools.send("Performance.getMetrics")["metrics"]}
    assert 0 < metrics["TaskDuration"] < 1, metrics


@needs_chromium
def test_what_is_folded_away_is_there(report: Path) -> None:
    """Everything is drawn before it is printed, folded or not, seen or not."""
    with opened(report, width=1280, height=900, scheme="light") as seen:
        tab = seen.page
        screenshot(tab, "studies-desktop-light")
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        charts = tab.locator("figure.chart")
        assert charts.count() > 150
        wanted, drawn = (
            tab.eval_on_selector_all("figure.chart", f"all => all.map((one) => {marks})")
            for marks in (
                "JSON.parse(one.querySelector('script').textContent).marks.length",
                "Number(one.dataset.drawn)",
            )
        )
        assert drawn == wanted
        empty = tab.eval_on_selector_all(
            "svg[data-like]", "all => all.filter((one) => !one.firstChild).length"
        )
        assert empty == 0
        boxes = "all => all.every((one) => one.getBBox().width > 0)"
        assert tab.eval_on_selector_all("svg[data-like]", boxes), "references lead somewhere"
        assert seen.errors == []
        assert all(url.startswith(("file:", "data:")) for url in seen.requests)
