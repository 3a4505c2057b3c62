"""The kinds of statements that `line_sweep.py` changes, in the syntax of IOS, IOS XR, NX-OS and Junos."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass


def _shifted(match: re.Match[str]) -> str:
    return f"{match[1]}{int(match[2]) + 3}"


def _tenth(match: re.Match[str]) -> str:
    """Return the number without its last digit."""
    return f"{match[1]}{match[2][:-1]}"


_OPPOSITES = {
    **{"input": "output", "output": "input", "in": "out", "out": "in"},
    **{"import": "export", "export": "import", "permit": "deny", "deny": "permit"},
    **{"accept": "discard", "discard": "accept"},
}
_MODES = {
    **{"mode active": "mode on", "mode passive": "mode on", "full": "half", "level-2-only": "level-1"},
    **{"point-to-point": "broadcast"},
}
#: Alterations by their names: a pattern, and the replacement of its first match.
_ALTERATIONS: dict[str, tuple[str, str | Callable[[re.Match[str]], str]]] = {
    "number": (r"^(.*[ :])(\d+)(?=\D*$)", _shifted),
    "digit": (r"^(.*? )(\d{2,})(?=\D|$)", _tenth),
    "address": (r"^(.*?\b\d+\.\d+\.)(\d+)(?=\.\d+\b)", _shifted),
    "host": (r"^(.*\d\.\d+\.\d+\.)(\d+)(?=\D*$)", _shifted),
    "mask": (r"\b255\.255\.255\.0\b", "255.255.0.0"),
    "direction": (r"\b(input|output|in|out|import|export)\b", lambda match: _OPPOSITES[match[0]]),
    "action": (r"\b(permit|deny|accept|discard)\b", lambda match: _OPPOSITES[match[0]]),
    "mode": (
        r"\b(mode active|mode passive|full|level-2-only|point-to-point)\b",
        lambda match: _MODES[match[0]],
    ),
    "text": (r"(\S)(\S)(;?)$", r"\2\1\3"),
}


@dataclass(frozen=True)
class Kind:
    """Statements about one subject, and their alterations besides the deletion."""

    name: str
    #: Matches the statement, without its indentation.
    line: str
    how: tuple[str, ...] = ()
    #: Matches the headers of the blocks and the statement, joined by spaces.
    path: str = ""

    def selects(self, line: str, path: str) -> bool:
        """Whether a statement is of this kind. `path` contains the headers of its blocks."""
        text = line.strip()
        # The end of a block is implied.
        if text.startswith(("description", "remark", "exit", "end-")):
            return False
        return re.search(self.line, text) is not None and re.search(self.path, path) is not None

    def alterations(self, line: str) -> Iterator[tuple[str, str]]:
        """Generate the names of the changes and the new line; the line is empty for the deletion."""
        yield "deleted", ""
        for name in self.how:
            pattern, new = _ALTERATIONS[name]
            altered = re.sub(pattern, new, line, count=1)
            if altered != line:
                yield name, altered


#: A statement belongs to the first kind that selects it.
KINDS = [
    Kind("junos-cos", r".", ("number",), r"^class-of-service "),
    Kind("policies", r"^(no )?service-policy |^qos apply", ("direction",)),
    Kind("trust", r"\btrust\b"),
    Kind("mtu", r"\bmtu\b|\bmss\b|adjust-mss", ("digit",)),
    Kind("bfd", r"\bbfd\b|^(minimum-interval|multiplier) ", ("number",)),
    Kind("lacp", r"channel-group|802\.3ad|^lacp|^bundle|^mode (active|on|passive)", ("mode", "number")),
    Kind("duplex", r"^(duplex|speed) ", ("mode", "digit")),
    Kind("lists", r"prefix-list|^\d+ (permit|deny) |^(permit|deny) |^access-list ", ("action", "address")),
    Kind("routes", r"^ip(v6)? route |^route .*next-hop|^\d+\.\d+\.\d+\.\d+/\d+ \S+$", ("host", "mask")),
    Kind("keys", r"key-string|authentication|password|pre-shared-key|\bkey\b|keyring", ("text",)),
    Kind("vrfs", r"^rd |route-distinguisher|vrf forwarding|^vrf |^instance-type"),
    Kind("targets", r"route-target|vrf-target|^\d+:\d+$", ("number",)),
    Kind("isis", r"^(?!router isis ).", ("mode", "number"), r"^router isis |\bisis\b"),
    Kind("eigrp", r".", ("number",), r"^router eigrp |\beigrp\b"),
    Kind("ospf", r"^(?!router ospf ).", ("mode", "number"), r"^router ospf(v3)? |\bospf\b"),
    Kind(
        "sessions",
        r"neighbor|^peer|^remote-as|update-source|next-hop-self|^activate|^address-family|^network ",
        ("number",),
    ),
    Kind("mpls", r"mpls|\bldp\b", ("number",)),
    Kind("tunnels", r"tunnel|nhrp|crypto|ipsec|isakmp|ikev2|^set peer|transform", ("number", "mode")),
    Kind("ppp", r"\bppp\b|pppoe|dialer|encapsulation ppp|multilink", ("number",)),
    Kind("vlans", r"vlan|encapsulation dot1q", ("number",)),
    Kind("redundancy", r"^standby |\bvrrp|\bhsrp|virtual-address|^track |preempt", ("number",)),
    Kind("marks", r"^set |^match .*(dscp|precedence|cos|exp)|dscp|loss-priority", ("number",)),
    Kind(
        "rates",
        r"^police|^shape|^bandwidth|^priority|shaping|rate-limit|^queue-limit|random-detect|if-exceeding",
        ("digit",),
    ),
    Kind("classes", r"^class|^match |^policy-map|^class-map|^term |^then|^from", ("text",)),
    Kind("zones", r".", ("number",), r"^security "),
    Kind("addresses", r"^ip(v4|v6)? address |^address ", ("address",)),
]
