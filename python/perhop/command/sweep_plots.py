"""The plots of a sweep by `perhop sweep --plot` and `perhop plot`: `delay_p99`, `heat-map:loss=heat.svg`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from perhop.errors import InvalidInputError
from perhop.metrics import SHARE, Metric, resolve
from perhop.plot.chart import Chart
from perhop.plot.writing import SUFFIXES, Destination, check_file
from perhop.sampling import Design
from perhop.sweeping import Sweep

_KINDS = ("against", "heat-map", "parallel", "pareto")
_EXAMPLE = "for example --plot delay_p99, --plot heat-map:loss, --plot pareto:voice.delay_p99,bulk.throughput"


@dataclass(frozen=True)
class PlotRequest:
    """A plot of a sweep."""

    kind: str
    metrics: tuple[Metric, ...]
    where: Destination
    against: str | None = None
    series: str | None = None
    classes: tuple[str, ...] = ()
    log_x: bool = False
    log_y: bool = False

    @property
    def metric(self) -> Metric:
        """The first metric."""
        return self.metrics[0]

    def check(self, design: Design) -> None:
        """Before a sweep, refuse a plot that the sweep cannot make; raises `InvalidInputError`."""
        self._check_parameters(design.parameters)

    def _check_parameters(self, swept: Sequence[str]) -> None:
        if self.kind == "heat-map" and len(swept) < 2:
            raise InvalidInputError("a heat map needs two parameters with several values", _EXAMPLE)

    def charts(self, sweep: Sweep) -> list[Chart]:
        """Return the charts of a sweep that the options select."""
        from perhop.plot import sweeps, tradeoffs  # lazy: numpy, which only plots need

        if self.is_share:
            return sweep.share(against=self.against)
        self._check_parameters(sweep.parameters)
        # Two classes may have the same metric.
        frame, units = sweep.table(list(dict.fromkeys(metric.column for metric in self.metrics))), sweep.units
        note = sweep.caption()
        if self.kind == "pareto":
            first, second = (f"{metric.class_name}.{metric.column}" for metric in self.metrics)
            return [tradeoffs.pareto(frame, first, second, caption=note, units=units)]
        of_metric = [class_name for class_name in [self.metric.class_name] if class_name]
        names = list(self.classes) or of_metric or frame["class"].unique(maintain_order=True).to_list()
        if self.kind == "parallel":
            return [
                sweeps.parallel(frame, self.metric.column, class_name, caption=note, units=units)
                for class_name in names
            ]
        x = sweep.against(self.against)
        if self.kind == "heat-map":
            y = self.series or next(parameter for parameter in sweep.parameters if parameter != x)
            return [
                sweeps.heat_map(frame, x, y, self.metric.column, class_name, caption=note, units=units)
                for class_name in names
            ]
        return sweeps.against(
            frame,
            x,
            self.metric.column,
            series=self.series,
            classes=names,
            log_x=self.log_x,
            log_y=self.log_y,
            caption=note,
            units=units,
        )

    @property
    def is_share(self) -> bool:
        """Whether the plot is the default plot of shares."""
        plain = not (self.series or self.classes or self.log_x or self.log_y)
        return self.kind == "against" and self.metric.column == SHARE and plain


def requested_plots(
    texts: Sequence[str] | None,
    against: str | None,
    series: str | None,
    classes: Sequence[str] | None,
    *,
    log: tuple[bool, bool],
    made: Path | None,
) -> list[PlotRequest]:
    """Return the plots that `--plot` requests.

    Raises:
        InvalidInputError: there is no such kind or metric, or a file cannot be written.

    """
    found = []
    for text in texts or []:
        kind, metrics, where = _read(text)
        check_file(where.file, made=made)
        found.append(PlotRequest(kind, metrics, where, against, series, tuple(classes or ()), *log))
    return found


def check_parameters(design: Design, against: str | None, series: str | None) -> None:
    """Before a sweep, refuse parameters that are not swept; raises `InvalidInputError`."""
    for option, path in (("--against", against), ("--series", series)):
        if path is not None and path not in design.parameters:
            raise InvalidInputError(
                f"{option}: `{path}` has fewer than two values", f"swept: {', '.join(design.parameters)}"
            )


def requested_plot(
    what: str,
    file: Path | None,
    against: str | None,
    series: str | None,
    classes: Sequence[str] | None,
    *,
    log: tuple[bool, bool],
) -> PlotRequest:
    """Return the plot of `perhop plot WHAT`; raises `InvalidInputError`."""
    kind, metrics, usual = _read(what)
    return PlotRequest(
        kind,
        metrics,
        usual if file is None else Destination(file),
        against,
        series,
        tuple(classes or ()),
        *log,
    )


def _read(text: str) -> tuple[str, tuple[Metric, ...], Destination]:
    what, equals, name = text.partition("=")
    if not equals and Path(text).suffix in SUFFIXES:
        what, name = "share", text
    kind, colon, metrics = what.partition(":")
    if not colon:
        kind, metrics = "against", what
    if kind not in _KINDS:
        raise InvalidInputError(f"there is no plot `{kind}` of a sweep", _EXAMPLE)
    try:
        found = tuple(resolve(metric) for metric in metrics.split(","))
    except InvalidInputError:
        if not equals and Path(text).suffix:
            # The text looks like a file name: if the suffix is wrong, list the valid suffixes.
            check_file(Path(text))
        raise
    if (kind == "pareto") != (len(found) == 2):
        raise InvalidInputError(
            f"`{text}`: pareto needs two metrics, and every other plot one metric", _EXAMPLE
        )
    if kind == "pareto" and not all(metric.class_name for metric in found):
        raise InvalidInputError(f"`{text}`: pareto needs metrics of classes", _EXAMPLE)
    usual = metrics.replace(",", "-") if kind == "against" else f"{kind}-{metrics.replace(',', '-')}"
    return kind, found, Destination(Path(name)) if name else Destination.usual(usual)
