"""A real browser for the tests: Debian's Chromium; tests that need it are skipped if it is missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from forks import HANGS_AFTER_S

ROOT = Path(__file__).parent.parent
CHROMIUM = Path("/usr/bin/chromium")
# Screenshots for visual checks; git ignores them.
SCREENSHOTS = ROOT / "tests" / "screenshots"
# axe-core finds barriers for users of screen readers; `make playground` installs it.
_AXE = ROOT / "playground" / "node_modules" / "axe-core" / "axe.min.js"
needs_axe = pytest.mark.skipif(not _AXE.is_file(), reason="no axe-core: make playground")
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
def browser() -> Iterator[Any]:
    """Start Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        started = playwright.chromium.launch(
            executable_path=str(CHROMIUM), args=["--no-sandbox"], timeout=HANGS_AFTER_S * 1000
        )
        yield started
        started.close()


class _Shared:
    """One Chromium for all tests of a file, because its start takes longer than most of the tests."""

    def __init__(self) -> None:
        self._ends = ExitStack()
        self._browser: Any = None

    def browser(self) -> Any:
        """Return the browser; start it if none runs."""
        if self._browser is None:
            self._browser = self._ends.enter_context(browser())
        return self._browser

    def end(self) -> None:
        """End the browser, if one runs."""
        self._browser = None
        self._ends.close()


_shared = _Shared()


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> None:
    """End the browser after the last test of a file, because other tests cannot use asyncio while it runs."""
    if nextitem is None or nextitem.path != item.path:
        _shared.end()


@contextmanager
def opened_in(
    started: Any, address: str, *, width: int, height: int, scheme: str, patience_s: float = HANGS_AFTER_S
) -> Iterator[Seen]:
    """Open an address in a new profile, and record the logs and requests of the page."""
    context = started.new_context(viewport={"width": width, "height": height}, color_scheme=scheme)
    try:
        page = context.new_page()
        page.set_default_timeout(patience_s * 1000)
        seen = Seen(page)
        page.on(
            "console", lambda message: seen.errors.append(message.text) if message.type != "log" else None
        )
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.on("request", lambda request: seen.requests.append(request.url))
        page.goto(address)
        yield seen
    finally:
        context.close()


@contextmanager
def opened(file: Path, *, width: int, height: int, scheme: str, fragment: str = "") -> Iterator[Seen]:
    """Open a file in Chromium; a page must log no error and make no request."""
    address = file.resolve().as_uri() + fragment
    with opened_in(_shared.browser(), address, width=width, height=height, scheme=scheme) as seen:
        yield seen


def scroll_through(page: Any) -> None:
    """Scroll every chart into view once, because the page draws charts when they are visible."""
    figures = page.locator("figure.chart")
    for number in range(figures.count()):
        figures.nth(number).evaluate("one => one.scrollIntoView({ behavior: 'instant' })")
        page.wait_for_selector(f"figure.chart >> nth={number} >> .plot svg")


def serious_barriers(page: Any) -> list[tuple[str, list[str]]]:
    """Return the serious and critical findings of axe-core, each with the beginnings of its elements."""
    # The script is evaluated, because the content policies of some pages refuse a script element.
    page.evaluate(_AXE.read_text(encoding="utf-8"))
    found = page.evaluate("async () => (await axe.run()).violations")
    return [
        (violation["id"], [node["html"][:90] for node in violation["nodes"]])
        for violation in found
        if violation["impact"] in ("serious", "critical")
    ]


def screenshot(page: Any, name: str) -> None:
    """Save a screenshot of the whole page."""
    SCREENSHOTS.mkdir(exist_ok=True)
    page.evaluate("scrollTo({ top: 0, behavior: 'instant' })")
    page.screenshot(path=str(SCREENSHOTS / f"{name}.png"), full_page=True)
