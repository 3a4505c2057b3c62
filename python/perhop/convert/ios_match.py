"""Conditions as class-maps and access lists of IOS."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from ipaddress import ip_network
from itertools import product
from typing import Any

from perhop.codepoints import precedence_number
from perhop.convert.conditions import color_number, listed, port_range

Match = Mapping[str, Any]

# Values in one `match` line: Cisco IOS command reference, "match ip dscp", "match precedence", "match cos",
# "match mpls experimental topmost".
_IN_A_LINE = {"dscp": 8, "precedence": 4, "cos": 4, "mpls-exp": 8, "color": 8}
_WORDS = {
    "dscp": "dscp",
    "precedence": "precedence",
    "cos": "cos",
    "mpls-exp": "mpls experimental topmost",
    "color": "discard-class",
}
# What an entry of an access list can look at.
_OF_A_LIST = frozenset({
    "source", "destination", "protocol", "source-port", "destination-port", "dscp", "precedence",
})  # fmt: skip
# What makes an access list of a condition: of codepoints alone there is a `match` line.
_ADDRESSES = frozenset({"source", "destination", "protocol", "source-port", "destination-port"})
_ANY_IPV4, _ANY_IPV6 = "0.0.0.0/0", "::/0"
# Entries of an access list, made of one condition.
_MOST_ENTRIES = 4096
_HIGHEST_GROUP = 99


class InexpressibleError(Exception):
    """A construct that IOS does not have: what it is, and why."""

    def __init__(self, construct: str, why: str) -> None:
        super().__init__(construct, why)
        self.construct, self.why = construct, why


def ios_name(name: str) -> str:
    """Return a name that IOS takes: without spaces and question marks."""
    return re.sub(r"[\s?\"]+", "-", name.strip()) or "unnamed"


class ClassMaps:
    """The class-maps and access lists that some conditions need, each written once."""

    def __init__(self) -> None:
        self._class_maps: dict[str, tuple[str, list[str]]] = {}
        self._lists: dict[str, list[str]] = {}
        self._by_content: dict[str, str] = {}
        #: Interfaces that conditions name.
        self.interfaces: set[str] = set()
        self._families = False
        self._numbered: list[str] = []

    def lines(self) -> list[str]:
        """Return the access lists and class-maps as lines of a configuration."""
        lines = []
        if self._families and not any(name.startswith("ipv6 ") for name in self._lists):
            # The router tells the families apart where its configuration speaks of IPv6 at all.
            lines += ["ipv6 access-list ANY-IPV6", " permit ipv6 any any", "!"]
        for name, entries in self._lists.items():
            lines += [name, *(f" {entry}" for entry in entries), "!"]
        lines += [*self._numbered, "!"] if self._numbered else []
        for name, (combination, statements) in self._class_maps.items():
            lines += [f"class-map {combination} {name}", *(f" {one}" for one in statements), "!"]
        return lines

    def define(self, name: str, match: Match) -> str:
        """Return the class-map of a class with this condition, which is called `name` where that is free.

        Raises:
            InexpressibleError: IOS cannot tell such packets.

        """
        combination, statements = self._class_map(ios_name(name), match)
        wanted = ios_name(name)
        for number in range(1, _MOST_ENTRIES):
            free = wanted if number == 1 else f"{wanted}-{number}"
            if self._class_maps.setdefault(free, (combination, statements)) == (combination, statements):
                return free
        raise InexpressibleError("too many classes of one name", wanted)

    def access_list(self, match: Match, name: str) -> None:
        """Write an access list with this condition, for `rate-limit`.

        Raises:
            InexpressibleError: no entry of an access list says it.

        """
        if set(match) == {"precedence"}:
            mask = sum(1 << precedence_number(one) for one in listed(match["precedence"]))
            self._numbered.append(f"access-list {name} mask {mask:02x}")
            return
        entries = _entries(match)
        if entries is None or _families_of(match) == {6}:
            raise InexpressibleError(f"match {json.dumps(match)}", "rate-limit takes an IPv4 access list")
        self._lists[f"ip access-list extended {name}"] = entries

    def _class_map(self, name: str, match: Match) -> tuple[str, list[str]]:
        if not match:
            return "match-any", ["match any"]
        parts = [{key: value} for key, value in match.items()]
        if len(parts) > 1 and not set(match) <= _OF_A_LIST:
            return "match-all", self._statements(name, parts)
        if "all" in match:
            return "match-all", self._statements(name, match["all"])
        if "any" in match and _of_lists(match) is None:
            return "match-any", self._statements(name, match["any"])
        lines = self._simple(name, match)
        return ("match-any" if len(lines) > 1 else "match-all"), [f"match {line}" for line in lines]

    def _statements(self, name: str, parts: Sequence[Match]) -> list[str]:
        """Return one `match` line for each of some conditions."""
        statements = []
        for number, part in enumerate(parts, start=1):
            negated = "not " if set(part) == {"not"} else ""
            inner = part["not"] if negated else part
            lines = None if _is_compound(inner) else self._simple(f"{name}-{number}", inner)
            if lines is not None and len(lines) == 1:
                statements.append(f"match {negated}{lines[0]}")
            else:
                statements.append(f"match {negated}class-map {self._inner(f'{name}-{number}', inner)}")
        return statements

    def _inner(self, name: str, match: Match) -> str:
        """Return the class-map of a condition inside another."""
        content = json.dumps(match, sort_keys=True)
        if content not in self._by_content:
            self._by_content[content] = self.define(name, match)
        return self._by_content[content]

    def _simple(self, name: str, match: Match) -> list[str]:
        """Return what follows `match` for a condition that needs no other class-map; any may hold."""
        ((key, value), *others) = match.items()
        if others or set(match) & _ADDRESSES or key == "any":
            return self._by_list(name, match)
        if key in _WORDS:
            values = [_value(key, one) for one in listed(value)]
            most = _IN_A_LINE[key]
            chunks = [values[at : at + most] for at in range(0, len(values), most)]
            return [f"{_WORDS[key]} {' '.join(chunk)}" for chunk in chunks]
        if key == "label":
            return [f"qos-group {_group(one)}" for one in listed(value)]
        if key == "length":
            ranges = [port_range(one) for one in listed(value)]
            return [f"packet length {f'min {low} ' if low else ''}max {high}" for low, high in ranges]
        if key == "input":
            names = [str(one) for one in listed(value)]
            if not all(re.fullmatch(r"[\w/.:-]+", one) for one in names):
                raise InexpressibleError(f"match input {value}", "no interface of a router is called so")
            self.interfaces |= set(names)
            return [f"input-interface {one}" for one in listed(value)]
        if key == "not":
            return [f"not class-map {self._inner(f'{name}-but', value)}"]
        raise InexpressibleError(f"match {key}", "IOS has no such criterion")

    def _by_list(self, name: str, match: Match) -> list[str]:
        if match in ({"source": _ANY_IPV4}, {"source": _ANY_IPV6}):
            self._families = True
            return [f"protocol {'ip' if match['source'] == _ANY_IPV4 else 'ipv6'}"]
        if set(match) == {"protocol"} and len(listed(match["protocol"])) == 1:
            protocol = str(listed(match["protocol"])[0])
            if protocol in {"tcp", "udp", "icmp"}:
                return [f"protocol {protocol}"]
        entries = _of_lists(match)
        if entries is None:
            raise InexpressibleError(f"match {json.dumps(match)}", "no access list says it")
        content = json.dumps(entries)
        found = []
        for kind, of_kind in entries.items():
            if not of_kind:
                continue
            key = f"{kind} {content}"
            if key not in self._by_content:
                self._by_content[key] = self._free_list(kind, name)
                self._lists[f"{kind} {self._by_content[key]}"] = of_kind
            found.append(f"access-group name {self._by_content[key]}")
        return found

    def _free_list(self, kind: str, name: str) -> str:
        for number in range(1, _MOST_ENTRIES):
            free = name if number == 1 else f"{name}-{number}"
            if not any(known.split()[-1] == free for known in self._lists):
                return free
        raise InexpressibleError("too many access lists of one name", f"{kind} {name}")


def _is_compound(match: Match) -> bool:
    if "any" in match:
        return _of_lists(match) is None
    return "all" in match or "not" in match or (len(match) > 1 and not set(match) <= _OF_A_LIST)


def _value(key: str, value: Any) -> str:  # noqa: ANN401 - a name or a number
    return str(color_number(value)) if key == "color" else str(value)


def _group(label: int) -> int:
    if label > _HIGHEST_GROUP:
        raise InexpressibleError(f"match label {label}", f"qos-group goes to {_HIGHEST_GROUP}")
    return label


def _of_lists(match: Match) -> dict[str, list[str]] | None:
    """Return the entries of access lists, of either family, that together say a condition."""
    families = _families_of(match)
    entries = _entries(match)
    if entries is None or len(families) > 1:
        return None
    kind = "ipv6 access-list" if families == {6} else "ip access-list extended"
    return {kind: entries}


def _families_of(match: Any) -> set[int]:  # noqa: ANN401 - a condition, or a part of one
    """Return the families of the prefixes in a condition."""
    if isinstance(match, Mapping):
        own = {
            ip_network(prefix, strict=False).version
            for key in ("source", "destination")
            for prefix in listed(match.get(key, []))
        }
        return own.union(*(_families_of(one) for key, one in match.items() if key in {"any", "all", "not"}))
    if isinstance(match, list):
        return set().union(*map(_families_of, match))
    return set()


def _entries(match: Match) -> list[str] | None:
    """Return the entries of an access list that permits what meets a condition; `None` where none does."""
    if set(match) == {"any"}:
        *first, last = match["any"]
        plain = [_plain(one) for one in first]
        ending = _entries(last)
        if ending is None or any(one is None for one in plain):
            return None
        return [f"permit {one}" for some in plain for one in some or []] + ending
    if set(match) == {"all"} and len(match["all"]) == 2 and set(match["all"][1]) == {"not"}:
        rest, denied = match["all"][0], match["all"][1]["not"]
        refused = denied["any"] if set(denied) == {"any"} else [denied]
        plain, ending = [_plain(one) for one in refused], _entries(rest)
        if ending is None or any(one is None for one in plain):
            return None
        return [f"deny {one}" for some in plain for one in some or []] + ending
    plain_entries = _plain(match)
    return None if plain_entries is None else [f"permit {one}" for one in plain_entries]


def _plain(match: Match) -> list[str] | None:
    """Return the entries for one condition without others inside, without their action."""
    if not match or not set(match) <= _OF_A_LIST or not set(match) & _ADDRESSES:
        return None
    if not ("dscp" in match) + ("precedence" in match) < 2:
        return None
    has_ports = "source-port" in match or "destination-port" in match
    protocols = listed(match.get("protocol", ["tcp", "udp"] if has_ports else ["ip"]))
    fields = [
        protocols,
        listed(match.get("source", [None])),
        listed(match.get("source-port", [None])),
        listed(match.get("destination", [None])),
        listed(match.get("destination-port", [None])),
        [f" dscp {one}" for one in listed(match.get("dscp", []))]
        or [f" precedence {one}" for one in listed(match.get("precedence", []))]
        or [""],
    ]
    count = 1
    for field in fields:
        count *= len(field)
    if count > _MOST_ENTRIES:
        return None
    version = 6 if _families_of(match) == {6} else 4
    return [
        f"{_protocol(protocol, version)} {_prefix(source)}{_ports(sport)} {_prefix(to)}{_ports(dport)}{ds}"
        for protocol, source, sport, to, dport, ds in product(*fields)
    ]


def _protocol(protocol: str | int, version: int) -> str:
    if version == 6:
        return {"ip": "ipv6", "58": "icmp"}.get(str(protocol), str(protocol))
    return str(protocol)


def _prefix(prefix: str | None) -> str:
    if prefix is None or prefix in {_ANY_IPV4, _ANY_IPV6}:
        return "any"
    network = ip_network(prefix, strict=False)
    if network.prefixlen == network.max_prefixlen:
        return f"host {network.network_address}"
    if network.version == 6:
        return str(network)
    return f"{network.network_address} {network.hostmask}"


def _ports(ports: str | int | None) -> str:
    if ports is None:
        return ""
    first, last = port_range(ports)
    return f" eq {first}" if first == last else f" range {first} {last}"
