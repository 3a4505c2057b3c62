"""The playground's page for tests: built by `make playground`, opened in Chromium."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

import perhop.playground
from chromium import CHROMIUM, Seen, opened
from conftest import ROOT

ASSETS = ROOT / "python" / "perhop" / "playground" / "assets"
is_built = all((ASSETS / name).is_file() for name in perhop.playground.BUILT)
needs_playground = pytest.mark.skipif(not is_built, reason="the page is not built: make playground")
needs_page = pytest.mark.skipif(
    not (is_built and CHROMIUM.exists()), reason="no page or no browser: make playground ci-packages"
)
# A run lasts a tenth of a second, and longer on a busy machine.
_PATIENCE_S = 60.0


class Page:
    """The page in a browser, and the actions of a user."""

    def __init__(self, seen: Seen) -> None:
        self.seen = seen
        self.tab = seen.page

    def runs(self) -> int:
        """Return the number of the last run that ended, 0 before the first."""
        return int(self.tab.evaluate("Number(document.documentElement.dataset.ran ?? 0)"))

    def after(self, known: int) -> None:
        """Wait until a further run has ended."""
        ends = time.monotonic() + _PATIENCE_S
        while self.runs() <= known:
            assert time.monotonic() < ends, self.tab.locator("#status").inner_text()
            self.tab.wait_for_timeout(30)
        # Wait for the drawing of the next frame.
        self.tab.wait_for_timeout(150)

    def write(self, text: str) -> None:
        """Replace the text in the editor, and wait for its run."""
        known = self.runs()
        self.type(text)
        self.after(known)

    def type(self, text: str) -> None:
        """Replace the text in the editor."""
        self.tab.click("#tab-text")
        self.tab.locator(".cm-content").click()
        self.tab.keyboard.press("Control+A")
        self.tab.keyboard.insert_text(text)

    def slide(self, name: str, place: int) -> None:
        """Move a slider to one of its hundred places, and wait for the run."""
        known = self.runs()
        self.tab.click("#tab-sliders")
        self.tab.locator(f'[data-id="{name}"]').evaluate(
            """(one, place) => {
              one.value = place;
              one.dispatchEvent(new Event("input", { bubbles: true }));
              one.dispatchEvent(new Event("change", { bubbles: true }));
            }""",
            place,
        )
        self.after(known)

    def exported(self, kind: str) -> bytes:
        """Return a file that the page exports."""
        self.tab.evaluate("document.getElementById('saving').open = true")
        with self.tab.expect_download() as download:
            self.tab.click(f"[data-export={kind}]")
        return Path(download.value.path()).read_bytes()

    def text(self, name: str) -> str:
        """Return the text of an element by its id."""
        return str(self.tab.locator(f"#{name}").inner_text())


@contextmanager
def page(
    file: Path, *, fragment: str = "", width: int = 1400, height: int = 900, scheme: str = "light"
) -> Iterator[Page]:
    """Open the page and wait for its first run; it must not log an error or use the network."""
    with opened(file, width=width, height=height, scheme=scheme, fragment=fragment) as seen:
        here = Page(seen)
        here.after(0)
        yield here
        assert seen.errors == []
        assert all(url.startswith(("file:", "data:", "blob:")) for url in seen.requests), seen.requests


def summary_of(scenario: Any, seed: int | None = None) -> str:
    """Return the summary of a native run of a loaded scenario, as text."""
    from perhop import _core

    run = _core.start(scenario.embedded, scenario.base, seed or 1, 1, 1)
    while not run.wait(10.0):
        pass
    return run.result()[0]
