"""`--watch=web`: the live view in a browser, and its link in the terminal."""

from __future__ import annotations

import html
import os
import sys
import tempfile
import webbrowser
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from perhop.command.terminal import print_note
from perhop.viewing.hub import Hub
from perhop.viewing.page import Kind, page, script
from perhop.viewing.server import Answer, Server

# The wait for a page after the end of the command, seconds: until it is first opened, and until it is opened
# again after it was closed.
_FIRST_S, _AGAIN_S = 60.0, 4.0


@contextmanager
def served(kind: Kind, hub: Hub, answer: Answer, *, opened: bool) -> Iterator[None]:
    """Serve the page within the block. Its link is printed, and opened if there is a browser."""
    with announced(kind, hub, answer, opened=opened) as server:
        server.start()
        yield


@contextmanager
def announced(kind: Kind, hub: Hub, answer: Answer, *, opened: bool) -> Iterator[Server]:
    """Yield a server that listens in the current network namespace, and answers after its start.

    Before the start, a process with one thread can move into another network.
    """
    script()  # a copy without the page fails before anything runs
    server = Server(hub, lambda nonce: page(kind, nonce), answer)
    try:
        with ExitStack() as until_closed:
            shown = opened and _has_display() and _open_page(until_closed, server.link)
            print_note(f"{'opened' if shown else 'to watch, open'} {server.link}")
            yield server
    finally:
        server.close()


def _open_page(until_closed: ExitStack, link: str) -> bool:
    """Open the page of a link in a browser, and return whether there is one."""
    return webbrowser.open(until_closed.enter_context(_page_to(link)))


@contextmanager
def _page_to(link: str) -> Iterator[str]:
    """Yield the address of a page that redirects to a link, during the block.

    Every user of the machine may read the command line of a browser, but only this user can read the page.
    """
    with tempfile.TemporaryDirectory(prefix="perhop-") as folder:  # mode 0700
        file = Path(folder) / "watch.html"
        with os.fdopen(os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as page_file:
            page_file.write(f'<!doctype html><meta http-equiv="refresh" content="0;url={html.escape(link)}">')
        yield file.as_uri()


def stay(hub: Hub) -> None:
    """Wait while the page is open, after the command is done; Ctrl-C also ends the wait."""
    try:
        print_note("everything is done; the page stays until it is closed, or until Ctrl-C")
        hub.wait_until_left(_FIRST_S, _AGAIN_S)
    except KeyboardInterrupt:
        # The work of the command has ended.
        print_note("")


def _has_display() -> bool:
    """Whether a browser can open a window. A browser in the terminal would disturb the display there."""
    if sys.platform != "linux":
        return True
    return any(os.environ.get(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER"))
