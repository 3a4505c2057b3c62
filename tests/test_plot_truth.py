"""Plots that cannot mislead: maxima of queues between samples, one direction stacked, possible bands."""

from __future__ import annotations

import shlex
from itertools import pairwise
from pathlib import Path

import numpy as np
import polars as pl
import pytest

import perhop
import perhop.plot
from conftest import ROOT, Command
from perhop.directions import against_the_first, line_rates
from perhop.palette import of_classes
from perhop.plot import Line, Rule, static, style
from perhop.plot.kinds import KINDS, settings_for
from perhop.plot.look import Look
from perhop.plot.sampled import remedy, sampling_settings

TEMPLATES = ROOT / "python" / "perhop" / "templates"
EXAMPLES = sorted(ROOT.glob("examples/*.perhop.yaml"))


@pytest.fixture(scope="module")
def classes() -> perhop.Results:
    """Four classes, three of them TCP with replies; two replications, whose intervals are wide."""
    return perhop.run(TEMPLATES / "classes.perhop.yaml", replications=2, duration="15s")


def lines(chart: perhop.plot.Chart) -> list[Line]:
    return [mark for mark in chart.marks if isinstance(mark, Line)]


def test_the_plot_shows_the_delay_of_the_starters_voice() -> None:
    """Voice's queue is empty every 100 ms, a multiple of its 20 ms; between, up to five packets wait."""
    voice = TEMPLATES / "voice.perhop.yaml"
    results = perhop.run(voice)
    rows = results.queues.filter(pl.col("queue").cast(str) == "voice")
    assert rows["packets"].max() == 0, "or the test shows nothing"
    (line,) = lines(perhop.plot.queue(results, "edge->branch", "voice"))
    assert 1 <= max(line.y) <= 5
    assert line.name == "queue, most in each 100 ms"
    assert (results.queues["most_packets"] >= results.queues["packets"]).all()
    assert (results.queues["most_bytes"] >= results.queues["bytes"]).all()
    assert perhop.run(voice, engine="plain").queues.equals(results.queues)


def test_the_maximum_of_an_interval_equals_that_of_finer_samples() -> None:
    """If the queue is sampled 50 times as often, it never exceeds the reported maximum."""
    scenario = ROOT / "examples" / "on-off-red.perhop.yaml"
    base = perhop.Scenario.load(scenario)
    probe = dict(base["measure"]["queues"][0])
    rows = {}
    for every in ("100ms", "2ms"):
        sampled = base.changed({"measure.queues": [probe | {"every": every}], "duration": "10s"})
        rows[every] = sampled.run().queues.filter(pl.col("precedence") == 0)
    coarse, fine = rows["100ms"], rows["2ms"]
    ends = coarse["time_s"].to_numpy()
    seen = fine["packets"].to_numpy()
    times = fine["time_s"].to_numpy()
    for begin, end, most in zip(ends, ends[1:], coarse["most_packets"][1:], strict=False):
        within = seen[(times > begin + 1e-9) & (times <= end + 1e-9)]
        assert within.max() <= most
    total = fine.group_by((pl.col("time_s") * 10 - 1e-6).floor()).agg(pl.col("most_packets").max())
    assert total["most_packets"].max() == coarse["most_packets"].max()


def test_stacked_throughput_fits_the_line(classes: perhop.Results) -> None:
    chart = perhop.plot.throughput(classes, stacked=True)
    names = [line.name for line in lines(chart)]
    assert names == ["voice", "business", "office", "rest"], "no replies, which go the other way"
    total = np.sum([line.y for line in lines(chart)], axis=0)
    # An interval may contain a packet more or less: 1500 of 50,000 bytes.
    assert 3.5 < total.max() <= 4.0 * 1.001, "Mb/s"
    assert "without the reverse direction: business (back)" in chart.caption


def test_traffic_in_the_opposite_direction_is_recognized() -> None:
    scenario = perhop.Scenario.load(TEMPLATES / "voice.perhop.yaml")
    back = {
        "name": "back",
        "from": "branch",
        "to": "office",
        "source": {"cbr": {"rate": "1Mb/s", "packet": {"ip": "500B"}}},
    }
    scenario.set("traffic", [*scenario["traffic"], back])
    assert against_the_first(scenario) == {"back"}
    assert line_rates(scenario) == {"voice": 2e6, "bulk": 2e6, "back": 2e6}


def test_no_band_passes_the_line_rate(classes: perhop.Results) -> None:
    rate = 4.0
    chart = perhop.plot.throughput(classes)
    for line in lines(chart):
        assert line.low is not None and line.high is not None
        assert min(line.low) >= 0.0 and max(line.high) <= rate
    assert "bands end at 0 and at the line rate" in chart.caption, "or nothing was to be cut"


def test_thresholds_are_labeled_and_do_not_overlap() -> None:
    results = perhop.run(TEMPLATES / "wred.perhop.yaml", duration="8s")
    rules = [mark for mark in perhop.plot.queue(results).marks if isinstance(mark, Rule)]
    assert [(rule.name, rule.at) for rule in rules] == [
        ("min, precedence 1", 10.0),
        ("max, precedence 1", 30.0),
        ("min, precedence 0", 30.0),
        ("max, precedence 0", 60.0),
    ]
    close = [rule.side for rule in rules if rule.at == 30.0]
    assert len(set(close)) == 2, "names of close rules do not overlap"


def test_eight_precedences_have_readable_names() -> None:
    scenario = perhop.Scenario.load(TEMPLATES / "wred.perhop.yaml")
    shared = {"max": "40 packets", "max-probability": 0.1}
    eight = [{"min": f"{20 + number} packets", **shared} for number in range(8)]
    scenario.set("policies.shared.queueing.classes.0.precedence", "ip-precedence")
    scenario.set("policies.shared.queueing.classes.0.buffer.wred.precedences", eight)
    results = scenario.changed({"duration": "6s"}).run()
    rules = [mark for mark in perhop.plot.queue(results).marks if isinstance(mark, Rule)]
    assert len(rules) == 9
    assert [rule.name for rule in rules if rule.at == 40.0] == ["max, precedences 0 to 7"]
    assert all(a.side != b.side for a, b in pairwise(rules) if b.at - a.at < 2)


def test_delays_on_a_logarithmic_axis(perhop: Command, tmp_path: Path) -> None:
    assert perhop("init", "first").code == 0
    assert perhop("run", "first", "-q", "-o", "results", "--duration", "5s").code == 0
    for suffix in ("svg", "html"):
        ended = perhop("plot", "delay-cdf", "results", "--log-x", "-o", f"delay.{suffix}")
        assert ended.code == 0, ended.err
    ended = perhop("plot", "throughput", "results", "--log-x")
    assert ended.code == 2 and "--log-x" in ended.err


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.name)
def test_every_example_can_have_every_natural_plot(file: Path) -> None:
    scenario = perhop.Scenario.load(file)
    natural = [kind for kind in KINDS if kind != "cwnd"]
    added = settings_for(scenario, natural)
    changed = scenario.changed(added)
    assert not settings_for(changed, natural)
    for path, value in added.items():
        every = value if "every" in path else changed["measure"]["queues"][0]["every"]
        assert every.endswith(("ms", "us")) and not every.startswith("0")


def test_a_plot_adds_its_measurements(perhop: Command, tmp_path: Path) -> None:
    (tmp_path / "mm1.perhop.yaml").write_text((ROOT / "examples" / "poisson-mm1.perhop.yaml").read_text())
    ended = perhop("run", "mm1", "--duration", "20s", "--plot", "throughput=plot.svg", "-q", "-o", "with")
    assert ended.code == 0, ended.err
    assert "measured for the plot: measure.throughput-every = 100ms" in ended.err
    assert (tmp_path / "plot.svg").exists()
    assert perhop("run", "mm1", "--duration", "20s", "-q", "-o", "without").code == 0
    for name in ("classes", "flows", "ports"):
        plotted, other = (
            pl.read_parquet(tmp_path / folder / f"{name}.parquet") for folder in ("with", "without")
        )
        assert plotted.equals(other), "measuring changes nothing"
    refused = perhop("plot", "throughput", "without")
    assert refused.code == 2
    help = refused.err.splitlines()[-1]
    assert help.startswith("help: run it again with --set ")
    again = shlex.split(help.removeprefix("help: run it again with "))
    assert perhop("run", "mm1", "--duration", "20s", "-q", "-o", "again", *again).code == 0
    assert perhop("plot", "throughput", "again").code == 0


def test_impossible_measurements_are_reported() -> None:
    scenario = perhop.Scenario.load(TEMPLATES / "voice.perhop.yaml")
    assert remedy(scenario, "connections") == "no samples for this plot: the scenario has no TCP traffic"
    assert "edge" in sampling_settings(scenario, "queues")["measure.queues"]


def test_axes_end_in_labels(classes: perhop.Results) -> None:
    for chart in (
        perhop.plot.throughput(classes),
        perhop.plot.delay(classes),
        perhop.plot.delay_cdf(classes),
    ):
        with style.style(Look()):
            (axes,) = static.figure(chart, Look()).axes
            for ticks, limits in ((axes.get_xticks(), axes.get_xlim()), (axes.get_yticks(), axes.get_ylim())):
                assert min(abs(tick - limits[1]) for tick in ticks) <= 0.021 * limits[1], chart.kind


def test_only_a_word_colors_a_class_red() -> None:
    roles = of_classes(["assured", "af1 red", "green"])
    assert (roles["assured"], roles["af1 red"], roles["green"]) == ("class0", "red", "green")
