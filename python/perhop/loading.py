"""Reading files that perhop wrote; a file that cannot be read is invalid input."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

from perhop.errors import UnreadableFileError

# Without waiting, should it be a pipe; as bytes and not as text, which Windows tells apart.
_FLAGS = getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
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


def read_bytes(
    file: Path, *, within: int | None = None, shown: Path | None = None, size: int | None = None
) -> bytes:
    """Return the contents of a regular file, whose name is relative to the open folder `within`, if given.

    Errors name it as `shown`, by default as it is given.

    Raises:
        UnreadableFileError: there is no such file, it is none, it has another size, or it cannot be read.

    """
    try:
        opened = os.open(file, os.O_RDONLY | _FLAGS, dir_fd=within)
        with os.fdopen(opened, "rb") as stream:
            status = os.fstat(opened)
            if not stat.S_ISREG(status.st_mode):
                is_folder = stat.S_ISDIR(status.st_mode)
                raise OSError(errno.EISDIR if is_folder else errno.EINVAL, "it is not a regular file")
            content = stream.read() if size is None else stream.read(size + 1)
            if size is not None and len(content) != size:
                raise damaged(shown or file, f"it has {status.st_size} bytes and was saved with {size}")
            return content
    except OSError as error:
        raise unreadable(shown or file, error) from error


def damaged(file: Path, reason: str) -> UnreadableFileError:
    """Return the error for a file whose contents are not what perhop writes."""
    return UnreadableFileError(f"`{file}` is damaged: {reason}", "run it again, or restore the file")
