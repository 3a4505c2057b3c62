"""The report in a real browser: complete, without errors, usable with the keyboard."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

import perhop
import perhop.plot
from chromium import needs_chromium, opened, screenshot, scroll_through
from conftest import ROOT, Command
from perhop.checking import check_file
from perhop.report import page
from perhop.report.run import Run
from perhop.rules import rules
from small_study import make_study

SAMPLED = {"measure.throughput-every": "500ms", "measure.delay-every": "500ms", "duration": "10s"}
CONFIGURATION = [
    {
        "file": "edge.cfg",
        "lines": [
            {"line": 1, "text": "policy-map WAN", "state": "modelled", "message": None},
            {
                "line": 2,
                "text": "  <script>alert(1)</script>",
                "state": "not recognized",
                "message": "not a command",
            },
        ],
    }
]


@pytest.fixture(scope="module")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("report") / "wred"

    def configured(new: Path) -> None:
        (new / "configuration.json").write_text(json.dumps(CONFIGURATION))

    perhop.run(ROOT / "examples" / "wred.perhop.yaml", replications=2, set=SAMPLED).save(
        folder, also=configured
    )
    return folder


@pytest.fixture(scope="module")
def report(run_folder: Path) -> Path:
    file = run_folder.parent / "report.html"
    file.write_text(page([run_folder]))
    return file


def test_a_report_is_one_file_without_requests(report: Path) -> None:
    text = report.read_text()
    assert len(text) < 3e6
    outside = re.sub(r"<script.*?</script>", "", text, flags=re.S)
    links = re.findall(r"""(?:src|href)=["']?([^"' >]+)""", outside)
    assert all(link.startswith(("#", "data:")) for link in links), links
    assert "default-src 'none'" in text
    assert "<script>alert(1)" not in text, "configuration text is text"


@needs_chromium
@pytest.mark.parametrize(("name", "width", "scheme"), [("desktop", 1280, "light"), ("phone", 390, "dark")])
def test_a_report_works_in_a_browser(
    report: Path, run_folder: Path, name: str, width: int, scheme: str
) -> None:
    run = Run(perhop.Results.load(run_folder))
    charts = [*run.linked, *run.more_charts]
    kinds = {chart.kind for chart in charts}
    assert kinds >= {"throughput", "delay", "drops", "waiting", "queue", "drop-curve", "ipdv", "delay-cdf"}
    with opened(report, width=width, height=900, scheme=scheme) as seen:
        tab = seen.page
        unfold(tab)
        scroll_through(tab)
        tab.wait_for_selector("figure.chart:not([data-drawn])", state="detached")
        drawn = tab.eval_on_selector_all(
            "figure.chart", "all => all.map(one => [one.dataset.kind, Number(one.dataset.drawn)])"
        )
        assert drawn == [[chart.kind, len(chart.marks)] for chart in charts]
        _every_mark_is_there(tab, charts)
        assert tab.evaluate("document.documentElement.scrollWidth") <= width, "nothing sticks out of the page"
        screenshot(tab, f"report-{name}-{scheme}")
        assert seen.errors == []
        assert all(url.startswith(("file:", "data:")) for url in seen.requests)


def unfold(tab: Any) -> None:
    """Open all that is folded."""
    tab.eval_on_selector_all("details", "all => all.forEach((one) => { one.open = true; })")


def _every_mark_is_there(tab: Any, charts: list[perhop.plot.Chart]) -> None:
    """Each line is a separate path in its color."""
    unfilled = "['none', 'transparent'].includes(path.getAttribute('fill'))"
    paths = f"[...one.querySelectorAll('.plot svg path')].filter(path => {unfilled})"
    strokes = tab.eval_on_selector_all("figure.chart", f"all => all.map(one => {paths}.length)")
    for chart, count in zip(charts, strokes, strict=True):
        lines = sum(isinstance(mark, perhop.plot.Line) for mark in chart.marks)
        assert count >= lines, chart.kind


@needs_chromium
def test_a_report_is_usable_with_the_keyboard(report: Path) -> None:
    with opened(report, width=1280, height=900, scheme="light") as seen:
        tab = seen.page
        tab.keyboard.press("Tab")
        assert tab.evaluate("document.activeElement.className") == "skip"
        unfold(tab)
        plot = tab.locator("figure[data-kind=throughput] .plot")
        plot.scroll_into_view_if_needed()
        plot.focus()
        tab.keyboard.press("ArrowRight")
        says = tab.locator("figure[data-kind=throughput] .says")
        first = says.text_content()
        assert "bursts" in first
        assert "Mb/s" in first
        tab.keyboard.press("ArrowRight")
        assert says.text_content() != first
        zoom = (
            "() => { const place = document.querySelector('figure[data-kind=throughput] .plot');"
            " const {start, end} = echarts.getInstanceByDom(place).getOption().dataZoom[0];"
            " return [start, end]; }"
        )
        tab.keyboard.press("+")
        assert tab.evaluate(zoom) == [25, 75]
        tab.keyboard.press("0")
        assert tab.evaluate(zoom) == [0, 100]
        head = tab.locator("table.config th button").nth(2)
        head.focus()
        tab.keyboard.press("Enter")
        states = tab.locator("table.config tbody tr td:nth-child(3)").all_text_contents()
        assert states == ["modelled", "not recognized"]
        tab.keyboard.press("Enter")
        states = tab.locator("table.config tbody tr td:nth-child(3)").all_text_contents()
        assert states == ["not recognized", "modelled"]
        assert head.locator("xpath=..").get_attribute("aria-sort") == "descending"
        tab.locator("#theme").focus()
        tab.keyboard.press("Enter")
        tab.keyboard.press("Enter")
        assert tab.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(15, 20, 25)"
        assert seen.errors == []


@needs_chromium
def test_tables_are_copied_and_numbers_sort_as_numbers(
    report: Path, run_folder: Path, tmp_path: Path
) -> None:
    with opened(report, width=1280, height=900, scheme="light") as seen:
        tab = seen.page
        unfold(tab)
        tab.evaluate("navigator.clipboard.writeText = async (text) => { window.copied = text; }")
        tab.locator("button.copy").first.click()
        tab.get_by_text("Copied").wait_for()
        head, row = tab.evaluate("window.copied").splitlines()
        assert head.split("\t")[0] == "class"
        assert row.split("\t")[0] == "bursts"
        ports = tab.locator("table.data", has_text="precedence").last
        button = ports.locator("th.n button").first
        column = button.evaluate("one => one.closest('th').cellIndex")
        # With the keyboard, because charts that are still being drawn may move the target of a mouse.
        button.press("Enter")
        tab.wait_for_function(
            "one => one.closest('th').ariaSort === 'ascending'", arg=button.element_handle()
        )
        cells = ports.locator(f"tbody td:nth-child({column + 1})")
        values = [float(value) for value in cells.evaluate_all("all => all.map(one => one.dataset.sort)")]
        assert values == sorted(values)


@needs_chromium
def test_in_print_the_linked_charts_are_drawn_and_light(report: Path, tmp_path: Path) -> None:
    with opened(report, width=1280, height=900, scheme="dark") as seen:
        seen.page.pdf(path=str(tmp_path / "report.pdf"))
        drawn = seen.page.eval_on_selector_all(
            ".linked figure", "all => all.length === 4 && all.every(one => one.dataset.drawn)"
        )
        assert drawn, "charts that never came into view are printed too"
        assert (tmp_path / "report.pdf").stat().st_size > 20_000


@needs_chromium
def test_a_report_opens_in_under_a_second(report: Path) -> None:
    """Measured as processor time of the page's own thread, so that other work does not count."""
    with opened(report, width=1280, height=900, scheme="light") as seen:
        tools = seen.page.context.new_cdp_session(seen.page)
        tools.send("Performance.enable", {"timeDomain": "threadTicks"})
        seen.page.reload(wait_until="load")
        seen.page.wait_for_selector("figure.chart", state="attached")
        metrics = {
            metric["name"]: metric["value"] for metric in tools.send("Performance.getMetrics")["metrics"]
        }
    assert 0 < metrics["TaskDuration"] < 1, metrics


def test_a_study_and_a_run_in_one_report(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    study = make_study(tmp_path / "slow")
    (study / "README.md").write_text(
        "# Slow\n\n## The question of the paper\n\nWhether **half** gets through.\n"
    )
    (study / "edge.cfg").write_text(
        "policy-map WAN\n class class-default\n  fair-queue\nhostname edge\nnonsense\n"
    )
    assert perhop("study", "run", study, "-o", "results", "-q").code == 0
    lines = json.loads((tmp_path / "results" / "slow" / "configuration.json").read_text())[0]["lines"]
    assert [line["state"] for line in lines][-2:] == ["irrelevant", "not recognized"]
    assert perhop("run", scenario, "-o", "results/mine", "-q").code == 0
    ended = perhop("report", "results", "-o", "all.html")
    assert ended.code == 0, ended.err
    text = (tmp_path / "all.html").read_text()
    for expected in (
        "A link that is too slow",
        "Whether <strong>half</strong> gets through.",
        "A heavy load loses half.",
        "the paper forgot to say",
        "edge.cfg: 5 lines",
        "light loss",
        "4 Mb/s",
        'id="overload"',
        'class="verdict agrees"',
    ):
        assert expected in text, expected
    assert perhop("report", tmp_path / "slow").code == 2
    # The same results give the same page.
    assert perhop("report", "results", "-o", "again.html").code == 0
    assert (tmp_path / "again.html").read_text() == text


def test_notebooks_show_results(scenario: Path) -> None:
    results = perhop.run(scenario)
    shown = results._repr_html_()
    assert "<td" in shown
    assert "steady" in shown
    drawn = perhop.Scenario.load(scenario)._repr_html_()
    assert drawn.startswith('<div style="overflow-x:auto"><svg')
    assert perhop.plot.queue(results)._repr_svg_().startswith("<?xml")


def test_a_report_contains_the_findings_of_rules(perhop: Command, tmp_path: Path) -> None:
    scenario = tmp_path / "scenario.perhop.yaml"
    bad = rules()["class-without-traffic"].bad
    assert bad is not None
    scenario.write_text(bad)
    router = ROOT / "tests" / "configurations" / "branch-15-subrate.cfg"
    for file, folder in ((scenario, "own"), (router, "router")):
        assert perhop("run", file, "-q", "-o", tmp_path / folder).code == 0
    own, configured = (page([tmp_path / folder]) for folder in ("own", "router"))
    assert "no traffic of the scenario reaches class voice" in own
    expected = check_file(router).findings
    assert expected
    assert all(finding.rule in configured for finding in expected)
    quiet = tmp_path / "quiet.perhop.yaml"
    good = rules()["class-without-traffic"].good
    assert good is not None
    quiet.write_text(good)
    assert perhop("run", quiet, "-q", "-o", tmp_path / "quiet").code == 0
    assert "<summary>Findings" not in page([tmp_path / "quiet"])


def test_a_report_does_not_replace_other_files(perhop: Command, scenario: Path, tmp_path: Path) -> None:
    assert perhop("run", scenario, "-q", "-o", "mine").code == 0
    before = scenario.read_text()
    ended = perhop("report", "mine", "-o", scenario)
    assert ended.code == 2 and "does not end in .html" in ended.err
    page = tmp_path / "page.html"
    page.write_text("<html>somebody's own page</html>")
    ended = perhop("report", "mine", "-o", page)
    assert ended.code == 2 and "was not written by perhop" in ended.err
    assert scenario.read_text() == before and "own page" in page.read_text()
    for _ in range(2):
        assert perhop("report", "mine", "-o", "report.html").code == 0, "a report is replaced"
