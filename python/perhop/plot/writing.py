"""Writing plots to files; the suffix of the name selects the format."""

from __future__ import annotations

from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

from perhop.errors import InvalidInputError
from perhop.page import render
from perhop.plot import static
from perhop.plot.description import Description
from perhop.saving import replace_file

_STILL = (".svg", ".png", ".pdf")


def usual_suffix() -> str:
    """Return the default suffix: `.svg`, or `.html` where matplotlib is not installed."""
    return ".svg" if find_spec("matplotlib") else ".html"


def check_suffix(file: Path) -> None:
    """Refuse a file name without a known suffix."""
    if file.suffix not in (*_STILL, ".html"):
        raise InvalidInputError(
            f"`{file}` has no suffix of a known format",
            f"use {', '.join(_STILL)} or .html",
        )


def check_file(file: Path, *, made: Path | None = None) -> None:
    """Refuse a file that could not be written later; the folder `made` will exist by then."""
    check_suffix(file)
    if file.is_dir():
        raise InvalidInputError(f"`{file}` is a folder", "give the name of a file")
    folder = file.absolute().parent
    if not folder.is_dir() and (made is None or folder != made.absolute()):
        raise InvalidInputError(f"`{folder}` is not a folder", "create it first")


def charts_page(charts: Sequence[Description]) -> str:
    """Return an HTML page of plots."""
    title = charts[0].title if len(charts) == 1 else f"{len(charts)} charts"
    return render("charts.html", title=title, parts=[], charts=charts)


def write(charts: Sequence[Description], file: Path) -> list[Path]:
    """Write plots and return the files: one HTML page, or one picture each, numbered from 2 on."""
    check_suffix(file)
    if file.suffix == ".html":
        replace_file(file, charts_page(charts))
        return [file]
    written = []
    for number, chart in enumerate(charts, start=1):
        target = file if number == 1 else file.with_stem(f"{file.stem}-{number}")
        static.write(chart, target)
        written.append(target)
    return written
