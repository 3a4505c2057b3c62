"""The shape of saved JSON, checked where it is read.

Checksums show that a file is unchanged, not that perhop saved it. A shape is one of

- a type: `str`, `bool`, `int` (no fraction), `float` (a finite number);
- `[shape]`: a list;
- `{"key": shape}`: an object with these keys and perhop's later ones;
- a `Shape` of this module.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from perhop.loading import damaged

_WORDS = {str: "text", bool: "true or false", int: "a whole number", float: "a number"}


class Shape:
    """A shape that no type, list or object expresses."""


@dataclass(frozen=True)
class OrNull(Shape):
    """A shape or null."""

    shape: Any


@dataclass(frozen=True)
class Optional(Shape):
    """The shape of an optional key, which may be missing or null."""

    shape: Any


@dataclass(frozen=True)
class ByName(Shape):
    """An object with any names as keys; `shape` is the shape of each value."""

    shape: Any


@dataclass(frozen=True)
class Pair(Shape):
    """A list of two."""

    shape: Any


@dataclass(frozen=True)
class AnyValue(Shape):
    """Any value; another document describes its shape."""


@dataclass(frozen=True)
class OneOf(Shape):
    """One of some texts."""

    texts: tuple[str, ...]


#: A mean over replications in a summary.
METRIC = {"mean": OrNull(float), "ci95": OrNull(Pair(float)), "unit": str}


def require(file: Path, found: object, shape: object) -> None:
    """Raise `UnreadableFileError` if the contents of a file do not have the shape."""
    wrong = _wrong(found, shape, "")
    if wrong is not None:
        raise damaged(file, wrong)


def _wrong(found: object, shape: Any, path: str) -> str | None:  # noqa: ANN401 - a type, list or object
    """Return the error about the first part that does not have the shape; `None` without such a part."""
    match shape:
        case AnyValue():
            return None
        case type():
            return None if _is(found, shape) else _expected(path, _WORDS[shape], found)
        case OrNull(inner) | Optional(inner):
            return None if found is None else _wrong(found, inner, path)
        case OneOf(texts):
            is_one = isinstance(found, str) and found in texts
            return None if is_one else _expected(path, f"one of {', '.join(texts)}", found)
        case Pair(inner):
            if not isinstance(found, list) or len(found) != 2:
                return _expected(path, "a list of two", found)
            return _first(enumerate(found), inner, path)
        case [inner]:
            if not isinstance(found, list):
                return _expected(path, "a list", found)
            return _first(enumerate(found), inner, path)
        case ByName(inner):
            if not isinstance(found, dict):
                return _expected(path, "an object", found)
            return _first(found.items(), inner, path)
        case _:
            if not isinstance(found, dict):
                return _expected(path, "an object", found)
            return _wrong_key(found, shape, path)


def _wrong_key(found: dict[str, Any], shape: dict[str, Any], path: str) -> str | None:
    for key, inner in shape.items():
        if key not in found:
            if isinstance(inner, Optional):
                continue
            return f"there is no `{_below(path, key)}`"
        if (wrong := _wrong(found[key], inner, _below(path, key))) is not None:
            return wrong
    return None


def _first(parts: Any, shape: object, path: str) -> str | None:  # noqa: ANN401 - pairs of a key and a part
    wrong = (_wrong(part, shape, _below(path, key)) for key, part in parts)
    return next((message for message in wrong if message is not None), None)


def _is(found: object, kind: type) -> bool:
    if kind is float:
        return isinstance(found, int | float) and not isinstance(found, bool) and _is_finite(found)
    if kind is int:
        return isinstance(found, int) and not isinstance(found, bool) and _is_finite(found)
    return isinstance(found, kind)


def _is_finite(number: float) -> bool:
    try:
        return math.isfinite(number)
    except OverflowError:
        return False


def _below(path: str, key: object) -> str:
    return f"{path}.{key}" if path else str(key)


def _expected(path: str, what: str, found: object) -> str:
    where = f"`{path}`" if path else "the whole"
    return f"{where} is {_shown(found)} in place of {what}"


def _shown(found: object) -> str:
    match found:
        case None | bool():
            return {None: "null", True: "true", False: "false"}[found]
        case dict():
            return "an object"
        case list():
            return "a list"
        case str():
            return f"`{found[:40]}`"
        case _:
            return "a number" if isinstance(found, int) and not _is_finite(found) else f"{found}"
