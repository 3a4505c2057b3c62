"""Conditions on packets as unions of boxes: products of intervals of header fields.

Whether two conditions hold for the same packets is decided exactly: what is in one and not in the other is a
union of boxes again, and empty where they agree.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from ipaddress import ip_network
from typing import Any

from perhop.codepoints import dscp_number, precedence_number

Intervals = tuple[tuple[int, int], ...]
#: For each field that matters the values that it may have.
Box = Mapping[str, Intervals]

#: The highest value of each field; one more than the last class of service and EXP means that there is none.
HIGHEST: Mapping[str, int] = {
    "family": 1,
    "dscp": 63,
    "protocol": 255,
    "source-port": 65535,
    "destination-port": 65535,
    "source4": 2**32 - 1,
    "destination4": 2**32 - 1,
    "source6": 2**128 - 1,
    "destination6": 2**128 - 1,
    "length": 65535,
    "cos": 8,
    "mpls-exp": 8,
    "color": 7,
    "label": 255,
    "input": 65535,
}
IPV4: Intervals = ((0, 0),)
IPV6: Intervals = ((1, 1),)
# More boxes are not computed with.
_MOST_BOXES = 20_000

_COLORS = {"green": 0, "yellow": 1, "red": 2}
_PROTOCOLS = {"icmp": 1, "tcp": 6, "udp": 17}


class TooManyBoxesError(Exception):
    """A condition is too complicated to be written as a union of boxes."""


def color_number(value: str | int) -> int:
    """Return the number of a color: `green` is 0, `dp3` is 3."""
    text = str(value).lower()
    return _COLORS[text] if text in _COLORS else int(text.removeprefix("dp"))


def protocol_number(value: str | int) -> int:
    """Return the number of an IP protocol: `tcp` is 6."""
    text = str(value).lower()
    return _PROTOCOLS[text] if text in _PROTOCOLS else int(text)


def port_range(value: str | int) -> tuple[int, int]:
    """Return both ends of a range of ports or lengths: `5004-5010`."""
    first, _, last = str(value).partition("-")
    return int(first), int(last or first)


def listed(value: Any) -> list[Any]:  # noqa: ANN401 - one value or a list of them
    """Return one value or several as a list."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def boxes(match: Mapping[str, Any] | None) -> list[Box]:
    """Return the packets that meet a condition; `None` is any packet.

    Raises:
        TooManyBoxesError: it would take too many boxes.

    """
    found: list[Box] = [{}]
    for key, value in (match or {}).items():
        found = _both(found, _of_key(key, value))
    return found


def _of_key(key: str, value: Any) -> list[Box]:  # noqa: ANN401 - whatever a condition holds
    if key == "any":
        return [box for one in value for box in boxes(one)]
    if key == "all":
        found: list[Box] = [{}]
        for one in value:
            found = _both(found, boxes(one))
        return found
    if key == "not":
        return without([{}], boxes(value))
    if key in {"source", "destination"}:
        return _of_prefixes(key, listed(value))
    return [{_field(key): _union(_interval(key, one) for one in listed(value))}]


def _field(key: str) -> str:
    return "dscp" if key == "precedence" else key


def _interval(key: str, value: Any) -> tuple[int, int]:  # noqa: ANN401 - a name or a number
    if key == "dscp":
        return (dscp_number(value),) * 2
    if key == "precedence":
        first = 8 * precedence_number(value)
        return first, first + 7
    if key in {"source-port", "destination-port", "length"}:
        return port_range(value)
    if key == "protocol":
        return (protocol_number(value),) * 2
    if key == "color":
        return (color_number(value),) * 2
    if key == "input":
        return (_number_of(str(value)),) * 2
    return (int(value),) * 2


_INTERFACES: dict[str, int] = {}


def _number_of(interface: str) -> int:
    return _INTERFACES.setdefault(interface, len(_INTERFACES))


def _of_prefixes(key: str, values: Iterable[str]) -> list[Box]:
    of_family: dict[int, list[tuple[int, int]]] = {4: [], 6: []}
    for value in values:
        network = ip_network(value, strict=False)
        of_family[network.version].append((int(network.network_address), int(network.broadcast_address)))
    families = ((4, IPV4), (6, IPV6))
    return [
        {"family": family, f"{key}{version}": _union(of_family[version])}
        for version, family in families
        if of_family[version]
    ]


def _union(intervals: Iterable[tuple[int, int]]) -> Intervals:
    merged: list[tuple[int, int]] = []
    for low, high in sorted(intervals):
        if merged and low <= merged[-1][1] + 1:
            merged[-1] = (merged[-1][0], max(merged[-1][1], high))
        else:
            merged.append((low, high))
    return tuple(merged)


def _common(one: Intervals, other: Intervals) -> Intervals:
    found = []
    for low, high in one:
        for least, most in other:
            if max(low, least) <= min(high, most):
                found.append((max(low, least), min(high, most)))
    return tuple(found)


def _others(intervals: Intervals, highest: int) -> Intervals:
    found, after = [], 0
    for low, high in intervals:
        if after < low:
            found.append((after, low - 1))
        after = high + 1
    if after <= highest:
        found.append((after, highest))
    return tuple(found)


def _whole(field: str) -> Intervals:
    return ((0, HIGHEST[field]),)


def _meet(one: Box, other: Box) -> Box | None:
    met = dict(one)
    for field, values in other.items():
        common = _common(met.get(field, _whole(field)), values)
        if not common:
            return None
        met[field] = common
    return met


def _both(one: Sequence[Box], other: Sequence[Box]) -> list[Box]:
    if len(one) * len(other) > _MOST_BOXES:
        raise TooManyBoxesError
    return [met for left in one for right in other if (met := _meet(left, right)) is not None]


def without(all_: Sequence[Box], taken: Sequence[Box]) -> list[Box]:
    """Return what of some boxes is in none of others.

    Raises:
        TooManyBoxesError: it would take too many boxes.

    """
    left = list(all_)
    for box in taken:
        left = [piece for one in left for piece in _less(one, box)]
        if len(left) > _MOST_BOXES:
            raise TooManyBoxesError
    return left


def _less(one: Box, box: Box) -> list[Box]:
    if _meet(one, box) is None:
        return [one]
    pieces: list[Box] = []
    rest = dict(one)
    for field, values in box.items():
        own = rest.get(field, _whole(field))
        outside = _common(own, _others(values, HIGHEST[field]))
        if outside:
            pieces.append({**rest, field: outside})
        rest[field] = _common(own, values)
    return pieces


def same(one: Mapping[str, Any] | None, other: Mapping[str, Any] | None) -> bool:
    """Whether two conditions hold for the same packets."""
    if one == other:
        return True
    try:
        left, right = boxes(one), boxes(other)
        return not without(left, right) and not without(right, left)
    except TooManyBoxesError:
        return False


def codepoints(match: Mapping[str, Any] | None) -> set[int]:
    """Return the codepoints that packets which meet a condition can have."""
    try:
        found = boxes(match)
    except TooManyBoxesError:
        return set(range(64))
    return {
        value
        for box in found
        for low, high in box.get("dscp", _whole("dscp"))
        for value in range(low, high + 1)
    }
