"""Conditions as filters of Linux: matches of u32, which compares masked words of a header."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from typing import Any

from perhop.convert.conditions import (
    HIGHEST,
    IPV4,
    IPV6,
    Box,
    Intervals,
    TooManyBoxesError,
    boxes,
    without,
)
from perhop.convert.ios_match import InexpressibleError

# Filters of one class; more would make every packet slow.
_MOST_FILTERS = 512
# Protocols with ports at the begin of their header: TCP and UDP.
_WITH_PORTS: Intervals = ((6, 6), (17, 17))
_BITS_IPV6, _WORD = 128, 32
_IPV6_HEADER = 40
# Fields that Linux has elsewhere than in the headers that u32 sees.
_UNSEEN = {
    "color": "colors are perhop's own",
    "cos": "the tag is not among the bytes that u32 sees",
    "mpls-exp": "the label is not among the bytes that u32 sees",
    "input": "a filter of what leaves does not know where it came in",
}


class Family:
    """How a packet of one family looks to u32: its protocol, and the words of each field."""

    def __init__(self, protocol: str, box: Box) -> None:
        self.protocol, self._box = protocol, box

    def matches(self) -> list[str]:
        """Return one line of matches for each product of aligned blocks; they have no packet in common."""
        parts = [list(self._words(field, values)) for field, values in self._box.items() if field != "family"]
        guard = self._guard()
        count = 1
        for part in parts:
            count *= len(part)
        if count > _MOST_FILTERS:
            raise InexpressibleError(f"a condition of {count} filters", f"more than {_MOST_FILTERS} are slow")
        return [" ".join([*guard, *chosen]) or "match u32 0 0" for chosen in product(*parts)]

    def _guard(self) -> list[str]:
        """Return what makes sure that ports stand where they are looked for."""
        if not {"source-port", "destination-port"} & set(self._box) or self.protocol == "ipv6":
            return []
        # No options, and the first fragment.
        return ["match u8 0x05 0x0f at 0", "match u16 0 0x1fff at 6"]

    def _words(self, field: str, values: Intervals) -> Iterator[str]:
        is_six = self.protocol == "ipv6"
        for low, high in values:
            if field == "length" and is_six:
                low, high = max(low - _IPV6_HEADER, 0), high - _IPV6_HEADER  # noqa: PLW2901
                if high < 0:
                    continue
            for value, mask in blocks(low, high, HIGHEST[field].bit_length()):
                yield self._word(field, value, mask)

    def _word(self, field: str, value: int, mask: int) -> str:
        is_six = self.protocol == "ipv6"
        if field == "dscp" and is_six:
            return f"match u16 {value << 6:#06x} {mask << 6:#06x} at 0"
        if field == "dscp":
            return f"match u8 {value << 2:#04x} {mask << 2:#04x} at 1"
        if field == "protocol":
            return f"match u8 {value:#04x} {mask:#04x} at {6 if is_six else 9}"
        if field == "length":
            return f"match u16 {value:#06x} {mask:#06x} at {4 if is_six else 2}"
        if field in {"source-port", "destination-port"}:
            at = (_IPV6_HEADER if is_six else 20) + (2 if field == "destination-port" else 0)
            return f"match u16 {value:#06x} {mask:#06x} at {at}"
        if field == "label":
            return f"match mark {value:#x} {mask:#x}"
        at = {"source4": 12, "destination4": 16, "source6": 8, "destination6": 24}[field]
        words = 1 if field.endswith("4") else _BITS_IPV6 // _WORD
        found = []
        for word in range(words):
            shift = _WORD * (words - 1 - word)
            own = mask >> shift & 0xFFFFFFFF
            if own:
                found.append(f"match u32 {value >> shift & 0xFFFFFFFF:#010x} {own:#010x} at {at + 4 * word}")
        return " ".join(found) or "match u32 0 0"


def blocks(low: int, high: int, bits: int) -> Iterator[tuple[int, int]]:
    """Return an interval as aligned blocks: a value and the mask of the bits that count."""
    whole = (1 << bits) - 1
    while low <= high:
        size = low & -low or 1 << bits
        while low + size - 1 > high:
            size >>= 1
        yield low, whole & ~(size - 1)
        low += size


def filters(match: Mapping[str, Any] | None, *, apart: bool = False) -> list[tuple[str, str]]:
    """Return protocol and matches of the filters that take the packets of a condition.

    With `apart` no packet meets two of them.

    Raises:
        InexpressibleError: Linux does not see what the condition asks for, or it is too complicated.

    """
    try:
        found = boxes(match)
        found = _apart(found) if apart else found
    except TooManyBoxesError:
        raise InexpressibleError("a condition", "it is too complicated for a list of filters") from None
    if not found:
        return []
    result: list[tuple[str, str]] = []
    for box in found:
        for field, why in _UNSEEN.items():
            if field in box:
                raise InexpressibleError(f"match {field}", why)
        for protocol, family in (("ip", IPV4), ("ipv6", IPV6)):
            if any(low <= family[0][0] <= high for low, high in box.get("family", ((0, 1),))):
                own = _of_family(box, protocol)
                result += [(protocol, line) for line in Family(protocol, own).matches()]
    if len(result) > _MOST_FILTERS:
        raise InexpressibleError(
            f"a condition of {len(result)} filters", f"more than {_MOST_FILTERS} are slow"
        )
    return sorted(result, key=lambda one: one[0])


def _of_family(box: Box, protocol: str) -> Box:
    """Return a box without the addresses of the other family, with a protocol where it looks at ports."""
    others = ("source6", "destination6") if protocol == "ip" else ("source4", "destination4")
    own = {field: values for field, values in box.items() if field not in others and not _all(field, values)}
    if {"source-port", "destination-port"} & set(own) and "protocol" not in own:
        own["protocol"] = _WITH_PORTS
    return own


def _all(field: str, values: Intervals) -> bool:
    return values == ((0, HIGHEST[field]),)


def _apart(all_: Sequence[Box]) -> list[Box]:
    """Return boxes without what is in one before them: a policer that sends packets on must see each once."""
    found: list[Box] = []
    for box in all_:
        found += without([box], found)
    return found
