"""Real-time priority."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

# The lowest real-time priority: above all normal processes, below other real-time processes.
_PRIORITY = 1


@contextmanager
def in_real_time() -> Iterator[None]:
    """Run this process and its children at real-time priority, where the system allows it.

    The measurement then does not depend on other processes. Linux reserves 5 % of the time for other
    processes.
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
