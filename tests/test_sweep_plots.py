"""Plots of sweeps from a tidy frame: both renderers show the right numbers."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import polars as pl
import pytest

from chromium import needs_chromium, opened, screenshot, scroll_through
from perhop import InvalidInputError
from perhop.paths import short_names
from perhop.plot import (
    Axis,
    Cells,
    Chart,
    Line,
    Parallel,
    Points,
    against,
    before_after,
    heat_map,
    parallel,
    pareto,
)
from perhop.plot.writing import charts_page

RATES, POLICIES, BURSTS = (1e6, 2e6, 4e6), ("red", "tail"), (1000, 64000)
UNITS = {"burst": "bytes"}


def rows(points: Sequence[dict[str, Any]], half: float | None = 0.1) -> pl.DataFrame:
    """Voice gets at most 1 Mb/s, bulk all other bandwidth; delay falls with rate and rises with burst."""
    found = []
    for number, point in enumerate(points):
        rate, burst = point["links.1.rate"], point.get("burst", 1000)
        means = {
            "voice": {"throughput_bps": min(rate, 1e6) / 2, "delay_p99_s": burst / rate},
            "bulk": {"throughput_bps": rate - min(rate, 1e6) / 2, "delay_p99_s": 2 * burst / rate},
        }
        for name, metrics in means.items():
            for metric, mean in metrics.items():
                ends = (None, None) if half is None else (mean * (1 - half), mean * (1 + half))
                found.append(
                    {
                        "point": number,
                        **point,
                        "class": name,
                        "metric": metric,
                        "unit": "b/s" if metric == "throughput_bps" else "s",
                        "mean": mean,
                        "low": ends[0],
                        "high": ends[1],
                        "replications": 1 if half is None else 5,
                    }
                )
    schema = {"low": pl.Float64, "high": pl.Float64}
    return pl.DataFrame(found, schema_overrides=schema)


def plain(half: float | None = 0.1) -> pl.DataFrame:
    return rows([{"links.1.rate": rate} for rate in reversed(RATES)], half)


def crossed() -> pl.DataFrame:
    names = ("links.1.rate", "policy", "burst")
    return rows(
        [dict(zip(names, combination, strict=True)) for combination in product(RATES, POLICIES, BURSTS)]
    )


def test_a_line_for_each_class_in_a_suitable_unit() -> None:
    (chart,) = against(plain(), "links.1.rate", "delay_p99", units=UNITS, caption="Run 7.")
    assert (chart.title, chart.kind) == ("Delay p99 against rate", "against")
    assert (chart.x.title, chart.y.title) == ("rate (Mb/s)", "Delay p99 (ms)")
    assert chart.caption == "Run 7; bands: 95 % confidence; rate: links.1.rate."
    voice, bulk = chart.marks
    assert isinstance(voice, Line)
    assert isinstance(bulk, Line)
    assert (voice.name, list(voice.x)) == ("voice", [1, 2, 4])
    assert list(voice.y) == pytest.approx([1, 0.5, 0.25])
    assert list(voice.low or ()) == pytest.approx([0.9, 0.45, 0.225])
    assert list(bulk.high or ()) == pytest.approx([2.2, 1.1, 0.55])
    assert voice.color != bulk.color
    assert voice.marked, "a dot at what was measured"


def test_parameters_have_short_distinct_names() -> None:
    buffer = "policies.wan.queueing.classes.0.buffer.wred.precedences"
    names = short_names(
        [
            *(f"{buffer}.{end}" for end in ("0.min", "1.min", "0.max")),
            "links.1.rate",
            "traffic.a.rate",
            "duration",
        ]
    )
    assert list(names.values()) == [
        "precedences.0.min",
        "precedences.1.min",
        "max",
        "links.1.rate",
        "a.rate",
        "duration",
    ]
    assert short_names(["links.1.rate"]) == {"links.1.rate": "rate"}
    frame = plain().with_columns(pl.col("links.1.rate").alias("links.0.rate"))
    (chart,) = against(frame.filter(pl.col("links.0.rate") == 1e6), "links.1.rate", "delay_p99", units=UNITS)
    assert chart.x.title == "links.1.rate (Mb/s)", "as the frame has two rates"


def test_one_replication_has_no_band() -> None:
    (chart,) = against(plain(None), "links.1.rate", "delay_p99", classes=["voice"])
    (voice,) = chart.marks
    assert isinstance(voice, Line)
    assert voice.low is None
    assert "no confidence band" in chart.caption
    assert chart.title.endswith(", voice")


def test_shares_are_computed_where_the_frame_has_none() -> None:
    (chart,) = against(plain(), "links.1.rate", "share")
    voice, bulk = (mark for mark in chart.marks if isinstance(mark, Line))
    assert list(voice.y) == pytest.approx([50, 25, 12.5])
    assert list(bulk.y) == pytest.approx([50, 75, 87.5])
    # (b·ha + a·hb) / (a + b)², with halves of a tenth: 2·0.1·a·b / (a + b)².
    assert list(voice.low or ()) == pytest.approx([50 - 5, 25 - 3.75, 12.5 - 2.1875])
    given = plain().with_columns(metric=pl.col("metric").str.replace("throughput_bps", "share_percent"))
    (chart,) = against(given, "links.1.rate", "share")
    assert isinstance(chart.marks[0], Line)
    assert list(chart.marks[0].y) == [5e5, 5e5, 5e5], "shares over replications are exact: they are taken"


def test_series_are_colors_and_strokes_classes() -> None:
    charts = against(crossed(), "links.1.rate", "delay_p99", series="policy", units=UNITS)
    assert [chart.title for chart in charts] == [
        f"Delay p99 against rate, burst = {burst}" for burst in ("1,000 bytes", "64,000 bytes")
    ]
    lines = [mark for mark in charts[1].marks if isinstance(mark, Line)]
    assert [(line.name, line.color, line.stroke) for line in lines] == [
        ("red, voice", "class0", "solid"),
        ("tail, voice", "class1", "solid"),
        ("red, bulk", "class0", "dashed"),
        ("tail, bulk", "class1", "dashed"),
    ]
    assert list(lines[0].y) == pytest.approx([64, 32, 16])


def test_text_has_a_category_axis() -> None:
    frame = crossed().filter(pl.col("burst") == 1000)
    charts = against(frame, "policy", "throughput", series="links.1.rate", classes=["bulk"], units=UNITS)
    (chart,) = charts
    assert chart.x == Axis("policy", categories=("red", "tail"))
    points = [mark for mark in chart.marks if isinstance(mark, Points)]
    assert [mark.name for mark in points] == ["1 Mb/s", "2 Mb/s", "4 Mb/s"]
    assert [list(mark.x) for mark in points] == [[0, 1]] * 3
    assert [list(mark.y) for mark in points] == [[0.5, 0.5], [1.5, 1.5], [3.5, 3.5]]


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda: against(plain(), "links.1.rat"), "`links.1.rat` was not swept"),
        (lambda: against(plain(), "links.1.rate", "jitter"), "did not measure `ipdv_mean_abs_s`"),
        (lambda: against(plain(), "links.1.rate", classes=["voce"]), "no class `voce`"),
        (lambda: against(crossed(), "burst", series="burst"), "already the parameter of the x axis"),
        (lambda: heat_map(crossed(), "links.1.rate", "burst", "voice.share"), "`policy` has several values"),
        (lambda: parallel(crossed(), "delay_p99"), "needs a class"),
        (lambda: pareto(crossed(), "voice.delay_p99", "throughput"), "needs a class"),
        (lambda: before_after(crossed(), "policy", "red", "wred"), "does not have the value wred"),
        (lambda: against(plain().drop("mean"), "links.1.rate"), "no column `mean`"),
    ],
)
def test_invalid_plots_are_refused(ask: Any, message: str) -> None:
    with pytest.raises(InvalidInputError, match=message):
        ask()


def test_too_many_charts_are_refused() -> None:
    points = [{"links.1.rate": 1e6, "burst": number, "x": number} for number in range(60)]
    with pytest.raises(InvalidInputError, match="60 charts"):
        against(rows(points), "x", "delay_p99")


def test_logarithmic_axes_end_in_ticks() -> None:
    (chart,) = against(plain(), "links.1.rate", "delay_p99", log_x=True, log_y=True, units=UNITS)
    assert chart.ticks("x") == [1, 2, 5]
    assert chart.ticks("y") == [0.2, 0.5, 1, 2, 5]
    wide = Chart("a", "", Axis("x"), Axis("y", log=True), (Line("", "class0", [1, 2], [3e-4, 4e5]),), "")
    assert wide.ticks("y") == [10.0**power for power in range(-4, 7)]
    zero = plain().with_columns(mean=pl.col("mean") * 0)
    with pytest.raises(InvalidInputError, match="`Delay p99` has the value 0, which a logarithmic axis"):
        against(zero, "links.1.rate", "delay_p99", log_y=True)
    below = plain().with_columns(low=-pl.col("mean"))
    (chart,) = against(below, "links.1.rate", "delay_p99", log_y=True)
    assert chart.ticks("y") == [0.2, 0.5, 1, 2, 5], "an interval may reach below zero"


def test_a_heat_map_has_a_cell_for_each_pair() -> None:
    frame = crossed().filter(pl.col("policy") == "red")
    chart = heat_map(frame, "links.1.rate", "burst", "delay_p99", "voice", units=UNITS)
    assert (chart.x.categories, chart.x.title) == (("1", "2", "4"), "rate (Mb/s)")
    assert chart.y.categories == ("1,000", "64,000")
    (cells,) = chart.marks
    assert isinstance(cells, Cells)
    found = {(x, y): value for x, y, value in zip(cells.x, cells.y, cells.values, strict=True)}
    assert found == pytest.approx({(0, 0): 1, (0, 1): 64, (1, 0): 0.5, (1, 1): 32, (2, 0): 0.25, (2, 1): 16})
    assert cells.name == "Delay p99 (ms)"
    assert cells.notes[0] == ("rate = 1 Mb/s, burst = 1,000 bytes\ndelay p99: 1 ms (0.9000 to 1.100)")


def test_parallel_coordinates_have_a_line_for_each_point() -> None:
    (mark,) = parallel(crossed(), "voice.delay_p99", units=UNITS).marks
    assert isinstance(mark, Parallel)
    assert [axis.title for axis in mark.axes] == [
        "rate (Mb/s)",
        "policy",
        "burst (bytes)",
        "Delay p99 (ms)",
    ]
    assert len(mark.rows) == 12
    assert mark.rows[3] == pytest.approx((1, 1, 64000, 64))
    assert mark.values[3] == pytest.approx(64)


def test_the_front_has_the_undominated_points() -> None:
    chart = pareto(crossed(), "voice.delay_p99", ("voice.throughput", "large"), units=UNITS)
    every, front = chart.marks
    assert isinstance(every, Points)
    assert isinstance(front, Line)
    assert len(every.x) == 12
    assert (list(front.x), list(front.y)) == ([0.25], [500]), "the fastest link is best in both"
    chart = pareto(crossed(), ("voice.delay_p99", "large"), "bulk.throughput", units=UNITS)
    front = chart.marks[1]
    assert isinstance(front, Line)
    assert list(front.x) == pytest.approx([64, 32, 16])
    assert list(front.y) == pytest.approx([0.5, 1.5, 3.5])
    assert (front.notes or ())[0].splitlines()[0] == "rate = 1 Mb/s"
    assert chart.x.title == "Delay p99 of voice, large is better (ms)"


def test_before_and_after() -> None:
    table = before_after(plain(), "links.1.rate", 1e6, 4e6, units=UNITS)
    heads = [column.name for column in table.columns]
    assert heads == ["class", "metric", "rate = 1 Mb/s", "rate = 4 Mb/s", "difference"]
    texts = {(row[0].text, row[1].text): [cell.text for cell in row[2:]] for row in table.rows}
    assert len(texts) == 6, "two classes with throughput, share and delay"
    # The root of 0.2² + 0.05².
    assert texts["bulk", "delay p99 (ms)"] == ["2 ± <1", "0.5000 ± 0.050", "-1.500 ± 0.21"]
    alone = before_after(plain(None), "links.1.rate", 1e6, 2e6, metrics=["delay_p99"])
    assert [cell.text for cell in alone.rows[0][2:]] == ["2", "1", "-1"]
    several = before_after(crossed(), "policy", "red", "tail", metrics=["delay_p99"], units=UNITS)
    assert [column.name for column in several.columns][:3] == ["rate", "burst", "class"]
    assert len(several.rows) == 12


def charts() -> list[Chart]:
    marked = crossed().with_columns(policy="<b>" + pl.col("policy"))
    red = crossed().filter(pl.col("policy") == "red")
    return [
        *against(plain(), "links.1.rate", "delay_p99", log_x=True, log_y=True, units=UNITS),
        heat_map(red, "links.1.rate", "burst", "delay_p99", "voice", units=UNITS),
        parallel(marked, "voice.delay_p99", units=UNITS),
        pareto(marked, ("voice.delay_p99", "large"), "bulk.throughput", units=UNITS),
    ]


@pytest.mark.parametrize("number", range(4))
def test_static_pictures(number: int, tmp_path: Path) -> None:
    chart = charts()[number]
    for suffix in ("svg", "png", "pdf"):
        chart.save(tmp_path / f"a.{suffix}")
        chart.save(tmp_path / f"b.{suffix}")
        assert (tmp_path / f"a.{suffix}").read_bytes() == (tmp_path / f"b.{suffix}").read_bytes()
    tree = ElementTree.fromstring((tmp_path / "a.svg").read_text())
    texts = [text.text for text in tree.iter("{http://www.w3.org/2000/svg}text")]
    expected = [
        ["0.2", "0.5", "1", "2", "5", "rate (Mb/s)"],
        ["0", "80", "Delay p99 (ms)", "64,000", "burst (bytes)"],
        ["0", "80", "Delay p99 (ms)", "<b>tail", "policy"],
        ["all points", "front"],
    ]
    assert set(expected[number]) <= {text.strip() for text in texts if text}, texts


SERIES = (
    "one => echarts.getInstanceByDom(one).getOption().series.map((each) => [each.type, each.data.length])"
)
TEXTS = "one => [...one.querySelectorAll('svg text')].map((text) => text.textContent)"
# A point on a line, on the screen.
ON_LINE = """line => {
  const at = line.getPointAtLength(9).matrixTransform(line.getScreenCTM());
  return [at.x, at.y];
}"""


@needs_chromium
def test_in_the_browser(tmp_path: Path) -> None:
    file = tmp_path / "charts.html"
    file.write_text(charts_page(charts()))
    with opened(file, width=1280, height=900, scheme="light") as seen:
        tab = seen.page
        scroll_through(tab)
        screenshot(tab, "sweep-plots")
        plots = [tab.locator("figure.chart .plot").nth(number) for number in range(4)]
        texts = [set(plot.evaluate(TEXTS)) for plot in plots]
        assert {"0.2", "0.5", "1", "2", "5", "voice", "bulk"} <= texts[0]
        assert {"0", "80", "Delay p99 (ms)", "64,000", "1"} <= texts[1]
        assert {"0", "80", "<b>tail", "burst (bytes)"} <= texts[2]
        drawn = [[pair for pair in plot.evaluate(SERIES) if pair[0] != "custom"] for plot in plots]
        assert drawn == [
            [["line", 3], ["line", 3]],
            [["heatmap", 6]],
            [["parallel", 12]],
            [["scatter", 12], ["line", 3]],
        ]
        for number, plot in enumerate(plots[1:], start=1):
            plot.focus()
            tab.keyboard.press("ArrowRight")
            assert seen.errors == []
            assert "rate = " in tab.locator("figure.chart .says").nth(number).text_content(), number
            if number == 2:
                plot.scroll_into_view_if_needed()
                x, y = plot.locator("path[stroke-width='1.2']").first.evaluate(ON_LINE)
                tab.mouse.move(x, y)
            tip = plot.evaluate("one => one.querySelector('.tip').innerText")
            assert "rate = " in tip
            assert plot.locator(".tip b").count() == 0, "names are text"
            tab.keyboard.press("+")
        assert seen.errors == []
