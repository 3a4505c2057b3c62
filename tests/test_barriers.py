"""Pages other than the playground in Chromium: no serious barriers by axe-core, and they fit a phone."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from chromium import needs_axe, needs_chromium, opened, serious_barriers
from conftest import ROOT, command_line
from small_study import make_study
from test_report_page import CONFIGURATION
from watched import needs_view_in_browser, until, view, watched

WRED = ROOT / "examples" / "wred.perhop.yaml"
FIRST = ROOT / "examples" / "first-steps.perhop.yaml"
SWEEP = ["--set", "links.0.rate=1Mb/s,2Mb/s", "--replications", "2", "--plot", "delay_mean=delay.svg"]
screens = pytest.mark.parametrize(("width", "scheme"), [(1440, "light"), (390, "dark")])


def hold(tab: Any, width: int) -> None:
    assert serious_barriers(tab) == []
    assert tab.evaluate("document.documentElement.scrollWidth") <= width


@needs_view_in_browser
@needs_axe
@screens
@pytest.mark.parametrize("arguments", [["run", WRED], ["sweep", FIRST, *SWEEP]], ids=["run", "sweep"])
def test_a_live_view_has_no_accessibility_barriers(
    arguments: list[Any], width: int, scheme: str, tmp_path: Path
) -> None:
    with (
        watched([*arguments, "-q"], tmp_path) as here,
        view(here.link, width=width, height=844, scheme=scheme) as seen,
    ):
        until(seen.page, "document.documentElement.dataset.ran === '1'")
        hold(seen.page, width)
        for summary in seen.page.locator("#verdicts summary").all():
            summary.click()
        hold(seen.page, width)


def report_of_run(folder: Path) -> list[Any]:
    (folder / "own.cfg").write_text(CONFIGURATION)
    return ["run", "own.cfg", "--report", "page.html", "-q"]


def report_of_folders(folder: Path) -> list[Any]:
    for name in ("one", "two"):
        subprocess.run(command_line(["run", WRED, "-o", name, "-q"]), cwd=folder, check=True)
    return ["report", "one", "two", "-o", "page.html"]


def report_of_study(folder: Path) -> list[Any]:
    make_study(folder / "slow-link")
    line = ["study", "run", folder / "slow-link", "-o", "results", "-q"]
    subprocess.run(command_line(line), cwd=folder, capture_output=True, check=True)
    return ["report", "results", "-o", "page.html"]


@needs_chromium
@needs_axe
@pytest.mark.parametrize("made", [report_of_run, report_of_folders, report_of_study])
def test_a_report_has_no_accessibility_barriers(made: Callable[[Path], list[Any]], tmp_path: Path) -> None:
    subprocess.run(command_line(made(tmp_path)), cwd=tmp_path, capture_output=True, check=True)
    for width, scheme in ((1440, "light"), (390, "dark")):
        with opened(tmp_path / "page.html", width=width, height=844, scheme=scheme) as seen:
            hold(seen.page, width)
            # Repeat the checks with all parts unfolded and drawn, one part of a long report after the other.
            parts = seen.page.eval_on_selector_all(".view", "all => all.map((one) => one.id)")
            for part in parts:
                seen.page.evaluate(f"location.hash = '#{part}'")
                seen.page.evaluate(
                    "document.querySelectorAll('details').forEach((one) => { one.open = true; })"
                )
                seen.page.wait_for_timeout(200)
                hold(seen.page, width)
            assert seen.errors == []
