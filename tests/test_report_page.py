"""The page of one run in a browser: verdicts first, linked charts, no inferred nodes, two sheets of paper."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from chromium import needs_chromium, opened, screenshot
from conftest import ROOT, Command, command_line
from perhop.bounds import bounds_of
from perhop.quantity import number
from perhop.scenario import Scenario

CLASSES = ["VOICE", "SIGNALING", "CRITICAL", "class-default"]
CONFIGURATION = """\
version 15.7
hostname br1
class-map match-all VOICE
 match dscp ef
class-map match-all SIGNALING
 match dscp cs3
class-map match-all CRITICAL
 match dscp af31
policy-map WAN
 class VOICE
  priority 1000
 class SIGNALING
  bandwidth 500
 class CRITICAL
  bandwidth 4000
  random-detect dscp-based
 class class-default
  fair-queue
interface GigabitEthernet0/0
 ip address 10.0.0.1 255.255.255.0
interface GigabitEthernet0/1
 ip address 10.1.0.1 255.255.255.0
 speed 10
 ip nat outside
 service-policy output WAN
end
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The page and the results of one run of the configuration."""
    folder = tmp_path_factory.mktemp("page")
    (folder / "own.cfg").write_text(CONFIGURATION)
    run = command_line(["run", "own.cfg", "--report", "page.html", "-o", "results", "-q"])
    subprocess.run(run, cwd=folder, capture_output=True, check=True)
    return folder


@needs_chromium
@pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])
def test_verdicts_and_charts_come_first(folder: Path, width: int, scheme: str) -> None:
    with opened(folder / "page.html", width=width, height=900, scheme=scheme) as seen:
        tab = seen.page
        assert tab.locator("h1").inner_text() == "own.cfg, GigabitEthernet0/1"
        assert tab.locator(".outcome b").all_inner_texts() == CLASSES
        assert tab.locator(".outcome:is(.good, .fair, .bad)").count() == len(CLASSES)
        kinds = tab.eval_on_selector_all(".linked figure", "all => all.map((one) => one.dataset.kind)")
        assert kinds == ["throughput", "delay", "drops", "waiting"]
        top = tab.locator(".linked figure").first.bounding_box()["y"]
        assert width < 1000 or top < 900, "the first plot is on the first screen"
        assert tab.locator("article svg.pd").locator("visible=true").count() == 1, "one drawing"
        shown = tab.locator("main").inner_text()
        for scaffolding in ("far-side", "near-side", "receiver", "10000000", "(back)", "Inferred from"):
            assert scaffolding not in shown, scaffolding
        assert "ip nat outside" in tab.locator(".premises").inner_text()
        assert tab.locator("details[open]").count() == 0
        assert tab.evaluate("document.documentElement.scrollWidth") <= width
        scroll_through_linked(tab)
        screenshot(tab, f"page-{width}-{scheme}")
        assert seen.errors == []
        assert all(url.startswith(("file:", "data:")) for url in seen.requests)


@needs_chromium
def test_times_are_round_after_a_warmup(folder: Path) -> None:
    ticks = (
        "() => [...document.querySelectorAll('.linked .plot')].map((one) => echarts.getInstanceByDom(one)"
        ".getModel().getComponent('xAxis', 0).axis.scale.getTicks().map(({ value }) => value))"
    )
    with opened(folder / "page.html", width=1440, height=1200, scheme="light") as seen:
        scroll_through_linked(seen.page)
        for times in seen.page.evaluate(ticks):
            # The ends of the axis are the ends of the measured time.
            inner = times[1:-1]
            steps = {round(after - before, 6) for before, after in pairwise(inner)}
            assert len(steps) == 1, times
            (step,) = steps
            assert all(round(tick % step, 6) in (0.0, step) for tick in inner), times


def scroll_through_linked(tab: Any) -> None:
    """Draw the four charts."""
    for number_of_chart in range(4):
        figure = tab.locator(".linked figure").nth(number_of_chart)
        figure.scroll_into_view_if_needed()
        figure.locator(".plot svg").wait_for()


@needs_chromium
def test_a_time_and_a_class_are_shared_by_all_charts(folder: Path) -> None:
    with opened(folder / "page.html", width=1440, height=1200, scheme="light") as seen:
        tab = seen.page
        scroll_through_linked(tab)
        tab.locator("figure[data-kind=delay] .plot").hover(position={"x": 300, "y": 120})
        heads = tab.locator(".linked .tip-head")
        tab.wait_for_function("() => document.querySelectorAll('.linked .tip-head').length === 4")
        times = [float(head.rpartition(": ")[2]) for head in heads.all_inner_texts()]
        assert max(times) - min(times) <= 0.5 and 3 < min(times) < 19, times
        tab.mouse.move(5, 5)
        tab.wait_for_function(
            "() => [...document.querySelectorAll('.linked .tip')].every((one) => one.style.opacity === '0'"
            " || one.style.visibility === 'hidden' || one.style.display === 'none')"
        )
        tab.locator("figure[data-kind=drops] .plot svg text", has_text="CRITICAL").first.click()
        selected = (
            "() => [...document.querySelectorAll('.linked .plot')].map((one) =>"
            " echarts.getInstanceByDom(one).getOption().legend[0].selected)"
        )
        assert [selection.get("CRITICAL") for selection in tab.evaluate(selected)] == [False] * 4
        assert not any(selection.get("VOICE") is False for selection in tab.evaluate(selected))
        # A theme redraws all charts, and hidden series remain hidden.
        tab.locator("#theme").click()
        assert [selection.get("CRITICAL") for selection in tab.evaluate(selected)] == [False] * 4
        assert seen.errors == []


@needs_chromium
def test_a_printed_page_has_two_sheets(folder: Path, tmp_path: Path) -> None:
    with opened(folder / "page.html", width=1440, height=900, scheme="dark") as seen:
        seen.page.pdf(path=str(tmp_path / "page.pdf"), format="A4")
    pages = len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "page.pdf").read_bytes()))
    assert pages == 2


def test_bounds_match_perhop_bounds(folder: Path) -> None:
    """Queues of 10,000,000 packets outside of the router led to bounds of minutes."""
    loaded = Scenario.load(folder / "own.cfg")
    ports = {port for port, _ in loaded.queues.values()}
    delays = bounds_of(loaded).presented(ports).delays_by_class()
    assert set(delays) == {"VOICE", "SIGNALING", "CRITICAL"}
    assert all(delay < 1.0 for delay in delays.values())
    text = (folder / "page.html").read_text()
    shown = re.findall(r"guaranteed in the router&#39;s queue: ([\d.]+) ms at most", text)
    assert shown == [number(1e3 * delays[name]) for name in ("VOICE", "SIGNALING", "CRITICAL")]
    ended = subprocess.run(
        command_line(["bounds", folder / "own.cfg"]), capture_output=True, text=True, check=True
    )
    assert all(f" {bound}" in ended.stdout for bound in shown), ended.stdout


@pytest.mark.skipif(shutil.which("node") is None, reason="no node: apt-get install nodejs")
def test_the_playground_counts_the_same_queues(folder: Path) -> None:
    loaded = Scenario.load(folder / "own.cfg")
    found = bounds_of(loaded)
    ports = {port for port, _ in loaded.queues.values()}
    delay = found.presented(ports).delays_by_class()["VOICE"]
    module = json.dumps(str(ROOT / "playground" / "src" / "verdict.js"))
    bounds = json.dumps(found.to_dict())
    script = f"import {{ guarantee }} from {module}; console.log(guarantee({bounds}, 'VOICE'));"
    ended = subprocess.run(
        ["node", "--input-type=module", "-e", script], capture_output=True, text=True, check=True
    )
    shown = re.search(r"take at most ([\d.]+) ms in the router", ended.stdout)
    assert shown and float(shown[1]) == pytest.approx(1e3 * delay, rel=1e-2), ended.stdout


def test_a_saved_run_gives_the_same_page(perhop: Command, folder: Path, tmp_path: Path) -> None:
    for arguments, back in (((), False), (("--back",), True)):
        assert perhop("report", folder / "results", "-o", "saved.html", *arguments).code == 0
        saved = (tmp_path / "saved.html").read_text()
        assert "<h1>own.cfg, GigabitEthernet0/1</h1>" in saved
        article = saved.partition("<article")[2].partition("<summary>The scenario")[0]
        for shown in ('"name":"CRITICAL (back)"', ">CRITICAL (back)<"):
            assert (shown in article) == back, shown
    summary = json.loads((folder / "results" / "summary.json").read_text())
    assert summary["inferred"]["file"] == "own.cfg"
    assert summary["inferred"]["queues"]["VOICE"] == ["br1->far-side", "VOICE"]


def test_a_page_does_not_replace_other_files(perhop: Command, folder: Path, tmp_path: Path) -> None:
    ended = perhop("run", folder / "own.cfg", "--report", "page.txt", "-q")
    assert ended.code == 2 and "does not end in .html" in ended.err
    (tmp_path / "page.html").write_text("mine")
    ended = perhop("run", folder / "own.cfg", "--report", "page.html", "-q")
    assert ended.code == 2 and "was not written by perhop" in ended.err


def test_drops_over_time_add_up(folder: Path) -> None:
    """The intervals contain drops after the warm-up; `classes` omits packets sent before its end."""
    import polars as pl

    from perhop.results import Results

    results = Results.load(folder / "results")
    for name in CLASSES:
        over_time = results.throughput.filter(pl.col("class") == name)["dropped_packets"].sum()
        counted = results.classes.filter(pl.col("class") == name)["dropped_packets"].sum()
        assert counted - 100 <= over_time <= counted + 100, name
        assert (over_time > 0) == (counted > 0)
