"""What refers to what in a router configuration: which interfaces a line takes part in.

A line belongs to the command at the top of its block. Interfaces attach policies, policies have classes and
child policies, classes match lists and other classes. perhop-ios knows each command; here only their names
for each other are read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Literal

from perhop.core_types import RouterLine

Kind = Literal["interface", "policy-map", "class-map", "list"]

_TOPS: tuple[tuple[Kind, re.Pattern[str]], ...] = (
    ("interface", re.compile(r"interface\s+(?P<name>[A-Za-z-]+\s*\S*)")),
    # A policy of another type, such as `inspect`, queues nothing.
    ("policy-map", re.compile(r"policy-map\s+(?:type\s+queu\S+\s+)?(?P<name>(?!type\s)\S+)")),
    ("class-map", re.compile(r"class-map\s+(?:type\s+\S+\s+)?(?:match-(?:all|any)\s+)?(?P<name>\S+)")),
    ("list", re.compile(r"(?:ip|ipv6)\s+access-list\s+(?:(?:standard|extended)\s+)?(?P<name>\S+)")),
    ("list", re.compile(r"access-list\s+(?P<name>\S+)")),
)
# The kinds of names in the lines of a block.
_NAMED: dict[Kind, tuple[tuple[Kind, re.Pattern[str]], ...]] = {
    "interface": (
        ("policy-map", re.compile(r"\bservice-policy\s.*?(?P<name>\S+)$")),
        ("list", re.compile(r"rate-limit\s.*\baccess-group\s+(?P<name>\d+)")),
    ),
    "policy-map": (
        ("policy-map", re.compile(r"service-policy\s+(?P<name>\S+)$")),
        ("class-map", re.compile(r"class\s+(?:type\s+\S+\s+)?(?P<name>\S+)")),
    ),
    "class-map": (
        ("class-map", re.compile(r"match\s+(?:not\s+)?class-map\s+(?P<name>\S+)")),
        ("list", re.compile(r"match\s+(?:not\s+)?access-group\s+(?:name\s+)?(?P<name>\S+)")),
    ),
    "list": (),
}


@dataclass(frozen=True)
class Name:
    """Something that a configuration names."""

    kind: Kind
    name: str


@dataclass
class _Block:
    """The lines under a command at the top level."""

    top: RouterLine
    name: Name
    lines: list[RouterLine] = field(default_factory=list)


class References:
    """What the lines of a configuration name."""

    def __init__(self, lines: Sequence[RouterLine]) -> None:
        self._tops: dict[int, int] = {}
        self._blocks: dict[int, _Block] = {}
        self._texts = {line["number"]: line["text"].strip() for line in lines}
        for line in lines:
            number, around = line["number"], line.get("block")
            top = number if around is None else self._tops.get(around, around)
            self._tops[number] = top
            if top == number:
                self._blocks[number] = _Block(line, _name(line["text"]))
            elif top in self._blocks:
                self._blocks[top].lines.append(line)
        self._uses: dict[Name, set[Name]] = {}
        for block in self._blocks.values():
            self._uses.setdefault(block.name, set()).update(_used(block))

    def names(self, kind: Kind) -> list[str]:
        """Return what is defined of a kind, in the order of the file."""
        defined = (block.name for block in self._blocks.values())
        return list(dict.fromkeys(name.name for name in defined if name.kind == kind and name.name))

    def uses(self, name: Name) -> set[Name]:
        """Return what a name's own lines refer to."""
        return self._uses.get(name, set())

    def of_line(self, number: int) -> Name:
        """Return the name in the command at the top of a line's block."""
        top = self._tops.get(number)
        return self._blocks[top].name if top in self._blocks else Name("interface", "")

    def users(self, name: Name) -> set[Name]:
        """Return everything that refers to a name, also over other names, and the name itself."""
        found: set[Name] = set()
        waiting = [name]
        while waiting:
            one = waiting.pop()
            if one not in found:
                found.add(one)
                waiting += [user for user, used in self._uses.items() if one in used]
        return found

    def interfaces(self, number: int) -> set[str]:
        """Return the interfaces that a line takes part in, and other places to attach policies to."""
        return {user.name for user in self.users(self.of_line(number)) if user.kind == "interface"}

    def lines_naming(self, user: Name, names: set[Name]) -> Iterator[str]:
        """Return the lines of `user` that refer to one of `names`."""
        for block in self._blocks.values():
            if block.name == user:
                yield from (line["text"].strip() for line in block.lines if _named(user.kind, line) & names)

    def text(self, number: int) -> str:
        """Return a line."""
        return self._texts[number]

    def top(self, name: Name) -> str:
        """Return the command that defines a name."""
        return next(block.top["text"].strip() for block in self._blocks.values() if block.name == name)


def _name(text: str) -> Name:
    for kind, pattern in _TOPS:
        if found := pattern.match(text.strip()):
            return Name(kind, found["name"].strip())
    # Whatever else may have a policy attached, like an interface: `control-plane`, `map-class`.
    return Name("interface", text.strip())


def _used(block: _Block) -> Iterator[Name]:
    for line in block.lines:
        yield from _named(block.name.kind, line)


def _named(kind: Kind, line: RouterLine) -> set[Name]:
    text = line["text"].strip()
    patterns = _NAMED[kind]
    return {Name(of, found["name"]) for of, pattern in patterns if (found := pattern.search(text))}
