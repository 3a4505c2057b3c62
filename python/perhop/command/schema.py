"""`perhop schema`."""

from __future__ import annotations

from perhop import _core
from perhop.errors import Exit


def schema() -> Exit:
    """Print the JSON Schema of scenario files."""
    print(_core.schema())
    return Exit.OK
