"""Writing plots to files; the suffix of the name selects the format."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

from perhop.errors import InvalidInputError
from perhop.page import render
from perhop.plot import static
from perhop.plot.description import Description
from perhop.plot.look import Look
from perhop.saving import replace_file

_STILL = (".svg", ".png", ".pdf", ".pgf")
#: The suffixes of all formats.
SUFFIXES = (*_STILL, ".html")
# The formats with one file for all charts.
_WHOLE = (".pdf", ".html")


def usual_suffix() -> str:
    """Return the default suffix: `.svg`, or `.html` where matplotlib is not installed."""
    return ".svg" if find_spec("matplotlib") else ".html"


@dataclass(frozen=True)
class Destination:
    """A file that a user named, or a file with a default name."""

    file: Path
    #: Whether the user named the file; otherwise the format depends on the number of plots.
    is_named: bool = True

    @classmethod
    def usual(cls, name: str, folder: Path | None = None) -> Destination:
        """Return the default file of plots called `name`: one picture, or one page for several plots."""
        return cls((folder or Path()) / (name + usual_suffix()), is_named=False)

    def file_for(self, charts: Sequence[Description]) -> Path:
        """Return the file for some plots. Without a name from the user, several plots are one page."""
        several = not self.is_named and len(charts) > 1
        return (
            self.file.with_name(self.file.name.removesuffix(self.file.suffix) + ".html")
            if several
            else self.file
        )


def check_suffix(file: Path) -> None:
    """Refuse a file name without a known suffix."""
    if file.suffix not in SUFFIXES:
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


def write(charts: Sequence[Description], file: Path, look: Look | None = None) -> list[Path]:
    """Write plots and return the files: one HTML page or PDF, or one picture each, numbered from 2 on."""
    check_suffix(file)
    look = look or Look()
    worded = look.worded(charts)
    if file.suffix == ".html":
        if look.is_of_pictures:
            raise InvalidInputError(
                "--size and --font do not apply to pages, which fill their window",
                f"write {', '.join(_STILL)}",
            )
        replace_file(file, charts_page(worded))
        return [file]
    if file.suffix in _WHOLE:
        static.write(worded, file, look)
        return [file]
    written = []
    for number, chart in enumerate(worded, start=1):
        target = file if number == 1 else file.with_stem(f"{file.stem}-{number}")
        static.write([chart], target, look)
        written.append(target)
    return written
