"""Conditioners as filters with actions of Linux."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from perhop.convert.ios_class import size
from perhop.convert.ios_conditioner import Action, ending, of_colors, steps
from perhop.convert.ios_match import InexpressibleError
from perhop.convert.policies import Remark, one_line
from perhop.convert.tc_match import filters
from perhop.convert.tc_queue import field_action
from perhop.quantity import bits_per_second

_ETHERNET = 14
_ENDS = {"transmit": "action pass", "drop": "action drop", "continue": "action continue"}
# Protocols of filters, and versions of IP.
_PROTOCOLS = (("ip", 4), ("ipv6", 6))
# More than any packet of an interface without offloads.
_MTU = 65535


class Conditioners:
    """The filters of one side of an interface that mark and police."""

    def __init__(self, hook: str, overhead: int, where: str, policers: int = 0) -> None:
        self._hook, self._overhead, self._where = hook, overhead, where
        self.lines: list[str] = []
        self.remarks: list[Remark] = []
        #: How many policers the script has: filters of both families name the same by its number.
        self.policers = policers
        self._chains = 0
        self._preference = 0

    def add(self, stage: Mapping[str, Any], number: int) -> None:
        """Add a stage; what it cannot do is a remark."""
        name = str(stage.get("name") or number)
        where = f"{self._where}, class {name}"
        try:
            if stage.get("per", "aggregate") != "aggregate":
                raise InexpressibleError("meter per flow", "a policer of Linux is one for all its packets")
            self.lines.append(f"# {one_line(name)}")
            if stage.get("meter"):
                self._metered(stage, where)
            else:
                actions = list(stage.get("actions") or stage.get("green") or [])
                self._plain(stage.get("match"), actions, where)
        except InexpressibleError as error:
            self.remarks.append(Remark(error.construct, where, error.why))

    def _plain(self, match: Any, actions: list[Action], where: str) -> None:  # noqa: ANN401 - a condition
        words = {version: self._words(actions, version, where) for version in (4, 6)}
        self._filters(match, words, apart=ending(actions) == "continue")

    def _words(self, actions: list[Action], version: int, where: str) -> str:
        """Return actions in the order in which they are carried out."""
        if ending(actions) == "drop":
            return _ENDS["drop"]
        found = []
        for one in steps(actions):
            words = field_action(one, version) if isinstance(one, Mapping) else None
            if words is not None:
                found.append(words)
                continue
            remark = Remark(f"action {one}", where, "Linux has no such field here")
            if remark not in self.remarks:
                self.remarks.append(remark)
        return " ".join([*found, _ENDS[ending(actions)]])

    def _metered(self, stage: Mapping[str, Any], where: str) -> None:
        """Add a policer, the actions of its other colors in chains of their own."""
        meter, actions = stage["meter"], of_colors(stage)
        policers = self._policers_of(meter, where)
        for color, _ in policers:
            if ending(actions[color]) == "continue":
                raise InexpressibleError(f"continue for {color} packets", "a chain does not come back")
        parts = []
        for color, bucket in policers:
            exceed = "drop"
            if ending(actions[color]) != "drop":
                exceed = f"goto chain {self._chain(actions[color], where)}"
            self.policers += 1
            index = f'"${{P}}{self.policers:03}"'
            parts.append(f"action police index {index} {bucket} conform-exceed {exceed} / pipe")
        words = {
            version: " ".join([*parts, self._words(actions["green"], version, where)]) for version in (4, 6)
        }
        self._filters(stage.get("match"), words, apart=ending(actions["green"]) == "continue")

    def _policers_of(self, meter: Mapping[str, Any], where: str) -> list[tuple[str, str]]:
        """Return the color of what exceeds each bucket, and the bucket, in their order."""
        ((kind, own),) = meter.items()
        if own.get("mode", "color-blind") != "color-blind":
            raise InexpressibleError("a color-aware meter", "colors are perhop's own")
        if kind == "token-bucket":
            return [(str(own.get("excess", "red")), self._bucket(own["rate"], own["burst"]))]
        if kind == "packet-rate":
            rate, burst = str(own["rate"]).split()[0], size(own["burst"])[0]
            return [(str(own.get("excess", "red")), f"pkts_rate {rate} pkts_burst {burst}")]
        if kind == "two-rate-tcm":
            # RFC 2698: what exceeds the peak takes no token of the committed bucket.
            return [
                ("red", self._bucket(own["pir"], own["pbs"])),
                ("yellow", self._bucket(own["cir"], own["cbs"])),
            ]
        if kind == "single-rate-tcm":
            self.remarks.append(Remark(
                "meter single-rate-tcm", where,
                "Linux has no bucket that fills from another: one of both bursts, and no yellow packets",
            ))  # fmt: skip
            both = size(own["cbs"])[0] + size(own["ebs"])[0]
            return [("red", self._bucket(own["cir"], f"{both}B"))]
        raise InexpressibleError(f"meter {kind}", "policers of Linux are one token bucket each")

    def _bucket(self, rate: str, burst: str) -> str:
        # A policer sees the frame where packets leave, the IP packet where they come in.
        more = self._overhead - (_ETHERNET if self._hook == "egress" else 0)
        if more < 0:
            remark = Remark(
                f"lengths of IP packets plus {self._overhead} bytes", self._where,
                f"a policer of what leaves counts {_ETHERNET} bytes of Ethernet as well",
            )  # fmt: skip
            self.remarks += [] if remark in self.remarks else [remark]
        overhead = f" overhead {more}" if more > 0 else ""
        return f"rate {round(bits_per_second(rate))}bit burst {size(burst)[0]}b mtu {_MTU}b{overhead}"

    def _chain(self, actions: list[Action], where: str) -> int:
        """Add a chain of filters that treats all packets that come to it; return its number."""
        self._chains += 1
        for preference, (protocol, version) in enumerate(_PROTOCOLS, start=1):
            self.lines.append(
                f'tc filter add dev "$DEV" {self._hook} chain {self._chains} protocol {protocol} '
                f"pref {preference} u32 match u32 0 0 {self._words(actions, version, where)}"
            )
        return self._chains

    def _filters(self, match: Any, words: Mapping[int, str], *, apart: bool) -> None:  # noqa: ANN401 - a condition
        found = filters(match, apart=apart)
        for protocol, version in _PROTOCOLS:
            self._preference += 1
            self.lines += [
                f'tc filter add dev "$DEV" {self._hook} protocol {protocol} pref {self._preference} u32 '
                f"{line} {words[version]}"
                for own, line in found
                if own == protocol
            ]
