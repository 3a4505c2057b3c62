"""Four charts of a run over one time axis, for a page that links them: rate, delay, drops and queues."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import polars as pl

from perhop.errors import InvalidInputError, ScenarioError, UnreadableFileError
from perhop.palette import STROKES, of_classes
from perhop.plot.chart import Chart
from perhop.plot.description import Axis, Line, Mark, Points, thinned
from perhop.plot.over_time import delay, drops, sampled_queues, throughput
from perhop.results import Results

#: The suffix of the names of classes of replies.
BACK = " (back)"
#: The kinds of samples that the charts need.
SAMPLED = ("throughput", "delay", "queue")
# The maximum ratio between the delays of classes on a linear axis. With a larger ratio, short delays would be
# a flat line.
_WIDE = 30.0


def linked(
    results: Results, port: str | None, classes: Mapping[str, str], *, back: bool = False
) -> list[Chart]:
    """Return the charts that the results have samples for, with one time axis.

    Args:
        results: the results of a run.
        port: the port whose queues are drawn; by default the port of the first sampled queue.
        classes: the class of traffic that waits in a queue of the port, by queue.
        back: whether classes of replies are drawn.

    Raises:
        UnreadableFileError: a table cannot be read.

    """
    time = Axis("Time", "s", least=results.summary["warmup_s"], greatest=results.summary["duration_s"])
    makers: list[Callable[[], Chart]] = [
        lambda: throughput(results),
        lambda: _without_bands(delay(results)),
        lambda: drops(results),
        lambda: _waiting(results, port, classes),
    ]
    found = []
    for make in makers:
        try:
            chart = make()
        except (UnreadableFileError, ScenarioError):
            raise
        except InvalidInputError:
            continue
        marks = tuple(mark for mark in chart.marks if back or not mark_of_replies(mark))
        if marks:
            found.append(replace(chart, x=time, marks=marks, caption=""))
    return [_with_readable_delays(chart) for chart in found]


def mark_of_replies(mark: Mark) -> bool:
    """Whether a mark shows a class of replies."""
    return isinstance(mark, Line | Points) and mark.name.endswith(BACK)


def _without_bands(chart: Chart) -> Chart:
    """Return a chart with only lines: bands of several classes cover each other."""
    lines = [replace(mark, low=None, high=None) for mark in chart.marks if isinstance(mark, Line)]
    return replace(chart, title="Delay of each class, mean", marks=tuple(lines))


def _with_readable_delays(chart: Chart) -> Chart:
    """Return a chart of delays, with a logarithmic axis if its classes are far apart."""
    if chart.kind != "delay":
        return chart
    means = [max(mark.y) for mark in chart.marks if isinstance(mark, Line) and len(mark.y)]
    least = min((min(mark.y) for mark in chart.marks if isinstance(mark, Line) and len(mark.y)), default=0.0)
    if least <= 0.0 or max(means) < _WIDE * min(means):
        return chart
    return replace(chart, y=replace(chart.y, log=True, least=None))


def _waiting(results: Results, port: str | None, classes: Mapping[str, str]) -> Chart:
    """Return the maximum number of waiting packets between samples, for each queue of a port."""
    sampled = sampled_queues(results)
    if not sampled:
        raise InvalidInputError("no queue was sampled")
    at = port if port in {sampled_port for sampled_port, _ in sampled} and port is not None else sampled[0][0]
    roles = of_classes(results.classes["class"])
    table = results.queues.filter(pl.col("port") == at, pl.col("replication") == 0, pl.col("precedence") == 0)
    column = "most_packets" if "most_packets" in table.columns else "packets"
    marks: list[Mark] = []
    for queue in [name for sampled_port, name in sampled if sampled_port == at]:
        rows = table.filter(pl.col("queue") == queue).sort("time_s")
        name = classes.get(queue, queue.rpartition("/")[2])
        role = roles.get(name, "queue")
        line = Line(name, role, rows["time_s"].to_numpy(), rows[column].to_numpy().astype(float), steps=True)
        marks.append(thinned(replace(line, stroke=STROKES.get(role, "solid"))))
    return Chart(
        kind="waiting",
        title=f"Packets waiting at {at.replace('->', ' → ')}",
        x=Axis("Time", "s"),
        y=Axis("Waiting at most", "packets", least=0.0),
        marks=tuple(marks),
        caption="",
    )
