"""Limits of this machine and of captures.

The limits have a separate module, because related modules import more than `perhop check` needs.
"""

from __future__ import annotations

import os

# The largest link-layer frame in bytes: the largest IP packet and room for any header around it.
LARGEST_FRAME = 65_535 + 64


def processors() -> int:
    """Return the number of processors that this process may use."""
    return len(os.sched_getaffinity(0))
