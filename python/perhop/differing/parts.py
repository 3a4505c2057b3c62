"""Changed parts of policies as text, and packets that wait in another queue."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from perhop import _core
from perhop.differing.result import Changed, Moved, Renamed
from perhop.draw import words
from perhop.errors import InvalidInputError
from perhop.tracing import Node

#: The properties of a link as text, by name.
Link = Mapping[str, str]


def moved(interface: str, before: Node, after: Node) -> list[Moved]:
    """Return for each pair of queues a packet that moves from the first queue to the second.

    Raises:
        InvalidInputError: the conditions are too complex to be compared.

    """
    try:
        found: list[dict[str, Any]] = json.loads(_core.moved_packets(before.to_json(), after.to_json()))
    except ValueError as error:
        raise InvalidInputError(f"{interface}: {error}") from error
    return [Moved(interface, None, move["before"], move["after"], move["packet"]) for move in found]


def changed(found: Iterable[Mapping[str, Any]]) -> list[Changed]:
    """Return the changed parts that the extension module found, with values as text."""
    return [
        Changed(
            interface=change["interface"],
            part=change["part"],
            what=change["what"],
            before=_worded(change["what"], change["before"]),
            after=_worded(change["what"], change["after"]),
            packet=change["packet"],
        )
        for change in found
    ]


def renamed(found: Iterable[Mapping[str, str]]) -> list[Renamed]:
    """Return the renamed parts that the extension module found."""
    return [Renamed(**pair) for pair in found]


def policies(
    interface: str, side: str, old: object, new: object, interfaces: list[str]
) -> tuple[list[Changed], list[Renamed]]:
    """Return the changed and renamed parts between two `side` policies; `None` for a missing policy."""
    both = (json.dumps(old), json.dumps(new))
    parts, names = json.loads(_core.compare_policies(interface, side, *both, interfaces))
    return changed(parts), renamed(names)


def changed_link(interface: str, first: Link | None, second: Link | None) -> Iterator[Changed]:
    """Generate the changed properties of a link; `None` for a missing link."""
    if first is None or second is None:
        if first != second:
            yield Changed(interface, "link", "", *(_joined_properties(link) for link in (first, second)))
        return
    for what in dict.fromkeys([*first, *second]):
        if first.get(what) != second.get(what):
            yield Changed(interface, "link", what, first.get(what), second.get(what))


def _worded(what: str, value: Any) -> str | None:  # noqa: ANN401 - any property
    """Return a property as text; all properties of a part if `what` is empty."""
    if value is None:
        return None
    if not what:
        return _joined_properties({key: _worded(key, inner) or "" for key, inner in value.items()})
    return words.scheduler(value) if what == "scheduler" else words.values(value)


def _joined_properties(part: Mapping[str, str] | None) -> str | None:
    if part is None:
        return None
    return "; ".join(f"{key} {value}" for key, value in part.items()) or "nothing"
