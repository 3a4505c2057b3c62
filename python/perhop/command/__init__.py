"""The command line.

`direct` reads plain command lines, and `overview` has the help of groups. The parser of all other command
lines is imported only for such a command line. The module of a command is imported when the command runs.
"""

from __future__ import annotations

import signal
import sys
import warnings
from collections.abc import Iterator, Sequence
from functools import partial
from typing import NoReturn, TextIO

from perhop import interrupts
from perhop.command import direct, failure, overview, streams
from perhop.command.commands import COMMANDS
from perhop.errors import Exit, PerhopWarning


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and end the process with its exit code."""
    given = sys.argv[1:] if arguments is None else arguments
    tokens = list(_understood(given))
    warnings.showwarning = _warn
    output = streams.watched_output()
    try:
        code = _guarded(tokens, output)
        _end()
        sys.stdout.flush()
    except OSError:
        code = Exit.WRITE_FAILED
    if output.failure is not None:
        streams.give_up(output)
        code = Exit.WRITE_FAILED
    sys.exit(int(code))


def _understood(given: Sequence[str]) -> Iterator[str]:
    """Generate the arguments as the parser reads them."""
    # The command line of another program follows `perhop live exec HOST`.
    is_own = list(given[:2]) != ["live", "exec"]
    for place, token in enumerate(given):
        # The parser reads `-`, which means standard input, as an option.
        if token == "-":
            yield "./-"
        # The parser has no options with an optional value.
        elif token == "--watch" and is_own and "--" not in given[:place]:
            yield "--watch=terminal"
        else:
            yield token


def _guarded(tokens: list[str], output: streams.Output) -> Exit:
    try:
        try:
            # Inside the `try`, because signal handlers raise exceptions, which are caught below.
            interrupts.handle()
            return _dispatch(tokens)
        finally:
            # The remaining steps are short and must not be interrupted.
            interrupts.handle_as(signal.SIG_IGN)
    except BrokenPipeError:
        return Exit.WRITE_FAILED
    except BaseException as error:
        interrupts.handle_as(signal.SIG_IGN)
        # A failure of standard output is reported once, at the end.
        if output.failure is not None:
            return Exit.WRITE_FAILED
        return failure.report(interrupts.behind(error), tokens)


def _dispatch(tokens: list[str]) -> Exit:
    if overview.shows(tokens, COMMANDS):
        return Exit.OK
    call = direct.call_of(tokens, COMMANDS)
    if call is None:
        from perhop.command import parser  # lazy: cyclopts

        call = partial(parser.run, tokens)
    code = call()
    return code if isinstance(code, Exit) else Exit.OK


def _end() -> None:
    """Remove unfinished files. Then restore signals, so that they end a process with unread output."""
    if "perhop.saving" in sys.modules:
        from perhop import saving  # lazy: imported only by commands that write files

        saving.give_up()
    interrupts.handle_as(signal.SIG_DFL)


def _warn(  # noqa: PLR0917 - as Python calls it
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: TextIO | None = None,
    line: str | None = None,
) -> None:
    """Print a warning of perhop in one line; warnings of libraries are not shown."""
    if issubclass(category, PerhopWarning):
        print(f"warning: {message}", file=sys.stderr)
