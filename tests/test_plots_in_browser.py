"""One plot of every kind in a real browser: all marks exist, on phone and desktop, in both themes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import perhop
import perhop.plot
from chromium import needs_chromium, opened, screenshot, scroll_through
from conftest import ROOT, SCENARIO
from perhop.plot import Chart, Line, Points, Rule, Span
from perhop.plot.curves import curve_chart
from perhop.plot.ellipses import ellipse_chart
from perhop.plot.studies import STUDY_KINDS, study_charts
from perhop.plot.traces import trace_chart
from perhop.plot.writing import charts_page
from small_study import make_study

SAMPLED = {"measure.throughput-every": "500ms", "measure.delay-every": "500ms", "duration": "10s"}
ZOOM = (
    "one => { const at = echarts.getInstanceByDom(one).getOption().dataZoom[0]; return at.end - at.start; }"
)
# Reads the charts from ECharts: series by type, rules, spans, and whether a number is missing.
SERIES = """one => {
  const { series } = echarts.getInstanceByDom(one.querySelector('.plot')).getOption();
  const of = (type) => series.filter((each) => each.type === type && each.name).length;
  const marks = (name) => series.flatMap((each) => each[name]?.data ?? []).length;
  const [rule, span] = [marks('markLine'), marks('markArea')];
  return { line: of('line'), scatter: of('scatter'), custom: of('custom'), rule, span };
}"""


def every_kind(folder: Path) -> list[Chart]:
    """Plots of every kind, of the smallest runs with visible content."""
    file = folder / "overload.perhop.yaml"
    bulk = "bulk: { tcp: { profile: linux-modern } }"
    text = SCENARIO.replace("cbr: { rate: 800kb/s, packet: { ip: 1000B } }", bulk)
    file.write_text(text + "  connections: [{ traffic: steady, every: 50ms }]\n  delay-every: 500ms\n")
    wred = perhop.run(ROOT / "examples" / "wred.perhop.yaml", replications=2, set=SAMPLED)
    sweep = perhop.sweep(file, {"links.1.rate": ["1Mb/s", "2Mb/s", "4Mb/s"]}, replications=3)
    named = perhop.sweep(file, {"traffic.steady.dscp": ["ef", "af11"], "duration": "2s"}, replications=2)
    charts = [*perhop.plot.possible(wred), *perhop.plot.possible(perhop.run(file))]
    study = perhop_study(folder)
    charts += [*sweep.share(), *named.share(), *study_charts(study, "published")]
    home = perhop.run(ROOT / "examples" / "applications.perhop.yaml", duration="14s")
    return [*charts, perhop.plot.page_load_cdf(home), curve(), ellipses(), traced()]


def perhop_study(folder: Path) -> Path:
    from perhop.study import reading, runner

    runner.run(reading.find(str(make_study(folder / "slow")))).save(folder / "saved")
    return folder / "saved"


def curve() -> Chart:
    """Two curves with bands, and one point that was not measured."""
    row = {"table": "2", "metric": "delay_ms", "unit": "ms", "replications": 3}
    rows = [
        row | {"case": {"size": size, "rate": rate}, "measured": mean, "ci95": mean and [mean - 1, mean + 1]}
        for size, rate, mean in [("64", "1", 3.0), ("64", "2", 2.0), ("64", "4", None), ("1500", "1", 9.0)]
    ]
    return curve_chart(
        [*rows, rows[-1] | {"case": {"size": "1500", "rate": "2"}}], "Figure 2: Delay", "seed 1."
    )


def ellipses() -> Chart:
    """Two ellipses, one of which is a line."""
    row = {"x": ["queueing delay", "ms"], "y": ["goodput", "Mb/s"], "samples": 120, "deviation": [0.2, 0.5]}
    rows = [
        row | {"case": {"aqm": "pie"}, "center": [15.0, 9.4], "correlation": 0.6},
        row | {"case": {"aqm": "codel"}, "center": [5.0, 8.9], "correlation": 1.0},
    ]
    return ellipse_chart(rows, "Table 5.1: Two flows", "seed 1.")


def traced() -> Chart:
    """A published curve, and a measured curve that deviates from it."""
    return trace_chart(
        {
            "case": {"flow": "reno"},
            "x": ["time", "s"],
            "y": ["congestion window", "segments"],
            "places": [0.1, 0.2, 0.3],
            "published": [10.0, 20.0, 30.0],
            "measured": [10.0, 20.0, 25.0],
        },
        "Table 6: Windows",
        "seed 1.",
    )


@pytest.fixture(scope="module")
def charts(tmp_path_factory: pytest.TempPathFactory) -> list[Chart]:
    return every_kind(tmp_path_factory.mktemp("kinds"))


@pytest.fixture(scope="module")
def page(charts: list[Chart], tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("page") / "charts.html"
    file.write_text(charts_page(charts))
    return file


def test_every_kind_of_plot_is_tested(charts: list[Chart]) -> None:
    assert {chart.kind for chart in charts} == {*perhop.plot.KINDS, "share", *STUDY_KINDS}


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(("name", "width"), [("desktop", 1280), ("phone", 390)])
def test_all_marks_are_drawn(page: Path, charts: list[Chart], name: str, width: int, scheme: str) -> None:
    with opened(page, width=width, height=900, scheme=scheme) as seen:
        tab = seen.page
        scroll_through(tab)
        figures = tab.locator("figure.chart")
        for number, chart in enumerate(charts):
            expected = drawn(chart)
            assert figures.nth(number).evaluate(SERIES) == expected, chart.title
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, "nothing sticks out of the page"
        assert overlapping(tab) == []
        screenshot(tab, f"plots-{name}-{scheme}")
        assert seen.errors == []
        assert all(url.startswith(("file:", "data:")) for url in seen.requests)


def drawn(chart: Chart) -> dict[str, int]:
    """The expected parts of a chart in a browser."""
    lines = [mark for mark in chart.marks if isinstance(mark, Line)]
    points = [mark for mark in chart.marks if isinstance(mark, Points)]
    banded = [mark for mark in (*lines, *points) if mark.low is not None]
    return {
        "line": len(lines),
        "scatter": len(points),
        "custom": len(banded),
        "rule": sum(isinstance(mark, Rule) for mark in chart.marks),
        "span": sum(isinstance(mark, Span) for mark in chart.marks),
    }


def overlapping(tab: Any) -> list[str]:
    """Names of cases that overlap in the comparisons."""
    found: list[str] = tab.evaluate(
        """() => [...document.querySelectorAll('figure[data-kind=published] .plot svg')].flatMap((svg) => {
          const left = svg.getBoundingClientRect();
          const texts = [...svg.querySelectorAll('text')];
          const names = texts.map((one) => [one.textContent, one.getBoundingClientRect()])
            .filter(([, box]) => box.right < left.left + left.width / 2 && box.width > 0);
          return names.flatMap(([name, a], index) => names.slice(index + 1)
            .filter(([, b]) => a.left < b.right && b.left < a.right)
            .filter(([, b]) => a.top + 1 < b.bottom && b.top + 1 < a.bottom)
            .map(([other]) => `${name} / ${other}`));
        })"""
    )
    return found


@needs_chromium
def test_every_kind_is_read_and_zoomed_with_the_keyboard(page: Path, charts: list[Chart]) -> None:
    with opened(page, width=1280, height=900, scheme="light") as seen:
        tab = seen.page
        scroll_through(tab)
        for number, chart in enumerate(charts):
            plot = tab.locator("figure.chart .plot").nth(number)
            plot.focus()
            tab.keyboard.press("ArrowRight")
            tab.keyboard.press("ArrowRight")
            spoken = tab.locator("figure.chart .says").nth(number).text_content()
            names = [mark.name for mark in chart.marks if isinstance(mark, (Line, Points))]
            assert spoken.strip()
            assert any(word in spoken for word in (*names, *chart.y.categories)), (chart.title, spoken)
            tab.keyboard.press("+")
            assert plot.evaluate(ZOOM) == 50
            tab.keyboard.press("Escape")
            assert plot.evaluate(ZOOM) == 100
        assert seen.errors == []


@needs_chromium
def test_in_print(page: Path, charts: list[Chart]) -> None:
    with opened(page, width=900, height=1200, scheme="dark") as seen:
        tab = seen.page
        tab.emulate_media(media="print", color_scheme="dark")
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        count = tab.locator("figure.chart[data-drawn] .plot svg").count()
        on_paper = [chart for chart in charts if chart.kind != "published"]
        assert count == len(on_paper), "those that never came into view too"
        assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
        assert not tab.locator("figure .tools").first.is_visible()
        screenshot(tab, "plots-print")
        assert seen.errors == []
