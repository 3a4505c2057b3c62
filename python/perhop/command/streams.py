"""Standard output and standard error, which may be full, closed, or a pipe without a reader."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing_extensions import Buffer

_OUT, _ERR = 1, 2


class Output(io.FileIO):
    """Standard output as a raw file that remembers its failure.

    The error itself has no file name, so it could not be distinguished from other errors.
    """

    failure: OSError | None = None

    def write(self, data: Buffer, /) -> int:
        """Write, and remember a failure."""
        try:
            return super().write(data)
        except OSError as error:
            self.failure = error
            raise


def watched_output() -> Output:
    """Make an `Output` the raw file of `sys.stdout` and return it; closed streams are opened first."""
    if sys.stderr is None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), _ERR)
        sys.stderr = open(_ERR, "w", encoding="utf-8", closefd=False)  # noqa: SIM115 - a descriptor
    if sys.stdout is None:
        # The file is opened only for reading, so that each write fails.
        os.dup2(os.open(os.devnull, os.O_RDONLY), _OUT)
    given = sys.stdout
    output = Output(_OUT, "w", closefd=False)
    sys.stdout = io.TextIOWrapper(
        io.BufferedWriter(output),
        encoding=given.encoding if given else "utf-8",
        errors=given.errors if given else None,
        line_buffering=output.isatty(),
    )
    return output


def give_up(output: Output) -> None:
    """Report the failure of standard output, unless the reader closed the pipe, and discard the buffer."""
    if output.failure is not None and not isinstance(output.failure, BrokenPipeError):
        with suppress(OSError):
            print(f"error: standard output: {output.failure.strerror}", file=sys.stderr)
    # The interpreter would try to write the rest of the buffer at its end, and fail again.
    os.dup2(os.open(os.devnull, os.O_WRONLY), _OUT)
