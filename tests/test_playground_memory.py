"""The packet memory in the playground: limits, units and drops of the run, at one port and at several."""

from __future__ import annotations

import re
import time
from pathlib import Path

import pytest

import perhop.playground
from chromium import needs_axe, screenshot, serious_barriers
from conftest import ROOT
from perhop import lessons
from playground import Page, needs_page, page

# A build of the whole engine for WebAssembly, and minutes in a browser: `make test-playground` runs them.
pytestmark = pytest.mark.touched

LESSON = lessons.lesson("microburst")
HOT_PORTS = (ROOT / "examples" / "hot-ports.perhop.yaml").read_text(encoding="utf-8")
#: Two servers send a burst each, every 40 ms of the four seconds.
BURSTS = 100


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("memory") / "page.html"
    file.write_text(perhop.playground.page(), encoding="utf-8")
    return file


def open_lesson(here: Page) -> None:
    known = here.runs()
    here.tab.click("#lessons-open")
    here.after(known)
    known = here.runs()
    here.tab.click("#course [data-lesson=microburst]")
    here.after(known)
    here.tab.locator("#memory").wait_for(state="visible")


def rows(here: Page) -> dict[str, str]:
    """Return the text next to the bar of each queue by its name."""
    found = here.tab.locator("#memory-queues li").all()
    return {
        queue.locator("b").inner_text(): " | ".join(queue.locator(".numbers, .lost").all_inner_texts())
        for queue in found
    }


def until(here: Page, condition: str) -> None:
    """Wait for a condition of the page. The page forbids the function of Playwright for this."""
    ends = time.monotonic() + 60.0
    while not here.tab.evaluate(condition):
        assert time.monotonic() < ends, condition
        here.tab.wait_for_timeout(30)


def words(here: Page) -> str:
    return here.tab.locator("#memory-plot").get_attribute("aria-label") or ""


def dropped(text: str) -> int:
    """Return the packets that the chart as text reports as dropped."""
    return sum(int(count.replace(",", "")) for count in re.findall(r"([\d,]+) packets dropped", text))


def drops_of_run(text: str) -> int:
    """Return all drops of a scenario at the switch, the warm-up included."""
    scenario = lessons.read_scenario(text).changed({"measure.warmup": "0s"})
    ports = scenario.run(seed=lessons.seed_of("")).ports
    return int(ports["dropped_packets"].sum())


@needs_page
def test_a_burst_fills_the_queue_up_to_its_threshold(file: Path) -> None:
    with page(file) as here:
        open_lesson(here)
        found = rows(here)
        assert list(found) == ["VOICE", "BACKUP", "class-default"]
        assert "60 units; thresholds 47, 53, 60" in found["BACKUP"]
        assert "30 reserved" in found["VOICE"]
        assert "dropped: threshold" in found["BACKUP"] and "dropped" not in found["VOICE"]
        text = words(here)
        assert "BACKUP 60;" in text and "of 15,603 shared units" in text
        # The span has one burst of the run.
        one_burst = drops_of_run(LESSON.start) / BURSTS
        assert abs(dropped(text) - one_burst) <= 2, (text, one_burst)
        here.tab.select_option("#memory-span", index=1)
        whole = "ariaLabel.includes('from 0.0 s to 4.0 s')"
        until(here, f"document.getElementById('memory-plot').{whole}")
        assert dropped(words(here)) == drops_of_run(LESSON.start)
        screenshot(here.tab, "memory-whole-run")


@needs_page
def test_with_a_larger_multiplier_the_burst_fits(file: Path) -> None:
    with page(file) as here:
        open_lesson(here)
        here.write(LESSON.solution.scenario)
        until(here, "document.getElementById('memory-plot').ariaLabel.includes('No drops')")
        most = re.search(r"BACKUP ([\d,]+);", words(here))
        assert most is not None
        # 264 frames of six units, less the frames that the line sends while they arrive.
        assert 1480 <= int(most[1].replace(",", "")) <= 1584
        assert "1,680 units" in rows(here)["BACKUP"]


@needs_page
def test_an_instant_of_the_chart_is_shown_and_followed(file: Path) -> None:
    with page(file) as here:
        open_lesson(here)
        before = here.text("memory-at")
        plot = here.tab.locator("#memory-plot")
        box = plot.bounding_box()
        plot.click(position={"x": box["width"] * 0.6, "y": box["height"] * 0.5})
        until(here, f"document.getElementById('memory-at').textContent !== '{before}'")
        # An instant outside the span loads its own span.
        here.tab.locator("#time").evaluate(
            "one => { one.value = 1; one.dispatchEvent(new Event('input', { bubbles: true })); }"
        )
        until(here, "document.getElementById('memory-at').textContent.startsWith('at 1.0000')")


@needs_page
def test_ports_of_one_memory_have_bars_of_their_own(file: Path) -> None:
    with page(file) as here:
        here.write(HOT_PORTS)
        options = here.tab.locator("#ports option").all_inner_texts()
        here.tab.select_option("#ports", index=options.index("switch → port-2-client"))
        here.tab.locator("#memory").wait_for(state="visible")
        until(here, "document.querySelectorAll('#memory-queues li').length === 2")
        found = rows(here)
        assert list(found) == ["port-2-client", "port-1-client"]
        assert "dropped: shared memory" in found["port-2-client"]
        assert "all ports together 1,200 of 1,200 shared units" in words(here)
        screenshot(here.tab, "memory-hot-ports")
        # The third port has its own memory.
        here.tab.select_option("#ports", index=options.index("switch → port-25-client"))
        until(here, "document.querySelectorAll('#memory-queues li').length === 1")
        assert "No drops" in words(here)
        # Hosts have no shared memory.
        here.tab.select_option("#ports", index=options.index("north → switch"))
        here.tab.locator("#memory").wait_for(state="hidden")


@needs_page
@needs_axe
@pytest.mark.parametrize(
    ("width", "scheme"), [(1440, "light"), (1440, "dark"), (390, "light"), (390, "dark")]
)
def test_the_memory_fits_any_screen_without_serious_barriers(file: Path, width: int, scheme: str) -> None:
    with page(file, width=width, scheme=scheme) as here:
        open_lesson(here)
        here.tab.locator("#memory").scroll_into_view_if_needed()
        assert serious_barriers(here.tab) == []
        assert here.tab.evaluate("document.documentElement.scrollWidth") <= width
        box = here.tab.locator("#memory-plot").bounding_box()
        assert box["width"] > 250 and box["height"] > 150
        screenshot(here.tab, f"memory-{width}-{scheme}")
