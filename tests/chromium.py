"""A real browser for the tests: Debian's Chromium; tests that need it skip where it is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from conftest import HANGS_AFTER_S, ROOT

CHROMIUM = Path("/usr/bin/chromium")
# Screenshots for people to look at; git ignores them.
SCREENSHOTS = ROOT / "tests" / "screenshots"
needs_chromium = pytest.mark.skipif(
    not CHROMIUM.exists(), reason="no /usr/bin/chromium: apt-get install --no-install-recommends chromium"
)


@dataclass
class Seen:
    """The messages and requests of a page while it was open."""

    page: Any
    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@contextmanager
def opened(file: Path, *, width: int, height: int, scheme: str, fragment: str = "") -> Iterator[Seen]:
    """Open a file in Chromium; a page must log no error and make no request."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox"], timeout=HANGS_AFTER_S * 1000
        )
        page = browser.new_page(viewport={"width": width, "height": height}, color_scheme=scheme)
        page.set_default_timeout(HANGS_AFTER_S * 1000)
        seen = Seen(page)
        page.on("console", lambda said: seen.errors.append(said.text) if said.type != "log" else None)
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.on("request", lambda request: seen.requests.append(request.url))
        page.goto(file.resolve().as_uri() + fragment)
        yield seen
        browser.close()


def scroll_through(page: Any) -> None:
    """Scroll every chart into view once, which draws it."""
    figures = page.locator("figure.chart")
    for number in range(figures.count()):
        figures.nth(number).evaluate("one => one.scrollIntoView({ behavior: 'instant' })")
        page.wait_for_selector(f"figure.chart >> nth={number} >> .plot svg")


def screenshot(page: Any, name: str) -> None:
    """Save a screenshot of the whole page."""
    SCREENSHOTS.mkdir(exist_ok=True)
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    page.screenshot(path=str(SCREENSHOTS / f"{name}.png"), full_page=True)
