"""The plots of a run as methods: `results.plot.queue()`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Drawing:
    """The drawing functions. Their layer is above results, so `perhop`, above both, registers them here."""

    #: Returns the function that draws a kind of plot.
    function_of: ClassVar[Callable[[str], Callable[..., Any]]]


class Plots:
    """A method for each kind of plot of a run; each returns a chart, which has `save` and shows in notebooks.

    With `ax` (axes of matplotlib), each method draws into the axes in their style and returns the axes.

    All methods raise `InvalidInputError` if the run took no samples for the kind, and `UnreadableFileError`
    if a table cannot be read. `perhop.plot` has a function for each method.
    """

    def __init__(self, results: Any) -> None:  # noqa: ANN401 - the Results, which are above this module
        """Create the plots of the given results."""
        self._results = results

    def __repr__(self) -> str:
        """Name the kinds."""
        kinds = ", ".join(name for name in vars(type(self)) if not name.startswith("_"))
        return f"<plots of {self._results.summary['scenario']!r}: {kinds}>"

    def throughput(self, *, stacked: bool = False, ax: Axes | None = None) -> Any:  # noqa: ANN401 - a Chart, or the axes
        """Plot the throughput of each class over time, b/s, with 95 % confidence bands."""
        return self._plot("throughput", stacked=stacked, ax=ax)

    def drops(self, *, ax: Axes | None = None) -> Any:  # noqa: ANN401 - a Chart, or the axes
        """Plot the dropped packets of each class over time, by interval."""
        return self._plot("drops", ax=ax)

    def queue(
        self,
        port: str | None = None,
        queue: str | None = None,
        *,
        replication: int = 0,
        ax: Axes | None = None,
    ) -> Any:  # noqa: ANN401 - a Chart, or the axes
        """Plot a queue and its averages over time, packets or bytes, with its thresholds.

        `port` (`from->to`) and `queue` select one of `measure.queues`; by default the first.
        """
        return self._plot("queue", port, queue, replication=replication, ax=ax)

    def drop_curve(self, port: str | None = None, queue: str | None = None, *, ax: Axes | None = None) -> Any:  # noqa: ANN401 - a Chart, or the axes
        """Plot the configured drop probability of a queue over its average."""
        return self._plot("drop_curve", port, queue, ax=ax)

    def delay(self, *, ax: Axes | None = None) -> Any:  # noqa: ANN401 - a Chart, or the axes
        """Plot the one-way delay of each class over time, s: mean and range."""
        return self._plot("delay", ax=ax)

    def ipdv(self, *, ax: Axes | None = None) -> Any:  # noqa: ANN401 - a Chart, or the axes
        """Plot the variation of the delay of each class over time, s: mean and range."""
        return self._plot("ipdv", ax=ax)

    def delay_cdf(self, *, log_x: bool = False, ax: Axes | None = None) -> Any:  # noqa: ANN401 - a Chart, or the axes
        """Plot the cumulative distribution of the one-way delay of each class, % of its packets."""
        return self._plot("delay_cdf", log_x=log_x, ax=ax)

    def delay_histogram(self, *, ax: Axes | None = None) -> Any:  # noqa: ANN401 - a Chart, or the axes
        """Plot the distribution of the one-way delay of each class."""
        return self._plot("delay_histogram", ax=ax)

    def page_load_cdf(self, *, ax: Axes | None = None) -> Any:  # noqa: ANN401 - a Chart, or the axes
        """Plot the cumulative distribution of the times that web pages took to load, % of the pages."""
        return self._plot("page_load_cdf", ax=ax)

    def congestion_window(self, *, replication: int = 0, ax: Axes | None = None) -> Any:  # noqa: ANN401 - a Chart, or the axes
        """Plot the congestion windows of the probed connections over time, segments."""
        return self._plot("congestion_window", replication=replication, ax=ax)

    def _plot(self, kind: str, *given: object, ax: Axes | None, **options: object) -> Any:  # noqa: ANN401 - a Chart, or the axes
        chart = Drawing.function_of(kind)(self._results, *given, **options)
        return chart if ax is None else chart.draw(ax)
