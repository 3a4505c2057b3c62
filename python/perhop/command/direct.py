"""The reader of plain command lines: existing commands, whole options, each with a valid value.

`parser` reads all other command lines: help, unknown options, missing arguments, values out of range.
`tests/test_direct.py` compares both.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from importlib import import_module
from inspect import CO_VARARGS, CO_VARKEYWORDS
from pathlib import Path
from types import FunctionType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints

from perhop.command.commands import Command, Group
from perhop.command.parameter import Parameter

# The usual forms of numbers; the full parser reads the others.
_INTEGER, _DECIMAL = re.compile(r"[0-9]+", re.ASCII), re.compile(r"[0-9]+(\.[0-9]+)?", re.ASCII)


class _UndecidedError(Exception):
    """Only the parser of all command lines can read the command line."""


@dataclass(frozen=True)
class _Slot:
    """A parameter of a command's function."""

    name: str
    type_: Any
    settings: Parameter
    is_list: bool
    is_required: bool

    def value(self, text: str) -> object:
        """Return the value of one word."""
        # A bracket may begin a list in JSON.
        if not text or text[0] in "-[{":
            raise _UndecidedError
        if self.settings.converter is not None:
            return self.settings.converter(text)
        value = _value(self.type_, text)
        limits = self.settings.validator
        if limits is not None and not (isinstance(value, int | float) and limits.admits(value)):
            raise _UndecidedError
        return value

    @property
    def flags(self) -> Sequence[str]:
        """The names of the option."""
        given = self.settings.name
        if given is None:
            return [f"--{self.name.strip('_').replace('_', '-')}"]
        return [given] if isinstance(given, str) else given


def call_of(tokens: Sequence[str], commands: Group) -> Callable[[], object] | None:
    """Return the call of a command line; `None` if the command line is not plain."""
    entry: Command | Group = commands
    rest = list(tokens)
    while isinstance(entry, Group):
        found = entry.entries.get(rest.pop(0)) if rest else None
        if found is None:
            return None
        entry = found
    if any(word in ("--", "--help", "-h", "--version") for word in rest):
        return None
    module, _, name = entry.function.partition(":")
    function = getattr(import_module(f"perhop.command.{module}"), name)
    try:
        return _call(function, rest)
    except _UndecidedError:
        return None


def _call(function: FunctionType, words: list[str]) -> Callable[[], object]:
    """Return the call of a function with the values of its arguments and options."""
    slots = list(_slots(function))
    number = function.__code__.co_posonlyargcount
    options = {flag: slot for slot in slots[number:] for flag in slot.flags}
    groups: list[list[str]] = [[]]
    given: dict[str, Any] = {}
    left = iter(words)
    for word in left:
        if not word.startswith("-"):
            groups[-1].append(word)
            continue
        groups.append([])
        flag, equals, text = word.partition("=")
        if flag not in options:
            raise _UndecidedError
        slot = options[flag]
        if slot.type_ is bool:
            value: object = _switch(equals)
        else:
            value = slot.value(text if equals else next(left, ""))
        if slot.is_list:
            given.setdefault(slot.name, []).append(value)
        elif slot.name in given:
            raise _UndecidedError
        else:
            given[slot.name] = value
    arguments = list(_arguments(slots[:number], [group for group in groups if group]))
    if any(slot.is_required and slot.name not in given for slot in slots[number:]):
        raise _UndecidedError
    return partial(function, *arguments, **given)


def _switch(equals: str) -> bool:
    if equals:
        raise _UndecidedError
    return True


def _arguments(slots: Sequence[_Slot], groups: Sequence[list[str]]) -> Iterator[object]:
    """Generate the values of the arguments from words between options; a list takes all remaining words."""
    left = [word for group in groups for word in group]
    if len(groups) > 1 and any(slot.is_list for slot in slots):
        raise _UndecidedError
    for slot in slots:
        if slot.type_ is bool or (not left and slot.is_required):
            raise _UndecidedError
        if not left:
            return
        if slot.is_list:
            yield [slot.value(word) for word in left]
            left = []
        else:
            yield slot.value(left.pop(0))
    if left:
        raise _UndecidedError


def _slots(function: FunctionType) -> Iterator[_Slot]:
    """Generate the parameters of a function: first those of arguments, then those of options."""
    code = function.__code__
    if code.co_argcount != code.co_posonlyargcount or code.co_flags & (CO_VARARGS | CO_VARKEYWORDS):
        raise _UndecidedError
    hints = get_type_hints(function, include_extras=True)
    names = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
    first_optional = code.co_argcount - len(function.__defaults__ or ())
    optional = {*names[first_optional : code.co_argcount], *(function.__kwdefaults__ or {})}
    for name in names:
        type_, settings = _described(hints[name], {})
        if is_list := get_origin(type_) is list:
            type_, settings = _described(get_args(type_)[0], settings)
        yield _Slot(name, type_, Parameter(**settings), is_list, name not in optional)


def _described(hint: Any, outer: Mapping[str, Any]) -> tuple[Any, dict[str, Any]]:  # noqa: ANN401 - a type
    """Return a type without `None` and descriptions, and the settings from the descriptions and `outer`."""
    settings = dict(outer)
    while True:
        origin = get_origin(hint)
        if origin is Annotated:
            hint, *descriptions = get_args(hint)
            for description in reversed(descriptions):
                if isinstance(description, Parameter):
                    values = {field.name: getattr(description, field.name) for field in fields(description)}
                    settings = {key: value for key, value in values.items() if value is not None} | settings
        elif origin in (Union, UnionType):
            kinds = [kind for kind in get_args(hint) if kind is not type(None)]
            if len(kinds) != 1:
                return hint, settings
            (hint,) = kinds
        else:
            return hint, settings


def _value(type_: Any, text: str) -> object:  # noqa: ANN401 - a type
    """Return a word as a value of a type."""
    if type_ is str:
        return text
    if type_ is Path:
        return Path(text)
    if type_ is int and _INTEGER.fullmatch(text):
        return int(text)
    if type_ is float and _DECIMAL.fullmatch(text):
        return float(text)
    if get_origin(type_) is Literal and text in get_args(type_):
        return text
    raise _UndecidedError
