"""The columns of a table in the simulator's memory, as arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from perhop.interrupts import deferred

if TYPE_CHECKING:
    from collections.abc import Mapping

    import numpy as np
    import numpy.typing as npt

    from perhop._core import TableColumns

    #: The values of a column; for text the code of each row, and the names of the codes.
    Column = npt.NDArray[Any] | tuple[npt.NDArray[np.uint32], list[str]]


def arrays(columns: TableColumns) -> Mapping[str, Column]:
    """Return the columns by name.

    The first call imports numpy from Rust. Signals are deferred, because an interrupted import cannot end
    cleanly.
    """
    with deferred():
        return columns.arrays()
