"""Reading the output of `show policy-map interface`, a router's or that of `perhop show`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Literal, cast

from perhop.errors import InvalidInputError
from perhop.show.lines import EARLY_DROPS, NUMBERS, OLD_SHAPER

_INTERFACE = re.compile(
    r"(?:Interface +)?(?P<name>(?:[A-Za-z][A-Za-z-]*\d[\w/.]*)|Control Plane)(?: *:.*| *<-->.*| -.*)?$"
)
_POLICY = re.compile(r"[Ss]ervice-policy +(?P<side>input|output) *: *(?P<name>\S+)")
_INNER = re.compile(r"[Ss]ervice-policy *: *(?P<name>\S+)")
_CLASS = re.compile(r"[Cc]lass-map *: *(?P<name>\S+)(?: +\((?P<combination>match-\w+)\))?")
_SHARED = re.compile(r"queue +stats +for +all +priority +classes")
_LEVEL = re.compile(r"priority +level +(?P<level>\d+)$")
_OF_MATCH = re.compile(r"[Mm]atch *:")
_OF_CLASS = ("packets", "bytes", "offered_bps", "drop_bps")
#: The name under which the queue that priority classes share stands among the classes.
PRIORITY = "(priority)"


@dataclass
class EarlyDropReading:
    """A row of WRED's table."""

    min: int
    max: int
    mark_denominator: int
    transmitted_packets: int
    random_packets: int
    tail_packets: int


@dataclass
class ClassReading:
    """What a router says about a class, or about the queue that priority classes share."""

    #: The names of its classes, the outermost first.
    path: tuple[str, ...]
    #: Numbers by the names that `lines` gives them.
    numbers: dict[str, int] = field(default_factory=dict)
    early_drops: dict[str, EarlyDropReading] = field(default_factory=dict)
    #: Actions of its policer by color.
    actions: dict[str, list[str]] = field(default_factory=dict)

    @property
    def name(self) -> str:
        """Its path as one word."""
        return "/".join(self.path)


@dataclass
class PolicyReading:
    """What a router says about a policy at an interface."""

    interface: str
    side: Literal["input", "output"]
    name: str
    classes: list[ClassReading] = field(default_factory=list)


@dataclass(frozen=True)
class _Inside:
    """A policy that is being read: its indent, and the class around it."""

    indent: int
    path: tuple[str, ...]


def read_policies(text: str) -> list[PolicyReading]:
    """Return the policies in the output of `show policy-map interface`, in their order.

    Lines that are not known are passed over: releases differ, and a log may stand between them.

    Raises:
        InvalidInputError: there is no policy in it.

    """
    found = list(_Reader().policies(text))
    if not any(policy.classes for policy in found):
        raise InvalidInputError(
            "there is no output of `show policy-map interface` in it",
            "give the text as the router prints it, with the line `Service-policy output: NAME`",
        )
    return found


class _Reader:
    def __init__(self) -> None:
        self._interface = ""
        self._policy: PolicyReading | None = None
        self._around: list[_Inside] = []
        self._class: ClassReading | None = None
        self._color: str | None = None
        # Below its first match line a class has no counters of its own any more: those are the line's.
        self._is_counted = False

    def policies(self, text: str) -> Iterator[PolicyReading]:
        """Generate the policies; each is complete when the next one comes."""
        for line in text.expandtabs().splitlines():
            words = line.strip()
            indent = len(line) - len(line.lstrip())
            if outer := _POLICY.match(words):
                side = cast(Literal["input", "output"], outer["side"])
                self._policy = PolicyReading(self._interface, side, outer["name"])
                self._around, self._class = [_Inside(indent, ())], None
                yield self._policy
            elif self._policy is not None and self._is_structure(words, indent):
                self._color = None
            elif (interface := _INTERFACE.match(words)) and not EARLY_DROPS.match(words):
                self._interface = interface["name"]
                self._policy, self._class = None, None
            elif self._class is not None:
                self._fact(words, self._class)

    def _is_structure(self, words: str, indent: int) -> bool:
        """Whether the line begins a class, a policy inside one, or a priority queue."""
        if inner := _INNER.match(words):
            path = self._class.path if self._class and self._class.path[-1] != PRIORITY else ()
            self._around.append(_Inside(indent, path))
            return bool(inner)
        begins = _CLASS.match(words)
        if not begins and not _SHARED.match(words):
            return False
        while len(self._around) > 1 and self._around[-1].indent >= indent:
            self._around.pop()
        name = begins["name"] if begins else PRIORITY
        self._is_counted = False
        self._class = ClassReading((*self._around[-1].path, name))
        if self._policy is not None:
            self._policy.classes.append(self._class)
        return True

    def _fact(self, words: str, into: ClassReading) -> None:
        if level := _LEVEL.match(words):
            into.path = (*into.path[:-1], f"(priority level {level['level']})")
        elif row := EARLY_DROPS.match(words):
            numbers = {key: int(value) for key, value in row.groupdict().items() if key != "value"}
            into.early_drops[row["value"]] = EarlyDropReading(*_in_order(numbers))
        elif shaper := OLD_SHAPER.match(words):
            into.numbers |= {key: int(value) for key, value in shaper.groupdict().items()}
        elif _OF_MATCH.match(words):
            self._is_counted = True
        elif not self._number(words, into) and self._color and words:
            into.actions.setdefault(self._color, []).append(words)

    def _number(self, words: str, into: ClassReading) -> bool:
        """Take the numbers of the line; whether it is a known one."""
        known = [found for pattern in NUMBERS if (found := pattern.match(words))]
        for found in known[:1]:
            for name, value in found.groupdict().items():
                if value is not None and not (self._is_counted and name in _OF_CLASS):
                    into.numbers.setdefault(name, int(value))
            if words.startswith(("conformed", "exceeded", "violated")):
                self._color = words.split(maxsplit=1)[0] if "action" in words else None
                if self._color and (action := words.rpartition("action:")[2].strip()) and "action:" in words:
                    into.actions[self._color] = [action]
        return bool(known)


def _in_order(numbers: dict[str, int]) -> tuple[int, int, int, int, int, int]:
    names = ("min", "max", "mark", "transmitted", "random", "tail")
    values = [numbers[name] for name in names]
    return values[0], values[1], values[2], values[3], values[4], values[5]
