"""The playground: the same bytes as the native engine, in one page without other files."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

import perhop
import perhop.playground
from chromium import needs_axe, screenshot, serious_barriers
from conftest import ROOT, Command
from perhop import _core, interchange
from perhop.errors import MissingCapabilityError
from playground import ASSETS, needs_page, needs_playground, page, summary_of
from programs import lacking

# A build of the whole engine for WebAssembly, and minutes in a browser: `make test-playground` runs them.
pytestmark = pytest.mark.touched

EXAMPLES = ROOT / "examples"
#: Scenarios without traces: a browser has no files.
COMPARED = ("first-steps", "tcp", "wred", "weighted-fair", "per-flow-marking", "nested-classes", "framing")
STARTER = ROOT / "python" / "perhop" / "templates" / "voice.perhop.yaml"
HOSTILE = "<img src=x onerror=globalThis.broken=1>"


def in_module(runs: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The results of the module for scenarios, under Node.js."""
    if reason := lacking("node"):
        pytest.skip(reason)
    asked = json.dumps({"module": str(ASSETS / "perhop.wasm"), "runs": runs})
    script = ROOT / "playground" / "tests" / "summaries.mjs"
    ended = subprocess.run(["node", script], input=asked, capture_output=True, text=True, check=True)
    found: list[dict[str, Any]] = json.loads(ended.stdout)
    return found


@needs_playground
def test_the_module_and_the_native_engine_give_the_same_bytes() -> None:
    files = [*(EXAMPLES / f"{name}.perhop.yaml" for name in COMPARED), STARTER]
    runs = [{"text": file.read_text(), "seed": seed, "times": 1} for file in files for seed in (1, 2, 77)]
    natively = [summary_of(_core.load(file, []), seed) for file in files for seed in (1, 2, 77)]
    for run, expected, found in zip(runs, natively, in_module(runs), strict=True):
        assert found["summary"] == expected, run["text"].splitlines()[1]


def test_a_build_without_the_page_shows_how_to_build_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(perhop.playground, "_ASSETS", tmp_path)
    with pytest.raises(MissingCapabilityError, match="without the playground") as raised:
        perhop.playground.page()
    assert raised.value.help == "in a clone of perhop, run: make playground"
    assert raised.value.exit_code == 5


@needs_playground
def test_the_command_writes_the_page(perhop: Command, tmp_path: Path) -> None:
    ended = perhop("playground", "-o", "page.html")
    assert (ended.code, ended.out) == (0, "")
    assert "written to page.html" in ended.err
    assert (tmp_path / "page.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    # Without a browser it prints the path of the page.
    ended = perhop("playground", BROWSER="/bin/false", XDG_CACHE_HOME=str(tmp_path / "cache"), DISPLAY="")
    assert ended.code == 0
    assert str(tmp_path / "cache" / "perhop" / "playground.html") in ended.err


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("playground") / "page.html"
    file.write_text(perhop.playground.page(), encoding="utf-8")
    return file


@needs_playground
def test_the_page_is_small_and_the_same_each_time(file: Path) -> None:
    # `make playground` optimizes the module of a release for size, `make playground-tested` does not.
    assert file.stat().st_size < (4_000_000 if (ASSETS / ".released").is_file() else 10_000_000)
    assert perhop.playground.page() == file.read_text(encoding="utf-8")


@needs_page
def test_a_router_is_pasted_run_changed_and_stepped_through(file: Path) -> None:
    with page(file) as here:
        here.write((EXAMPLES / "router.cfg").read_text())
        assert "Inferred from branch" in here.text("name")
        assert here.tab.locator("#interfaces").input_value() == "Serial0/0"
        assert "no losses" in here.text("verdicts").split("others/business")[0], "voice loses nothing"
        assert "note, line 13" in here.text("diagnostics")
        before = here.text("verdicts")
        # A rate for voice that is below its load.
        (slider,) = (
            slider
            for slider in here.tab.locator("#sliders .slider").all()
            if slider.locator("span").inner_text() == "voice · priority"
        )
        here.slide(slider.locator("input").get_attribute("data-id"), 20)
        assert "priority 64" in here.exported("ios").decode()
        assert "lost" in here.text("verdicts").split("others/business")[0]
        assert here.tab.locator("#verdicts .was").count() > 0, "what was before stands below"
        assert here.text("verdicts") != before
        assert here.tab.evaluate("document.documentElement.dataset.overlaid") == "true"
        here.tab.click("#drop")
        here.tab.wait_for_timeout(300)
        assert re.search(
            r"voice, packet \d+, 200 B: dropped at voice|others/\S+, packet", here.text("happens")
        )
        first = here.text("clock")
        for _ in range(3):
            here.tab.click("#forward")
        assert here.text("clock") >= first
        here.tab.click("#back")
        screenshot(here.tab, "playground-router")


@needs_page
def test_verdicts_show_guarantees(file: Path) -> None:
    rows = perhop.Scenario.load(STARTER).bounds(end_to_end=True).rows(named=True)
    (voice,) = (row["delay_s"] for row in rows if row["class"] == "voice")
    with page(file) as here:
        here.tab.locator("#verdicts .sure").first.wait_for(state="attached")
        here.tab.click("#verdicts li:nth-child(1) summary")
        bounds = here.tab.locator("#verdicts .sure").all_inner_texts()
        assert bounds[0].endswith(f"delivered packets take at most {1e3 * voice:.3g} ms")


@needs_page
def test_verdicts_are_above_their_assumptions_and_omissions(file: Path) -> None:
    shaped = "tc qdisc add dev wan0 root tbf rate 5mbit burst 16k latency 50ms\n"
    listed = (
        (EXAMPLES / "router.cfg")
        .read_text()
        .replace("interface Serial0/0\n", "interface Serial0/0\n ip access-group business-servers out\n")
    )
    with page(file) as here:
        lines = here.tab.locator("#premises li")
        here.write(shaped)
        here.tab.click("#premises summary")
        begin = "assumed: the line of wan0 is Ethernet of 1Gb/s"
        assert any(line.startswith(begin) for line in lines.all_inner_texts())
        load = "load: busy: the load of each class is 90 % of the rate that it gets while"
        assert load in lines.all_inner_texts()
        here.write(listed)
        assert any(
            line.startswith("not looked at: line ") and "access-group business-servers out" in line
            for line in lines.all_inner_texts()
        )
        assert "voice" in here.text("verdicts")
        # A scenario runs as written; no setting of the router remains.
        here.write(STARTER.read_text())
        assert lines.all_inner_texts() == []


@needs_page
def test_a_mistake_is_reported_under_its_line(file: Path) -> None:
    with page(file) as here:
        here.type(STARTER.read_text().replace("rate: 2Mb/s", "rate: 2Mbs"))
        here.tab.locator("#diagnostics .error").first.wait_for()
        assert "error, line 21" in here.text("diagnostics")
        assert here.tab.locator(".cm-lintRange-error").count() == 1
        here.tab.keyboard.press("Control+Home")
        here.tab.keyboard.insert_text("mea")
        here.tab.keyboard.press("Control+Space")
        here.tab.locator(".cm-tooltip-autocomplete").wait_for()
        assert "measure" in here.tab.locator(".cm-tooltip-autocomplete").inner_text()


@needs_page
def test_a_link_restores_everything(file: Path) -> None:
    with page(file) as here:
        here.slide("links.1.rate", 30)
        here.tab.click("#share")
        here.tab.wait_for_timeout(300)
        fragment = here.tab.evaluate("location.hash")
        summary, text = here.exported("summary"), here.exported("scenario")
    assert fragment.startswith("#s=")
    with page(file, fragment=fragment) as here:
        assert here.exported("summary") == summary
        assert here.exported("scenario") == text != STARTER.read_bytes()
    with page(file, fragment="#s=AAAA") as here:
        assert "Voice" in here.text("name"), "a link that cannot be read does no harm"


@needs_page
@pytest.mark.parametrize("example", ["tcp", "router"])
def test_exports_equal_the_native_ones(file: Path, example: str, tmp_path: Path) -> None:
    source = EXAMPLES / ("router.cfg" if example == "router" else f"{example}.perhop.yaml")
    with page(file) as here:
        here.write(source.read_text())
        exported, summary = here.exported("scenario"), here.exported("summary")
        table, picture = here.exported("csv"), here.exported("png")
    scenario = tmp_path / "exported.perhop.yaml"
    scenario.write_bytes(exported)
    assert summary.decode() == summary_of(_core.load(scenario, []))
    interchange.write_csv(perhop.run(scenario, replications=1), tmp_path / "csv")
    assert table == (tmp_path / "csv" / "classes.csv").read_bytes()
    assert picture.startswith(b"\x89PNG\r\n") and len(picture) > 20_000


@needs_page
@needs_axe
@pytest.mark.parametrize(
    ("width", "scheme"), [(1400, "dark"), (1400, "light"), (390, "dark"), (390, "light")]
)
def test_the_page_fits_any_screen_without_serious_barriers(file: Path, width: int, scheme: str) -> None:
    with page(file, width=width, height=850, scheme=scheme) as here:
        here.slide("traffic.1.source.poisson.rate", 60)
        assert here.tab.evaluate("document.documentElement.scrollWidth") <= width
        screenshot(here.tab, f"playground-{width}-{scheme}")
        for tab in ("#tab-sliders", "#tab-text"):
            here.tab.click(tab)
            assert serious_barriers(here.tab) == []


@needs_page
def test_the_page_is_usable_with_the_keyboard(file: Path) -> None:
    with page(file) as here:
        keys = here.tab.keyboard
        here.tab.locator("#tab-sliders").focus()
        keys.press("ArrowRight")
        assert here.tab.locator("#panel-text").is_visible()
        keys.press("ArrowLeft")
        for _ in range(12):
            keys.press("Tab")
            if here.tab.evaluate("document.activeElement.dataset.id ?? ''") == "links.1.rate":
                break
        else:
            pytest.fail("the slider is not reached")
        known, before = here.runs(), here.exported("scenario")
        here.tab.locator('[data-id="links.1.rate"]').focus()
        keys.press("ArrowLeft")
        here.after(known)
        assert here.exported("scenario") != before
        here.tab.evaluate("document.activeElement.blur()")
        began = here.text("clock")
        keys.press(".")
        here.tab.wait_for_timeout(200)
        assert here.text("clock") != began
        assert "packet" in here.text("happens")
        assert here.tab.locator("#says").text_content()
        keys.press(" ")
        assert here.text("play") == "Pause"
        here.tab.wait_for_timeout(400)
        keys.press(" ")
        assert here.text("play") == "Play"
        stopped = here.text("clock")
        here.tab.wait_for_timeout(200)
        assert here.text("clock") == stopped > began
        here.tab.locator("#time").focus()
        keys.press("End")
        here.tab.wait_for_timeout(300)
        assert here.text("clock").startswith("20.0")


@needs_page
def test_hostile_names_stay_text(file: Path) -> None:
    text = STARTER.read_text().replace("name: bulk", f"name: '{HOSTILE}'").replace("Voice and", HOSTILE)
    with page(file) as here:
        here.write(text)
        assert HOSTILE in here.text("name")
        here.tab.click("#verdicts li:nth-child(2) summary")
        assert HOSTILE in here.text("verdicts")
        assert HOSTILE in here.text("legend")
        here.tab.click("#forward")
        here.tab.hover("#charts [data-kind=delay] .plot")
        here.tab.wait_for_timeout(200)
        assert here.tab.evaluate("globalThis.broken") is None
        assert here.tab.locator("main img").count() == 0


@needs_page
def test_five_hundred_packets_move_and_the_page_does_not_freeze(file: Path) -> None:
    text = STARTER.read_text().replace("limit: 64 packets", "limit: 600 packets")
    with page(file) as here:
        here.write(text)
        here.tab.evaluate(
            """() => {
              const time = document.getElementById("time");
              time.value = 15;
              time.dispatchEvent(new Event("input"));
            }"""
        )
        here.tab.click("#play")
        here.tab.wait_for_timeout(2500)
        frames, seen = here.tab.evaluate("[perhopPlayer.frames.slice(-60), perhopPlayer.scene.drawn]")
        assert seen > 500
        median = sorted(frames)[len(frames) // 2]
        assert median < 34, "a machine that does other things as well shows every other frame"
        assert float(here.text("clock").split()[0]) > 15.02
        screenshot(here.tab, "playground-many")
