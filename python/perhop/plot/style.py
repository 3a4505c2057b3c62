"""The style of pictures: perhop's settings, which the user's settings override, and the colors of roles."""

from __future__ import annotations

from contextlib import AbstractContextManager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from perhop.errors import InvalidInputError, MissingCapabilityError
from perhop.palette import PALETTE
from perhop.plot.look import Look

_INK, _FAINT = "#24292f", "#d8dee4"
#: Settings of matplotlib that apply unless its file or a program sets them.
_USUAL: dict[str, Any] = {
    "svg.hashsalt": "perhop",
    "svg.fonttype": "none",
    # TrueType, because publishers refuse Type 3.
    "pdf.fonttype": 42,
    "ps.fonttype": 42,
    # A document in LaTeX has fonts of its own.
    "pgf.rcfonts": False,
    "figure.figsize": [7.2, 4.2],
    "savefig.dpi": 160,
    "font.family": ["sans-serif"],
    "font.sans-serif": ["Inter", "Helvetica Neue", "Arial", "DejaVu Sans"],
    "font.size": 9.5,
    "axes.titlesize": "large",
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "legend.fontsize": "small",
    "legend.frameon": False,
    "lines.linewidth": 1.7,
    # A name is text and never a formula.
    "text.parse_math": False,
    "text.color": _INK,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": _FAINT,
    "grid.linewidth": 0.6,
    "axes.axisbelow": True,
    # Axes end in a label, and labels are whole numbers.
    "axes.autolimit_mode": "round_numbers",
    "axes.formatter.useoffset": False,
    "axes.xmargin": 0.0,
    "axes.ymargin": 0.0,
    "figure.facecolor": "white",
}
# Settings that also apply in the axes of a user.
_EVERYWHERE = ("text.parse_math",)
# Families that represent a list of fonts.
_GENERIC = ("serif", "sans-serif", "cursive", "fantasy", "monospace")


def style(look: Look) -> AbstractContextManager[None]:
    """Return the settings of a picture; raises `MissingCapabilityError` without matplotlib.

    Settings of the user, in a matplotlibrc or by a program, have precedence over perhop's settings.

    Raises:
        InvalidInputError: there is no such font.

    """
    matplotlib = _matplotlib()
    theirs = _set_by_user()
    settings = {key: value for key, value in _USUAL.items() if key not in theirs}
    if look.font is not None:
        settings["font.family"] = [_known_font(look.font)]
    if look.font_size is not None:
        settings["font.size"] = look.font_size
    return matplotlib.rc_context(settings)  # type: ignore[no-any-return]


def style_of_user() -> AbstractContextManager[None]:
    """Return the settings for axes that the user made."""
    theirs = _set_by_user()
    return _matplotlib().rc_context({key: _USUAL[key] for key in _EVERYWHERE if key not in theirs})  # type: ignore[no-any-return]


def color(role: str) -> str:
    """Return the color of a role; classes have the colors of the user's property cycle, if there is one."""
    matplotlib = _matplotlib()
    cycle = matplotlib.rcParams["axes.prop_cycle"]
    if role.startswith("class") and cycle != matplotlib.rcParamsDefault["axes.prop_cycle"]:
        colors = cycle.by_key().get("color", [])
        if colors:
            return str(colors[int(role.removeprefix("class")) % len(colors)])
    return PALETTE[role][0]


def _matplotlib() -> Any:  # noqa: ANN401 - the module
    try:
        import matplotlib  # lazy: optional package
    except ImportError as error:
        raise MissingCapabilityError(
            "SVG, PNG, PDF and PGF need matplotlib, which is not installed",
            "pip install 'perhop[plot]'; plots in .html do not need it",
        ) from error
    return matplotlib


def _set_by_user() -> set[str]:
    """Return the settings of the user's matplotlibrc, and those that differ from matplotlib's own."""
    matplotlib = _matplotlib()
    file = Path(matplotlib.matplotlib_fname())
    stated: set[str] = set()
    if file != Path(matplotlib.get_data_path()) / "matplotlibrc":
        stated |= set(matplotlib.rc_params_from_file(file, use_default_template=False))
    changed = {key for key in _USUAL if matplotlib.rcParams[key] != matplotlib.rcParamsDefault[key]}
    return stated | changed


def _known_font(family: str) -> str:
    """Return a family if it has a font; raises `InvalidInputError` otherwise."""
    from matplotlib.font_manager import fontManager  # lazy: optional package

    if family.lower() in _GENERIC:
        return family.lower()
    names = {font.name.lower(): font.name for font in fontManager.ttflist}
    if family.lower() in names:
        return names[family.lower()]
    near = get_close_matches(family.lower(), names, n=3)
    there = [names[name] for name in near] or sorted(names.values())[:5]
    raise InvalidInputError(
        f"--font: there is no font `{family}` on this machine", f"{', '.join(there)}, serif, sans-serif"
    )
