"""The pace of a watched run, with a clock of the test."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import perhop
from conftest import Command
from perhop.errors import InvalidInputError
from perhop.pacing import MAX, Pace, speed_of, speed_words
from perhop.running import Progress, Snapshot, simulate


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def paced(speed: float) -> tuple[Pace, Clock]:
    clock = Clock()
    return Pace(speed, clock), clock


def test_a_run_follows_the_clock() -> None:
    pace, clock = paced(0.5)
    assert pace.limit_s() == 0.0, "it starts at the first query"
    clock.now += 3
    assert pace.limit_s() == 1.5


def test_a_pause_takes_no_time() -> None:
    pace, clock = paced(1.0)
    pace.limit_s()
    clock.now += 2
    pace.reach(2.0)
    pace.pause()
    clock.now += 60
    assert (pace.limit_s(), pace.paused) == (2.0, True)
    pace.resume()
    assert pace.limit_s() == 2.0
    clock.now += 1
    assert pace.limit_s() == 3.0


def test_a_new_speed_starts_at_the_current_time() -> None:
    pace, clock = paced(MAX)
    assert pace.limit_s() == math.inf
    pace.reach(40.0)
    pace.set_speed(2.0)
    clock.now += 1
    assert pace.limit_s() == 42.0
    # A run that cannot keep up does not have to catch up afterwards.
    clock.now += 100
    pace.reach(50.0)
    pace.set_speed(1.0)
    clock.now += 1
    assert pace.limit_s() == 51.0


def test_steps_of_a_run_that_waits() -> None:
    pace, clock = paced(1.0)
    pace.limit_s()
    pace.step_to(0.25)
    clock.now += 9
    assert (pace.limit_s(), pace.paused) == (0.25, True)
    pace.reach(0.25)
    pace.step_to(0.1)
    assert pace.limit_s() == 0.25, "never back"
    pace.toggle()
    clock.now += 1
    assert pace.limit_s() == 1.25


def test_usual_speeds() -> None:
    pace, _ = paced(1.0)
    found = []
    for _ in range(8):
        pace.faster()
        found.append(speed_words(pace.speed))
    assert found == ["2x", "5x", "10x", "20x", "50x", "100x", "200x", "500x"]
    pace.faster()
    assert pace.speed == MAX
    pace.slower()
    assert pace.speed == 500
    pace.set_speed(0.1)
    pace.slower()
    assert pace.speed == pytest.approx(0.05)
    pace.release()
    assert (pace.speed, pace.paused) == (MAX, False)


@pytest.mark.parametrize(
    ("text", "speed"), [("1x", 1), ("0.1x", 0.1), (".5x", 0.5), ("10x", 10), ("max", MAX)]
)
def test_speeds_are_parsed(text: str, speed: float) -> None:
    assert speed_of(text) == speed
    assert speed_of(speed_words(speed)) == speed


@pytest.mark.parametrize(
    "text", ["", "fast", "1", "-1x", "0x", "1e3x", "nanx", "9999999x", "0.0000001x", "x"]
)
def test_invalid_speeds_are_refused(text: str) -> None:
    with pytest.raises(InvalidInputError, match="is not a speed"):
        speed_of(text)


def test_the_pace_does_not_change_results(scenario: Path) -> None:
    plain = perhop.run(scenario, replications=2)
    pace, clock = paced(0.5)
    seen: list[Snapshot] = []

    def look(snapshot: Snapshot) -> None:
        seen.append(snapshot)
        assert snapshot.time_s <= pace.limit_s() + 1e-9, "never beyond the clock"

    def go_on(_: Progress) -> None:
        # Only when the run waits for the clock.
        if pace.reached_s == pytest.approx(pace.limit_s()):
            clock.now += 0.7
        if pace.reached_s > 1.0:
            pace.set_speed(MAX)

    loaded = perhop.Scenario.load(scenario)
    held = simulate(loaded, replications=2, watch=look, progress=go_on, pace=pace)
    assert [snapshot.time_s for snapshot in seen] == sorted(snapshot.time_s for snapshot in seen)
    assert held.summary == plain.summary
    for name in plain.units:
        assert held.table(name).equals(plain.table(name)), name
    last = seen[-1].counted
    assert seen[-1].time_s == 5.0
    for group in perhop.run(scenario, replications=1).summary["classes"]:
        state = last[group["class"]]
        assert group["offered_packets"]["mean"] == state.offered
        assert group["delivered_packets"]["mean"] == state.delivered
        assert group["dropped_packets"]["mean"] == sum(state.dropped)


def test_a_step_past_the_end_of_a_part_is_seen(scenario: Path) -> None:
    """The run is also drawn at each 200th of it; the position after a step remains visible."""
    loaded = perhop.Scenario.load(scenario, {"duration": "20s"})
    pace = Pace(1.0)
    steps, polls = [0.099, 0.154], 0
    pace.step_to(steps[0])

    def go_on(_: Progress) -> None:
        nonlocal polls
        polls += 1
        assert not steps or polls < 500, f"seen up to {pace.reached_s} s, not {steps}"
        if steps and abs(pace.reached_s - steps[0]) < 1e-9:
            del steps[0]
            if steps:
                pace.step_to(steps[0])
            else:
                pace.release()

    simulate(loaded, replications=1, watch=lambda _: None, progress=go_on, pace=pace)
    assert steps == []


def test_an_invalid_speed_is_one_clear_error(perhop: Command, scenario: Path) -> None:
    ended = perhop("run", scenario, "--watch", "--speed", "fast")
    assert (ended.code, ended.out) == (2, "")
    assert ended.err.count("error") == 1
    assert "`fast` is not a speed" in ended.err and "1x" in ended.err
    ended = perhop("run", scenario, "--speed", "1x")
    assert ended.code == 2
    assert "--speed needs --watch" in ended.err
