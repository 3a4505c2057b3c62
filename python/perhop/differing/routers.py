"""The differences between two configurations of a router."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

from perhop import _core
from perhop.bounds import Bounds, bounds_of
from perhop.configuration import checked, folded, is_short_for, router_text
from perhop.differing.guarantees import changed_bounds
from perhop.differing.parts import changed, renamed
from perhop.differing.result import Difference, Example, LineChange, Moved
from perhop.differing.sides import Side
from perhop.errors import InvalidInputError
from perhop.scenario import Scenario


def difference(
    old: Side,
    new: Side,
    *,
    at: str | None,
    out: str | None,
    platform: str | None,
    assume: Mapping[str, str] | None,
) -> Difference:
    """Return the differences between two router configurations, as `perhop.differing.difference` does."""
    options: dict[str, Any] = {"platform": platform, "assume": assume}
    files = [Path(side.name) for side in (old, new)]
    texts = [router_text(file) or "" for file in files]
    known = [[port["name"] for port in checked(text, **options)["router"]["ports"]] for text in texts]
    found: dict[str, Any] = json.loads(
        _core.compare_configurations(
            texts,
            [str(file) for file in files],
            platform,
            dict(assume) if assume else None,
            None if at is None else _arriving(known, at),
            None if out is None else _leaving(known, out),
        )
    )
    bounds, without = changed_bounds([(str(file), partial(_bounds, file, options)) for file in files])
    return Difference(
        moved=[Moved(**move) for move in found["moved"]],
        changed=[*changed(found["changed"]), *bounds],
        renamed=renamed(found["renamed"]),
        examples=[Example(**example) for example in found["examples"]],
        lines=[LineChange(**change) for change in found["lines"]],
        not_compared=[LineChange(**change) for change in found["not_compared"]],
        assumed=found["assumed"],
        not_looked_at=found["not_looked_at"],
        remarks=[*found["remarks"], *without],
    )


def _arriving(known: list[list[str]], name: str) -> str:
    """Return the interface that `name` identifies in each configuration that has it."""
    for names in known:
        exact = [candidate for candidate in names if folded(candidate) == folded(name)]
        near = exact or [candidate for candidate in names if is_short_for(name, candidate)]
        if len(near) == 1:
            return near[0]
    listed = ", ".join(dict.fromkeys([*known[0], *known[1]])) or "none"
    raise InvalidInputError(f"there is no interface `{name}`", f"interfaces: {listed}")


def _leaving(known: list[list[str]], name: str) -> list[str]:
    """Return the interfaces of either configuration that match `name`."""
    names = sorted({*known[0], *known[1]})
    wanted = [candidate for candidate in names if is_short_for(name, candidate)]
    if not wanted:
        raise InvalidInputError(
            f"neither configuration has an interface `{name}`", f"interfaces: {', '.join(names) or 'none'}"
        )
    return wanted


def _bounds(file: Path, options: Mapping[str, Any]) -> Bounds:
    """Return the bounds at the router only, because its hosts are assumed."""
    loaded = Scenario.load(file, **options)
    return bounds_of(loaded).at(port for port, _ in loaded.queues.values())
