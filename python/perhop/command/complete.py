"""`perhop complete`: the completions of a shell that depend on files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated

from perhop.command.options import found_file
from perhop.command.parameter import Parameter
from perhop.document import Document
from perhop.errors import Exit, PerhopError

# Options whose values are paths of a scenario.
_PATHS = ("--set", "--against", "--vary")


def complete(
    words: Annotated[list[str], Parameter(allow_leading_hyphen=True, negative=())],
    /,
) -> Exit:
    """Print the completions of a command line's last word, for the scripts of `perhop completion`.

    Parameters
    ----------
    words
        The words after perhop, preceded by --; the last is the word to complete.

    """
    *before, begun = words
    for candidate in _candidates(before):
        if candidate.startswith(begun):
            print(candidate)
    return Exit.OK


def _candidates(before: list[str]) -> Iterator[str]:
    """Generate the words that may follow these words, as far as they depend on files."""
    last = before[-1] if before else ""
    if last in _PATHS:
        end = "" if last == "--against" else "="
        yield from (f"{path}{end}" for path in _paths(before))
    elif last == "--plot" or before == ["plot"]:
        from perhop.plot.kinds import KINDS  # lazy: polars
        from perhop.plot.studies import STUDY_KINDS  # lazy: polars

        yield from (*KINDS, *(["share", *STUDY_KINDS] if before == ["plot"] else []))
    elif last == "--template":
        from perhop.command.init import templates  # lazy: only here

        yield from templates()
    elif (
        before[:1] == ["study"] and before[1:2] != ["list"] and len(before) >= 2 and not last.startswith("-")
    ):
        from perhop.study.reading import identifiers  # lazy: only here

        yield from (identifier for identifier in identifiers() if identifier not in before)


def _paths(before: list[str]) -> list[str]:
    """Return the paths of every value in the scenario that the command line names."""
    files = (found_file(Path(word)) for word in before if not word.startswith("-"))
    for file in files:
        if file.is_file():
            try:
                return list(_flattened(dict(Document.load(file)), ""))
            except PerhopError:
                return []
    return []


def _flattened(value: object, path: str) -> Iterator[str]:
    """Generate the path of each value; elements of lists have their names, or else their numbers."""
    inner: Iterator[tuple[str, object]]
    if isinstance(value, Mapping) and value:
        inner = ((str(key), element) for key, element in value.items())
    elif isinstance(value, list) and any(isinstance(element, Mapping | list) for element in value):
        inner = ((_name(element, number), element) for number, element in enumerate(value))
    else:
        yield path
        return
    for key, element in inner:
        yield from _flattened(element, f"{path}.{key}" if path else key)


def _name(element: object, number: int) -> str:
    return str(element["name"]) if isinstance(element, Mapping) and element.get("name") else str(number)
