"""Queues of classes as queueing disciplines of Linux."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import log2
from typing import Any

from perhop.codepoints import dscp_number, precedence_number
from perhop.convert.conditions import codepoints, listed
from perhop.convert.ios_class import size
from perhop.quantity import quantity

# Bytes of a packet where thresholds count packets and Linux counts bytes: what tc-red(8) advises.
_AVERAGE = 1000
# Linux: SFQ_MAX_DEPTH of sch_sfq.c, and the packets that it holds at most.
_MOST_DEPTH, _MOST_SFQ = 127, 65_408
_ETHERNET_FRAME = 1514
_MOST_BURST = 1 << 16
_MOST_EXPONENT = 31
_DEFAULT_EXPONENT = 9
# Linux: drop_batch_size of sch_fq_codel.c.
_DROP_BATCH = 64
#: Says what is otherwise in Linux: the construct, and why.
Say = Callable[[str, str], None]


def discipline(config: Mapping[str, Any], rate_bps: int, say: Say) -> str:
    """Return the queueing discipline of a class that sends at about `rate_bps` bits per second."""
    fair, buffer = config.get("fair-queueing"), config.get("buffer") or {}
    if fair:
        if buffer:
            say(f"{next(iter(buffer))} beside fair queueing", "only the flows' own limits are kept")
        return _fair(fair, say)
    if not buffer:
        return "pfifo limit 64"
    ((kind, parameters),) = buffer.items()
    if kind == "tail-drop":
        return _fifo(parameters.get("limit") or "64 packets")
    if kind == "weighted-tail-drop":
        most = max(parameters["limits"], key=lambda limit: size(limit)[0])
        say("limits by drop precedence", f"one limit of {most} for all packets of the class")
        return _fifo(most)
    if kind in ("codel", "fq-codel"):
        return _codel(kind, parameters, say)
    if kind == "pie":
        return _pie(parameters, say)
    if kind == "fq-pie":
        return _fq_pie(parameters, say)
    if kind == "dualpi2":
        return _dualpi2(parameters, rate_bps, say)
    rows = _rows(config, parameters, say)
    if not rows:
        say(f"{kind} by a model", "tail drop of 64 packets in its place")
        return "pfifo limit 64"
    if kind not in {"wred", "red"}:
        say(kind, "one RED in place of several averages")
    return _red(rows[0], parameters, rate_bps, say)


def _fifo(limit: str) -> str:
    number, unit = size(limit)
    return f"{'pfifo' if unit == 'packets' else 'bfifo'} limit {number}"


def _codel(kind: str, codel: Mapping[str, Any], say: Say) -> str:
    """Return codel or fq_codel with its options, which tc-codel(8) and tc-fq_codel(8) know by these names."""
    per_flow = kind == "fq-codel"
    limit, unit = size(codel.get("limit") or ("10240 packets" if per_flow else "1000 packets"))
    if unit != "packets":
        say(f"limit of {limit} bytes", f"codel counts packets: of {_AVERAGE} bytes each")
        limit = max(limit // _AVERAGE, 1)
    if codel.get("law", "rfc") != "linux":
        source = "FQ-CoDel of RFC 8290" if per_flow else "CoDel of RFC 8289"
        say(source, "Linux' own: square roots begin rough, so that the second drop comes early")
    if codel.get("mtu", "1500B") != "1500B":
        say(f"mtu: {codel['mtu']}", "the device's")
    words = ["fq_codel" if per_flow else "codel", f"limit {limit}"]
    if per_flow:
        quantum, _ = size(codel.get("quantum") or "1514B")
        words += [f"flows {codel.get('flows', 1024)}", f"quantum {quantum}"]
        if codel.get("drop-batch", _DROP_BATCH) != _DROP_BATCH:
            words.append(f"drop_batch {codel['drop-batch']}")
    words += [f"target {_time(codel, 'target', '5ms')}", f"interval {_time(codel, 'interval', '100ms')}"]
    words.append("ecn" if codel.get("ecn", "mark" if per_flow else "ignore") == "mark" else "noecn")
    threshold = codel.get("ce-threshold")
    if threshold:
        words.append(f"ce_threshold {_time(threshold, 'wait')}")
        if threshold.get("of") == "ect1" and per_flow:
            words.append("ce_threshold_selector 0x1/0x3")
        elif threshold.get("of") == "ect1":
            say("ce-threshold of ECT(1)", "codel marks ECT(0) beyond it as well")
    return " ".join(words)


def _time(config: Mapping[str, Any], key: str, default: str = "") -> str:
    """Return a time in whole microseconds, as tc takes it."""
    found = quantity(config.get(key) or default)
    return f"{round(found[0] * 1e6)}us" if found else default


def _pie(pie: Mapping[str, Any], say: Say) -> str:
    limit, unit = size(pie.get("limit") or "1000 packets")
    if unit == "bytes":
        say(f"pie limit of {limit} bytes", f"pie counts packets: packets of {_AVERAGE} bytes are assumed")
        limit = max(limit // _AVERAGE, 1)
    if pie.get("law") != "linux":
        say("law: rfc", "the pie of Linux, whose burst allowance, spacing and updates are its own")
    # tc-pie(8): times in microseconds, gains in sixteenths.
    times = f"target {_time(pie, 'target', '15ms')} tupdate {_time(pie, 'update-interval', '15ms')}"
    gains = f"alpha {round(16 * pie.get('alpha', 0.125))} beta {round(16 * pie.get('beta', 1.25))}"
    ecn = "ecn" if pie.get("ecn") in ("mark", "mark-all") else "noecn"
    return f"pie limit {limit} {times} {gains} {ecn}"


def _fq_pie(pie: Mapping[str, Any], say: Say) -> str:
    """Return fq_pie with its options, as tc-fq_pie(8) has them."""
    words = _pie({"limit": "10240 packets", **pie}, say).removeprefix("pie ")
    quantum, _ = size(pie.get("quantum") or "1514B")
    percent = round(100 * pie.get("mark-up-to", 0.1))
    return f"fq_pie {words} flows {pie.get('flows', 1024)} quantum {quantum} ecn_prob {percent}"


def _dualpi2(dual: Mapping[str, Any], rate_bps: int, say: Say) -> str:
    limit, unit = size(dual.get("limit") or "10000 packets")
    if dual.get("law", "rfc") != "linux":
        say("DualPI2 of RFC 9332", "Linux' own: random marks, a step of 1 ms in place of the ramp")
        if not dual.get("limit"):
            limit, unit = rate_bps // 32, "bytes"
    if unit != "packets":
        say(f"limit of {limit} bytes", f"dualpi2 counts packets: of {_AVERAGE} bytes each")
        limit = max(limit // _AVERAGE, 1)
    if dual.get("queues") == "one":
        say("queues: one", "dualpi2 has two")
    say("dualpi2", "needs Linux 6.17 and its iproute2")
    target, interval = _time(dual, "target", "15ms"), _time(dual, "update-interval", "16ms")
    words = [f"limit {limit} target {target} tupdate {interval}"]
    words += [f"{name} {dual[name]:g}" for name in ("alpha", "beta") if dual.get(name) is not None]
    words.append(f"coupling_factor {dual.get('coupling') or 2}")
    low = dual.get("low-latency") or {}
    if low.get("ecn") == "any-ect":
        words.append("any_ect")
    if low.get("dscp"):
        say("low-latency by codepoint", "a filter of the qdisc would name its class 2")
    native = dual.get("native") or {}
    if "step" in native:
        words.append(f"step_thresh {_time(native, 'step')}")
    if dual.get("min-qlen-step"):
        words.append(f"min_qlen_step {dual['min-qlen-step']}")
    share = (dual.get("scheduler") or {}).get("classic-share")
    if share is not None:
        words.append(f"classic_protection {round(share)}%")
    return " ".join(["dualpi2", *words])


def _fair(fair: Mapping[str, Any], say: Say) -> str:
    depth, _ = size(fair.get("flow-limit") or "64 packets")
    limit, _ = size(fair.get("limit") or "1000 packets")
    queues = fair.get("queues", 256)
    divisor = 1 << (max(queues, 2) - 1).bit_length()
    if fair.get("weights", "by-precedence") == "by-precedence":
        say("fair queueing by precedence", "sfq serves all flows equally")
    if depth > _MOST_DEPTH:
        say(f"flow-limit {depth} packets", f"sfq takes {_MOST_DEPTH}")
    depth = min(depth, _MOST_DEPTH)
    return (
        f"sfq limit {min(limit, depth * divisor, _MOST_SFQ)} depth {depth} divisor {divisor} "
        f"quantum {_ETHERNET_FRAME}"
    )


def _rows(config: Mapping[str, Any], wred: Mapping[str, Any], say: Say) -> list[Mapping[str, Any]]:
    """Return the thresholds that packets of the class can meet: the first is what RED takes for all."""
    rows = wred.get("precedences") or []
    held = codepoints(config.get("match"))
    precedence = config.get("precedence", "color")
    if isinstance(precedence, Mapping):
        pairs = zip(precedence["by-dscp"], rows, strict=False)
        of_value = {dscp_number(dscp): row for group, row in pairs for dscp in listed(group)}
        met = [of_value.get(dscp, rows[-1]) for dscp in sorted(held)] if rows else []
    elif precedence == "ip-precedence":
        met = [rows[min(number, len(rows) - 1)] for number in sorted({dscp >> 3 for dscp in held})]
    else:
        met = list(rows)
    different = [row for at, row in enumerate(met) if row not in met[:at]]
    if len(different) > 1:
        say(
            f"{len(different)} thresholds by drop precedence",
            "red has one: the first of the class; gred would take it from tc_index, which no filter sets",
        )
    return different


def _red(row: Mapping[str, Any], wred: Mapping[str, Any], rate_bps: int, say: Say) -> str:
    (low, unit), (high, _) = size(row["min"]), size(row["max"])
    scale = 1
    if unit == "packets":
        say(
            f"thresholds of {low} and {high} packets",
            f"red counts bytes: packets of {_AVERAGE} bytes are assumed",
        )
        scale = _AVERAGE
    low, high = low * scale, high * scale
    limit = high
    if wred.get("limit"):
        number, of_limit = size(wred["limit"])
        limit = max(number * (_AVERAGE if of_limit == "packets" else 1), high)
    exponent = _exponent(wred.get("averaging") or {}, say)
    burst = burst_of(exponent, low, _AVERAGE)
    if burst is None:
        burst = max((2 * low + high) // (3 * _AVERAGE), low // _AVERAGE + 1)
        say(f"averaging exponent {exponent}", "no burst gives it: that of tc-red(8) is taken")
    if wred.get("above-max") == "gentle":
        say("above-max: gentle", "red drops every packet above the maximum")
    if wred.get("scalable"):
        say("scalable", "red marks nobody by the queue of the moment")
    # tc-red(8): with `ecn` alone what is above the maximum is marked as well.
    ecn = {"mark": " ecn harddrop", "mark-all": " ecn"}.get(str(wred.get("ecn")), "")
    return (
        f"red limit {limit} min {low} max {high} avpkt {_AVERAGE} burst {burst} "
        f"probability {row['max-probability']:g} bandwidth {rate_bps}bit{ecn}"
    )


def _exponent(averaging: Mapping[str, Any], say: Say) -> int:
    """Return n of the weight 2^-n that is nearest to that of an average."""
    weight = averaging.get("weight")
    if weight is None:
        return int(averaging.get("exponent", _DEFAULT_EXPONENT))
    nearest = min(max(round(-log2(float(weight))), 1), _MOST_EXPONENT)
    if 2.0**-nearest != float(weight):
        say(f"averaging weight {weight:g}", f"red takes powers of two: 2^-{nearest}")
    return nearest


def exponent_of(burst: int, low: int, average: int) -> int | None:
    """Return n of the weight 2^-n that tc takes for a burst, as tc-red(8) and `tc_red.c` have it."""
    ahead = burst + 1 - low / average
    if ahead < 1:
        return None
    weight = 0.5
    for exponent in range(1, _MOST_EXPONENT + 1):
        if ahead <= (1 - (1 - weight) ** burst) / weight:
            return exponent
        weight /= 2
    return None


def burst_of(exponent: int, low: int, average: int) -> int | None:
    """Return the least burst for which tc takes the weight 2^-`exponent`, `None` where there is none."""
    least, most = max(low // average, 1), _MOST_BURST
    while least < most:
        middle = (least + most) // 2
        found = exponent_of(middle, low, average)
        if found is not None and found >= exponent:
            most = middle
        else:
            least = middle + 1
    return least if exponent_of(least, low, average) == exponent else None


def field_action(action: Mapping[str, Any], version: int) -> str | None:
    """Return the words that write a codepoint, a precedence or a label; `None` for other fields."""
    ((kind, value),) = action.items()
    if kind == "label":
        return f"action skbedit mark {value} pipe"
    if kind == "mark":
        number, mask = dscp_number(value) << 2, 0xFC
    elif kind == "mark-precedence":
        number, mask = precedence_number(value) << 5, 0xE0
    else:
        return None
    if version == 6:
        return f"action pedit ex munge ip6 traffic_class set {number:#04x} retain {mask:#04x} pipe"
    return f"action pedit ex munge ip dsfield set {number:#04x} retain {mask:#04x} pipe action csum ip4h pipe"
