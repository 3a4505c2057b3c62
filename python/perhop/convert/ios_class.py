"""A class's lines in a policy-map: shares, limits, WRED, shapers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perhop.codepoints import dscp_number
from perhop.convert.conditions import codepoints, listed
from perhop.convert.ios_match import InexpressibleError
from perhop.quantity import bits_per_second, quantity

# Packets in a class's queue where nothing is said: Cisco document 110850; priority classes of IOS-XE:
# Cisco, "Queue Depth" (IOS-XE 16.12).
_LIMIT = 64
_PRIORITY_LIMIT_XE = 512
# Exponent of WRED's average where nothing is said.
_EXPONENT = 9
# Minimum thresholds of the precedences where nothing is said, beside a maximum of 40 packets and 1/10:
# outputs of routers before HQF and with it.
_MINIMA = {
    "pre-hqf": (20, 22, 24, 26, 28, 31, 33, 35),
    "7500-vip": (20, 22, 24, 26, 28, 31, 33, 35),
    "hqf": (20, 22, 24, 26, 28, 30, 32, 34),
}
# The buffer of a class of perhop that says nothing.
_USUAL_BUFFER: Mapping[str, Any] = {"tail-drop": {"limit": f"{_LIMIT} packets"}}
# IOS takes mark probability denominators up to this.
_MOST_DENOMINATOR = 65536
_RATIO = 65536


def kilobits(bits: float) -> int | None:
    """Return a rate in whole kilobits per second, `None` where it is none."""
    return round(bits / 1000) if bits >= 1000 and bits % 1000 == 0 else None


def percent(bits: float, of_bits: int | None) -> int | None:
    """Return which whole percentage of a rate another is, rounded down as the router does."""
    if not of_bits:
        return None
    return next((one for one in range(1, 101) if of_bits * one // 100 == round(bits)), None)


def size(text: str) -> tuple[int, str]:
    """Return a size or limit as number and unit: bytes or packets."""
    found = quantity(text)
    if found is None:
        raise InexpressibleError(str(text), "no size")
    return round(found[0]), found[1] or "packets"


def rate_words(bits: float, of_bits: int | None) -> str:
    """Return `512` or `percent 20` for a rate; raises `InexpressibleError`."""
    whole = kilobits(bits)
    if whole is not None:
        return str(whole)
    part = percent(bits, of_bits)
    if part is not None:
        return f"percent {part}"
    raise InexpressibleError(f"a rate of {bits:g} b/s", "IOS takes whole kilobits per second or percents")


def share_lines(share: Mapping[str, Any], profile: str, of_bits: int | None) -> list[str]:
    """Return `bandwidth` for a share; raises `InexpressibleError`."""
    least = share.get("minimum") or share.get("bandwidth")
    weight = share.get("weight")
    if share.get("cap") or share.get("quantum") or share.get("level") is not None:
        unknown = ", ".join(key for key in ("cap", "quantum", "level") if share.get(key) is not None)
        raise InexpressibleError(f"share: {unknown}", "classes of IOS have a bandwidth or a ratio")
    if least:
        if weight not in {None, 1}:
            raise InexpressibleError(
                f"share: minimum {least} beside weight {weight}", "a class has one `bandwidth` line"
            )
        return [f"bandwidth {rate_words(bits_per_second(least), of_bits)}"]
    if weight is None:
        return []
    if weight != round(weight) or not 1 <= weight <= _RATIO:
        raise InexpressibleError(f"share: weight {weight:g}", f"ratios are whole numbers from 1 to {_RATIO}")
    if profile in {"pre-hqf", "7500-vip"}:
        raise InexpressibleError(f"share: weight {weight:g}", "classes before HQF share by bandwidth")
    return [f"bandwidth remaining ratio {round(weight)}"]


def shape_line(shape: Mapping[str, Any]) -> str:
    """Return `shape average` or `shape peak` with its bursts in bits."""
    burst, excess = size(shape["burst"])[0], size(shape.get("excess") or shape["burst"])[0]
    rate = round(bits_per_second(shape["rate"]))
    return f"shape {shape.get('form', 'average')} {rate} {8 * burst} {8 * excess}"


def queue_lines(config: Mapping[str, Any], profile: str, *, priority: bool) -> list[str]:
    """Return the lines of a class's queue: limit, flows, WRED; raises `InexpressibleError`."""
    fair = config.get("fair-queueing")
    buffer = config.get("buffer") or ({} if fair or config.get("queueing") else _USUAL_BUFFER)
    lines = _fair_lines(fair, profile, has_wred="wred" in buffer) if fair else []
    for kind, parameters in buffer.items():
        if kind == "tail-drop":
            lines += _limit(parameters.get("limit"), profile, priority=priority)
        elif kind == "weighted-tail-drop":
            lines += _limits_by_value(parameters["limits"], config)
        elif kind == "wred" or (kind == "red" and len(parameters.get("precedences") or []) == 1):
            lines += _wred(parameters, config, profile)
        else:
            raise InexpressibleError(f"buffer: {kind}", "IOS has tail drop and WRED")
    return lines


def _limit(limit: str | None, profile: str, *, priority: bool) -> list[str]:
    if limit is None:
        return []
    number, unit = size(limit)
    usual = _PRIORITY_LIMIT_XE if priority and profile == "ios-xe" else _LIMIT
    if unit == "packets" and number == usual and (profile != "ios-xe" or priority):
        return []
    return [f"queue-limit {number}{'' if unit == 'packets' else ' bytes'}"]


def _fair_lines(fair: Mapping[str, Any], profile: str, *, has_wred: bool) -> list[str]:
    queues = fair.get("queues", 256)
    lines = ["fair-queue" if queues == 256 else f"fair-queue {queues}"]
    limit, _ = size(fair.get("flow-limit") or "64 packets")
    if profile in {"pre-hqf", "7500-vip"}:
        return lines + ([] if limit == _LIMIT else [f"queue-limit {limit}"])
    # With HQF a flow has a quarter of the class's limit: Cisco document 110850.
    if has_wred or (4 * limit == _LIMIT and profile == "hqf"):
        return lines
    return [*lines, f"queue-limit {4 * limit}"]


def _limits_by_value(limits: list[str], config: Mapping[str, Any]) -> list[str]:
    precedence = config.get("precedence", "color")

    def written(values: str, limit: str) -> str:
        number, unit = size(limit)
        return f"queue-limit {values} {number} {unit}"

    if isinstance(precedence, Mapping) and "by-dscp" in precedence:
        groups = precedence["by-dscp"]
        named = [dscp for group in groups for dscp in listed(group)]
        own = limits[-1] if len(groups) == len(limits) and len(listed(groups[-1])) == 1 else None
        lines = [] if own is None else [f"queue-limit {' '.join(map(str, size(own)))}"]
        pairs = zip(groups, limits, strict=False)
        lines += [
            written(f"dscp {dscp}", limit)
            for group, limit in pairs
            for dscp in listed(group)
            if limit != own and dscp in named
        ]
        return lines
    word = {"ip-precedence": "precedence", "cos": "cos", "color": "discard-class"}.get(str(precedence))
    if word is None:
        raise InexpressibleError(f"weighted-tail-drop by {precedence}", "IOS limits by DSCP or precedence")
    most = max(limits, key=lambda limit: size(limit)[0])
    lines = [f"queue-limit {' '.join(map(str, size(most)))}"]
    return lines + [written(f"{word} {at}", limit) for at, limit in enumerate(limits) if limit != most]


def _wred(wred: Mapping[str, Any], config: Mapping[str, Any], profile: str) -> list[str]:
    precedence = config.get("precedence", "color")
    rows = wred.get("precedences") or []
    if not rows:
        raise InexpressibleError("wred by a model of precedences", "IOS has thresholds for each value")
    averaging = wred.get("averaging") or ({} if wred.get("law") == "cisco" else {"weight": 0.002})
    exponent = averaging.get("exponent")
    if exponent is None and averaging.get("weight") is not None:
        raise InexpressibleError(f"averaging: weight {averaging['weight']}", "IOS takes n of 2^-n")
    if isinstance(precedence, Mapping):
        basis, lines = "random-detect dscp-based", _by_dscp(rows, precedence["by-dscp"], config, profile)
    elif precedence == "ip-precedence":
        basis, lines = "random-detect", _by_number(rows, "precedence")
        usual = _MINIMA.get(profile, ())
        said = [f"random-detect precedence {number} {low} 40 10" for number, low in enumerate(usual)]
        lines = [line for line in lines if line not in said]
    elif precedence == "dscp":
        basis, lines = "random-detect dscp-based", _by_af(rows)
    else:
        basis, lines = "random-detect discard-class-based", _by_number(rows, "discard-class")
    found = [basis, *lines]
    if exponent is not None and exponent != _EXPONENT:
        found.append(f"random-detect exponential-weighting-constant {exponent}")
    if wred.get("scalable"):
        raise InexpressibleError("scalable", "IOS marks nobody by the queue of the moment")
    if wred.get("ecn") == "mark":
        found.append("random-detect ecn")
    limit = wred.get("limit")
    if limit is not None and not (size(limit) == (_LIMIT, "packets") and profile == "hqf"):
        number, unit = size(limit)
        found.insert(0, f"queue-limit {number}{'' if unit == 'packets' else ' bytes'}")
    return found


def _thresholds(row: Mapping[str, Any]) -> str:
    (low, unit), (high, _) = size(row["min"]), size(row["max"])
    probability = row["max-probability"]
    denominator = round(1 / probability) if probability else 0
    if not 1 <= denominator <= _MOST_DENOMINATOR:
        raise InexpressibleError(f"max-probability {probability:g}", "IOS takes 1/n for n from 1 to 65536")
    if row.get("own"):
        raise InexpressibleError("own thresholds of a precedence", "IOS compares one average")
    suffix = "" if unit == "packets" else " bytes"
    return f"{low}{suffix} {high}{suffix} {denominator}"


def _by_number(rows: list[Mapping[str, Any]], word: str) -> list[str]:
    several = [rows[min(number, len(rows) - 1)] for number in range(8)]
    return [f"random-detect {word} {number} {_thresholds(row)}" for number, row in enumerate(several)]


def _by_af(rows: list[Mapping[str, Any]]) -> list[str]:
    """Return thresholds of the AF codepoints by their drop precedence."""
    return [
        f"random-detect dscp af{number}{color + 1} {_thresholds(rows[min(color, len(rows) - 1)])}"
        for number in range(1, 5)
        for color in range(3)
    ]


def _by_dscp(
    rows: list[Mapping[str, Any]], groups: list[Any], config: Mapping[str, Any], profile: str
) -> list[str]:
    """Return thresholds of every codepoint that the class can hold; what no group names has the last group's.

    Groups beyond the last row have that row, as a precedence beyond the last is treated as the last.
    """
    of_group = [rows[min(index, len(rows) - 1)] for index in range(len(groups))]
    pairs = zip(groups, of_group, strict=True)
    of_value = {dscp_number(dscp): row for group, row in pairs for dscp in listed(group)}
    lines = []
    for value in sorted(codepoints(config.get("match"))):
        text = _thresholds(of_value.get(value, of_group[-1]))
        if text != _usual(value) or profile == "ios-xe":
            lines.append(f"random-detect dscp {value} {text}")
    return lines


def _usual(dscp: int) -> str:
    """Return the thresholds of a codepoint where nothing is said, of IOS (maximum 40)."""
    high, low = dscp >> 3, dscp & 7
    if dscp == 46:
        least = 36
    elif 1 <= high <= 4 and low in {2, 4, 6}:
        least = {2: 32, 4: 28, 6: 24}[low]
    elif low == 0 and high:
        least = 20 + 2 * high
    else:
        least = 20
    return f"{least} 40 10"
