"""What can go wrong, each with the exit code it ends the command line with."""

from enum import IntEnum


class Exit(IntEnum):
    """The exit codes of `perhop`; docs/exit-codes.md is their reference."""

    OK = 0
    FAILED = 1
    INVALID_INPUT = 2
    CLAIMS_NOT_MET = 4
    MISSING_CAPABILITY = 5
    INTERRUPTED = 130
    TERMINATED = 143


class PerhopError(Exception):
    """Something failed for a reason that a user can understand; `help` says what would be right."""

    exit_code = Exit.FAILED

    def __init__(self, message: str, help: str | None = None) -> None:
        super().__init__(message)
        self.help = help


class InvalidInputError(PerhopError):
    """The user asked for something that cannot be."""

    exit_code = Exit.INVALID_INPUT


class UnreadableFileError(InvalidInputError):
    """A file that the user named, or that belongs to a folder that was named, cannot be read."""


class MissingCapabilityError(PerhopError):
    """Something is missing on the machine or in the installation."""

    exit_code = Exit.MISSING_CAPABILITY
