"""The sensitivity to a parameter alone: the correlation ratio (Pearson 1905; Saltelli et al. 2008)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from statistics import fmean

# The number of points in a group, and the maximum number of groups of an ordered parameter.
_GROUP = 6
_GROUPS = 8
_FEWEST = 12


def shares_of_variance(places: Sequence[float], values: Sequence[float], *, ordered: bool) -> float | None:
    """Return the fraction of the variance of `values` between groups of equal or near `places`.

    The fraction is from 0 to 1, after subtraction of the value expected by chance (Kelley 1935); `None` with
    fewer than 12 points.
    """
    count = len(values)
    if count < _FEWEST:
        return None
    mean = fmean(values)
    total = sum((value - mean) ** 2 for value in values)
    if total == 0:
        return 0.0
    groups = _groups(places, values, ordered=ordered)
    within = sum((value - fmean(group)) ** 2 for group in groups for value in group)
    if count <= len(groups):
        return None
    return max(0.0, 1.0 - (within / (count - len(groups))) / (total / (count - 1)))


def _groups(places: Sequence[float], values: Sequence[float], *, ordered: bool) -> list[list[float]]:
    """Return the values of points with equal places, or of neighbors if there are many places."""
    distinct = sorted(set(places))
    if not ordered or len(distinct) <= min(_GROUPS, len(places) // 3):
        return [
            [value for at, value in zip(places, values, strict=True) if at == place] for place in distinct
        ]
    order = sorted(range(len(places)), key=lambda at: (places[at], at))
    several = max(2, min(_GROUPS, len(places) // _GROUP))
    bounds = [round(number * len(order) / several) for number in range(several + 1)]
    return [[values[at] for at in order[low:high]] for low, high in pairwise(bounds)]
