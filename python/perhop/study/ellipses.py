"""Ellipses of a study: the center and the variation of two quantities that were measured together.

RFC 7928 §2.7 requires plots of queueing delay against goodput, as Winstein and Balakrishnan draw them (TCP ex
Machina, SIGCOMM 2013): the ellipse of one standard deviation of the normal distribution with the maximum
likelihood for the samples. Delays are positive and spread over decades. The distribution here is therefore of
the logarithm of the first quantity, and the drawn curve never reaches 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from perhop.study.definition import Scatter


@dataclass(frozen=True)
class Ellipse:
    """The normal distribution of the samples of one case."""

    table: str
    case: dict[str, str]
    scatter: Scatter
    samples: int
    #: Geometric mean of the first quantity, mean of the second.
    center: tuple[float, float]
    #: Standard deviations: of the decimal logarithm of the first quantity, and of the second.
    deviation: tuple[float, float]
    #: The correlation between the logarithm of the first quantity and the second quantity.
    correlation: float

    def to_json(self) -> dict[str, Any]:
        """Return the ellipse as plain data."""
        return {
            "table": self.table,
            "case": self.case,
            "name": self.scatter.name,
            "x": list(self.scatter.x),
            "y": list(self.scatter.y),
            "samples": self.samples,
            "center": list(self.center),
            "deviation": list(self.deviation),
            "correlation": self.correlation,
        }


def ellipse(
    table: str, case: dict[str, str], scatter: Scatter, samples: Sequence[tuple[float, float]]
) -> Ellipse | None:
    """Return the ellipse of samples with a positive first quantity; `None` for fewer than two samples.

    The estimates maximize the likelihood, so sums are divided by the number of samples.
    """
    count = len(samples)
    if count < 2:
        return None
    logarithms = [math.log10(x) for x, _ in samples]
    values = [y for _, y in samples]
    mean_x, mean_y = math.fsum(logarithms) / count, math.fsum(values) / count
    apart = [(x - mean_x, y - mean_y) for x, y in zip(logarithms, values, strict=True)]
    sigma_x = math.sqrt(math.fsum(x * x for x, _ in apart) / count)
    sigma_y = math.sqrt(math.fsum(y * y for _, y in apart) / count)
    both = math.fsum(x * y for x, y in apart) / count
    correlation = both / (sigma_x * sigma_y) if sigma_x * sigma_y > 0.0 else 0.0
    return Ellipse(
        table,
        case,
        scatter,
        count,
        (10.0**mean_x, mean_y),
        (sigma_x, sigma_y),
        max(-1.0, min(1.0, correlation)),
    )
