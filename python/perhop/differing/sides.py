"""The two sides of a comparison: files of router configurations or scenarios, or scenarios."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from perhop import _core
from perhop.configuration import STANDARD_INPUT, read, router_text
from perhop.errors import InvalidInputError, ScenarioError
from perhop.scenario import Scenario


@dataclass(frozen=True)
class Side:
    """One of the two configurations or scenarios that are compared."""

    #: The name in messages: the file, or `old` or `new`.
    name: str
    #: `None` for a router configuration, which is read from its file.
    scenario: Scenario | None = None


Source = str | PathLike[str] | Scenario | Side


def opened(old: Source, new: Source) -> tuple[Side, Side]:
    """Return both sides. Each is read once, because one may be standard input.

    Raises:
        ScenarioError: a scenario is not valid.
        InvalidInputError: only one side is a router configuration.
        UnreadableFileError: a file cannot be read.

    """
    # Check this first: a text that is not a configuration may be an invalid scenario.
    routers = [_is_router(side) for side in (old, new)]
    if routers[0] != routers[1]:
        names = [_name(old, "old"), _name(new, "new")]
        router, other = names if routers[0] else reversed(names)
        raise InvalidInputError(
            f"{router} is a router configuration, but {other} is not",
            "give two configurations of a router, or two scenarios",
        )
    return _side(old, "old", is_router=routers[0]), _side(new, "new", is_router=routers[1])


def _name(source: Source, which: str) -> str:
    if isinstance(source, Scenario):
        return f"the {which} one"
    return source.name if isinstance(source, Side) else str(Path(source))


def _is_router(source: Source) -> bool:
    if isinstance(source, Side):
        return source.scenario is None
    if isinstance(source, Scenario):
        return False
    file = Path(source)
    if router_text(file) is not None:
        return True
    if file != STANDARD_INPUT:
        # `read` raises the error of a file that cannot be read.
        read(file)
    return False


def _side(source: Source, which: str, *, is_router: bool) -> Side:
    if isinstance(source, Side):
        return source
    name = _name(source, which)
    if isinstance(source, Scenario):
        return Side(name, source)
    file = Path(source)
    if is_router:
        return Side(name)
    try:
        return Side(name, Scenario.load(file))
    except ScenarioError as error:
        if file != STANDARD_INPUT and _has_policies_alone(file):
            raise InvalidInputError(
                f"{file} has policies but no network, so there are no ports to compare",
                "compare two scenarios that have such policies",
            ) from error
        raise


def _has_policies_alone(file: Path) -> bool:
    try:
        return _core.check(file)[0] == "policies"
    except ScenarioError:
        return False
