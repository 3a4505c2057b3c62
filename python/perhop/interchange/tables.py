"""All tables as CSV."""

from __future__ import annotations

import json
from os import PathLike
from pathlib import Path

from perhop.results import Results
from perhop.saving import MANIFEST, whole_folder


def write_csv(results: Results, folder: str | PathLike[str]) -> None:
    """Write each table as CSV, with the manifest, which has the units of the columns.

    Raises:
        InvalidInputError: the folder cannot be used, or holds something else.
        OSError: a file cannot be written.

    """
    with whole_folder(Path(folder)) as new:
        for name in results.names:
            results.table(name).write_csv(new / f"{name}.csv")
        text = json.dumps(results.manifest(), ensure_ascii=False, indent=2)
        (new / MANIFEST).write_text(text + "\n", encoding="utf-8")
