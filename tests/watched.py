"""Commands with --watch=web for tests: started, their link read, their page opened in Chromium."""

from __future__ import annotations

import re
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any
from urllib.parse import urlsplit

import pytest

from chromium import CHROMIUM, Seen, browser, opened_in
from conftest import ROOT, command_line

_SCRIPT = ROOT / "python" / "perhop" / "playground" / "assets" / "watch.js"
needs_view = pytest.mark.skipif(not _SCRIPT.is_file(), reason="the page is not built: make playground")
needs_view_in_browser = pytest.mark.skipif(
    not (_SCRIPT.is_file() and CHROMIUM.exists()), reason="no page or no browser: make playground ci-packages"
)
_PATIENCE_S = 60.0


@dataclass
class Watched:
    """A command that runs, and the link to its page."""

    process: subprocess.Popen[bytes]
    link: str
    out: IO[bytes]
    err: IO[bytes]

    @property
    def host(self) -> str:
        return urlsplit(self.link).netloc

    @property
    def token(self) -> str:
        return urlsplit(self.link).query.partition("=")[2]

    def errors(self) -> str:
        """The output of the command to standard error so far."""
        self.err.seek(0)
        return self.err.read().decode()

    def await_error(self, text: str) -> None:
        ends = time.monotonic() + _PATIENCE_S
        while text not in self.errors():
            assert self.process.poll() is None and time.monotonic() < ends, self.errors()
            time.sleep(0.05)

    def ended(self) -> tuple[int, str]:
        """Wait for the end of the process; return its exit code and standard output."""
        code = self.process.wait(timeout=_PATIENCE_S)
        self.out.seek(0)
        assert "Traceback" not in self.errors(), self.errors()
        return code, self.out.read().decode()

    def interrupt(self) -> tuple[int, str]:
        """End the command by Ctrl-C."""
        self.process.send_signal(signal.SIGINT)
        return self.ended()


@contextmanager
def watched(
    arguments: Sequence[str | Path], folder: Path, *, before: Sequence[str] = ()
) -> Iterator[Watched]:
    """Start a command with --watch=web --no-open in a folder, and wait for its link."""
    with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
        line = [*before, *command_line([*arguments, "--watch=web", "--no-open"])]
        process = subprocess.Popen(line, cwd=folder, stdout=out, stderr=err)
        here = Watched(process, "", out, err)
        try:
            here.await_error("token=")
            here.link = re.search(r"http://\S+", here.errors())[0]  # type: ignore[index]
            yield here
        finally:
            if process.poll() is None:
                process.kill()
            process.wait()


@contextmanager
def view(link: str, *, width: int = 1400, height: int = 950, scheme: str = "light") -> Iterator[Seen]:
    """Open the page; it must log no error and send requests only to its own server."""
    size = {"width": width, "height": height}
    # A separate browser: in a browser that the tests of a file share, the event loop of the first test would
    # still run in the second test of bridges.
    with (
        browser() as started,
        opened_in(started, link, **size, scheme=scheme, patience_s=_PATIENCE_S) as seen,
    ):
        yield seen
        assert seen.errors == []
        origin = link.partition("/?")[0]
        assert all(url.startswith((origin, "data:", "blob:")) for url in seen.requests), seen.requests


def until(page: Any, expression: str) -> None:
    """Wait until an expression is true; the page's policy forbids Playwright's function for this."""
    ends = time.monotonic() + _PATIENCE_S
    while not page.evaluate(expression):
        assert time.monotonic() < ends, expression
        page.wait_for_timeout(30)


def counters(page: Any) -> dict[str, list[int]]:
    """The rows of the table of counters."""
    rows = page.locator("#counters tr").all()[1:]
    cells = [row.locator("th, td").all_inner_texts() for row in rows]
    return {name: [int(number.replace(",", "")) for number in numbers] for name, *numbers in cells}
