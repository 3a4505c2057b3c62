"""Reading back what perhop wrote: a file that cannot be read is wrong input, and no failure of perhop."""

from __future__ import annotations

import errno
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perhop.errors import InvalidInputError, UnreadableFileError

if TYPE_CHECKING:
    import polars as pl

# As the simulator says it of the files that it reads itself.
_REASONS = {
    errno.ENOENT: "there is no such file",
    errno.EACCES: "no permission",
    errno.EISDIR: "it is a directory",
}


def unreadable(file: Path, error: OSError) -> UnreadableFileError:
    """Return what to say of a file that the system did not let be read."""
    reason = _REASONS.get(error.errno or 0, error.strerror or str(error))
    return UnreadableFileError(f"cannot read `{file}`: {reason}")


def is_file(file: Path) -> bool:
    """Whether there is such a file; raises where that cannot be seen, as in a folder without permission."""
    try:
        return file.is_file()
    except OSError as error:
        raise unreadable(file, error) from error


def read_json(file: Path, *, missing: InvalidInputError | None = None) -> Any:  # noqa: ANN401 - whatever it holds
    """Return what a file of a folder of results holds; raises `missing`, if given, where there is none."""
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        is_missing = isinstance(error, FileNotFoundError | NotADirectoryError)
        raise (missing if missing and is_missing else unreadable(file, error)) from error
    except ValueError as error:
        raise _damaged(file, str(error)) from error


def read_table(file: Path) -> pl.DataFrame:
    """Return a table that was written as Parquet."""
    import polars as pl

    try:
        # What polars says of a folder, or of no permission, is about neither.
        file.open("rb").close()
        # By its name as it is: a bracket in it is no pattern.
        return pl.read_parquet(file, glob=False)
    except OSError as error:
        raise unreadable(file, error) from error
    except pl.exceptions.PolarsError as error:
        raise _damaged(file, str(error).splitlines()[0]) from error


def _damaged(file: Path, reason: str) -> UnreadableFileError:
    return UnreadableFileError(f"{file} is damaged: {reason}", "run it again, or undo what changed it")
