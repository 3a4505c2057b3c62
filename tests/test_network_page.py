"""`perhop run FOLDER --report`: the map of a network, the queues of its links, the walks of its pairs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from chromium import needs_chromium, opened, screenshot
from conftest import Command
from test_network_run import PAIR, matrix, star


@pytest.fixture
def reported(perhop: Command, tmp_path: Path) -> tuple[Path, Path]:
    """A page and a folder of results: 3 Mb/s from B1 to B2 through lines of 2 Mb/s."""
    folder = star(tmp_path, branches=3)
    traffic = matrix(tmp_path, f"{PAIR},voice,200kb/s,,", f"{PAIR},default,3Mb/s,1000,datagrams")
    page, results = tmp_path / "net.html", tmp_path / "results"
    written = ("--report", page, "-o", results)
    ended = perhop("run", folder, "--traffic", traffic, "--duration", "5s", "--replications", "1", *written)
    assert ended.code == 0, ended.err
    return page, results


@needs_chromium
def test_a_click_shows_queues_and_walks(reported: tuple[Path, Path]) -> None:
    page, _ = reported
    with opened(page, width=1280, height=900, scheme="light") as seen:
        tab = seen.page
        strokes = tab.eval_on_selector_all(
            ".map a path", "all => all.map(one => [one.getAttribute('class'), getComputedStyle(one).stroke])"
        )
        # B1 to the hub loses packets, the hub to B2 none; nothing is sent to B3.
        assert sorted(kind for kind, _ in strokes) == ["bad", "good"]
        assert len({color for _, color in strokes}) == 2
        assert tab.locator(".detail:visible").count() == 0
        tab.locator(".map a", has=tab.locator("path.bad")).dispatch_event("click")
        shown = tab.locator(".detail:visible")
        assert shown.count() == 1
        text = shown.inner_text()
        assert "B1:GigabitEthernet0/0 - HUB:GigabitEthernet0/1" in text
        assert "class-default/VOICE" in text
        tab.locator("tbody a", has_text=": voice").click()
        assert shown.count() == 1
        assert "waits in queue class-default/VOICE" in shown.inner_text()
        assert "delivered behind B2:GigabitEthernet0/1" in shown.inner_text()
        assert tab.evaluate("document.documentElement.scrollWidth") <= 1280
        screenshot(tab, "network")
        assert seen.errors == []
        assert all(url.startswith(("file:", "data:")) for url in seen.requests)


def test_pairs_are_next_to_the_results(reported: tuple[Path, Path]) -> None:
    _, results = reported
    found = json.loads((results / "network.json").read_text())
    assert {pair["class"] for pair in found["pairs"]} == {"voice", "default"}
    assert (results / "summary.json").exists()
