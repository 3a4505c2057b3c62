"""A chart of a running sweep: the means of a metric over a parameter, for the points that have ended."""

from __future__ import annotations

from perhop.metrics import Metric
from perhop.sweeping.plan import Plan
from perhop.sweeping.running import Advance
from perhop.sweeping.statistics import summarized, with_shares

Value = float | str


class Filling:
    """The means of a metric by class over the values of a parameter."""

    def __init__(self, plan: Plan, metric: Metric, against: str | None) -> None:
        """Create an empty chart; `against` is the parameter, by default the first."""
        self.path = against or plan.design.parameters[0]
        self.parameter = next(column for column in plan.columns() if column.path == self.path)
        self.metric = metric
        # The sum and the number of values by class and value of the parameter, so that the memory of a chart
        # does not grow with its points.
        self._sums: dict[tuple[str, Value], tuple[float, int]] = {}

    def add(self, now: Advance) -> None:
        """Add finished points."""
        if "classes" not in now.new:
            return
        means = summarized(with_shares(now.new["classes"]), [self.metric.column])
        joined = means.join(now.new["points"].select("point", self.path), on="point").drop_nulls("mean")
        for name, value, mean in joined.select("class", self.path, "mean").iter_rows():
            total, count = self._sums.get((name, value), (0.0, 0))
            self._sums[name, value] = (total + mean, count + 1)

    def lines(self) -> dict[str, dict[Value, float]]:
        """Return the means by class and value, in the order of values."""
        found: dict[str, dict[Value, float]] = {name: {} for name, _ in self._sums}
        for name, value in sorted(self._sums, key=lambda key: (isinstance(key[1], str), key[1])):
            total, count = self._sums[name, value]
            found[name][value] = total / count
        return found
