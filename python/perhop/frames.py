"""Tables of results as polars frames.

Results import this module when a table is first used: importing polars takes 0.3 s, and a run that prints
only its summary needs no frame.
"""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import polars.selectors as cs

from perhop import _core
from perhop.loading import damaged

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    #: The values of a column; text as codes and the names that they stand for.
    Column = npt.NDArray[Any] | tuple[npt.NDArray[np.uint32], list[str]]

# Columns that count the drops of one cause start with this.
_CAUSE = "dropped_"


def frame(columns: Mapping[str, Column]) -> pl.DataFrame:
    """Return columns as a frame over the memory that the simulator filled."""

    def series(name: str, column: Column) -> pl.Series:
        if isinstance(column, tuple):
            codes, names = column
            return pl.Series(name, codes).cat.to(pl.Enum(names))
        return pl.Series(name, column)

    return pl.DataFrame([series(name, column) for name, column in columns.items()])


def read_parquet(file: Path, content: bytes) -> pl.DataFrame:
    """Return the table in the content of a Parquet file; raises `UnreadableFileError`."""
    try:
        return pl.read_parquet(BytesIO(content))
    except pl.exceptions.PolarsError as error:
        raise damaged(file, str(error).splitlines()[0]) from error


def as_parquet(table: pl.DataFrame) -> bytes:
    """Return a table as Parquet. Polars does not write it: it reports a full disk as another error."""
    content = BytesIO()
    table.write_parquet(content)
    return content.getvalue()


def drops(classes: pl.DataFrame) -> pl.DataFrame:
    """Return the drops per class, cause and replication: the drop columns of `classes`, one row each."""
    causes = cs.starts_with(_CAUSE) - cs.by_name(f"{_CAUSE}packets", f"{_CAUSE}percent")
    return classes.unpivot(
        causes, index=["replication", "class"], variable_name="cause", value_name="packets"
    ).with_columns(pl.col("cause").str.strip_prefix(_CAUSE))


def shares(classes: pl.DataFrame, of: str) -> dict[str, tuple[float, float, float]]:
    """Return the mean share of each class in the sum of column `of`, percent, and its 95 % interval."""
    whole = pl.col(of).sum().over("replication")
    table = classes.with_columns(pl.col("class").cast(pl.String), share=100.0 * pl.col(of) / whole)
    found = {}
    for (name,), rows in table.group_by("class", maintain_order=True):
        samples = rows["share"].to_list()
        found[str(name)] = _core.confidence_95(samples) or (samples[0], samples[0], samples[0])
    return found
