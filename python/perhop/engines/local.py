"""A Dask cluster within this process. It cannot be reached from outside.

A scheduler that listens runs the code of each client that connects. On loopback this is every local user,
so the scheduler, its worker and the client exchange messages in memory, and none of them has a web page.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import dask
import distributed

# Failures reach the client as exceptions; the log is not shown.
_SILENT = "CRITICAL"
_IN_MEMORY = "inproc"
# The functions of Dask have no types.
_LIBRARY: Any = distributed


class _Unreachable:
    """A part of a cluster that opens no port. Dask opens a port for its page even if the page is off."""

    def start_http_server(self, *arguments: object, **options: object) -> None:
        """Do nothing, instead of listening."""


class _Scheduler(_Unreachable, distributed.Scheduler):
    """A scheduler without a port."""


class _Worker(_Unreachable, distributed.Worker):
    """A worker without a port."""


@contextmanager
def local_client(threads: int) -> Iterator[Any]:
    """Yield the client of a new cluster of one worker with `threads` threads, until the end of the block.

    The simulator runs without Python, so that threads do not wait for each other.
    """
    with tempfile.TemporaryDirectory(prefix="perhop-dask-") as private:
        settings = {
            # A worker would stop a hundred times a second for a profile that is not shown, 3 % of its time.
            "distributed.worker.profile.enabled": False,
            # The default is a folder with the same name for all users.
            "temporary-directory": private,
        }
        scheduler = {"protocol": _IN_MEMORY, "port": 0, "dashboard": False}
        # The worker is this process, so Dask could only pause it.
        worker = {"nthreads": threads, "memory_limit": 0, "local_directory": private}
        with (
            dask.config.set(settings),
            _LIBRARY.SpecCluster(
                scheduler={"cls": _Scheduler, "options": scheduler},
                workers={0: {"cls": _Worker, "options": worker}},
                silence_logs=_SILENT,
            ) as cluster,
            _LIBRARY.Client(cluster) as client,
        ):
            yield client
