"""Charts into files: the suffix chooses how they are drawn."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from perhop.errors import InvalidInputError
from perhop.plot.chart import Chart
from perhop.saving import replace_file

_STILL = (".svg", ".png", ".pdf")


def usual_suffix() -> str:
    """Return how a plot's file name ends where nobody says: `.svg`, or `.html` where nothing draws SVG."""
    return ".svg" if find_spec("matplotlib") else ".html"


def check_suffix(file: Path) -> None:
    """Refuse a file name that says nothing of a known format."""
    if file.suffix not in (*_STILL, ".html"):
        raise InvalidInputError(
            f"{file}: the name does not say which kind of picture it is",
            f"end it in {', '.join(_STILL)} or .html",
        )


def check_file(file: Path, *, made: Path | None = None) -> None:
    """Refuse a file that could not be written in the end; the folder `made` will be there by then."""
    check_suffix(file)
    if file.is_dir():
        raise InvalidInputError(f"{file} is a folder", "give the name of a file")
    folder = file.absolute().parent
    if not folder.is_dir() and (made is None or folder != made.absolute()):
        raise InvalidInputError(f"{folder} is no folder", "create it first")


def write(charts: Sequence[Chart], file: Path) -> list[Path]:
    """Write charts and return the files: one page in HTML, else a picture each, numbered from 2 on."""
    check_suffix(file)
    if file.suffix == ".html":
        from perhop.page import charts_page

        replace_file(file, charts_page(charts))
        return [file]
    from perhop.plot import static

    written = []
    for number, chart in enumerate(charts, start=1):
        target = file if number == 1 else file.with_stem(f"{file.stem}-{number}")
        static.write(chart, target)
        written.append(target)
    return written
