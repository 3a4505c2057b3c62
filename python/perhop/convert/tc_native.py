"""Ports whose scheduler is one of Linux: HTB and HFSC as they are written, class by class."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from perhop.convert import tc_htb
from perhop.convert.ios_class import size
from perhop.convert.policies import one_line
from perhop.quantity import bits_per_second, quantity

# The curves of a class, in perhop and in tc-hfsc(7).
_CURVES = {"real-time": "rt", "link-share": "ls", "upper-limit": "ul"}
#: Returns the queue of a class: of the class, its number, its rate, and the conditions of its packets.
AddLeaf = Callable[[Mapping[str, Any], int, int, list[Mapping[str, Any]]], str]


def whole_port(queueing: Mapping[str, Any], rate_bps: int) -> str | None:
    """Return `htb` or `hfsc` where that is all of a port and holds its rate, or a class around it may."""
    scheduler = queueing.get("scheduler", "fifo")
    if scheduler not in {"htb", "hfsc"} or not _is_all(queueing, scheduler):
        return None
    # HTB lends between what is inside a class, and not between outermost ones: none can be put around them.
    return scheduler if scheduler == "hfsc" or is_bounded(queueing, rate_bps) else None


def is_bounded(queueing: Mapping[str, Any], rate_bps: int) -> bool:
    """Whether one class is around all others, direct ones left out, and sends at most the port's rate."""
    classes = [one for one in queueing["classes"] if not is_direct(one)]
    if len(classes) != 1 or not classes[0].get("queueing"):
        return False
    share = classes[0].get("share") or {}
    if queueing.get("scheduler") == "htb":
        return tc_htb.rates(share, rate_bps)[1] <= rate_bps
    limit = share.get("upper-limit")
    return limit is not None and max(_rate(limit, "m1"), _rate(limit, "m2")) <= rate_bps


def is_direct(one: Mapping[str, Any]) -> bool:
    """Whether a class is what HTB does with packets that no filter takes."""
    return bool((one.get("share") or {}).get("direct")) and not one.get("match")


def _is_all(queueing: Mapping[str, Any], scheduler: str) -> bool:
    """Whether all classes, however deep, are of one scheduler and do nothing else."""
    for one in queueing["classes"]:
        inner = one.get("queueing")
        if one.get("police") or one.get("shape"):
            return False
        if inner and (inner.get("scheduler") != scheduler or not _is_all(inner, scheduler)):
            return False
    return True


def classes(
    queueing: Mapping[str, Any], kind: str, rate_bps: int, add_leaf: AddLeaf
) -> tuple[list[str], str]:
    """Return the commands that add the classes, and the words that stand behind the discipline."""
    lines: list[str] = []
    number, parent = 0, 0
    if kind == "hfsc" and not is_bounded(queueing, rate_bps):
        number, parent = 1, 1
        words = f"ls m2 {rate_bps}bit ul m2 {rate_bps}bit"
        lines += ["# the rate of the port", f'tc class add dev "$DEV" parent 1: classid 1:1 hfsc {words}']

    def add(classes: list[Any], parent: int, around: list[Mapping[str, Any]]) -> None:
        nonlocal number
        for one in classes:
            if is_direct(one):
                continue
            number += 1
            minor, inner = number, one.get("queueing")
            matches = around + ([one["match"]] if one.get("match") else [])
            words, rate = _words(one, kind, rate_bps, has_turns=not inner)
            place = f"parent 1:{f'{parent:x}' if parent else ''} classid 1:{minor:x}"
            lines.append(f"# {one_line(one['name'])}")
            lines.append(f'tc class add dev "$DEV" {place} {kind} {words}')
            if inner:
                add(inner["classes"], minor, matches)
            else:
                lines.append(add_leaf(one, minor, rate, matches))

    add(queueing["classes"], parent, [])
    divisor = queueing.get("rate-to-quantum")
    words = f" r2q {divisor}" if kind == "htb" and divisor else ""
    for one in filter(is_direct, queueing["classes"]):
        limit, unit = size(((one.get("buffer") or {}).get("tail-drop") or {}).get("limit") or "64 packets")
        words += f" direct_qlen {limit}" if unit == "packets" else ""
    return lines, words


def _words(one: Mapping[str, Any], kind: str, rate_bps: int, *, has_turns: bool) -> tuple[str, int]:
    """Return what a class is given, and about what rate it sends at."""
    share = one.get("share") or {}
    if kind == "htb":
        rate, ceil = tc_htb.rates(share, rate_bps)
        words = tc_htb.words(share, rate, ceil)
        if has_turns:
            words += tc_htb.written_turns(share)
        return words, rate
    curves = [f"{word} {_curve(share[key])}" for key, word in _CURVES.items() if share.get(key)]
    known = [_rate(share[key], "m2") for key in _CURVES if share.get(key)]
    return " ".join(curves), max(known, default=rate_bps) or rate_bps


def _curve(curve: Mapping[str, Any]) -> str:
    """Return a service curve in bits per second and microseconds."""
    time = quantity(curve["d"]) if curve.get("d") else None
    if curve.get("m1") is None or time is None:
        return f"m2 {_rate(curve, 'm2')}bit"
    return f"m1 {_rate(curve, 'm1')}bit d {round(time[0] * 1e6)}us m2 {_rate(curve, 'm2')}bit"


def _rate(curve: Mapping[str, Any], key: str) -> int:
    return round(bits_per_second(curve[key])) if curve.get(key) is not None else 0
