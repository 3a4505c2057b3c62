"""Going ahead of what else a machine does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

# The least of the real-time priorities: ahead of all that is fair, behind whoever needs it more.
_PRIORITY = 1


@contextmanager
def in_real_time() -> Iterator[None]:
    """Let this process and those it starts go ahead of others, where the system allows it.

    What packets meet in the network is to be measured, not what else the machine has to do. Linux keeps a
    twentieth of the time for the others.
    """
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(_PRIORITY))
    except PermissionError:
        yield
        return
    try:
        yield
    finally:
        os.sched_setscheduler(0, *before)
