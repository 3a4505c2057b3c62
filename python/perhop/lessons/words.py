"""Goals and conditions of a lesson as sentences for students."""

from __future__ import annotations

import re

from perhop.metrics import resolve
from perhop.quantity import scale
from perhop.verdicts.assertions import Assertion

_SIGNS = {
    "<": "less than",
    "<=": "at most",
    ">": "more than",
    ">=": "at least",
    "==": "exactly",
    "!=": "anything but",
}
# Sentences by column; `bound` has the sign and the value.
_SENTENCES = {
    "throughput_bps": "{name} gets {bound}",
    "goodput_bps": "{name} transfers {bound} of data (goodput)",
    "delay_mean_s": "packets of {name} take {bound} on average",
    "dropped_percent": "{bound} of the packets of {name} are lost",
    "retransmissions": "{name} sends {bound} segments again",
    "timeouts": "{name} has {bound} timeouts",
}
# Sentences by column for a bound of at most zero.
_NONE = {
    "dropped_percent": "no packet of {name} is lost",
    "retransmissions": "{name} sends no segment again",
    "timeouts": "{name} has no timeout",
}
# Percentiles that have an upper bound.
_WITHIN = {
    "delay": "{percent} % of the packets of {name} arrive within {value}",
    "completion": "{percent} % of the transactions of {name} end within {value}",
}


def goal_words(goal: Assertion) -> str:
    """Return the goal of a run, as a sentence without its period."""
    metric = resolve(goal.quantity)
    value = _value(goal.bound.mean, metric.unit)
    parts = {"name": goal.name, "value": value, "bound": f"{_SIGNS[goal.sign]} {value}"}
    percentile = re.fullmatch(r"(delay|completion)_p(\d+)_s", metric.column)
    if percentile and goal.sign in ("<", "<="):
        return _WITHIN[percentile[1]].format(percent=percentile[2], **parts)
    if goal.sign == "<=" and goal.bound.mean == 0.0 and metric.column in _NONE:
        return _NONE[metric.column].format(**parts)
    sentence = _SENTENCES.get(metric.column, f"{metric.words} of {{name}} is {{bound}}")
    return sentence.format(**parts)


def condition_words(subject: str, sign: str, value: float, unit: str) -> str:
    """Return a condition on a scenario, as a sentence without its period."""
    return f"{subject} is {_SIGNS[sign]} {_value(value, unit)}"


def _value(value: float, unit: str) -> str:
    """Return a value in a suitable unit."""
    divisor, shown = (1e3, "kB") if unit == "bytes" and value >= 1e3 else scale(unit, abs(value))
    return f"{value / divisor:.6g} {shown}".strip()
