"""What a change of a configuration changes: where packets wait, what queues have, bounds, results of runs."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from perhop import _core
from perhop.bounds import bounds_of
from perhop.compare import compare
from perhop.configuration import checked, folded, is_short_for, read, router_text
from perhop.draw import words
from perhop.errors import InvalidInputError, PerhopError
from perhop.quantity import number
from perhop.scenario import Scenario
from perhop.tracing import Node, node

# What a class has besides its match and its name.
_PARTS = ("share", "police", "shape", "buffer", "fair-queueing", "precedence")
# Below this part of itself a bound has not changed.
_SAME = 1e-6
_BOUNDS = {
    "guaranteed_bps": ("guaranteed", "kb/s", 1e-3),
    "delay_s": ("delay at most", "ms", 1e3),
    "backlog_bytes": ("backlog at most", "B", 1.0),
}


@dataclass(frozen=True)
class Moved:
    """A packet that waits in another queue than before, as it arrives; no queue is `None`."""

    interface: str
    before: str | None
    after: str | None
    packet: str


@dataclass(frozen=True)
class Changed:
    """A part of an interface's policy that has changed; `None` where there is none."""

    interface: str
    part: str
    what: str
    before: str | None
    after: str | None


@dataclass(frozen=True)
class Difference:
    """All that is different between two configurations of a router."""

    moved: list[Moved]
    changed: list[Changed]
    #: What could not be compared, and why.
    remarks: list[str] = field(default_factory=list)
    #: Figures of classes in a scenario with each of them, as `perhop compare` has them.
    simulated: list[dict[str, Any]] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether anything differs, simulated figures by more than chance."""
        return bool(self.moved or self.changed or any(map(_is_real, self.simulated)))


def _is_real(row: Mapping[str, Any]) -> bool:
    return row["inside_interval"] is False


def difference(
    old: Path,
    new: Path,
    *,
    at: str | None = None,
    out: str | None = None,
    platform: str | None = None,
    assume: Mapping[str, str] | None = None,
) -> Difference:
    """Return what differs between the router configurations `old` and `new`.

    Packets arrive by the interface `at`, whose input policy they meet; without it they meet none. Compared
    are the interfaces with an output policy in either, or `out` alone.

    Raises:
        InvalidInputError: a file is no configuration, or has no such interface.

    """
    options: dict[str, Any] = {"platform": platform, "assume": assume}
    names = [_with_policy(file, **options) for file in (old, new)]
    if out is not None:
        wanted = [name for name in {*names[0][0], *names[1][0]} if is_short_for(out, name)]
        if not wanted:
            known = ", ".join(sorted({*names[0][0], *names[1][0]})) or "none"
            raise InvalidInputError(f"neither has an interface `{out}`", f"interfaces: {known}")
    else:
        wanted = sorted({*names[0][1], *names[1][1]})
    moved: list[Moved] = []
    changed: list[Changed] = []
    remarks: list[str] = []
    for interface in wanted:
        gone = [
            file
            for file, (known, _) in zip((old, new), names, strict=True)
            if folded(interface) not in map(folded, known)
        ]
        if gone:
            remarks.append(f"{gone[0]} has no interface {interface}")
            continue
        before, after = (node(file, at=at, out=interface, **options) for file in (old, new))
        moved += [
            Moved(interface, one["before"], one["after"], one["packet"]) for one in _moved(before, after)
        ]
        changed += _changed(interface, before, after)
    bounds, without = _bounds(old, new, options)
    return Difference(moved, [*changed, *bounds], [*remarks, *without])


def _with_policy(
    file: Path, platform: str | None, assume: Mapping[str, str] | None
) -> tuple[list[str], list[str]]:
    """Return the interfaces of a configuration, and those with an output policy."""
    text = router_text(file)
    if text is None:
        # A file that cannot be read says so.
        read(file)
        raise InvalidInputError(
            f"{file} is no router's configuration", "`perhop compare` compares results of scenarios"
        )
    ports = checked(text, platform, assume)["router"]["ports"]
    return [port["name"] for port in ports], [
        port["name"] for port in ports if port.get("policies", {}).get("output")
    ]


def _moved(before: Node, after: Node) -> list[dict[str, Any]]:
    try:
        found: list[dict[str, Any]] = json.loads(_core.moved_packets(before.asked(), after.asked()))
    except ValueError as error:
        raise InvalidInputError(str(error)) from error
    return found


def _changed(interface: str, before: Node, after: Node) -> Iterator[Changed]:
    """Generate what the classes and conditioners of a policy have otherwise than before."""
    for side in ("input", "output"):
        first, second = (_parts(side, getattr(one, side) or {}) for one in (before, after))
        for part in [*first, *(part for part in second if part not in first)]:
            old, new = first.get(part), second.get(part)
            if old is None or new is None:
                yield Changed(interface, part, "", _whole(old), _whole(new))
                continue
            for what in [*old, *(what for what in new if what not in old)]:
                if old.get(what) != new.get(what):
                    yield Changed(interface, part, what, old.get(what), new.get(what))


def _parts(side: str, policy: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """Return what each queue and conditioner of a policy has, in words."""
    found: dict[str, dict[str, str]] = {}
    for index, conditioner in enumerate(policy.get("conditioners", [])):
        said = {key: value for key, value in conditioner.items() if key not in ("name", "match")}
        name = f"{side} conditioner {conditioner.get('name', index)}"
        found[name] = {key: words.values(value) for key, value in said.items()}
    if queueing := policy.get("queueing"):
        found.update(_queues(queueing, ""))
    return found


def _queues(queueing: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, dict[str, str]]]:
    for config in queueing["classes"]:
        name = f"{prefix}{config['name']}"
        has = {key: words.values(config[key]) for key in _PARTS if config.get(key)}
        yield f"queue {name}", {"scheduler": words.scheduler(queueing.get("scheduler", "fifo")), **has}
        if inner := config.get("queueing"):
            yield from _queues(inner, f"{name}/")


def _whole(part: Mapping[str, str] | None) -> str | None:
    if part is None:
        return None
    return "; ".join(f"{key} {value}" for key, value in part.items()) or "nothing"


def _bounds(old: Path, new: Path, options: Mapping[str, Any]) -> tuple[list[Changed], list[str]]:
    """Return the guarantees that change, as far as both configurations can be run by themselves."""
    found = []
    for file in (old, new):
        try:
            loaded = Scenario.load(file, **options)
            ports = {port for port, _ in loaded.queues.values()}
            found.append(
                {(one["port"], one["queue"]): one for one in bounds_of(loaded).queues if one["port"] in ports}
            )
        except PerhopError as error:
            reason = str(error).partition("\n")[0]
            return [], [f"bounds are not compared: {file}: {reason}"]
    changed = []
    for key in (key for key in found[0] if key in found[1]):
        for name, (what, unit, scale) in _BOUNDS.items():
            values: list[float | None] = [one[key].get(name) for one in found]  # type: ignore[misc]
            first, second = values
            if not _equal(first, second):
                said = [None if one is None else f"{number(one * scale)} {unit}" for one in (first, second)]
                changed.append(
                    Changed(key[0], f"queue {key[1]}", what, said[0] or "no bound", said[1] or "no bound")
                )
    return changed, []


def _equal(first: float | None, second: float | None) -> bool:
    if first is None or second is None:
        return first is second
    return abs(first - second) <= _SAME * max(abs(first), abs(second))


def simulated(
    scenario: Path, old: Path, new: Path, *, seed: int | None, replications: int
) -> list[dict[str, Any]]:
    """Return the figures of each class of a scenario with the configurations `old` and `new` of its router.

    Raises:
        InvalidInputError: no router of the scenario, or several, could be meant.

    """
    loaded = Scenario.load(scenario)
    routers = [
        (name, config["configuration"].get("file"))
        for name, config in loaded.get("routers", {}).items()
        if config.get("configuration")
    ]
    own = [name for name, file in routers if file and (scenario.parent / file).resolve() == old.resolve()]
    chosen = own or [name for name, _ in routers]
    if len(chosen) != 1:
        names = ", ".join(name for name, _ in routers) or "none"
        raise InvalidInputError(
            f"{scenario}: {len(chosen)} routers could have the configuration {old}",
            f"routers with a configuration: {names}; one of them is to name that file",
        )
    path = f"routers.{chosen[0]}.configuration.file"
    results = [
        Scenario.load(scenario, {path: str(file.resolve())}).run(seed=seed, replications=replications)
        for file in (old, new)
    ]
    first, second = results
    return [row.to_json() for row in compare(first, second).rows]
