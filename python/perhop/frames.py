"""Tables of results as polars frames.

Results import this module when a table is first used: importing polars takes 0.3 s, and a run that prints
only its summary needs no frame.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl
import polars.selectors as cs

from perhop import _core
from perhop.errors import MissingCapabilityError
from perhop.layout import Kind
from perhop.loading import damaged

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from perhop.arrays import Column

# The check whether a column has this type of polars.
_HOLDS: Mapping[Kind, Callable[[pl.DataType], bool]] = {
    "text": lambda found: isinstance(found, pl.Enum),
    "count": lambda found: found == pl.UInt64,
    "float": lambda found: found == pl.Float64,
}
# The prefix of columns that count the drops of one cause.
_CAUSE = "dropped_"


class TableFrame(pl.DataFrame):
    """A table as a polars frame; a conversion that lacks a package reports which package to install.

    The results of operations of polars, such as a selection, are plain frames.
    """

    def to_pandas(self, **options: Any) -> pd.DataFrame:  # noqa: ANN401 - those of polars
        """Return the table as a frame of pandas; raises `MissingCapabilityError` without the packages."""
        with _converting("pandas"):
            return super().to_pandas(**options)

    def to_arrow(self, **options: Any) -> pa.Table:  # noqa: ANN401 - those of polars
        """Return the table as an Arrow table; raises `MissingCapabilityError` without the package."""
        with _converting("Arrow"):
            return super().to_arrow(**options)


@contextmanager
def _converting(to: str) -> Iterator[None]:
    """Raise `MissingCapabilityError` in place of an import error of pandas or pyarrow."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in {"pandas", "pyarrow"}:
            raise
        # Use one line, because a traceback does not show `help`.
        message = f"a table as {to} needs the package {error.name}: pip install 'perhop[pandas]'"
        raise MissingCapabilityError(message) from None


def frame(columns: Mapping[str, Column]) -> pl.DataFrame:
    """Return columns as a frame over the memory that the simulator filled."""

    def series(name: str, column: Column) -> pl.Series:
        if isinstance(column, tuple):
            codes, names = column
            return pl.Series(name, codes).cat.to(pl.Enum(names))
        return pl.Series(name, column)

    return TableFrame([series(name, column) for name, column in columns.items()])


def of_rows(rows: Sequence[Mapping[str, Any]], columns: Mapping[str, type]) -> pl.DataFrame:
    """Return rows as a frame with these column types, even if no row has a value."""
    return TableFrame([dict(row) for row in rows], schema=dict(columns))


def read_parquet(file: Path, content: bytes, columns: Mapping[str, Kind]) -> pl.DataFrame:
    """Return the table in the content of a Parquet file.

    Raises:
        UnreadableFileError: the content is not a Parquet file, or one of `columns` is missing, has gaps or
            has another type.

    """
    try:
        table = pl.read_parquet(BytesIO(content))
    # The reader of Parquet may panic on other files.
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
        raise damaged(file, str(error).splitlines()[0]) from error
    for name, kind in columns.items():
        if name not in table.columns:
            raise damaged(file, f"there is no column `{name}`")
        if not _HOLDS[kind](table.schema[name]):
            raise damaged(file, f"column `{name}` contains {table.schema[name]} instead of {kind}")
        if table[name].null_count():
            raise damaged(file, f"column `{name}` has gaps")
    return TableFrame(table)


def as_parquet(table: pl.DataFrame) -> bytes:
    """Return a table as Parquet. Polars does not write the file, because it hides that a disk is full."""
    content = BytesIO()
    table.write_parquet(content)
    return content.getvalue()


def drops(classes: pl.DataFrame) -> pl.DataFrame:
    """Return the drops per class, cause and replication: the drop columns of `classes`, one row each."""
    causes = cs.starts_with(_CAUSE) - cs.by_name(f"{_CAUSE}packets", f"{_CAUSE}percent")
    rows = classes.unpivot(
        causes, index=["replication", "class"], variable_name="cause", value_name="packets"
    )
    return TableFrame(rows.with_columns(pl.col("cause").str.strip_prefix(_CAUSE)))


def with_ends(table: pl.DataFrame, first: Sequence[str], last: Sequence[str]) -> pl.DataFrame:
    """Return a table with all its columns, some of them first and some last."""
    return TableFrame(table.select(*first, pl.exclude(*first, *last), *last))


def means(groups: Sequence[Mapping[str, Any]]) -> pl.DataFrame:
    """Return the metrics of a summary's classes: a row for each class and metric, with its 95 % interval."""
    rows = [
        {
            "class": group["class"],
            "metric": name,
            "unit": value["unit"],
            "mean": value["mean"],
            "low": (value["ci95"] or (None, None))[0],
            "high": (value["ci95"] or (None, None))[1],
        }
        for group in groups
        for name, value in group.items()
        if isinstance(value, Mapping)
    ]
    columns = dict.fromkeys(("class", "metric", "unit"), str) | dict.fromkeys(("mean", "low", "high"), float)
    return of_rows(rows, columns)


def shares(classes: pl.DataFrame, column: str) -> dict[str, tuple[float, float, float]]:
    """Return the mean share of each class in the sum of `column`, percent, and its 95 % interval."""
    whole = pl.col(column).sum().over("replication")
    table = classes.with_columns(pl.col("class").cast(pl.String), share=100.0 * pl.col(column) / whole)
    found = {}
    for (name,), rows in table.group_by("class", maintain_order=True):
        samples = rows["share"].to_list()
        found[str(name)] = _core.confidence_95(samples) or (samples[0], samples[0], samples[0])
    return found
