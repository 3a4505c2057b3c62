"""Cisco's own parsers of device outputs: those in genie.libs.parser, without the rest of pyATS.

The parsers of genie inherit from a class of pyATS, which stores a device and checks the result of a parser
against the parser's schema. pyATS depends on ninety other packages of half a gigabyte, compiled for few
platforms. That class and its schemas are therefore rewritten here, and the module with the parsers is loaded
from its file. With pyATS, the results are the same.
"""

from __future__ import annotations

import importlib.util
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Any as Anything


class Any:
    """Any key."""


class Optional:
    """A key that may be missing."""

    def __init__(self, key: object) -> None:
        self.key = key


class Or:
    """A value of one of several types."""

    def __init__(self, *types: Anything) -> None:
        self.types = types


class ListOf:
    """A list of values of one type."""

    def __init__(self, schema: Anything) -> None:
        self.of = schema


class Schema:
    """A schema that is checked by itself."""

    def __init__(self, schema: Anything) -> None:
        self.schema = schema

    def validate(self, value: object) -> object:
        check(self.schema, value, "output")
        return value


class Use:
    """A value that a function accepts."""

    def __init__(self, accept: Anything) -> None:
        self.accept = accept


class SchemaError(AssertionError):
    """A value does not conform to a schema."""


# The modules import these packages, but the tested parsers do not use them.
And = Default = Common = None
#: Modules that the parsers import; this module replaces them.
_PYATS = (
    "genie.metaparser",
    "genie.metaparser.util.schemaengine",
    "genie.libs.parser.utils.common",
    "pyats.utils.exceptions",
)


class MetaParser:
    """The base of every parser."""

    schema: Anything = None

    def parse(self, output: str, **arguments: str) -> dict[str, Anything]:
        found = self.cli(output=output, **arguments)  # type: ignore[attr-defined]
        check(self.schema, found, "output")
        return dict(found)


def check(schema: Anything, value: object, path: str) -> None:
    """Assert that a value conforms to a schema."""
    if isinstance(schema, Schema):
        check(schema.schema, value, path)
    elif isinstance(schema, dict):
        assert isinstance(value, dict), path
        plain = {key for key in schema if not isinstance(key, Optional | Any)}
        assert plain <= set(value), f"{path} lacks {plain - set(value)}"
        optional = {key.key: inner for key, inner in schema.items() if isinstance(key, Optional)}
        any_key = next((inner for key, inner in schema.items() if isinstance(key, Any)), None)
        for key, inner in value.items():
            allowed = schema[key] if key in plain else optional.get(key, any_key)
            assert allowed is not None, f"{path} does not allow {key!r}"
            check(allowed, inner, f"{path}.{key}")
    elif isinstance(schema, Or):
        assert isinstance(value, schema.types), f"{path}: {value!r}"
    elif isinstance(schema, Use):
        schema.accept(value)
    elif isinstance(schema, ListOf):
        assert isinstance(value, list), path
        for item in value:
            check(schema.of, item, path)
    else:
        assert isinstance(value, schema), f"{path}: {value!r}"


@contextmanager
def _in_place_of_pyats() -> Iterator[None]:
    """Replace the imported parts of pyATS by this module."""
    before = dict(sys.modules)
    here = sys.modules[__name__]
    for name in _PYATS:
        parts = name.split(".")
        for length in range(1, len(parts)):
            sys.modules.setdefault(".".join(parts[:length]), ModuleType(parts[length - 1]))
        sys.modules[name] = here
    try:
        yield
    finally:
        for name in [name for name in sys.modules if name.partition(".")[0] in ("genie", "pyats")]:
            if name in before:
                sys.modules[name] = before[name]
            else:
                del sys.modules[name]


@cache
def _parsers(file: str) -> ModuleType:
    package = importlib.util.find_spec("genie.libs")
    assert package and package.submodule_search_locations, "genie.libs.parser is not installed"
    folder = Path(next(iter(package.submodule_search_locations))) / "parser"
    spec = importlib.util.spec_from_file_location(Path(file).stem, folder / file)
    assert spec and spec.loader
    module = importlib.util.module_from_spec(spec)
    with _in_place_of_pyats(), warnings.catch_warnings():
        # Regular expressions of genie contain escapes about which Python warns.
        warnings.simplefilter("ignore")
        spec.loader.exec_module(module)
    return module


def parse(
    text: str,
    file: str = "iosxe/show_policy_map.py",
    name: str = "ShowPolicyMapInterface",
    **arguments: str,
) -> dict[str, Anything]:
    """Return the result of the parser `name` in a file of genie: by default `show policy-map interface`."""
    parser: MetaParser = getattr(_parsers(file), name)()
    return parser.parse(text, **arguments)
