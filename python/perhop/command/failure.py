"""Error messages of commands: the error and its fix, never a traceback."""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import Any

from perhop import interrupts
from perhop.errors import Exit, PerhopError, ScenarioError
from perhop.printable import printable, without_log_commands

# Environment variable that shows the traceback of an unexpected error.
TRACEBACK = "PERHOP_TRACEBACK"


class UsageError(Exception):
    """A command line that no command accepts."""

    def __init__(self, message: str, command: str) -> None:
        """Create an error with the message, and the command whose help lists the accepted values."""
        super().__init__(message)
        self.command = command


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
        case UsageError():
            return (
                Exit.INVALID_INPUT,
                "usage",
                _prefixed(str(error), f"see: {error.command} --help"),
                {"message": str(error)},
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


def _prefixed(message: str, help: str | None) -> str:
    return f"error: {message}" + (f"\nhelp: {help}" if help else "")


def _colors() -> bool:
    return sys.stderr.isatty() and not os.environ.get("NO_COLOR")
