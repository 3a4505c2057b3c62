"""The report: results of studies, sweeps, tunings and runs as one self-contained page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from perhop.configuration import Configuration, configurations
from perhop.errors import InvalidInputError
from perhop.page import render
from perhop.report.comparison import Compared
from perhop.report.overview import card, overlays
from perhop.report.run import Run
from perhop.report.study import Study
from perhop.report.sweep import Swept
from perhop.report.tuning import Tuned
from perhop.results import Results
from perhop.saved import Saved, kind_of
from perhop.saving import replace_file

__all__ = ["page", "page_of_run", "write", "write_run"]

_Section = Study | Swept | Tuned | Compared | Run

# The reported kinds of inner folders: neither captures nor tables as CSV.
_KINDS = ("study", "sweep", "tuning", "comparison", "run", "live")


def page(folders: Sequence[Path], *, back: bool = False) -> str:
    """Return the report of folders of results as HTML; with `back`, classes of replies are shown.

    Raises:
        InvalidInputError: a folder contains no results.
        UnreadableFileError: a file is damaged or cannot be read.

    """
    found = [section for folder in folders for section in _sections(folder, back=back)]
    return _rendered(found)


def page_of_run(results: Results, configurations: Sequence[Configuration] = (), *, back: bool = False) -> str:
    """Return the report of one run as HTML."""
    return _rendered([Run(results, configurations, back=back)])


def _rendered(found: Sequence[_Section]) -> str:
    names = [section.name for section in found]
    for section in found:
        # Two runs of one scenario have equal names but need different anchors.
        section.anchor = _anchor(section.name) + (
            f"-{found.index(section) + 1}" if names.count(section.name) > 1 else ""
        )
    studies, sweeps, tunings, runs = (
        [section for section in found if isinstance(section, kind)] for kind in (Study, Swept, Tuned, Run)
    )
    counts = [len(sections) for sections in (studies, sweeps, tunings, runs)]
    title = found[0].title if len(found) == 1 else _title(*counts)
    parts = [(section.anchor, section.name) for section in found]
    return render(
        "report.html",
        title=title,
        parts=parts,
        alone=len(found) == 1,
        overlays=overlays([run for run in runs if type(run) is Run]),
        cards=[card(section) for section in found] if len(found) > 1 else [],
        studies=studies,
        sweeps=sweeps,
        tunings=tunings,
        runs=runs,
    )


def write(folders: Sequence[Path], file: Path, *, back: bool = False) -> None:
    """Write the report to a file, completely or not at all; raises the errors of `page`, and `OSError`."""
    replace_file(file, page(folders, back=back))


def write_run(
    results: Results, configurations: Sequence[Configuration], file: Path, *, back: bool = False
) -> None:
    """Write the report of one run to a file, completely or not at all; raises `OSError`."""
    replace_file(file, page_of_run(results, configurations, back=back))


def _sections(folder: Path, *, back: bool) -> list[_Section]:
    """Return the sections for a folder of a study, sweep, tuning, comparison or run, or for folders in it."""
    match kind_of(folder):
        case "study":
            return [Study(folder)]
        case "sweep":
            return [Swept(folder)]
        case "tuning":
            return [Tuned(folder), *_sections(folder / "best", back=back)]
        case "comparison":
            compared = Compared(folder)
            return [compared, Run(compared.comparison.first)]
        case "run" | "live":
            saved = Saved.open(folder)
            return [Run(Results.from_saved(saved), configurations(saved), back=back)]
    inside = [subfolder for subfolder in sorted(folder.glob("*/")) if not subfolder.name.startswith(".")]
    within = [subfolder for subfolder in inside if kind_of(subfolder) in _KINDS]
    if not within:
        raise InvalidInputError(
            f"`{folder}` has no results",
            "give folders that `perhop run`, `sweep`, `tune` or `study run` wrote with -o",
        )
    return [section for subfolder in within for section in _sections(subfolder, back=back)]


def _title(studies: int, sweeps: int, tunings: int, runs: int) -> str:
    counted = [(studies, "study", "studies"), (sweeps, "sweep", "sweeps"), (tunings, "tuning", "tunings")]
    counted.append((runs, "run", "runs"))
    parts = [f"{count} {singular if count == 1 else many}" for count, singular, many in counted if count]
    return f"Report: {_listed(parts)}"


def _listed(parts: list[str]) -> str:
    return " and ".join(filter(None, [", ".join(parts[:-1]), parts[-1]]))


def _anchor(name: str) -> str:
    anchor = "".join(letter if letter.isalnum() else "-" for letter in name.lower()).strip("-") or "part"
    # The anchor `overview` is that of the cards.
    return f"{anchor}-part" if anchor == "overview" else anchor
