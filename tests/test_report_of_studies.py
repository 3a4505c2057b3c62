"""The report of all studies, the last step of `make reproduce`: small, quick to open, complete."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from chromium import needs_chromium, opened, screenshot
from conftest import command_line
from perhop.study import identifiers

pytestmark = pytest.mark.touched

# The maximum size of a report, which must fit into a mail of 10 MB.
MOST_BYTES = 7_000_000
# Guidelines, which publish no figures.
WITHOUT_FIGURES = {"rfc7928"}
# The maximum height of a study on the screen, pixels at a width of 1440.
MOST_HEIGHT = 12_000
# The maximum number of printed pages of a study, on average.
MOST_PAGES = 6


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Every study once: fewer replications do not make it smaller, because it has every table and figure."""
    import subprocess

    folder = tmp_path_factory.mktemp("studies")
    run = ["study", "run", "--all", "--replications", "1", "--no-sensitivity", "-q", "-o", folder / "results"]
    ended = subprocess.run(command_line(run), cwd=folder, capture_output=True, text=True, check=False)
    assert ended.returncode in (0, 4), ended.stderr
    made = ["report", folder / "results", "-o", folder / "report.html"]
    subprocess.run(command_line(made), cwd=folder, capture_output=True, check=True)
    return folder / "report.html"


def test_the_report_is_small_and_contains_each_picture_once(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    assert len(text.encode()) < MOST_BYTES
    pictures = re.findall(r'<g id="picture-\d+" class="pd">(.*?)</g></svg>', text, flags=re.DOTALL)
    assert len(pictures) > 100
    assert len(set(pictures)) == len(pictures)
    known = set(re.findall(r'id="(picture-\d+)"', text))
    assert set(re.findall(r'data-like="(picture-\d+)"', text)) <= known
    for study in identifiers():
        article = text.partition(f'<article class="view" id="{study}">')[2].partition("</article>")[0]
        assert "claims hold" in article
        # Verdicts with a scale: how far the figures are from the published ones.
        if study not in WITHOUT_FIGURES:
            assert "figures within 10 %" in article and "Errors: numbers of figures" in article
    assert '<span class="verdict partly">partly</span>' in text


@needs_chromium
def test_the_report_opens_in_under_three_seconds(report: Path) -> None:
    """Measured as processor time of the page's own thread, so that other work does not count."""
    with opened(report, width=1280, height=900, scheme="light") as seen:
        tab = seen.page
        tools = tab.context.new_cdp_session(tab)
        tools.send("Performance.enable", {"timeDomain": "threadTicks"})
        tab.reload(wait_until="load")
        tab.wait_for_selector("#overview.shown .card:last-child .glance")
        metrics = {
            metric["name"]: metric["value"] for metric in tools.send("Performance.getMetrics")["metrics"]
        }
    assert 0 < metrics["TaskDuration"] < 3, metrics


@needs_chromium
def test_the_overview_is_the_first_screen(report: Path) -> None:
    with opened(report, width=1280, height=900, scheme="light") as seen:
        tab = seen.page
        screenshot(tab, "studies-desktop-light")
        bottoms = tab.eval_on_selector_all(
            "#overview .card", "all => all.map((one) => one.getBoundingClientRect().bottom)"
        )
        assert len(bottoms) == len(identifiers())
        assert max(bottoms) <= 900, "one card for each study, all on the first screen"
        numbers = tab.eval_on_selector_all(
            "#overview .card", "all => all.map((one) => one.querySelectorAll('.card-numbers > span').length)"
        )
        assert numbers == [1 if identifier in WITHOUT_FIGURES else 3 for identifier in identifiers()]
        assert tab.locator("#overview .card .card-verdict").count() == len(bottoms)
        assert tab.locator("#overview .card svg.glance circle").count() > 200, (
            "figures, measured by published"
        )


@needs_chromium
@pytest.mark.parametrize("width", [1280, 390])
def test_an_address_leads_to_its_page(report: Path, width: int) -> None:
    """`#mred-af` once opened drop-precedence, because parts before it had an unknown height."""
    with opened(report, width=width, height=844, scheme="light") as seen:
        tab = seen.page
        for study in identifiers():
            for anchor in (study, f"{study}-claims", f"{study}-assumptions"):
                tab.evaluate(f"location.hash = '#{anchor}'")
                tab.wait_for_timeout(100)
                shown = "all => all.filter((one) => one.offsetHeight).map((one) => one.id)"
                assert tab.eval_on_selector_all("article", shown) == [study]
                top = tab.evaluate(f"document.getElementById('{anchor}').getBoundingClientRect().top")
                assert 0 <= top <= 160, anchor
                assert tab.evaluate("document.documentElement.scrollWidth") <= width, "nothing is cut"
        assert seen.errors == []


@needs_chromium
def test_a_study_has_contents_and_a_bounded_height(report: Path) -> None:
    with opened(report, width=1440, height=900, scheme="light") as seen:
        tab = seen.page
        for study in identifiers():
            tab.evaluate(f"location.hash = '#{study}'")
            tab.wait_for_selector(f"#{study}.shown")
            assert tab.evaluate("document.documentElement.scrollHeight") <= MOST_HEIGHT, study
            links = tab.locator(f"#{study} .contents a")
            assert links.count() > 4, study
        # A link into a folded part unfolds it.
        links.nth(links.count() - 2).click()
        part = links.nth(links.count() - 2).get_attribute("href")
        assert tab.locator(part).evaluate("one => one.open && one.getBoundingClientRect().top < 200")


@needs_chromium
def test_a_print_is_short_and_whole(report: Path, tmp_path: Path) -> None:
    with opened(report, width=1280, height=900, scheme="dark") as seen:
        tab = seen.page
        tab.pdf(path=str(tmp_path / "report.pdf"), format="A4")
        pages = len(re.findall(rb"/Type\s*/Page\b", (tmp_path / "report.pdf").read_bytes()))
        assert 10 < pages <= MOST_PAGES * len(identifiers())
        tab.evaluate("dispatchEvent(new Event('beforeprint'))")
        missing = (
            "all => all.filter((one) => !one.dataset.drawn && !one.closest('.unprinted:not([open])')).length"
        )
        assert tab.eval_on_selector_all("figure.chart", missing) == 0, "all that is not folded is drawn"
        empty = "all => all.filter((one) => !one.firstChild).length"
        assert tab.eval_on_selector_all("svg[data-like]", empty) == 0
        boxes = "all => all.filter((one) => one.closest('article')).every((one) => one.querySelector('use'))"
        assert tab.eval_on_selector_all("svg[data-like]", boxes), "references lead somewhere"
        assert seen.errors == []
        assert all(url.startswith(("file:", "data:")) for url in seen.requests)


def test_networks_are_not_repeated(report: Path) -> None:
    """41 of these drawings differed only in one or two numbers."""
    text = report.read_text(encoding="utf-8")
    captions = re.findall(r"<figcaption>The network of (\d+) experiments?", text)
    assert len(captions) <= 2 * len(identifiers())
    assert sum(map(int, captions)) > 300


def test_units_are_written(report: Path) -> None:
    text = report.read_text(encoding="utf-8")
    cells = re.findall(r"<td[^>]*>([^<]*)</td>", text)
    assert "priority mbps" not in cells and "priority" in cells
    assert "ratio" in cells
    assert '"1, udp"' not in text and '"priority streams 1, udp"' in text
