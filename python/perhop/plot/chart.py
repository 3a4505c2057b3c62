"""A plot that can be saved to a file, drawn into axes of matplotlib or shown in a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING

from perhop.errors import MissingCapabilityError
from perhop.plot.description import Description
from perhop.plot.look import Look
from perhop.plot.static import draw, svg
from perhop.plot.writing import write

if TYPE_CHECKING:
    from matplotlib.axes import Axes


class Chart(Description):
    """A plot: axes, marks and caption."""

    def save(
        self,
        file: str | PathLike[str],
        *,
        title: str | None = None,
        labels: Mapping[str, str] | None = None,
        size: str | None = None,
        font: str | None = None,
    ) -> None:
        """Write the plot to a file; the suffix selects the format: .svg, .png, .pdf, .pgf, or .html to zoom.

        Args:
            file: the file to write.
            title: the title in place of the default title.
            labels: texts in place of names: of classes, runs, parameters, or of the axes `x` and `y`.
            size: width, or width and height, as `3.4in` or `8.5cm x 6cm`.
            font: a family, a size, or both, as `Times New Roman 8pt`.

        Raises:
            InvalidInputError: the suffix, a name, the size or the font is unknown, or the folder does not
                exist.
            MissingCapabilityError: matplotlib is not installed, which .html does not need, or LaTeX for .pgf.
            OSError: the file cannot be written.

        """
        write([self], Path(file), Look.parse(title, labels, size, font))

    def draw(self, ax: Axes) -> Axes:
        """Draw the plot into axes of matplotlib, in the style of the axes, and return the axes.

        Raises:
            MissingCapabilityError: matplotlib is not installed.

        """
        return draw(ax, self)

    def _repr_svg_(self) -> str | None:
        """Draw the plot in a notebook, if matplotlib is installed."""
        try:
            return svg(self)
        except MissingCapabilityError:
            return None
