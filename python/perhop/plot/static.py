"""Plots as static pictures, drawn by matplotlib from their description."""

from __future__ import annotations

import io
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from perhop.errors import InvalidInputError, MissingCapabilityError
from perhop.plot.description import Cells, Description, Parallel, Rule
from perhop.plot.fitting import Ruler, fit_ticks, spread
from perhop.plot.look import Look
from perhop.plot.marks import Pen
from perhop.plot.style import color, style, style_of_user
from perhop.printable import printable
from perhop.saving import whole_file

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure
    from matplotlib.text import Annotation

_CAPTION_COLOR = "#57606a"
# The fraction of a figure's height for the axes with their labels; the title has the rest.
_AXES_PART = 0.86
# Inches: the edge, the space between blocks, the height of a row of categories, and the minimum height of
# axes.
_EDGE, _SPACE, _ROW, _LEAST_AXES = 0.08, 0.06, 0.3, 0.8
# The height of a row of a heat map, inches. The axes of a heat map are at most 1.5 times as high as the
# default axes.
_CELL_ROW, _MOST_CELLS = 0.22, 1.5
_CAPTION_SIZE = 0.79
_LINE_HEIGHT = 1.25
_MOST_COLUMNS = 4
# Below this width the legend has the names of rules.
_ROOM_FOR_RULES = 5.0
_PASSES = 3
# The approximate width of a figure outside of its axes, inches.
_BESIDE_AXES = 1.0
# Characters with a meaning in TeX.
_TEX = {symbol: f"\\{symbol}" for symbol in "&%$#_{}"}
_TEX |= {"~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}"}


def write(charts: Sequence[Description], file: Path, look: Look | None = None) -> None:
    """Write plots to an SVG, PNG, PDF or PGF file; a PDF has a page for each plot, other files have one plot.

    Raises:
        InvalidInputError: there is no such font, or the size is too small for the text.
        MissingCapabilityError: matplotlib, or LaTeX to measure the text of PGF, is not installed.

    """
    look = look or Look()
    with style(look), whole_file(file) as new:
        if file.suffix == ".pdf":
            from matplotlib.backends.backend_pdf import PdfPages  # lazy: optional package

            # Without date and version, equal plots give equal bytes.
            with PdfPages(new, metadata={"CreationDate": None}) as pages:
                for chart in charts:
                    pages.savefig(figure(chart, look))
            return
        (chart,) = charts
        if file.suffix == ".pgf":
            _require_latex()
            figure(chart, look, words=tex).savefig(new, format="pgf")
            return
        metadata = {"Date": None, "Creator": "perhop"} if file.suffix == ".svg" else {}
        figure(chart, look).savefig(new, format=file.suffix[1:], metadata=metadata)


def svg(chart: Description) -> str:
    """Return a plot as SVG."""
    text = io.StringIO()
    look = Look()
    with style(look):
        figure(chart, look).savefig(text, format="svg", metadata={"Date": None, "Creator": "perhop"})
    return text.getvalue()


def draw(axes: Axes, chart: Description) -> Axes:
    """Draw a plot into the axes of a user, in the style of the user, and return the axes."""
    with style_of_user():
        words = _usual_words()
        Pen(axes, words, names_rules=True).draw(chart)
        _label(axes, chart, words)
        axes.set_title(words(chart.title), wrap=True)
        if axes.get_legend_handles_labels()[0]:
            axes.legend()
    return axes


def tex(text: str) -> str:
    """Return a text with the TeX characters escaped."""
    return "".join(_TEX.get(letter, letter) for letter in printable(text))


def _usual_words() -> Callable[[str], str]:
    from matplotlib import rcParams  # lazy: optional package

    return tex if rcParams["text.usetex"] else printable


def _require_latex() -> None:
    from matplotlib import rcParams  # lazy: optional package

    program = rcParams["pgf.texsystem"]
    if shutil.which(program) is None:
        raise MissingCapabilityError(
            f"PGF needs LaTeX, but `{program}` is not installed",
            "install it, set pgf.texsystem in matplotlibrc, or write .pdf",
        )


def figure(chart: Description, look: Look, words: Callable[[str], str] | None = None) -> Figure:
    """Return a figure: title, legend, axes and caption below each other, with a look's size."""
    from matplotlib import rcParams  # lazy: optional package
    from matplotlib.figure import Figure  # lazy: optional package

    words = words or _usual_words()
    width, height = rcParams["figure.figsize"]
    axes_height = _AXES_PART * height * (1.0 if look.width is None else look.width / width)
    # The layout is constrained from the beginning, because it places the scale of colors.
    resolution = rcParams["savefig.dpi"]
    # Letters are measured at the resolution of the file.
    dpi = rcParams["figure.dpi"] if resolution == "figure" else resolution
    made = Figure(figsize=(look.width or width, height), dpi=dpi, layout="constrained")
    axes = made.add_subplot()
    names_rules = made.get_figwidth() < _ROOM_FOR_RULES
    Pen(axes, words, names_rules=names_rules).draw(chart)
    _label(axes, chart, words)
    blocks = _Blocks(made, axes, chart, words)
    rules = [] if names_rules else _name_rules(axes, chart, words)
    rows = blocks.least_axes(chart, axes_height, len(rules))
    if look.height is not None:
        rows = look.height - blocks.height
        if rows < _LEAST_AXES:
            raise InvalidInputError(
                f"--size: {look.height:.3g} inches are too low for the text", f"{blocks.height + 2:.1f}in"
            )
    blocks.arrange(rows)
    _settle(made, axes, chart, rules)
    return made


def _settle(made: Figure, axes: Axes, chart: Description, rules: Sequence[Annotation]) -> None:
    """Lay out a figure without overlapping texts."""
    ruler = Ruler(made)
    wide, high = made.get_size_inches()
    _wrap_labels(made, ruler, (wide - _BESIDE_AXES, high - _BESIDE_AXES))
    made.draw_without_rendering()
    is_parallel = any(isinstance(mark, Parallel) for mark in chart.marks)
    parallels = tuple(axis.title for mark in chart.marks if isinstance(mark, Parallel) for axis in mark.axes)
    fit_ticks(axes, parallels if is_parallel else chart.x.categories, chart.y.categories)
    for _ in range(_PASSES):
        made.draw_without_rendering()
        _wrap_labels(made, ruler)
        spread(made, rules, axes)
    made.set_layout_engine("none")


def _wrap_labels(made: Figure, ruler: Ruler, sides: tuple[float, float] | None = None) -> None:
    """Wrap the labels of axes at the lengths of the axes, or at the given lengths in inches."""
    for axes in made.axes:
        box = axes.get_window_extent()
        wide, high = sides or (box.width / made.dpi, box.height / made.dpi)
        for label, room in ((axes.xaxis.label, wide), (axes.yaxis.label, high)):
            text = " ".join(label.get_text().split())
            lines = ruler.wrapped(text, room, label.get_fontproperties())
            label.set_text("\n".join(lines))


def _name_rules(axes: Axes, chart: Description, words: Callable[[str], str]) -> list[Annotation]:
    """Write the names of rules at the right of the axes, with a line from each name to its rule."""
    from matplotlib import rcParams  # lazy: optional package

    return [
        axes.annotate(
            words(mark.name),
            (1.0, mark.at),
            xycoords=("axes fraction", "data"),
            xytext=(16, 0),
            textcoords="offset points",
            ha="left",
            va="center",
            fontsize=_CAPTION_SIZE * rcParams["font.size"],
            color=color(mark.color),
            arrowprops={
                "arrowstyle": "-",
                "color": color(mark.color),
                "linewidth": 0.7,
                "shrinkA": 0,
                "shrinkB": 0,
                "relpos": (0.0, 0.5),
            },
            annotation_clip=False,
        )
        for mark in chart.marks
        if isinstance(mark, Rule)
    ]


@dataclass
class _Blocks:
    """The title, the legend and the caption, above and below the axes."""

    figure: Figure
    axes: Axes
    chart: Description
    words: Callable[[str], str]

    def __post_init__(self) -> None:
        from matplotlib import rcParams  # lazy: optional package
        from matplotlib.font_manager import FontProperties  # lazy: optional package

        self._ruler = Ruler(self.figure)
        room = self.figure.get_figwidth() - 2 * _EDGE
        size = rcParams["font.size"]
        self._title = FontProperties(size=rcParams["axes.titlesize"], weight=rcParams["axes.titleweight"])
        self._caption = FontProperties(size=_CAPTION_SIZE * size)
        self._title_lines = self._ruler.wrapped(self.words(self.chart.title), room, self._title)
        self._caption_lines = self._ruler.wrapped(self.words(self.chart.caption), room, self._caption)
        self._legend = self._fitting_legend(room)
        self._legend_height = self._ruler.size(self._legend)[1] + _SPACE if self._legend else 0.0

    @property
    def above(self) -> float:
        """The height of all content above the axes, inches."""
        return _EDGE + self._lines_height(self._title_lines, self._title) + self._legend_height

    @property
    def below(self) -> float:
        """The height of all content below the axes, inches."""
        return _EDGE + self._lines_height(self._caption_lines, self._caption)

    @property
    def height(self) -> float:
        """The height of all blocks, inches."""
        return self.above + self.below

    def least_axes(self, chart: Description, usual: float, rules: int) -> float:
        """Return the height that axes need for rows of categories and for the names of rules, inches."""
        usual += self._turned_names(chart)
        if any(isinstance(mark, Cells) for mark in chart.marks):
            return max(usual, min(len(chart.y.categories) * _CELL_ROW + 1.0, _MOST_CELLS * usual))
        names = (rules + 1) * _LINE_HEIGHT * self._caption.get_size_in_points() / 72.0
        return max(usual, len(chart.y.categories) * _ROW + 0.8, names + 0.8)

    def _turned_names(self, chart: Description) -> float:
        """Return the height of the names below the axes if they must be turned, inches; otherwise 0."""
        from matplotlib import rcParams  # lazy: optional package
        from matplotlib.font_manager import FontProperties  # lazy: optional package

        font = FontProperties(size=rcParams["xtick.labelsize"])
        widest = max(
            (self._ruler.width(self.words(category), font) for category in chart.x.categories), default=0.0
        )
        has_room = len(chart.x.categories) * widest < self.figure.get_figwidth() - _BESIDE_AXES
        return 0.0 if has_room else widest

    def arrange(self, rows: float) -> None:
        """Place the blocks above and below axes with the height `rows`."""
        from matplotlib import rcParams  # lazy: optional package
        from matplotlib.layout_engine import ConstrainedLayoutEngine  # lazy: optional package

        whole = rows + self.height
        wide = self.figure.get_figwidth()
        self.figure.set_size_inches(wide, whole)
        side = rcParams["axes.titlelocation"]
        at = {"left": _EDGE / wide, "center": 0.5, "right": 1.0 - _EDGE / wide}[side]
        title, caption = "\n".join(self._title_lines), "\n".join(self._caption_lines)
        self.figure.text(
            at, 1.0 - _EDGE / whole, title, ha=side, va="top", fontproperties=self._title, linespacing=1.1
        )
        self.figure.text(
            _EDGE / wide,
            _EDGE / whole,
            caption,
            va="bottom",
            fontproperties=self._caption,
            color=_CAPTION_COLOR,
        )
        if self._legend:
            top = whole - self.above + self._legend_height
            self._legend.set_bbox_to_anchor((_EDGE / wide, top / whole), self.figure.transFigure)
        rect = (0.0, self.below / whole, 1.0, rows / whole)
        layout = self.figure.get_layout_engine()
        assert isinstance(layout, ConstrainedLayoutEngine), "it was made with the figure"
        layout.set(rect=rect, w_pad=_EDGE, h_pad=_SPACE, wspace=0.02, hspace=0.0)

    def _fitting_legend(self, room: float) -> Any:  # noqa: ANN401 - a legend, or none
        """Return a legend with as many columns as fit; names that are too long are wrapped."""
        from matplotlib import rcParams  # lazy: optional package
        from matplotlib.font_manager import FontProperties  # lazy: optional package

        handles, labels = self.axes.get_legend_handles_labels()
        if not handles:
            return None
        font = FontProperties(size=rcParams["legend.fontsize"])
        # A handle is two letters wide, with spaces around it.
        handle = 4.0 * font.get_size_in_points() / 72.0
        labels = ["\n".join(self._ruler.wrapped(label, room - handle, font)) for label in labels]
        for columns in range(min(_MOST_COLUMNS, len(handles)), 0, -1):
            made = self.figure.legend(
                handles, labels, loc="upper left", ncols=columns, borderaxespad=0.0, borderpad=0.1
            )
            if columns == 1 or self._ruler.size(made)[0] <= room:
                return made
            made.remove()
        return None

    def _lines_height(self, lines: Sequence[str], font: Any) -> float:  # noqa: ANN401 - properties of a font
        points = len(lines) * _LINE_HEIGHT * font.get_size_in_points()
        return float(points) / 72.0 + (_SPACE if lines else 0.0)


def _label(axes: Axes, chart: Description, words: Callable[[str], str]) -> None:
    """Label the axes and set their ends."""
    if any(isinstance(mark, Parallel) for mark in chart.marks):
        return
    axes.set_xlabel(words(chart.x.title))
    axes.set_ylabel(words(chart.y.title))
    if chart.x.least is not None or chart.x.greatest is not None:
        axes.set_xlim(left=chart.x.least, right=chart.x.greatest)
    if chart.x.categories:
        axes.set_xticks(range(len(chart.x.categories)), labels=list(map(words, chart.x.categories)))
        axes.set_xlim(-0.5, len(chart.x.categories) - 0.5)
    if chart.y.categories:
        axes.set_yticks(range(len(chart.y.categories)), labels=list(map(words, chart.y.categories)))
        side = 0.5 if any(isinstance(mark, Cells) for mark in chart.marks) else 0.6
        axes.set_ylim(-side, len(chart.y.categories) - 1 + side)
    else:
        # Leave room for the full width of a line at the greatest value.
        top = None if chart.y.greatest is None else chart.y.greatest * 1.02
        axes.set_ylim(bottom=chart.y.least, top=top)
    _label_logarithms(axes, chart)


def _label_logarithms(axes: Axes, chart: Description) -> None:
    """Set up logarithmic axes: from the first to the last tick, each with its label."""
    if chart.x.log:
        ticks = chart.ticks("x")
        axes.set_xscale("log")
        axes.set_xticks(ticks, labels=[f"{tick:,g}" for tick in ticks])
        axes.set_xticks([], minor=True)
        axes.set_xlim(ticks[0], ticks[-1])
    if chart.y.log:
        ticks = chart.ticks("y")
        axes.set_yscale("log")
        axes.set_yticks(ticks, labels=[f"{tick:,g}" for tick in ticks])
        axes.set_yticks([], minor=True)
        axes.set_ylim(ticks[0], ticks[-1])
    if chart.x.reversed:
        axes.invert_xaxis()
