"""The runs of the test: round-trip times over time, their increase under load, and the grade."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import polars as pl

from perhop.bufferbloat import line as lines
from perhop.bufferbloat.grades import GRADES, GRADES_SOURCE, grade
from perhop.bufferbloat.line import DOWNLOAD, PING, PONG, UPLOAD, Line
from perhop.errors import InvalidInputError
from perhop.palette import of_lines
from perhop.plot.chart import Chart
from perhop.plot.description import Axis, Mark, Span
from perhop.plot.description import Line as Drawn
from perhop.results import Results
from perhop.running import Progress, simulate

_SCHEMA_VERSION = 1


@dataclass(frozen=True)
class Loaded:
    """One direction under load."""

    #: The rate of the data at the receiver, IP bits per second.
    rate_bps: float
    #: The mean round-trip time.
    rtt_s: float
    #: The largest mean round-trip time of a sample.
    rtt_max_s: float
    #: The increase of the mean over the idle line.
    increase_s: float


@dataclass(frozen=True)
class Run:
    """The test with one qdisc."""

    qdisc: str
    #: The mean round-trip time while the line is idle.
    idle_s: float
    download: Loaded
    upload: Loaded
    #: Ends of the samples, seconds, and the mean round-trip time in each; `None` if no ping arrived.
    times: tuple[float, ...]
    rtts: tuple[float | None, ...]

    @property
    def increase_s(self) -> float:
        """The mean increase over both directions, which determines the grade."""
        return fmean([self.download.increase_s, self.upload.increase_s])

    @property
    def grade(self) -> str:
        """The grade, A+ to F."""
        return grade(self.increase_s)

    def to_dict(self) -> dict[str, Any]:
        """Return the run as plain data."""
        return {
            "qdisc": self.qdisc,
            "grade": self.grade,
            "increase_s": self.increase_s,
            "idle_rtt_s": self.idle_s,
            "download": vars(self.download),
            "upload": vars(self.upload),
            "time_s": list(self.times),
            "rtt_s": list(self.rtts),
        }


@dataclass(frozen=True)
class Tested:
    """The tests of a line with several qdiscs."""

    line: Line
    seed: int
    runs: tuple[Run, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the document of `--json`."""
        return {
            "schema_version": _SCHEMA_VERSION,
            "line": vars(self.line),
            "seed": self.seed,
            "connections": lines.CONNECTIONS,
            "grades": {
                "source": GRADES_SOURCE,
                "below_s": {name: None if math.isinf(below) else below for name, below in GRADES},
            },
            "runs": [run.to_dict() for run in self.runs],
        }

    def chart(self) -> Chart:
        """Plot the round-trip times over time, a line for each qdisc."""
        marks: list[Mark] = [
            Span("downloading", *self.line.downloads),
            Span("uploading", *self.line.uploads),
        ]
        for run, (role, stroke) in zip(self.runs, of_lines(len(self.runs)), strict=True):
            points = [(at, rtt) for at, rtt in zip(run.times, run.rtts, strict=True) if rtt is not None]
            name = f"{run.qdisc} ({run.grade})"
            marks.append(
                Drawn(name, role, [at for at, _ in points], [rtt * 1e3 for _, rtt in points], stroke=stroke)
            )
        line = self.line
        return Chart(
            kind="bufferbloat",
            title="Round-trip time of a ping while the line is idle and loaded",
            x=Axis("Time", "s"),
            y=Axis("Round-trip time", "ms", log=True),
            marks=tuple(marks),
            caption=f"{line.down_bps / 1e6:g} Mb/s down, {line.up_bps / 1e6:g} Mb/s up, "
            f"{lines.CONNECTIONS} TCP connections, seed {self.seed}; grades: {GRADES_SOURCE}",
        )


def test(
    rate: str,
    *,
    rtt: str = "20ms",
    qdiscs: Sequence[str] = ("fifo", "fq_codel", "cake"),
    seed: int = 1,
    progress: Callable[[str, Progress], None] | None = None,
) -> Tested:
    """Simulate the test for bufferbloat of a line with each of some qdiscs at both ends of the line.

    Args:
        rate: the rates of the line, down and up, as `50/10Mb/s`, or one for both.
        rtt: the round-trip time of the idle line.
        qdiscs: the disciplines, in the words of tc; `fifo` is a queue of 1000 packets.
        seed: the seed of all random streams.
        progress: called several times a second with the discipline and its progress.

    Raises:
        InvalidInputError: a quantity is not valid, or perhop does not have a discipline.

    """
    tested = Line.read(rate, rtt)
    if not qdiscs:
        raise InvalidInputError("qdisc: the list is empty", "for example cake,fq_codel,fifo")
    lines.require_different(qdiscs)
    scenarios = {qdisc: tested.scenario(qdisc) for qdisc in qdiscs}
    runs = []
    for qdisc, scenario in scenarios.items():
        shown = None if progress is None else _about(progress, qdisc)
        runs.append(_run(tested, qdisc, simulate(scenario, seed=seed, progress=shown)))
    return Tested(tested, seed, tuple(runs))


def _about(progress: Callable[[str, Progress], None], qdisc: str) -> Callable[[Progress], None]:
    return lambda done: progress(qdisc, done)


def _run(line: Line, qdisc: str, results: Results) -> Run:
    delays = results.delays.filter(pl.col("packets") > 0).with_columns(pl.col("class").cast(pl.String))
    rates = results.throughput.with_columns(pl.col("class").cast(pl.String))
    there, back = (_over_time(delays, name, "delay_mean_s") for name in (PING, PONG))
    times = tuple(rates["time_s"].unique().sort().to_list())
    rtts = {time: there[time] + back[time] for time in times if time in there and time in back}
    idle = fmean(_between(rtts, 0.0, line.downloads[0]))

    def loaded(name: str, begin: float, end: float) -> Loaded:
        found = _between(rtts, begin, end)
        if not found:
            raise InvalidInputError(
                f"qdisc `{qdisc}`: no ping was answered during the {name}",
                "choose a discipline that drops less",
            )
        rate = fmean(_between(_over_time(rates, name, "throughput_bps"), begin, end))
        return Loaded(rate, fmean(found), max(found), fmean(found) - idle)

    return Run(
        qdisc,
        idle,
        loaded(DOWNLOAD, *line.downloads),
        loaded(UPLOAD, *line.uploads),
        times,
        tuple(rtts.get(time) for time in times),
    )


def _over_time(table: pl.DataFrame, name: str, column: str) -> dict[float, float]:
    """Return the values of a column for one class, by the times at which the samples end."""
    return dict(table.filter(pl.col("class") == name).select("time_s", column).iter_rows())


def _between(values: Mapping[float, float], begin: float, end: float) -> list[float]:
    """Return the values of samples between two times."""
    slack = lines.SAMPLE_S / 2
    return [value for time, value in values.items() if begin + slack < time <= end + slack]
