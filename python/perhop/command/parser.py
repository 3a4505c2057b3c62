"""The parser of all command lines: help, completion, suggestions and errors.

`direct` reads plain command lines without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields
from difflib import get_close_matches
from importlib import import_module
from itertools import takewhile
from types import FunctionType, UnionType
from typing import Annotated, Any, Union, get_args, get_origin, get_type_hints

import cyclopts
from cyclopts import App, CycloptsError, UnknownOptionError, UnusedCliTokensError, validators

from perhop._core import __version__
from perhop.command.commands import COMMANDS, Command, Group
from perhop.command.failure import UsageError
from perhop.command.help_pages import FLAGS, Formatter, lay_out_examples
from perhop.command.parameter import Number, Parameter
from perhop.errors import InvalidInputError

# The minimum length of the common beginning of an unknown option and its suggestion, with the dashes: for
# `--reps`, the suggestion is `--replications`.
_ENOUGH_ALIKE = 5
_SHOWN = cyclopts.Parameter(negative=(), show_default=False)


def __getattr__(name: str) -> FunctionType:
    """Return the function `module.function` of a command; cyclopts calls this when it needs the command."""
    module, dot, function = name.partition(".")
    if not dot:
        raise AttributeError(name)
    found: FunctionType = getattr(import_module(f"perhop.command.{module}"), function)
    hints = get_type_hints(found, include_extras=True)
    # The function is copied, because `direct` reads the annotations of the original.
    copied = FunctionType(
        found.__code__, found.__globals__, found.__name__, found.__defaults__, found.__closure__
    )
    copied.__dict__.update(found.__dict__)
    copied.__doc__, copied.__kwdefaults__ = found.__doc__, found.__kwdefaults__
    copied.__annotations__ = {parameter: _translated(hint) for parameter, hint in hints.items()}
    return copied


def _translated(hint: Any) -> Any:  # noqa: ANN401 - a type
    """Return a type with descriptions for cyclopts."""
    if get_origin(hint) is Annotated:
        inner, *descriptions = get_args(hint)
        shown = [
            _parameter(description) if isinstance(description, Parameter) else description
            for description in descriptions
        ]
        return Annotated[_translated(inner), *shown]
    if get_origin(hint) in (Union, UnionType):
        return Union[tuple(map(_translated, get_args(hint)))]  # noqa: UP007 - of a tuple
    return hint


def _parameter(given: Parameter) -> cyclopts.Parameter:
    settings = {field.name: getattr(given, field.name) for field in fields(given)}
    settings = {name: value for name, value in settings.items() if value is not None}
    if isinstance(limits := settings.get("validator"), Number):
        settings["validator"] = validators.Number(**vars(limits))
    if (converter := given.converter) is not None:
        settings["converter"] = lambda _, tokens: converter(tokens[0].value)
    return cyclopts.Parameter(**settings)


def _filled(app: App, group: Group) -> App:
    """Add the commands of a group to `app`, and return `app`."""
    for name, entry in group.entries.items():
        if isinstance(entry, Command):
            module, _, function = entry.function.partition(":")
            app.command(
                f"{__name__}:{module}.{function}",
                name=name,
                help=entry.help or None,
                help_epilogue=entry.examples or None,
                show=entry.is_shown,
            )
        else:
            app.command(_filled(_group(entry), entry))
    return app


def _group(group: Group) -> App:
    return App(
        name=group.name,
        help=group.help,
        help_format="plaintext",
        help_epilogue=group.examples,
        default_parameter=_SHOWN,
    )


def program() -> App:
    """Return the parser of all command lines."""
    whole = App(
        name=COMMANDS.name,
        help=COMMANDS.help,
        help_format="plaintext",
        help_formatter=Formatter(),
        help_epilogue=COMMANDS.examples,
        version=__version__,
        default_parameter=_SHOWN,
        suppress_keyboard_interrupt=False,
    )
    return _filled(whole, COMMANDS)


app = program()


def run(tokens: Sequence[str]) -> Any:  # noqa: ANN401 - of any command
    """Run the command of a command line; raises `UsageError`."""
    if any(flag in tokens for flag in FLAGS):
        lay_out_examples(app, tokens)
    try:
        return app(list(tokens), exit_on_error=False, print_error=False, result_action="return_value")
    except CycloptsError as error:
        raise UsageError(_usage(error), " ".join(["perhop", *(error.command_chain or ())])) from error


def show_help(words: Sequence[str]) -> None:
    """Print the help of a command."""
    _, _, unknown = app.parse_commands(words)
    if unknown:
        raise InvalidInputError(f"there is no command `{' '.join(words)}`", "`perhop help` lists them")
    lay_out_examples(app, words)
    app.help_print(words)


def _usage(error: CycloptsError) -> str:
    if isinstance(error, UnusedCliTokensError):
        return f"too many arguments: {' '.join(error.unused_tokens or ())}"
    if isinstance(error, UnknownOptionError):
        given = (error.token.keyword or error.token.value).partition("=")[0]
        known = [name for argument in error.argument_collection if argument.parse for name in argument.names]
        near = " or ".join(_nearest(given, known))
        return f"unknown option: {given}." + (f" Did you mean {near}?" if near else "")
    return str(error)


def _nearest(given: str, known: list[str]) -> list[str]:
    """Return the options with the longest common beginning, otherwise one with similar letters, if any."""
    alike = {
        name: sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(name, given, strict=False)))
        for name in known
    }
    most = max(alike.values(), default=0)
    if most >= _ENOUGH_ALIKE:
        return sorted(name for name in known if alike[name] == most)
    return get_close_matches(given, known, n=1)
