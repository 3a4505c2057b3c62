"""`perhop run --watch=web`: the page of a simulation, fed by the native engine."""

from __future__ import annotations

import json
from pathlib import Path

import perhop
from chromium import screenshot
from conftest import ROOT, Command, files_in
from watched import counters, needs_view, needs_view_in_browser, until, view, watched

EXAMPLE = ROOT / "examples" / "wred.perhop.yaml"
HOSTILE = "<img src=x onerror=globalThis.broken=1>"


@needs_view
def test_a_watched_run_has_the_results_of_an_unwatched_run(perhop: Command, tmp_path: Path) -> None:
    plain = perhop("run", EXAMPLE, "--replications", "2", "-o", "plain", "--json")
    arguments = ["run", EXAMPLE, "--replications", "2", "-o", "watched", "--json", "--speed", "50x"]
    with watched(arguments, tmp_path) as here:
        here.await_error("everything is done")
        code, out = here.interrupt()
    assert (code, out) == (0, plain.out)
    assert files_in(tmp_path / "watched") == files_in(tmp_path / "plain")


@needs_view_in_browser
def test_the_page_shows_the_native_results_and_ends_with_the_command(tmp_path: Path) -> None:
    summary = perhop.run(EXAMPLE).summary
    with watched(["run", EXAMPLE, "--replications", "1", "--json"], tmp_path) as here:
        with view(here.link) as seen:
            until(seen.page, "document.documentElement.dataset.ran === '1'")
            seen.page.wait_for_timeout(300)
            shown = counters(seen.page)
            for group in summary["classes"]:
                columns = ("offered_packets", "delivered_packets", "dropped_packets")
                assert shown[group["class"]] == [group[column]["mean"] for column in columns]
            assert "110,760 packets over links" in seen.page.inner_text("#status")
            seen.page.click("#verdicts li:nth-child(1) summary")
            assert "get through" in seen.page.inner_text("#verdicts")
            # The packets of any instant of the run can be shown.
            seen.page.evaluate(
                """() => { const time = document.getElementById("time");
                           time.value = 15; time.dispatchEvent(new Event("input")); }"""
            )
            seen.page.click("#forward")
            until(seen.page, "document.getElementById('happens').textContent.includes('packet')")
            assert seen.page.inner_text("#clock").startswith("15.0")
            assert seen.page.locator("#left-out").is_hidden()
            screenshot(seen.page, "watch-run")
        code, out = here.ended()
        assert code == 0, "closed, the page lets the command end"
        assert json.loads(out)["classes"] == summary["classes"]


@needs_view_in_browser
def test_the_page_controls_pause_speed_step_and_port(tmp_path: Path) -> None:
    with watched(["run", EXAMPLE, "--speed", "0.05x", "-q"], tmp_path) as here, view(here.link) as seen:
        page = seen.page

        def state(name: str) -> float:
            return float(page.evaluate(f"perhopView.player.{name}"))

        until(page, "perhopView.player.reached > 0.02")
        until(page, "perhopView.scene.drawn > 0")
        assert page.locator("#speed").input_value() == "0.05x"
        page.click("#play")
        until(page, "document.getElementById('status').textContent.endsWith(', paused')")
        page.wait_for_timeout(400)
        waits = state("reached")
        page.wait_for_timeout(600)
        assert state("reached") == waits, "the run waits, not only the page"
        page.click("#forward")
        # If a part of the run is under way, its end is reported first.
        reached, at = "perhopView.player.reached", "perhopView.player.at"
        is_there = f"{reached} > {waits} && Math.abs({reached} - {at}) < 1e-9"
        until(page, is_there)
        page.wait_for_timeout(300)
        assert page.evaluate(is_there), "one step: as far as what is shown"
        # At this speed the run lasts longer than this test waits, also on a busy machine.
        page.select_option("#speed", "0.2x")
        page.click("#play")
        until(page, f"perhopView.player.reached > {waits} + 0.1")
        assert page.evaluate("perhopView.player.run.speed") == 0.2
        before = page.locator("#ports").input_value()
        page.click("#next-port")
        assert page.locator("#ports").input_value() != before
        until(page, "perhopView.player.span !== null")
        page.evaluate("document.activeElement.blur()")
        page.keyboard.press(" ")
        until(page, "perhopView.player.run.paused")
        # While the page shows an earlier instant, the run waits; then the page returns to the run.
        page.evaluate("perhopView.player.seek(0.1)")
        assert page.locator("#now").is_visible()
        page.click("#now")
        assert state("at") == state("reached")
        page.select_option("#speed", "max")
        page.click("#play")
        until(page, "document.documentElement.dataset.ran === '1'")
        here.await_error("everything is done")


@needs_view_in_browser
def test_hostile_names_stay_text_and_the_page_fits_a_phone(tmp_path: Path) -> None:
    file = tmp_path / "hostile.perhop.yaml"
    text = EXAMPLE.read_text().replace("name: bursts", f"name: '{HOSTILE}'").replace("Weighted RED", HOSTILE)
    file.write_text(text)
    # One command for each page: a command ends when its page closes, before the next browser starts.
    for scheme in ("light", "dark"):
        with (
            watched(["run", file, "-q"], tmp_path) as here,
            view(here.link, width=390, height=850, scheme=scheme) as seen,
        ):
            until(seen.page, "document.documentElement.dataset.ran === '1'")
            assert HOSTILE in seen.page.inner_text("#name")
            assert HOSTILE in seen.page.inner_text("#counters")
            assert seen.page.evaluate("document.documentElement.scrollWidth") <= 390
            assert seen.page.evaluate("globalThis.broken") is None
            screenshot(seen.page, f"watch-run-390-{scheme}")


@needs_view
def test_an_interrupted_run_ends_as_without_the_view(tmp_path: Path) -> None:
    with watched(["run", EXAMPLE, "--speed", "1x", "-o", "results"], tmp_path) as here:
        code, out = here.interrupt()
    assert (code, out) == (3, "")
    assert not (tmp_path / "results").exists()
