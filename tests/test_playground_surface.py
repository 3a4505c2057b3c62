"""The interface of the playground in Chromium: labels, verdicts, dimmed results, sliders, goals, a phone."""

from __future__ import annotations

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import perhop.playground
from chromium import needs_axe, serious_barriers
from conftest import ROOT
from perhop import lessons
from playground import Page, needs_page, page

# A build of the whole engine for WebAssembly, and minutes in a browser: `make test-playground` runs them.
pytestmark = pytest.mark.touched

STARTER = (ROOT / "python" / "perhop" / "templates" / "voice.perhop.yaml").read_text(encoding="utf-8")
ROUTER = (ROOT / "examples" / "router.cfg").read_text(encoding="utf-8")
LONG = ("headquarters-customer-premium-voice-north", "headquarters-customer-premium-voice-south")
# A canvas has no text to read, so the drawing calls are recorded.
RECORDED = """() => {
  globalThis.drawn = new Set();
  const { fillText } = CanvasRenderingContext2D.prototype;
  CanvasRenderingContext2D.prototype.fillText = function (text, ...rest) {
    drawn.add(text);
    return fillText.call(this, text, ...rest);
  };
}"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("surface") / "page.html"
    file.write_text(perhop.playground.page(), encoding="utf-8")
    return file


def opacity(here: Page, selector: str) -> float:
    return float(here.tab.locator(selector).evaluate("one => getComputedStyle(one).opacity"))


def await_outdated(here: Page, what: str) -> None:
    here.tab.locator(f'html[data-outdated="{what}"]').wait_for(state="attached")


def sliders(here: Page) -> list[dict[str, Any]]:
    """Return name and state of each slider of the panel, from Chromium's tree of accessibility."""
    session = here.tab.context.new_cdp_session(here.tab)
    nodes = session.send("Accessibility.getFullAXTree")["nodes"]
    found = []
    for node in nodes:
        if node.get("role", {}).get("value") == "slider":
            states = {state["name"]: state["value"].get("value") for state in node.get("properties", [])}
            found.append({"name": node["name"]["value"], "is_disabled": bool(states.get("disabled"))})
    return [slider for slider in found if not slider["name"].startswith("Instant shown")]


def open_lesson(here: Page, name: str) -> None:
    known = here.runs()
    here.tab.click("#lessons-open")
    here.after(known)
    if name != "fifo":
        known = here.runs()
        here.tab.click(f"#course [data-lesson={name}]")
        here.after(known)


@needs_page
@pytest.mark.parametrize("width", [1440, 390])
def test_truncated_names_of_queues_differ(file: Path, width: int) -> None:
    text = STARTER
    for old, new in zip(("voice", "bulk"), LONG, strict=True):
        text = text.replace(f"- name: {old}\n", f"- name: {new}\n")
    with page(file, width=width, height=844) as here:
        here.tab.evaluate(RECORDED)
        here.write(text)
        here.tab.wait_for_timeout(300)
        drawn = here.tab.evaluate("[...drawn]")
        cut = [text for text in drawn if "…" in text and re.search("nor|sou", text)]
        assert len(cut) == 2, drawn
        # The labels keep the difference between the names.
        assert {bool(re.search("nor", text)) for text in cut} == {True, False}
        assert all(name not in drawn for name in LONG), "the names do not fit"
        labels = here.tab.locator("#verdicts summary b").all_inner_texts()
        assert [label[-5:] for label in labels] == ["north", "south"] and all(
            "…" in label for label in labels
        )
        here.tab.click("#verdicts li:nth-child(1) summary")
        assert here.tab.locator("#verdicts .whole").first.inner_text() == LONG[0]


@needs_page
@pytest.mark.parametrize("width", [1440, 390])
def test_a_verdict_is_a_colored_line_with_hidden_details(file: Path, width: int) -> None:
    with page(file, width=width, height=844) as here:
        lines = here.tab.locator("#verdicts li")
        # In the starter, voice has a separate queue. Here, the same traffic has one queue.
        here.write(STARTER.replace("scheduler: priority", "scheduler: fifo"))
        bad = lines.nth(0)
        assert bad.get_attribute("class") == "bad" and "unfit" in bad.inner_text()
        red = bad.evaluate("one => getComputedStyle(one).backgroundColor")
        here.write(STARTER)
        good = lines.nth(0)
        assert good.get_attribute("class") == "good" and good.inner_text().startswith("voice")
        assert good.evaluate("one => getComputedStyle(one).backgroundColor") != red
        assert here.tab.locator("#verdicts details[open]").count() == 0
        heights = lines.evaluate_all("all => all.map((one) => one.getBoundingClientRect().height)")
        assert len(heights) == 2 and max(heights) < 40, "one line each"
        is_whole = "all => all.every((one) => one.scrollWidth <= one.clientWidth)"
        assert here.tab.locator("#verdicts .line").evaluate_all(is_whole), "no line is cut"
        assert "get through" not in here.text("verdicts")
        good.locator("summary").press("Enter")
        assert "get through" in good.inner_text() and "fit for voice" in good.inner_text()
        here.slide("links.1.rate", 55)
        assert here.tab.locator("#verdicts details[open]").count() == 1, "what is open stays open"
        lines.nth(0).locator("summary").press("Enter")
        # Roles do not fit next to long names, but the figures do.
        here.write(ROUTER)
        heights = lines.evaluate_all("all => all.map((one) => one.getBoundingClientRect().height)")
        assert len(heights) == 3 and max(heights) < 40
        assert here.tab.locator("#verdicts .line").evaluate_all(is_whole), here.text("verdicts")
        assert lines.nth(2).locator(".line").inner_text().endswith("% lost")
        assert lines.nth(2).locator(".aside").inner_text() == "(best effort)"


@needs_page
@needs_axe
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_results_of_an_earlier_text_are_dimmed(file: Path, scheme: str) -> None:
    results = ("#verdicts", "#charts", ".stage")
    with page(file, width=1440, scheme=scheme) as here:
        assert [opacity(here, selector) for selector in results] == [1, 1, 1]
        assert here.tab.locator("#outdated").is_hidden()
        here.type(f"nonsense: 1\n{STARTER}")
        await_outdated(here, "all")
        assert all(opacity(here, selector) < 0.8 for selector in results)
        assert here.text("outdated") == "Results before the last change"
        assert "fit" in here.text("verdicts"), "they stay readable"
        assert serious_barriers(here.tab) == []
        # A valid text whose run continues: the charts fill, the verdicts are those of the previous text.
        here.type(STARTER.replace("duration: 20s", "duration: 20000s"))
        await_outdated(here, "verdicts")
        assert opacity(here, "#verdicts") < 0.8 and opacity(here, "#charts") == 1
        here.write(STARTER)
        await_outdated(here, "")
        assert [opacity(here, selector) for selector in results] == [1, 1, 1]
        assert here.tab.locator("#outdated").is_hidden()


@needs_page
def test_sliders_have_names(file: Path) -> None:
    with page(file) as here:
        markers = (ROOT / "examples" / "markers.perhop.yaml").read_text(encoding="utf-8")
        for text in (None, ROUTER, markers):
            if text:
                here.write(text)
                here.tab.click("#tab-sliders")
            here.tab.evaluate(
                "document.querySelectorAll('#sliders details').forEach((one) => { one.open = true; })"
            )
            found = sliders(here)
            names = [slider["name"] for slider in found]
            assert len(names) == here.tab.locator("#sliders input").count() > 3
            assert all(re.search(r"[a-z]{2}", name) for name in names), names
            assert len(set(names)) == len(names), "no two have the same name"
            assert not any(slider["is_disabled"] for slider in found)


@needs_page
@pytest.mark.parametrize(("name", "free"), [("fifo", 1), ("rio", 9), ("ring", 1), ("priority", 0)])
def test_a_lesson_has_its_sliders_first_and_the_others_are_disabled(file: Path, name: str, free: int) -> None:
    with page(file) as here:
        open_lesson(here, name)
        here.tab.evaluate(
            "document.querySelectorAll('#sliders details').forEach((one) => { one.open = true; })"
        )
        states = [slider["is_disabled"] for slider in sliders(here)]
        assert len(states) > free and states == [False] * free + [True] * (len(states) - free)
        ids = here.tab.eval_on_selector_all(
            "#sliders input:enabled", "all => all.map((one) => one.dataset.id)"
        )
        change = {"fifo": "policies.uplink.", "rio": "policies.wan.", "ring": "links.1.interfaces.edge.ring"}
        assert all(slider_id.startswith(change[name]) for slider_id in ids)
        assert ("Edit the text to solve" in here.text("sliders")) == (free == 0)
        fixed = here.tab.locator("#sliders .slider.fixed input").first
        assert float(fixed.evaluate("one => getComputedStyle(one).opacity")) < 0.7
        assert fixed.evaluate("one => getComputedStyle(one).cursor") == "not-allowed"
        before = here.tab.locator("#sliders .slider.fixed output").first.inner_text()
        fixed.click(force=True)
        assert here.tab.locator("#sliders .slider.fixed output").first.inner_text() == before
        # Outside of lessons, every value can be changed.
        known = here.runs()
        here.tab.select_option("#examples", "1")
        here.after(known)
        assert not any(slider["is_disabled"] for slider in sliders(here))


@needs_page
def test_goals_are_in_words(file: Path) -> None:
    with page(file) as here:
        open_lesson(here, "fifo")
        shown = {}
        for lesson in lessons.course():
            here.tab.click(f"#course [data-lesson={lesson.id}]")
            rows = here.tab.locator("#lesson-goals li span:nth-child(2)").all_inner_texts()
            assert len(rows) == len(lesson.asked.goals) + len(lesson.asked.conditions)
            shown[lesson.id] = rows
        known = here.runs()
        here.tab.click("#lesson-again")
        here.after(known)
    assert shown["fifo"] == [
        "99 % of the packets of voice arrive within 80 ms",
        "upload gets at least 1.8 Mb/s",
    ]
    assert shown["token-bucket"][0] == "no packet of camera is lost"
    assert shown["microburst"][-1] == "the number of shared units of each class is at most 2000"
    assert shown["branch"][-1] == "the number of packets in the transmit ring is at least 2"
    for rows in shown.values():
        assert not any(re.search(r"[<>=*_]|\w\(|\w\.[a-z]", text) for text in rows), rows


@needs_page
def test_an_axis_of_losses_ends_at_all_packets(file: Path) -> None:
    with page(file) as here:
        here.tab.evaluate(RECORDED)
        open_lesson(here, "microburst")
        here.tab.wait_for_timeout(300)
        percents = {
            int(text[:-2]) for text in here.tab.evaluate("[...drawn]") if re.fullmatch(r"\d+ %", text)
        }
        assert {0, 50, 100} <= percents and max(percents) == 100, percents


@needs_page
@pytest.mark.parametrize("shown", ["scenario", "router", "lesson", "switch"])
def test_a_phone_shows_a_chart_on_its_second_screen_and_two_rows_of_head(file: Path, shown: str) -> None:
    with page(file, width=390, height=844) as here:
        if shown == "router":
            here.write(ROUTER)
        elif shown != "scenario":
            open_lesson(here, "rio" if shown == "lesson" else "microburst")
            tops = here.tab.locator("#course button").evaluate_all("all => all.map((one) => one.offsetTop)")
            assert len({*tops}) == 1, "the lessons are in one row"
        here.tab.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
        chart = here.tab.locator("#charts figure").first.bounding_box()
        assert chart["y"] + chart["height"] <= 2 * 844
        parts = here.tab.locator(".top-inner > a, .title, .actions > *").all()
        ends = sorted((box["y"], box["y"] + box["height"]) for box in (part.bounding_box() for part in parts))
        assert len(ends) == 8
        rows = 1 + sum(top >= bottom for (_, bottom), (top, _) in pairwise(ends))
        assert rows == 2, ends
        assert here.tab.evaluate("document.documentElement.scrollWidth") <= 390
