"""Error messages of commands: the error and its fix, never a traceback."""

from __future__ import annotations

import json
import os
import sys
import traceback
from difflib import get_close_matches
from itertools import takewhile
from typing import Any

from cyclopts import CycloptsError, UnknownOptionError, UnusedCliTokensError

from perhop import interrupts
from perhop.errors import Exit, PerhopError, ScenarioError
from perhop.printable import printable, without_log_commands

# Environment variable that shows the traceback of an unexpected error.
TRACEBACK = "PERHOP_TRACEBACK"
# The minimum number of common letters at the beginning, including dashes: `--reps` is `--replications`.
_ENOUGH_ALIKE = 5


def report(error: BaseException, tokens: list[str]) -> Exit:
    """Report an error on stderr (with `--json` also on stdout) and return the exit code."""
    code, kind, message, details = _explain(error)
    if message:
        # Diagnostics have colors of their own and are already safe to show.
        is_safe = isinstance(error, ScenarioError)
        print(without_log_commands(message) if is_safe else printable(message), file=sys.stderr)
    if os.environ.get(TRACEBACK):
        traceback.print_exception(error)
    if "--json" in tokens:
        # There is always one document on stdout, so that programs need not read stderr.
        failure = {"kind": kind, "message": details.pop("message", message), **details}
        print(json.dumps({"schema_version": 1, "error": failure}, ensure_ascii=False))
    return code


def _explain(error: BaseException) -> tuple[Exit, str, str, dict[str, Any]]:
    """Return exit code, kind, message, and further keys for programs."""
    match error:
        case KeyboardInterrupt():
            return Exit.INTERRUPTED, "interrupted", f"interrupted: {interrupts.so_far()}", _written()
        case interrupts.EndedBySignal():
            return Exit.INTERRUPTED, "terminated", f"terminated: {interrupts.so_far()}", _written()
        case SystemExit():
            return Exit(error.code) if isinstance(error.code, int) else Exit.FAILED, "terminated", "", {}
        case ScenarioError():
            text = error.colored if _colors() else str(error)
            return (
                Exit.INVALID_INPUT,
                "scenario",
                text,
                {"message": str(error), "diagnostics": error.diagnostics},
            )
        case CycloptsError():
            command = " ".join(["perhop", *(error.command_chain or ())])
            message = _usage(error)
            return (
                Exit.INVALID_INPUT,
                "usage",
                _prefixed(message, f"see: {command} --help"),
                {"message": message},
            )
        case PerhopError():
            kind = error.exit_code.name.lower().replace("_", "-")
            return (
                error.exit_code,
                kind,
                _prefixed(str(error), error.help),
                {"message": str(error), "help": error.help},
            )
        case ModuleNotFoundError() if error.name:
            install = f"install it: pip install {error.name.partition('.')[0]}"
            return Exit.MISSING_CAPABILITY, "missing-capability", _prefixed(str(error), install), {}
        case OSError():
            where = f"{error.filename}: " if error.filename else ""
            message = _prefixed(f"{where}{error.strerror or error}", None)
            if interrupts.written:
                message += f"\n{interrupts.so_far()}"
            return Exit.WRITE_FAILED, "failed", message, _written()
        case _:
            message = f"internal error: {type(error).__name__}: {error}"
            advice = f"please report it with the output of {TRACEBACK}=1"
            return Exit.INTERNAL, "internal", _prefixed(message, advice), {}


def _written() -> dict[str, Any]:
    return {"written": list(interrupts.written)}


def _usage(error: CycloptsError) -> str:
    if isinstance(error, UnusedCliTokensError):
        return f"too many arguments: {' '.join(error.unused_tokens or ())}"
    if isinstance(error, UnknownOptionError):
        given = (error.token.keyword or error.token.value).partition("=")[0]
        known = [name for one in error.argument_collection if one.parse for name in one.names]
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


def _prefixed(message: str, help: str | None) -> str:
    return f"error: {message}" + (f"\nhelp: {help}" if help else "")


def _colors() -> bool:
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR")
