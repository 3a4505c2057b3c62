"""Pictures without clipped or overlapping text and without hidden lines, in two sizes."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations, product
from typing import Any

import numpy as np
import polars as pl
import pytest
from matplotlib.figure import Figure
from matplotlib.text import Text
from matplotlib.transforms import Bbox

from perhop.palette import STROKES, of_classes
from perhop.plot import Axis, Chart, Line, Points, Rule, against, heat_map, parallel, pareto
from perhop.plot.description import Mark, round_ticks
from perhop.plot.fitting import apart
from perhop.plot.look import Look
from perhop.plot.marks import strokes
from perhop.plot.static import figure
from perhop.plot.style import style

CAPTION = (
    "Edge: seed 1, 10 replications, first 5 s omitted; mean with 95 % confidence band; defaults for all "
    "other values: see scenario.json."
)
BUFFER = "policies.wan.queueing.classes.0.buffer.wred.precedences.0"
TIMES = np.linspace(0.0, 10.0, 60)
# Pixels by which boxes of text may touch: they are a little larger than the letters.
TOUCH = 1.0


def legend_of_14(*, long: bool = False) -> Chart:
    stem = "class-of-service-of-the-telephony-of-headquarters" if long else "class"
    names = [f"{stem}-{number}" for number in range(14)]
    roles = of_classes(names)
    lines = tuple(
        Line(name, roles[name], TIMES, at + np.sin(TIMES), stroke=STROKES.get(roles[name], "solid"))
        for at, name in enumerate(names)
    )
    title = (
        "Throughput of each class" + " under an overload of every class at the port to the provider" * long
    )
    y = Axis("Throughput of all packets that were delivered" if long else "Throughput", "Mb/s", least=0.0)
    return Chart("throughput", title, Axis("Time", "s"), y, lines, CAPTION)


def wred_thresholds() -> Chart:
    """The eight IP precedences of IOS: minimum thresholds next to each other, one maximum for all."""
    rules: list[Mark] = []
    for number in range(8):
        rules.append(Rule(f"min, precedence {number}", f"class{number}", 20.0 + number, stroke="dotted"))
        rules.append(Rule(f"max, precedence {number}", f"class{number}", 40.0, stroke="dotted"))
    average = Line("average", "measured", TIMES, 25.0 + 8.0 * np.sin(TIMES))
    title = "Queue class-default at edge → core"
    y = Axis("Waiting", "packets", least=0.0)
    return Chart("queue", title, Axis("Time", "s"), y, (average, *rules), CAPTION)


def frame(least: range, most: range, *, texts: bool = False) -> pl.DataFrame:
    rows = []
    for number, (low, high) in enumerate(product(least, most)):
        value = f"scheduler-with-a-long-name-{low}" if texts else low
        for name, (metric, unit, mean) in product(
            ("voice", "bulk"),
            (("delay_p99_s", "s", 1e-5 * low * high), ("throughput_bps", "b/s", 1e5 * (10 + low))),
        ):
            row = {"point": number, f"{BUFFER}.min": value, f"{BUFFER}.max": high, "class": name}
            rows.append(row | {"metric": metric, "unit": unit, "mean": mean, "low": mean, "high": mean})
    return pl.DataFrame(rows)


def charts() -> dict[str, Chart]:
    swept, units = (
        frame(range(5, 30), range(30, 61, 2)),
        {f"{BUFFER}.{end}": "packets" for end in ("min", "max")},
    )
    options: dict[str, Any] = {"units": units, "caption": CAPTION}
    named = frame(range(9), range(30, 60, 10), texts=True)
    ends = (f"{BUFFER}.min", f"{BUFFER}.max")
    (line,) = against(swept.filter(pl.col(ends[1]) == 30), ends[0], "delay_p99", **options)
    (logarithmic,) = against(
        swept.filter(pl.col(ends[1]) == 30), ends[0], "delay_p99", log_x=True, log_y=True, **options
    )
    (points,) = against(named.filter(pl.col(ends[1]) == 30), ends[0], "delay_p99", **options)
    rows = tuple(f"class {number} of a published table" for number in range(30))
    published = Points("measured", "measured", range(30), range(30))
    return {
        "14 classes": legend_of_14(),
        "14 long classes": legend_of_14(long=True),
        "WRED thresholds": wred_thresholds(),
        "heat map": heat_map(swept, *ends, "voice.delay_p99", **options),
        "heat map of names": heat_map(named, *ends, "voice.delay_p99", **options),
        "parallel": parallel(swept, "voice.delay_p99", **options),
        "pareto": pareto(swept, ("voice.delay_p99", "small"), ("bulk.throughput", "large"), **options),
        "line": line,
        "logarithmic": logarithmic,
        "names": points,
        "published": Chart(
            "published", "Table 1", Axis("Delay", "ms"), Axis("", "", rows), (published,), CAPTION
        ),
    }


LOOKS = {"usual": Look(), "a column of a paper": Look.parse(size="3.4in", font="8pt")}


def drawn(chart: Chart, look: Look) -> Figure:
    with style(look):
        made = figure(chart, look)
        made.draw_without_rendering()
    return made


def boxes(made: Figure) -> Iterator[tuple[str, Bbox]]:
    """Generate each visible text and its box."""
    for text in made.findobj(Text):
        is_seen = text.get_visible() and text.get_text().strip()
        # An annotation's own extent includes its line.
        if is_seen and not _is_hidden_tick(made, text):
            yield text.get_text(), Text.get_window_extent(text)


def _is_hidden_tick(made: Figure, text: Text) -> bool:
    """Whether a text is not drawn: the label of a tick outside its axis, or of no tick."""
    for axes in made.axes:
        for axis in (axes.xaxis, axes.yaxis):
            every = {
                id(label)
                for tick in (*axis.majorTicks, *axis.minorTicks)
                for label in (tick.label1, tick.label2)
            }
            if id(text) in every:
                shown = {id(tick.label1) for tick in axis._update_ticks()}
                return id(text) not in shown
    return False


def is_crossed(box: Bbox, other: Bbox) -> bool:
    wide = min(box.x1, other.x1) - max(box.x0, other.x0)
    high = min(box.y1, other.y1) - max(box.y0, other.y0)
    return bool(wide > TOUCH and high > TOUCH)


@pytest.mark.parametrize("look", LOOKS.values(), ids=LOOKS)
@pytest.mark.parametrize("name", charts())
def test_texts_are_not_clipped_or_covered(name: str, look: Look) -> None:
    made = drawn(charts()[name], look)
    found = list(boxes(made))
    assert len(found) > 5
    page = made.bbox
    for text, box in found:
        inside = page.x0 <= box.x0 and box.x1 <= page.x1 and page.y0 <= box.y0 and box.y1 <= page.y1
        assert inside, f"{text!r} is clipped"
    turned = {text.get_text() for text in made.findobj(Text) if text.get_rotation() % 90}
    for (text, box), (other, beside) in combinations(found, 2):
        # The boxes of rotated names overlap, but their letters do not.
        if not {text, other} <= turned:
            assert not is_crossed(box, beside), f"{text!r} covers {other!r}"
    (axes, *_) = made.axes
    for legend in made.legends:
        assert not is_crossed(legend.get_window_extent(), axes.get_window_extent()), "the legend is outside"


def test_a_size_is_the_size_of_the_picture() -> None:
    wide, high = drawn(legend_of_14(), Look.parse(size="3.4in x 3in", font="7pt")).get_size_inches()
    assert (wide, high) == pytest.approx((3.4, 3.0))
    assert drawn(legend_of_14(), Look.parse(size="85mm")).get_figwidth() == pytest.approx(85 / 25.4)


def test_lines_on_the_same_points_show_in_turn() -> None:
    same = [Line(name, "class0", [0, 1, 2], [3, 3, 3]) for name in "abc"]
    other = Line("d", "class1", [0, 1, 2], [3, 3, 4])
    rules = [Rule("min", "class0", 5.0, stroke="dotted"), Rule("max", "class1", 5.0, stroke="dotted")]
    *dashes, plain, first, second = strokes([*same, other, *rules])
    assert plain == "-"
    for group in (dashes, [first, second]):
        period = {sum(pattern) for _, pattern in group}
        (length,) = period
        ons = sorted((-offset) % length for offset, _ in group)
        assert ons == pytest.approx([length / len(group) * turn for turn in range(len(group))])
        assert all(pattern[0] * len(group) == pytest.approx(length) for _, pattern in group)


def test_every_line_of_14_classes_differs() -> None:
    marks = [mark for mark in legend_of_14().marks if isinstance(mark, Line)]
    with style(Look()):
        (axes,) = drawn(legend_of_14(), Look()).axes
    looks = {(line.get_color(), line.get_linestyle()) for line in axes.get_lines()}
    assert len(looks) == len(marks) == 14
    assert all(not line.get_clip_on() for line in axes.get_lines()), "a line along the edge is whole"


def test_the_front_is_drawn_above_all_points() -> None:
    made = drawn(charts()["pareto"], Look())
    (axes,) = made.axes
    order = {line.get_label(): line.get_zorder() for line in axes.get_lines()}
    front = order.pop("front")
    assert order and all(front > below for below in order.values())


@pytest.mark.parametrize("name", ["line", "heat map", "parallel", "pareto", "logarithmic", "14 classes"])
def test_labels_of_ticks_are_round(name: str) -> None:
    made = drawn(charts()[name], Look())
    texts = [text for text, _ in boxes(made) if text.replace(",", "").replace(".", "").isdigit()]
    assert len(texts) > 5
    for text in texts:
        digits = text.replace(",", "").strip("0").replace(".", "").strip("0")
        assert len(digits) <= 2, f"{text} has more digits than a reader remembers"


def test_a_heat_map_labels_round_values_where_not_all_have_room() -> None:
    made = drawn(charts()["heat map"], LOOKS["a column of a paper"])
    shown = [label.get_text() for label in made.axes[0].get_xticklabels() if label.get_text()]
    assert shown == ["5", "10", "15", "20", "25"]


@pytest.mark.parametrize(
    ("least", "greatest", "expected"),
    [
        (0.25, 64.0, [0.0, 20.0, 40.0, 60.0, 80.0]),
        (0.0, 1.0, [0.0, 0.25, 0.5, 0.75, 1.0]),
        (3.0, 3.0, [3.0, 4.0, 5.0, 6.0]),
        (-0.3, 0.9, [-0.5, 0.0, 0.5, 1.0]),
    ],
)
def test_scales_end_in_round_numbers(least: float, greatest: float, expected: list[float]) -> None:
    assert round_ticks(least, greatest) == expected


def test_names_move_apart_minimally() -> None:
    assert apart([0.0, 10.0, 20.0], 5.0, 0.0, 100.0) == [0.0, 10.0, 20.0]
    assert apart([50.0, 50.0, 50.0], 10.0, 0.0, 100.0) == [40.0, 50.0, 60.0]
    assert apart([100.0, 100.0], 10.0, 0.0, 100.0) == [90.0, 100.0]
    assert apart([1.0, 2.0, 50.0], 10.0, 0.0, 100.0) == [0.0, 10.0, 50.0]
