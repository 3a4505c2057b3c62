"""Lines of configurations that the networks share."""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import IPv4Network

#: Both ends of a link use the 30-bit mask.
LINK_MASK = "255.255.255.252"
LAN_MASK = "255.255.255.0"


def block(first: str, *inner: str) -> list[str]:
    """Return a block: its first line, its lines one space deeper, and a separator."""
    return [first, *(f" {line}" for line in inner), "!"]


def class_map(
    name: str, marks: Iterable[str], match: str = "match dscp", kind: str = "match-any"
) -> list[str]:
    """Return a class-map with a match line per mark."""
    return block(f"class-map {kind} {name}", *(f"{match} {mark}" for mark in marks))


def policy_map(name: str, classes: dict[str, list[str]]) -> list[str]:
    """Return a policy-map of classes with their actions."""
    inner = [
        text for name, actions in classes.items() for text in (f"class {name}", *(f" {a}" for a in actions))
    ]
    return block(f"policy-map {name}", *inner)


def ends(network: str) -> tuple[str, str]:
    """Return the two addresses of a network of 30 bits."""
    low, high = IPv4Network(network).hosts()
    return str(low), str(high)


def text(lines: Iterable[str]) -> str:
    """Return the text of a file."""
    return "\n".join([*lines, "end", ""])
