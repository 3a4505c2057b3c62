"""Reading files that perhop wrote; a file that cannot be read is invalid input."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import Any

from perhop.errors import InvalidInputError, UnreadableFileError

# The wording of the simulator for the files that it reads itself.
_REASONS = {
    errno.ENOENT: "there is no such file",
    errno.EACCES: "no permission",
    errno.EISDIR: "it is a directory",
}


def unreadable(file: Path, error: OSError) -> UnreadableFileError:
    """Return the error for a file that the system could not read."""
    reason = _REASONS.get(error.errno or 0, error.strerror or str(error))
    return UnreadableFileError(f"cannot read `{file}`: {reason}")


def is_file(file: Path) -> bool:
    """Whether the file exists; raises `UnreadableFileError` where its folder cannot be searched."""
    try:
        return file.is_file()
    except OSError as error:
        raise unreadable(file, error) from error


def read_json(file: Path, *, missing: InvalidInputError | None = None) -> Any:  # noqa: ANN401 - whatever it holds
    """Return the contents of a JSON file; raises `missing`, if given, when there is no such file."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        raise (missing if missing and is_missing else unreadable(file, error)) from error
    except ValueError as error:
        raise damaged(file, str(error)) from error


def damaged(file: Path, reason: str) -> UnreadableFileError:
    """Return the error for a file whose contents are not what perhop writes."""
    return UnreadableFileError(f"`{file}` is damaged: {reason}", "run it again, or restore the file")
