"""Plant one fault or one harmless change in a network, and return the line of the fault.

An entry of `faults.toml` or `harmless.toml` has the keys `id`, `network`, `kind` and `file`, and edits with:

- `block`, the path to the block: the first line of the outermost block, then those of the blocks inside it.
  An empty path stands for the lines of the file that are in no block.
- `find`, the lines, in sequence, that the edit removes. The block contains them exactly once.
- `replace`, the lines that replace them.

The line of a fault is `line` in the block `under`, which is a path as well. A removed line has no
place: then `line` is the first line of the block without it, or a line that depends on it. `also` lists
other lines that a finding may name as well, in the same file or in another: the other end of a link, or the
policy that a port attaches. `feels` describes what a user notices.
"""

from __future__ import annotations

import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent


@dataclass(frozen=True)
class Edit:
    """Lines of a block, and their replacement."""

    block: tuple[str, ...]
    find: tuple[str, ...]
    replace: tuple[str, ...]


@dataclass(frozen=True)
class Place:
    """A line of a file, in the block of a path."""

    file: str
    under: tuple[str, ...]
    line: str


@dataclass(frozen=True)
class Change:
    """A fault, or a harmless change."""

    id: str
    network: str
    kind: str
    file: str
    place: Place
    edits: tuple[Edit, ...]
    #: The effect that a user notices; empty for a harmless change.
    feels: str
    #: Other places that a finding may name as well.
    also: tuple[Place, ...]


@dataclass(frozen=True)
class Planted:
    """A network with a change in it, and the place of the change."""

    files: dict[str, str]
    file: str
    #: The number of the line, from 1.
    line: int
    #: The other files and lines that a finding may name as well.
    also: tuple[tuple[str, int], ...]


def faults() -> list[Change]:
    """Return the faults."""
    return _read(FOLDER / "faults.toml", "fault")


def harmless() -> list[Change]:
    """Return the harmless changes."""
    return _read(FOLDER / "harmless.toml", "change")


def plant(change: Change, files: Mapping[str, str]) -> Planted:
    """Return a network's files with a change, and its place.

    Raises:
        ValueError: An edit or the place of the change does not fit exactly once.

    """
    if change.file not in files:
        raise ValueError(f"{change.id}: no file {change.file}")
    lines = files[change.file].split("\n")
    for edit in change.edits:
        lines = _edited(change.id, lines, edit)
    planted = {**files, change.file: "\n".join(lines)}
    also = tuple((place.file, _number(change.id, planted, place)) for place in change.also)
    return Planted(planted, change.file, _number(change.id, planted, change.place), also)


def _read(file: Path, table: str) -> list[Change]:
    entries: list[dict[str, Any]] = tomllib.loads(file.read_text(encoding="utf-8"))[table]
    return [
        Change(
            id=entry["id"],
            network=entry["network"],
            kind=entry["kind"],
            file=entry["file"],
            place=Place(entry["file"], tuple(entry["under"]), entry["line"]),
            edits=tuple(
                Edit(tuple(edit["block"]), tuple(edit["find"]), tuple(edit["replace"]))
                for edit in entry["edit"]
            ),
            feels=entry.get("feels", ""),
            also=tuple(
                Place(other["file"], tuple(other["under"]), other["line"]) for other in entry.get("also", [])
            ),
        )
        for entry in entries
    ]


def _edited(name: str, lines: Sequence[str], edit: Edit) -> list[str]:
    """Return the lines with an edit that fits exactly once."""
    if not edit.find:
        raise ValueError(f"{name}: an edit finds nothing")
    start, end = _span(name, lines, edit.block)
    places = _places(lines, edit.find, start, end, top=not edit.block)
    if len(places) != 1:
        raise ValueError(f"{name}: {list(edit.find)} stands {len(places)} times in {list(edit.block)}")
    return [*lines[: places[0]], *edit.replace, *lines[places[0] + len(edit.find) :]]


def _number(name: str, files: Mapping[str, str], place: Place) -> int:
    """Return the number of the only line that matches a place."""
    lines = files[place.file].split("\n")
    start, end = _span(name, lines, place.under)
    places = _places(lines, (place.line,), start, end, top=not place.under)
    if len(places) != 1:
        raise ValueError(f"{name}: {place.line!r} stands {len(places)} times in {list(place.under)}")
    return places[0] + 1


def _span(name: str, lines: Sequence[str], path: Sequence[str]) -> tuple[int, int]:
    """Return the first line inside a block, and the line after its last."""
    start, end = 0, len(lines)
    for first in path:
        places = [place for place in range(start, end) if lines[place] == first]
        if len(places) != 1:
            raise ValueError(f"{name}: the block {first!r} stands {len(places)} times")
        start = places[0] + 1
        last = start
        while last < end and _depth(lines[last]) > _depth(first):
            last += 1
        end = last
    return start, end


def _places(lines: Sequence[str], find: Sequence[str], start: int, end: int, top: bool) -> list[int]:
    """Return the places of consecutive lines; with `top`, where the first is in no block."""
    last = end - len(find) + 1
    return [
        place
        for place in range(start, last)
        if list(lines[place : place + len(find)]) == list(find) and not (top and _depth(lines[place]))
    ]


def _depth(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
