"""A report of several results: cards, addresses, overlaid runs, tables on a phone."""

from __future__ import annotations

from pathlib import Path

import pytest

import perhop
from chromium import needs_chromium, opened
from conftest import Command
from perhop.plot.overlay import numbered_names, overlaid
from perhop.report import page
from perhop.report.glance import classes, ratios, sketch


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """The starter under both schedulers."""
    root = tmp_path_factory.mktemp("runs")
    starter = Path(perhop.__file__).parent / "templates" / "voice.perhop.yaml"
    found = []
    for scheduler in ("priority", "fifo"):
        results = perhop.run(starter, set={"policies.wan.queueing.scheduler": scheduler, "name": scheduler})
        results.save(root / scheduler)
        found.append(root / scheduler)
    return found


@pytest.fixture(scope="module")
def report(folders: list[Path]) -> Path:
    file = folders[0].parent / "report.html"
    file.write_text(page(folders))
    return file


@needs_chromium
@pytest.mark.parametrize("width", [1280, 390])
def test_cards_lead_to_their_results(report: Path, width: int) -> None:
    with opened(report, width=width, height=844, scheme="light") as seen:
        tab = seen.page
        assert tab.locator("#overview .card").count() == 2
        assert "bulk loses" in tab.locator("#overview .card").first.text_content()
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        tab.locator("#overview .card a").nth(1).click()
        tab.wait_for_timeout(100)
        shown = "all => all.filter((one) => one.offsetHeight).map((one) => one.id)"
        assert tab.eval_on_selector_all(".view", shown) == ["fifo"]
        tab.go_back()
        tab.wait_for_timeout(100)
        assert tab.eval_on_selector_all(".view", shown) == ["overview"]
        assert seen.errors == []


@needs_chromium
def test_the_key_of_a_table_stays_on_a_phone(report: Path) -> None:
    with opened(report, width=390, height=844, scheme="light") as seen:
        tab = seen.page
        tab.evaluate("location.hash = '#priority'")
        tab.locator("#priority .figures-of-run summary").click()
        scroll = tab.locator("#priority .scroll").first
        assert scroll.evaluate("one => one.scrollWidth > one.clientWidth"), "or there is nothing to scroll"
        scroll.evaluate("one => { one.scrollLeft = one.scrollWidth; }")
        apart = scroll.evaluate(
            "one => one.querySelector('tbody td').getBoundingClientRect().left"
            " - one.getBoundingClientRect().left"
        )
        assert 0 <= apart <= 2


def test_runs_are_overlaid(folders: list[Path], report: Path, tmp_path: Path) -> None:
    charts = [perhop.plot.delay_cdf(perhop.Results.load(folder)) for folder in folders]
    both = overlaid(charts, ["priority", "fifo"])
    names = [mark.name for mark in both.marks]
    assert names == ["voice, priority", "bulk, priority", "voice, fifo", "bulk, fifo"]
    assert len({(mark.color, mark.stroke) for mark in both.marks}) == 4
    assert "One-way delay (CDF), 2 runs" in report.read_text()
    # Convert to one unit, because one chart may have milliseconds and the other seconds.
    assert max(both.marks[0].x) == pytest.approx(
        max(charts[0].marks[0].x) * (1e-3 if both.x.unit == "s" else 1)
    )


def test_the_command_overlays_runs(perhop: Command, folders: list[Path], tmp_path: Path) -> None:
    for kind in ("delay-cdf", "throughput"):
        ended = perhop("plot", kind, *folders, "-o", f"{kind}.svg")
        assert ended.code == 0, ended.err
        text = (tmp_path / f"{kind}.svg").read_text()
        assert "voice, priority" in text and "voice, fifo" in text
    ended = perhop("plot", "queue", *folders)
    assert ended.code == 2 and "show several runs in one plot" in ended.err


def test_names_are_distinguished() -> None:
    assert numbered_names(["a", "b", "a", "a"]) == ["a", "b", "a (2)", "a (3)"]


def test_the_overview_chart_of_classes(folders: list[Path]) -> None:
    results = perhop.Results.load(folders[0])
    shown = str(classes(results.summary["classes"]))
    assert "45 % lost" in shown and "0 % lost" in shown
    assert "polyline" in str(sketch(perhop.plot.throughput(results)))
    figures = [
        {"verdict": "agrees", "published": 10.0, "measured": 10.5},
        {"verdict": "differs", "published": 10.0, "measured": 90.0},
        {"verdict": "not-comparable", "published": 1.0, "measured": 1.0},
        {"verdict": "agrees", "published": 0.0, "measured": 0.0},
    ]
    drawn = str(ratios(figures))
    assert drawn.count("<circle") == 2, "what has no ratio is not drawn"
    assert ratios([]) is None


def test_sweeps_have_cards_too(folders: list[Path], tmp_path: Path) -> None:
    starter = Path(perhop.__file__).parent / "templates" / "voice.perhop.yaml"
    sweep = perhop.sweep(starter, {"links.1.rate": ["1Mb/s", "2Mb/s"], "duration": ["3s"]})
    sweep.save(tmp_path / "overview")
    text = page([folders[0], tmp_path / "overview"])
    overview = text.partition('<section id="overview"')[2].partition("</section>")[0]
    assert overview.count('<li class="card">') == 2
    assert "<b>2</b> points" in overview and "complete" in overview
    assert overview.count("<svg") == 2
