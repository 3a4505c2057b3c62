"""The report: studies and runs as one page that is complete in itself."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from perhop.errors import InvalidInputError
from perhop.page import render
from perhop.report.run import Run
from perhop.report.study import Study

__all__ = ["page", "write"]


def page(folders: Sequence[Path]) -> str:
    """Return the report of results that `perhop run -o` and `perhop study run -o` wrote, as HTML."""
    found = [one for folder in folders for one in _sections(folder)]
    names = [one.name for one in found]
    for one in found:
        # Two runs of one scenario have the same name, not the same anchor.
        one.anchor = _anchor(one.name) + (f"-{found.index(one) + 1}" if names.count(one.name) > 1 else "")
    studies, runs = ([one for one in found if isinstance(one, kind)] for kind in (Study, Run))
    title = found[0].title if len(found) == 1 else _title(len(studies), len(runs))
    parts = [(one.anchor, one.name) for one in found]
    return render("report.html", title=title, parts=parts, studies=studies, runs=runs)


def write(folders: Sequence[Path], file: Path) -> None:
    """Write the report to a file, whole or not at all."""
    from perhop.saving import replace_file

    replace_file(file, page(folders))


def _sections(folder: Path) -> list[Study | Run]:
    """Return what a folder holds: a study, a run, or folders of them."""
    if (folder / "study.json").is_file():
        return [Study(folder)]
    if (folder / "summary.json").is_file():
        return [Run(folder)]
    inside = [one for one in sorted(folder.glob("*/")) if not one.name.startswith(".")]
    within = [one for one in inside if any((one / name).is_file() for name in ("study.json", "summary.json"))]
    if not within:
        raise InvalidInputError(
            f"{folder} holds no results", "give folders that `perhop run -o` or `perhop study run -o` wrote"
        )
    return [section for one in within for section in _sections(one)]


def _title(studies: int, runs: int) -> str:
    counted = [(studies, "study", "studies"), (runs, "run", "runs")]
    said = [f"{count} {one if count == 1 else many}" for count, one, many in counted if count]
    return f"Report: {' and '.join(said)}"


def _anchor(name: str) -> str:
    return "".join(letter if letter.isalnum() else "-" for letter in name.lower()).strip("-") or "part"
