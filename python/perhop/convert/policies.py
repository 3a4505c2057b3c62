"""The policies in a file: those of a router's ports, or those of a scenario."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Literal

from perhop import _core
from perhop.configuration import (
    STANDARD_INPUT,
    checked,
    meant,
    policy_errors,
    reading_platform,
    router_text,
)
from perhop.core_types import ResolvedPolicy, RouterPort, RouterReport
from perhop.errors import InvalidInputError
from perhop.printable import printable
from perhop.quantity import bits_per_second
from perhop.schema_types import PolicyConfig

Direction = Literal["input", "output"]
_SIDES: tuple[Direction, Direction] = ("input", "output")

# The keys that turn a file with only policies into a scenario.
_NO_SOURCE = {"cbr": {"rate": "1kb/s", "packet": {"ip": "100B"}}}
_AROUND: Mapping[str, Any] = {
    "perhop": 1,
    "name": "policies",
    "duration": "1s",
    "hosts": {"a": {}, "b": {}},
    "routers": {},
    "links": [{"between": ["a", "b"], "rate": "1Mb/s"}],
    "traffic": [{"name": "none", "from": "a", "to": "b", "source": _NO_SOURCE}],
    "measure": {},
}


@dataclass(frozen=True)
class Remark:
    """A construct that the other language lacks or has in another form."""

    #: The construct, in terms of the source language.
    construct: str
    #: Its place: policy, interface and direction, class.
    where: str
    #: The reason for the loss or the difference.
    why: str
    #: A change to the policy that avoids the loss, if one exists.
    instead: str = ""

    def __str__(self) -> str:
        """Return the remark as one line."""
        instead = f" ({self.instead})" if self.instead else ""
        return f"{self.where}: {self.construct}: {self.why}{instead}"

    def to_dict(self) -> dict[str, str]:
        """Return the remark as plain data, with `instead` only if such a change exists."""
        found = {"construct": self.construct, "where": self.where, "why": self.why}
        return {**found, "instead": self.instead} if self.instead else found


@dataclass(frozen=True)
class RefusedLine:
    """A line that the device refuses. The converted policies lack this line."""

    line: int
    message: str
    #: The interfaces whose policies the line concerns; of many, only the first.
    interfaces: tuple[str, ...]

    def __str__(self) -> str:
        """Return the line and the fault."""
        return f"line {self.line}: {self.message}"

    def to_dict(self) -> dict[str, Any]:
        """Return the line as plain data."""
        return {"line": self.line, "message": self.message, "interfaces": list(self.interfaces)}


@dataclass(frozen=True)
class Attached:
    """A policy, and its attachment if known."""

    #: The name of the policy.
    name: str
    policy: PolicyConfig
    #: `input` or `output`; `None` if the file does not attach it.
    direction: Direction | None
    #: The interface, as the router names it.
    interface: str | None
    #: The rate to which shares and percentages refer, bits per second.
    rate_bps: int | None
    port: RouterPort | None = None

    @property
    def where(self) -> str:
        """The place for messages: `policy WAN at Serial0/0 output`."""
        at = [] if self.interface is None else ["at", self.interface]
        way = [] if self.direction is None else [self.direction]
        return " ".join(["policy", self.name, *at, *way])


@dataclass(frozen=True)
class Source:
    """A file with policies."""

    file: Path
    attached: tuple[Attached, ...]
    #: The profile of the router; `None` for a file of perhop's own.
    profile: str | None
    #: The report and the text of a router configuration; `None` for a file of perhop's own.
    report: RouterReport | None = None
    text: str | None = None
    #: The policies whose queues have unknown limits.
    left_out: tuple[Remark, ...] = ()

    @property
    def refused(self) -> tuple[RefusedLine, ...]:
        """The lines of the converted policies that the device refuses."""
        converted = {attached.interface for attached in self.attached}
        return tuple(
            RefusedLine(error["line"], error["message"], tuple(error["interfaces"]))
            for error in (policy_errors(self.report) if self.report else ())
            if error.get("further_interfaces") or converted.intersection(error["interfaces"])
        )


def read_source(
    file: Path,
    *,
    interface: str | None = None,
    policy: str | None = None,
    platform: str | None = None,
    rate_bps: int | None = None,
) -> Source:
    """Return the policies of a router configuration, a scenario, or a file with policies.

    Args:
        file: the file.
        interface: only those at this interface of a router.
        policy: only the policy of this name.
        platform: the platform whose rules apply to a router configuration.
        rate_bps: bits per second of the interface, in place of the rate in the file.

    Raises:
        InvalidInputError: the file contains no policy, no policy at this interface or
            with this name, or only policies with unknown queue limits.
        ScenarioError: it cannot be read as a scenario.

    """
    text = router_text(file)
    if text is None:
        with _readable(file) as readable:
            found = _of_scenario(readable)
        if interface is not None:
            raise InvalidInputError(
                "--interface applies only to router configurations", "choose with --policy"
            )
        source = Source(file, tuple(found), None)
    else:
        # The target platform may have another language.
        report = checked(text, reading_platform(text, platform))
        source = Source(file, tuple(_of_router(report)), report["platform"]["profile"], report, text)
        if interface is not None:
            source = _at(source, interface, report)
    named = _named(source.attached, policy, file)
    chosen = [candidate for candidate in named if _unmodeled(candidate) is None]
    if not chosen:
        raise InvalidInputError(
            f"perhop does not model the queues of {named[0].interface}: {_unmodeled(named[0])}",
            "choose another interface with --interface",
        )
    left_out = tuple(
        Remark("queues", candidate.where, f"left out, because perhop does not model them: {reason}")
        for candidate in named
        if (reason := _unmodeled(candidate))
    )
    if rate_bps is not None:
        chosen = [
            Attached(
                candidate.name,
                candidate.policy,
                candidate.direction,
                candidate.interface,
                rate_bps,
                candidate.port,
            )
            for candidate in chosen
        ]
    return Source(file, tuple(chosen), source.profile, source.report, source.text, left_out)


def _unmodeled(attached: Attached) -> str | None:
    """Return the reason why queue limits of a policy are unknown; `None` if they are known."""
    has_queues = attached.direction == "output" and attached.policy.get("queueing")
    return attached.port.get("unmodeled_queues") if attached.port and has_queues else None


@contextmanager
def _readable(file: Path) -> Iterator[Path]:
    """Yield a file that can be read twice; for standard input, a copy."""
    if file != STANDARD_INPUT:
        yield file
        return
    with TemporaryDirectory() as folder:
        copy = Path(folder) / "standard-input.yaml"
        copy.write_bytes(sys.stdin.buffer.read())
        yield copy


def _of_scenario(file: Path) -> list[Attached]:
    kind, _ = _core.check(file)
    if kind == "policies":
        overrides = [(key, json.dumps(value)) for key, value in _AROUND.items()]
        data = json.loads(_core.load(file, overrides).json)
        attachments: list[tuple[str, Direction, str | None, int]] = []
    else:
        data = json.loads(_core.load(file, []).resolved)
        attachments = list(_attachments(data))
    found = []
    for name, config in data.get("policies", {}).items():
        places = [attachment for attachment in attachments if attachment[0] == name]
        direction = places[0][1] if places else _direction(config)
        rate = min((place[3] for place in places), default=None)
        found.append(Attached(name, config, direction, None, rate))
    if not found:
        raise InvalidInputError(f"`{file}` has no policies", "give a file with `policies:`")
    return found


def _direction(policy: PolicyConfig) -> Direction | None:
    return "output" if policy.get("queueing") else None


def _attachments(data: Mapping[str, Any]) -> Iterable[tuple[str, Direction, str | None, int]]:
    for link in data["links"]:
        for interface in (link.get("interfaces") or {}).values():
            rate = bits_per_second(interface.get("rate") or link["rate"])
            for side in _SIDES:
                if interface.get(side):
                    yield interface[side], side, interface.get("name"), round(rate)


def _of_router(report: RouterReport) -> list[Attached]:
    found = []
    for port in report["router"]["ports"]:
        for side in _SIDES:
            # Packets to the router itself leave for its processor, but their policy is an input policy.
            to_itself = port.get("leads_to_device", False) and side == "output"
            resolved = _resolved(port, "input" if to_itself else side)
            config = port[side]
            # The configuration of a router does not contain its default queue. The output of Linux is
            # complete.
            is_said = "policies" not in port and config.get("queueing")
            if not config or (resolved is None and not config.get("conditioners") and not is_said):
                continue
            name = resolved["name"] if resolved else f"{port['name']} {side}"
            # A Linux device has no configured rate except those of its shapers.
            rate = round(bits_per_second(port["bandwidth"])) if port["bandwidth"] else None
            found.append(Attached(name, config, side, port["name"], rate, port))
    return found


def _resolved(port: RouterPort, side: Direction) -> ResolvedPolicy | None:
    return port.get("policies", {"input": None, "output": None})[side]


def _at(source: Source, interface: str, report: RouterReport) -> Source:
    names = [port["name"] for port in report["router"]["ports"]]
    wanted = next(iter(meant(interface, names)), interface)
    chosen = tuple(candidate for candidate in source.attached if candidate.interface == wanted)
    if not chosen:
        there = ", ".join(sorted({str(candidate.interface) for candidate in source.attached})) or "none"
        raise InvalidInputError(
            f"`{source.file}` has no policy at {interface}", f"interfaces with a policy: {there}"
        )
    return Source(source.file, chosen, source.profile, source.report, source.text)


def _named(attached: tuple[Attached, ...], policy: str | None, file: Path) -> list[Attached]:
    if policy is None:
        if not attached:
            raise InvalidInputError(
                f"`{file}` attaches no policy to an interface",
                "`perhop check` lists the recognized lines; a policy alone needs an interface that uses it",
            )
        return list(attached)
    chosen = [candidate for candidate in attached if candidate.name == policy]
    if not chosen:
        names = sorted({candidate.name for candidate in attached})
        near = get_close_matches(policy, names, n=1)
        help = f"did you mean `{near[0]}`?" if near else f"policies: {', '.join(names) or 'none'}"
        raise InvalidInputError(f"`{file}` has no policy `{policy}` in use", help)
    return chosen


def one_line(text: str) -> str:
    """Return a text for a comment, on one line: a second line would be a command."""
    return " ".join(printable(text).split())
