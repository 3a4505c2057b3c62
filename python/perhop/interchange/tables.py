"""All tables as CSV."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

import polars as pl

from perhop import disk, manifest
from perhop.results import Results
from perhop.saving import whole_folder


def write_csv(results: Results, folder: str | PathLike[str], *, force: bool = False) -> None:
    """Write each table as CSV, with the manifest, which has the units of the columns.

    With `force`, a folder with other content is renamed.

    Raises:
        InvalidInputError: the folder cannot be used, or has other content.
        OSError: a file cannot be written.

    """
    with whole_folder(Path(folder), "tables", force=force) as new:
        for name in results.names:
            disk.write(new / f"{name}.csv", _as_text(results.table(name)).write_csv())
        about = results.manifest()
        kept = {key: about[key] for key in ("scenario_sha256", "seed", "replications", "tables")}
        manifest.seal(new, "tables", kept)


def _as_text(table: pl.DataFrame) -> pl.DataFrame:
    """Put an apostrophe before names that a spreadsheet reads as a formula (OWASP, "CSV Injection")."""
    names = pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String)
    return table.with_columns(names.str.replace(r"^([=+@\t\r-])", "'${1}"))
