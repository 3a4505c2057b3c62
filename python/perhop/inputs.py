"""Limits of user-named files, and the function that opens them.

`perhop` reads regular files only: a device or a pipe may never end. docs/check.md
has the table of all limits. The extension module reads the files that a scenario names, with the same limits.
"""

from __future__ import annotations

import errno
import json
import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

from perhop.errors import NESTED_TOO_DEEPLY, UnreadableFileError, has_levels

# The flags for opening a file: `O_NONBLOCK` does not wait for the other end of a pipe, and `O_BINARY` reads
# bytes on Windows.
_FLAGS = os.O_RDONLY | sum(getattr(os, name, 0) for name in ("O_NONBLOCK", "O_CLOEXEC", "O_BINARY"))
# The simulator uses the same wording for the files that it reads.
_REASONS = {
    errno.ENOENT: "there is no such file",
    errno.EACCES: "no permission",
    errno.EISDIR: "it is a directory",
}
_KIB, _MIB = 1 << 10, 1 << 20


@dataclass(frozen=True)
class Limits:
    """The limits of one kind of file; `None` if only the bytes are limited."""

    #: The kind of the file, as in `a router configuration`.
    kind: str
    most_bytes: int
    most_lines: int | None = None
    #: The maximum length of a line, bytes, without its line ending.
    longest_line: int | None = None

    def require(self, content: bytes, file: Path | str) -> None:
        """Raise `UnreadableFileError` for content above a limit."""
        if len(content) > self.most_bytes:
            raise self.beyond(file, f"more than {self.most_bytes} bytes", "a shorter file")
        if self.most_lines is not None and content.count(b"\n") > self.most_lines:
            raise self.beyond(file, f"more than {self.most_lines} lines", "a shorter file")
        longest = self.longest_line
        # Search for line ends instead of splitting, which would need a list of all lines in memory.
        begin = 0
        while longest is not None and len(content) - begin > longest:
            end = content.rfind(b"\n", begin, begin + longest + 1)
            if end < 0:
                number = content.count(b"\n", 0, begin) + 1
                raise self.beyond(file, f"more than {longest} bytes in line {number}", "shorter lines")
            begin = end + 1

    def beyond(self, file: Path | str, what: str, right: str) -> UnreadableFileError:
        """Return the error for a file above a limit, with the allowed value."""
        return UnreadableFileError(
            f"`{file}` has {what}, the limit of {self.kind}", f"give {right}; docs/check.md lists all limits"
        )


#: IOS configurations, commands of tc, and outputs of tc and `show`; the output of `tc -j` is one line.
ROUTER = Limits("a router configuration", 32 * _MIB, 500_000, 4 * _MIB)
#: Scenarios and policies, also on standard input; the extension module reads them.
SCENARIO = Limits("a scenario", 16 * _MIB)
POLICY_TESTS = Limits("a file of tests", 4 * _MIB, 100_000, 64 * _KIB)
SETTINGS = Limits("a file of settings", _MIB, 10_000, 64 * _KIB)
ASSERTIONS = Limits("a file of assertions", 4 * _MIB, 100_000, 64 * _KIB)
#: Rates by class and flow records.
TRAFFIC = Limits("a table of traffic", 128 * _MIB, 2_000_000, 64 * _KIB)
#: Captures in pcap and pcapng.
CAPTURE = Limits("a capture", 512 * _MIB)
STUDY = Limits("a definition of a study", 4 * _MIB, 100_000, 64 * _KIB)
PUBLISHED = Limits("a table of published figures", 16 * _MIB, 500_000, 64 * _KIB)
SHEET = Limits("a result sheet", 16 * _MIB)
#: Files that perhop wrote and whose size is not in a manifest, such as a manifest.
SAVED = Limits("a saved file", 256 * _MIB)


def unreadable(file: Path, error: OSError) -> UnreadableFileError:
    """Return the error for a file that the system cannot read."""
    reason = _REASONS.get(error.errno or 0, error.strerror or str(error))
    return UnreadableFileError(f"cannot read `{file}`: {reason}")


@contextmanager
def regular_file(file: Path, within: int | None = None) -> Iterator[IO[bytes]]:
    """Open a regular file. With `within`, the name is relative to that open folder.

    Raises:
        OSError: there is no such file, or it is a folder, a pipe, a device or a socket.

    """
    opened = os.open(file, _FLAGS, dir_fd=within)
    with os.fdopen(opened, "rb") as stream:
        mode = os.fstat(opened).st_mode
        if stat.S_ISDIR(mode):
            raise OSError(errno.EISDIR, "it is a directory")
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, f"it is {_name_of(mode)}, not a regular file")
        yield stream


def _name_of(mode: int) -> str:
    """Return the kind of a file that is not regular."""
    names = ((stat.S_ISFIFO, "a pipe"), (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"))
    return next((name for is_kind, name in names if is_kind(mode)), "a socket")


def read_rest(stream: IO[bytes], limits: Limits, file: Path | str, begin: bytes = b"") -> bytes:
    """Return `begin` and the rest of a stream; raises `UnreadableFileError` above a limit."""
    content = begin + stream.read(limits.most_bytes + 1 - len(begin))
    limits.require(content, file)
    return content


def require_regular(file: Path, limits: Limits) -> None:
    """Refuse a file that is not regular or too large, before the extension module reads it.

    The extension module reports missing files, folders and files without permission; its errors have hints.

    Raises:
        UnreadableFileError: the file is a pipe, a device or a socket, or beyond the limits.

    """
    try:
        with regular_file(file) as stream:
            size = stream.seek(0, os.SEEK_END)
    except OSError as error:
        if error.errno == errno.EINVAL:
            raise unreadable(file, error) from error
        return
    if size > limits.most_bytes:
        raise limits.beyond(file, f"more than {limits.most_bytes} bytes", "a shorter file")


def parsed_json(text: str | bytes, constant: Callable[[str], Any] | None = None) -> Any:  # noqa: ANN401 - JSON
    """Return the value of an untrusted JSON text; `constant` reads `NaN` and infinities.

    Raises:
        ValueError: the text is malformed, or its lists and mappings are nested too deeply.

    """
    try:
        found = json.loads(text, parse_constant=constant)
    except RecursionError as error:
        raise ValueError(NESTED_TOO_DEEPLY) from error
    if not has_levels(found):
        raise ValueError(NESTED_TOO_DEEPLY)
    return found


def read_input(file: Path, limits: Limits) -> bytes:
    """Return the content of a regular file that a user named.

    Raises:
        UnreadableFileError: the file does not exist, is not a regular file, or exceeds the limits.

    """
    try:
        with regular_file(file) as stream:
            return read_rest(stream, limits, file)
    except OSError as error:
        raise unreadable(file, error) from error
