"""A plot that can be saved to a file or shown in a notebook."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from perhop.errors import MissingCapabilityError
from perhop.plot.description import Description
from perhop.plot.static import svg
from perhop.plot.writing import write


class Chart(Description):
    """A plot: axes, marks and caption."""

    def save(self, file: str | PathLike[str]) -> None:
        """Write the plot to a file; the suffix selects the format: .svg, .png, .pdf, or .html to zoom.

        Raises:
            InvalidInputError: the suffix is unknown, or the folder does not exist.
            MissingCapabilityError: matplotlib is not installed; .html does not need it.
            OSError: the file cannot be written.

        """
        write([self], Path(file))

    def _repr_svg_(self) -> str | None:
        """Draw the plot in a notebook, if matplotlib is installed."""
        try:
            return svg(self)
        except MissingCapabilityError:
            return None
