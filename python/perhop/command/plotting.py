"""The plots of `--plot`. Plots in the folder of results become part of the results."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from perhop.command.terminal import print_written
from perhop.saving import named

if TYPE_CHECKING:
    from perhop.plot.description import Description
    from perhop.plot.writing import Destination

#: A destination, and the function that makes its charts.
Wanted = tuple["Destination", "Callable[[], Sequence[Description]]"]


class Plots:
    """Plots to write; an error in one of them does not lose the results."""

    def __init__(self, output: Path | None, wanted: Sequence[Wanted]) -> None:
        folder = None if output is None else output.absolute()
        self._output = output
        self._inside = [plot for plot in wanted if plot[0].file.absolute().parent == folder]
        self._rest = [plot for plot in wanted if plot not in self._inside]
        self._written: list[Path] = []
        self._error: Exception | None = None

    @property
    def are_inside(self) -> bool:
        """Whether a plot belongs into the folder of results."""
        return bool(self._inside)

    def write_into(self, folder: Path) -> None:
        """Write the plots of the folder of results, before the folder is sealed."""
        for where, charts in self._inside:
            try:
                # The folder is hidden until all is written.
                with named(folder, where.file.parent):
                    drawn = charts()
                    made = _write(drawn, folder / where.file_for(drawn).name)
            except Exception as error:
                self._error = error
                return
            self._written += [where.file.with_name(file.name) for file in made]

    def write_rest(self, *, quiet: bool) -> None:
        """Report the plots that `write_into` wrote, raise their error, and write the other plots."""
        for file in self._written:
            _report_written(file, quiet=quiet)
        if self._error is not None:
            raise self._error
        for where, charts in self._rest:
            drawn = charts()
            for written in _write(drawn, where.file_for(drawn)):
                _report_written(written, quiet=quiet)


def _write(charts: Sequence[Description], file: Path) -> list[Path]:
    from perhop.plot.writing import write  # lazy: polars, which only plots need

    return write(charts, file)


def _report_written(file: Path, *, quiet: bool) -> None:
    if not quiet:
        print_written(file)
