"""The columns of a table in the simulator's memory, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perhop.interrupts import deferred

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    from perhop._core import TableColumns

    #: The values of a column; text as codes with their names.
    Column = npt.NDArray[Any] | tuple[npt.NDArray[np.uint32], list[str]]


def arrays(columns: TableColumns) -> Mapping[str, Column]:
    """Return the columns by name.

    The first call loads numpy from within Rust, which cannot end cleanly if a signal interrupts it.
    """
    with deferred():
        return columns.arrays()
