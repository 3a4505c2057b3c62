"""The errors of perhop, each with the exit code of the command line.

Every error that perhop raises for a reason outside its own code derives from `PerhopError`. Errors of the
operating system (`OSError`) and interrupts (`KeyboardInterrupt`) pass through unchanged.
"""

from enum import IntEnum
from typing import Literal, TypedDict


class Exit(IntEnum):
    """The exit codes of `perhop`; docs/exit-codes.md is their reference."""

    OK = 0
    FINDINGS = 1
    INVALID_INPUT = 2
    INTERRUPTED = 3
    NOT_MET = 4
    MISSING_CAPABILITY = 5
    #: Exit codes of BSD sysexits.h: EX_SOFTWARE, EX_IOERR, EX_TEMPFAIL.
    INTERNAL = 70
    WRITE_FAILED = 74
    FAILED = 75


class PerhopWarning(UserWarning):
    """A warning for users of perhop; the command line shows it in a line."""


#: Limit on the nesting of lists and mappings, as in the readers in Rust.
MOST_LEVELS = 64
#: The message about a document with more levels.
NESTED_TOO_DEEPLY = f"lists and mappings are nested more than {MOST_LEVELS} levels deep"


class PerhopError(Exception):
    """The root of perhop's errors: the message describes the failure, `help` the fix, if known."""

    exit_code = Exit.FAILED

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.help = help

    def __str__(self) -> str:
        """Return the message without the quotes that `KeyError` adds."""
        return str(self.args[0])


class InvalidInputError(PerhopError):
    """An argument, an option or a file is not valid."""

    exit_code = Exit.INVALID_INPUT


class Diagnostic(TypedDict):
    """An error or a warning about a place in a file; fields that do not apply are `None`."""

    severity: Literal["error", "warning", "note"]
    #: The rule of `perhop check` that found the error or warning.
    rule: str
    file: str | None
    line: int | None
    column: int | None
    path: str
    #: The override that caused the error or warning, as `path=value`.
    set: str | None
    message: str
    help: str | None


class ScenarioError(InvalidInputError):
    """A scenario, a policy or a router configuration cannot be read or built.

    The message is the rendered text of all diagnostics.
    """

    #: All errors and warnings found.
    diagnostics: list[Diagnostic]
    #: The message with colors for a terminal.
    colored: str

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message, help)
        # The extension module raises this error and sets both attributes.
        self.diagnostics = []
        self.colored = message


class UnknownNameError(InvalidInputError, KeyError):
    """A table, a queue, a case or a step does not exist; also a `KeyError`."""


class UnreadableFileError(InvalidInputError):
    """A file is missing, damaged or must not be read."""


class MissingCapabilityError(PerhopError):
    """The machine or the installation lacks something: a package, a privilege, a kernel feature."""

    exit_code = Exit.MISSING_CAPABILITY


def require_levels(value: object, where: str) -> None:
    """Refuse lists and mappings that are nested too deeply; `where` begins the message.

    Raises:
        InvalidInputError: there are more levels than `MOST_LEVELS`.

    """
    if not has_levels(value):
        raise InvalidInputError(f"{where}: {NESTED_TOO_DEEPLY}")


def has_levels(value: object) -> bool:
    """Whether lists and mappings are nested no deeper than `MOST_LEVELS`."""
    level: list[object] = [value]
    for _ in range(MOST_LEVELS + 1):
        mappings = [part.values() for part in level if isinstance(part, dict)]
        lists = [part for part in level if isinstance(part, list)]
        if not mappings and not lists:
            return True
        level = [inner for outer in (*mappings, *lists) for inner in outer]
    return False
