"""Engines for many runs: the threads of this machine, or the workers of a cluster.

An engine takes points from an iterator and returns finished points. The result depends only on the point, so
every engine gives the same results with any number of workers. To add an engine, add a module to this package
and a case to `named`.
"""

from __future__ import annotations

from typing import get_args

from perhop.engines.embedded import Embedded
from perhop.engines.work import Assignment, Engine, Finished, Name, Task
from perhop.errors import InvalidInputError

__all__ = ["Assignment", "Embedded", "Engine", "Finished", "Name", "Task", "named"]


def named(name: str, *, threads: int | None = None, scheduler: str | None = None) -> Engine:
    """Return an engine by its name.

    Args:
        name: `embedded`, the threads of this process, or `dask`.
        threads: the number of threads of `embedded` or of a local cluster; by default one per processor.
        scheduler: for `dask`: the address of a scheduler, as `tls://10.0.0.1:8786`; without it, a cluster
            within this process is started and ended.

    Raises:
        InvalidInputError: there is no such engine, it is not installed, or an option does not fit it.

    """
    if name == "dask":
        from perhop.engines.dask import Dask  # lazy: a cluster's client, which few need

        return Dask(scheduler, threads)
    if name != "embedded":
        names = ", ".join(get_args(Name))
        raise InvalidInputError(f"there is no engine `{name}`", f"engines: {names}")
    if scheduler is not None:
        raise InvalidInputError("--scheduler is for the engine dask", "add --engine dask")
    return Embedded(threads)
