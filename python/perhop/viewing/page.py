"""The page of a live view: parts of the playground, with data from this process."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import perhop.playground as playground_package
from perhop.errors import MissingCapabilityError
from perhop.page import in_script, render
from perhop.playground import judging

#: The kind of view: a simulation, forwarders of real packets, or a sweep.
Kind = Literal["simulation", "forwarding", "sweep"]
_SCRIPT = Path(playground_package.__file__).parent / "assets" / "watch.js"


def script() -> str:
    """Return the script of the page.

    Raises:
        MissingCapabilityError: this copy of perhop was built without the page.

    """
    try:
        return _SCRIPT.read_text(encoding="utf-8")
    except FileNotFoundError as error:
        raise MissingCapabilityError(
            "this copy of perhop was built without the page of --watch=web",
            "in a clone of perhop, run: make playground",
        ) from error


def page(kind: Kind, nonce: str) -> str:
    """Return the page; its scripts have the nonce."""
    return render("watch.html", kind=kind, nonce=nonce, judging=judging(), script=in_script(script()))
