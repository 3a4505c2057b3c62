"""Single keys from the terminal during a display."""

from __future__ import annotations

import os
import select
import signal
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from perhop.interrupts import deferred

if TYPE_CHECKING:
    from types import FrameType

_MOST_BYTES = 64
_ESCAPE = b"\x1b"


class Keys:
    """The keys that the user presses; the terminal does not echo them."""

    def __init__(self, descriptor: int) -> None:
        """Read the terminal of a descriptor key by key, until `close`."""
        self._descriptor = descriptor
        self._before = termios.tcgetattr(descriptor)
        self._is_open = False
        self._open()
        self._stopped = signal.signal(signal.SIGTSTP, self._stop)

    def pressed(self) -> str:
        """Return the keys that were pressed since the last call."""
        found = b""
        while self._is_open and select.select([self._descriptor], [], [], 0)[0]:
            part = os.read(self._descriptor, _MOST_BYTES)
            if not part:  # the terminal is closed
                break
            # Arrow and function keys begin with an escape. They have no function in the display.
            found += part.partition(_ESCAPE)[0]
        return found.decode(errors="ignore")

    def close(self) -> None:
        """Restore the terminal."""
        if self._is_open:
            self._is_open = False
            # The shell would run unread keys as a command.
            termios.tcsetattr(self._descriptor, termios.TCSAFLUSH, self._before)
            signal.signal(signal.SIGTSTP, self._stopped)

    def _open(self) -> None:
        # Ctrl-C and Ctrl-Z stay signals.
        tty.setcbreak(self._descriptor, termios.TCSADRAIN)
        self._is_open = True

    def _stop(self, number: int, frame: FrameType | None) -> None:
        """Restore the terminal while Ctrl-Z stops the process."""
        termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._before)
        signal.signal(signal.SIGTSTP, signal.SIG_DFL)
        os.kill(os.getpid(), signal.SIGTSTP)
        # Execution continues here when the stopped process is resumed.
        signal.signal(signal.SIGTSTP, self._stop)
        if self._is_open and _is_in_foreground(self._descriptor):
            self._open()


@contextmanager
def keys() -> Iterator[Keys | None]:
    """Yield the keys of standard input; `None` if it is not a terminal.

    A process in the background also has no keys.
    """
    descriptor = sys.stdin.fileno() if sys.stdin is not None and sys.stdin.isatty() else -1
    if descriptor < 0 or not _is_in_foreground(descriptor):
        yield None
        return
    found = None
    try:
        # A signal that arrives meanwhile is handled when the terminal can be restored.
        with deferred():
            found = Keys(descriptor)
        yield found
    finally:
        if found is not None:
            with deferred():
                found.close()


def _is_in_foreground(descriptor: int) -> bool:
    """Whether this process may change the terminal. A background process would be stopped."""
    try:
        return os.tcgetpgrp(descriptor) == os.getpgrp()
    except OSError:
        return False
