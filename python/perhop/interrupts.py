"""Signals that end a program: deferred during critical sections, and reported with the written files."""

from __future__ import annotations

import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import TYPE_CHECKING, Any

from perhop.errors import Exit

if TYPE_CHECKING:
    from sys import UnraisableHookArgs

#: Ctrl-C, the request to end, and the end of the terminal, which Windows lacks.
ENDING = [
    signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if name in signal.Signals.__members__
]

#: The files that this process has written so far, as messages name them.
written: list[str] = []


def so_far() -> str:
    """Return the list of written files as text, for the message of a command that ends early."""
    return f"written before: {', '.join(written)}" if written else "nothing was written"


class EndedBySignal(SystemExit):
    """A signal requests the end of the program."""

    def __init__(self, number: int) -> None:
        super().__init__(Exit.INTERRUPTED)
        self.number = number


_handled: list[signal.Signals] = []

# The delay before a retry of a signal that arrived where it cannot raise an exception.
_AGAIN_AFTER_S = 0.01

# Modules in which signals raise no exception: an interrupted import leaves a partial module, and the other
# modules call Python from native code, which panics on an unexpected exception.
_UNBROKEN = {"importlib", "_frozen_importlib", "matplotlib", "numpy", "polars"}

# Methods of `threading` in which signals raise no exception, because their lock would stay locked and other
# threads would wait forever.
_LOCKING = {"__enter__", "__exit__"}


def handle() -> None:
    """Install handlers that raise an exception for each signal that ends a program.

    Ctrl-C raises `KeyboardInterrupt`, the other signals `EndedBySignal`. Ignored signals stay ignored,
    because the caller may want the program to continue, as nohup does. A signal that arrives during work in
    `_UNBROKEN` or `_LOCKING` raises its exception after that work.
    """
    _handled[:] = [number for number in ENDING if signal.getsignal(number) != signal.SIG_IGN]
    for number in _handled:
        signal.signal(number, _raised)
    if hasattr(signal, "setitimer"):
        sys.unraisablehook = _ignored


def handle_as(handling: signal.Handlers) -> None:
    """Set `handling` for the signals of `handle`: ignored, or default.

    A pending retry is canceled.
    """
    for number in _handled:
        signal.signal(number, handling)
    if hasattr(signal, "setitimer"):
        signal.setitimer(signal.ITIMER_REAL, 0.0)


def _raised(number: int, frame: FrameType | None) -> None:
    if hasattr(signal, "setitimer") and _is_unbroken(frame):
        _come_again(number)
    elif number == signal.SIGINT:
        raise KeyboardInterrupt
    else:
        raise EndedBySignal(number)


def _is_unbroken(frame: FrameType | None) -> bool:
    frame = frame or sys._getframe()
    # Skip the frames of this module, which are those of the alarm that retries a signal.
    while frame is not None and frame.f_globals is globals() and frame.f_code is not _ignored.__code__:
        frame = frame.f_back
    if frame is not None and _module(frame) == "threading" and frame.f_code.co_name in _LOCKING:
        return True
    while frame is not None:
        # Python also ignores an exception that leaves its hook for ignored exceptions.
        if frame.f_code is _ignored.__code__ or _module(frame).partition(".")[0] in _UNBROKEN:
            return True
        frame = frame.f_back
    return False


def _module(frame: FrameType) -> str:
    return str(frame.f_globals.get("__name__"))


def _come_again(number: int) -> None:
    signal.signal(signal.SIGALRM, lambda alarm, frame: signal.raise_signal(number))
    signal.setitimer(signal.ITIMER_REAL, _AGAIN_AFTER_S)


def _ignored(found: UnraisableHookArgs) -> None:
    """Retry a signal whose exception Python had to ignore.

    A handler may run in a finalizer or in the callback of a weak reference. An exception there is lost, and
    Ctrl-C would have no effect.
    """
    number = _sent(found.exc_type, found.exc_value)
    if number is None:
        sys.__unraisablehook__(found)
    else:
        _come_again(number)


def _sent(kind: type[BaseException], error: BaseException | None) -> signal.Signals | None:
    """Return the signal for an exception that a signal raised; `None` for any other exception."""
    if issubclass(kind, KeyboardInterrupt):
        return signal.SIGINT
    return signal.Signals(error.number) if isinstance(error, EndedBySignal) else None


def behind(error: BaseException) -> BaseException:
    """Return the exception of a signal if its interruption of a lock caused `error`, otherwise `error`.

    `threading` takes a lock again in a `finally`. If a signal arrives just before that, the surrounding
    `with` finds the lock free (`RuntimeError: release unlocked lock`).
    """
    torn = error.__context__
    if isinstance(error, RuntimeError) and torn is not None and _sent(type(torn), torn) is not None:
        return torn
    return error


class Deferral:
    """The deferred signals, and their original handlers."""

    def __init__(self) -> None:
        self._before: dict[signal.Signals, Any] = {}
        self._received: list[int] = []
        self._admits = True

    def _arrived(self, number: int, frame: FrameType | None) -> None:
        if not self._admits:
            self._received.append(number)
            return
        self._pass_on(number, frame)

    def _pass_on(self, number: int, frame: FrameType | None) -> None:
        before = self._before[signal.Signals(number)]
        if callable(before):
            before(number, frame)
        else:
            # Without a Python handler, the system ends the process.
            signal.signal(number, before)
            signal.raise_signal(number)

    def begin(self) -> None:
        """Start to defer signals, except those that are ignored or not handled by Python."""
        for number in ENDING:
            before = signal.getsignal(number)
            if before is not None and before != signal.SIG_IGN:
                self._before[number] = before
        self._admits = False
        for number in self._before:
            signal.signal(number, self._arrived)

    def end(self) -> None:
        """Restore the handlers, and handle the deferred signals.

        `_arrived` handles a signal that arrives before the last handler is restored.
        """
        self._admits = True
        for number, before in self._before.items():
            signal.signal(number, before)
        for received in self._received:
            signal.raise_signal(received)

    @contextmanager
    def admitted(self) -> Iterator[None]:
        """Handle signals immediately within the block, for work that may be abandoned."""
        self._admits = True
        try:
            while self._received:
                self._pass_on(self._received.pop(0), None)
            yield
        finally:
            self._admits = False


@contextmanager
def deferred() -> Iterator[Deferral]:
    """Defer SIGINT, SIGTERM and SIGHUP until the end of the block.

    Python handles signals in its main thread, so other threads are never interrupted.
    """
    deferral = Deferral()
    if threading.current_thread() is not threading.main_thread():
        yield deferral
        return
    try:
        deferral.begin()
        yield deferral
    finally:
        deferral.end()
