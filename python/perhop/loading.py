"""Reading files that perhop wrote; a file that cannot be read is invalid input."""

from __future__ import annotations

from pathlib import Path

from perhop.errors import UnreadableFileError
from perhop.inputs import SAVED, read_rest, regular_file, unreadable

__all__ = ["damaged", "has_text", "is_file", "read_bytes", "unreadable"]


def is_file(file: Path) -> bool:
    """Whether the file exists; raises `UnreadableFileError` if its folder cannot be searched."""
    try:
        return file.is_file()
    except OSError as error:
        raise unreadable(file, error) from error


def has_text(file: Path, text: str) -> bool:
    """Whether the file exists with exactly this text; compares bytes, as a damaged file may not be text."""
    return is_file(file) and read_bytes(file) == text.encode()


def read_bytes(
    file: Path, *, within: int | None = None, shown: Path | None = None, size: int | None = None
) -> bytes:
    """Return the contents of a regular file. With `within`, the name is relative to that open folder.

    Errors name the file `shown`; by default, the given name.

    Raises:
        UnreadableFileError: the file does not exist, is not a regular file, has another size, or cannot be
            read.

    """
    try:
        with regular_file(file, within) as stream:
            if size is None:
                return read_rest(stream, SAVED, shown or file)
            content = stream.read(size + 1)
            if len(content) != size:
                found = stream.seek(0, 2)
                raise damaged(shown or file, f"it has {found} bytes, but was saved with {size}")
            return content
    except OSError as error:
        raise unreadable(shown or file, error) from error


def damaged(file: Path, reason: str) -> UnreadableFileError:
    """Return the error for a file that perhop did not write."""
    return UnreadableFileError(f"`{file}` is damaged: {reason}", "run it again, or restore the file")
