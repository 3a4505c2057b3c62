"""The limiters of interfaces (CAR) with their counters, as `show interfaces rate-limit` presents them.

Format: Cisco IOS Quality of Service Solutions Command Reference, `show interfaces rate-limit`. The age of the
last packet and the current burst are not in results.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perhop._core import quantity
from perhop.core_types import PortLimiter
from perhop.errors import InvalidInputError
from perhop.results import Results
from perhop.show.counters import NOTHING, Counters, Traffic
from perhop.show.routers import SIDES, Interface, Router, all_routers, chosen
from perhop.show.state import Side

_ACTIONS = re.compile(r"conform-action\s+(.+?)\s+exceed-action\s+(.+)", re.IGNORECASE)
# The colors of packets within the limit and beyond it.
_CONFORMED = "green"
_EXCEEDED = "red"


@dataclass(frozen=True)
class LimiterState:
    """A limiter and its counters."""

    interface: str
    side: Side
    #: The packets that it takes, as the router prints them.
    matches: str
    line: int
    rate_bps: int
    burst_bytes: int
    extended_burst_bytes: int
    conform_action: str
    exceed_action: str
    conformed: Traffic
    exceeded: Traffic
    #: The time over which they were counted.
    seconds: float

    def bits_per_second(self, traffic: Traffic) -> float:
        """Return the mean rate of `traffic`."""
        return 8 * traffic.bytes / self.seconds if self.seconds else 0.0


def limiters(results: Results, interface: str | None = None, *, replication: int = 0) -> list[LimiterState]:
    """Return what the limiters of a run counted at `interface`, which may be abbreviated; `None` for all.

    Raises:
        InvalidInputError: no router has a limiter at such an interface.

    """
    counters = Counters(results, replication)
    found = [
        state
        for router in all_routers(results.scenario, Path())
        for one in chosen(router, interface)
        for state in _of_interface(router, one, counters)
    ]
    if not found:
        where = f"an interface `{interface}`" if interface else "an interface"
        raise InvalidInputError(
            f"no router has a `rate-limit` at {where}",
            "`perhop show policy-map interface` shows the policers of policies",
        )
    return found


def _of_interface(router: Router, interface: Interface, counters: Counters) -> Iterator[LimiterState]:
    of_sides = interface.port.get("limiters")
    for side in SIDES:
        for limiter in of_sides[side] if of_sides else ():
            yield _state(router, interface, side, limiter, counters)


def _state(
    router: Router, interface: Interface, side: Side, limiter: PortLimiter, counters: Counters
) -> LimiterState:
    config: Mapping[str, Any] = interface.port[side]["conditioners"][limiter["conditioner"]]
    name = str(config["name"])
    [(_, meter)] = config["meter"].items()
    text = next(line["text"] for line in router.report["lines"] if line["number"] == limiter["line"])
    actions = _ACTIONS.search(text)
    conform, exceed = actions.groups() if actions else ("transmit", "drop")
    neighbor = interface.neighbor
    counted = counters.stage(router.node, neighbor, side, name) if neighbor else {}
    overhead = int(interface.port[side].get("overhead", 0))
    burst = _number(meter["burst"])
    return LimiterState(
        interface=interface.name,
        side=side,
        # A name that several limiters would have ends with its number.
        matches=re.sub(r" \(\d+\)$", "", name).removeprefix("rate-limit "),
        line=limiter["line"],
        rate_bps=_number(meter["rate"]),
        burst_bytes=burst,
        extended_burst_bytes=_number(meter["debt-limit"]) if "debt-limit" in meter else burst,
        conform_action=conform,
        exceed_action=exceed.strip(),
        conformed=counted.get(_CONFORMED, NOTHING).with_overhead(overhead),
        exceeded=counted.get(_EXCEEDED, NOTHING).with_overhead(overhead),
        seconds=counters.seconds,
    )


def _number(text: str) -> int:
    found = quantity(text)
    return round(found[0]) if found else 0


def limiters_text(states: list[LimiterState]) -> str:
    """Return the limiters as the router prints them."""
    lines: list[str] = []
    place: tuple[str, Side] | None = None
    for state in states:
        if place is None or place[0] != state.interface:
            lines.append(state.interface)
        if place != (state.interface, state.side):
            lines.append(f"  {state.side.capitalize()}")
        place = (state.interface, state.side)
        lines += _lines(state)
    return "\n".join(lines)


def _lines(state: LimiterState) -> Iterator[str]:
    conformed, exceeded = state.conformed, state.exceeded
    yield f"    matches: {'all traffic' if state.matches == 'all' else state.matches}"
    yield (
        f"      params:  {state.rate_bps} bps, {state.burst_bytes} limit, "
        f"{state.extended_burst_bytes} extended limit"
    )
    yield (
        f"      conformed {conformed.packets} packets, {round(conformed.bytes)} bytes; "
        f"action: {state.conform_action}"
    )
    yield (
        f"      exceeded {exceeded.packets} packets, {round(exceeded.bytes)} bytes; "
        f"action: {state.exceed_action}"
    )
    hours, rest = divmod(round(state.seconds), 3600)
    minutes, seconds = divmod(rest, 60)
    rates = [f"{state.bits_per_second(one):.0f} bps" for one in (conformed, exceeded)]
    yield (
        f"      last cleared {hours:02}:{minutes:02}:{seconds:02} ago, conformed {rates[0]}, "
        f"exceeded {rates[1]}"
    )


def limiter_document(state: LimiterState) -> dict[str, object]:
    """Return a limiter with its counters as `--json` prints it."""
    counts = {
        name: {"packets": one.packets, "bytes": round(one.bytes), "bps": state.bits_per_second(one)}
        for name, one in (("conformed", state.conformed), ("exceeded", state.exceeded))
    }
    keys = ("interface", "side", "matches", "line", "rate_bps", "burst_bytes", "extended_burst_bytes")
    actions = {"conform_action": state.conform_action, "exceed_action": state.exceed_action}
    return {key: getattr(state, key) for key in keys} | actions | counts
