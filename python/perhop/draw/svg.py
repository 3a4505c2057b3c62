"""SVG elements as text, each with its kind as a class.

A page sets the colors of the kinds by variables, so that it can be dark. A separate file has them as plain
attributes, because many viewers support neither variables nor style sheets.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from perhop.printable import printable

# Width of a letter at font size 1, a safe estimate for sans-serif fonts.
_LETTER = 0.57
_FONT = "Inter, 'Helvetica Neue', Arial, 'DejaVu Sans', sans-serif"
_INK = ("ink", "#24292f")
#: The style of each kind of element; a pair is a variable of the page and its value in a file.
_KINDS: Mapping[str, Mapping[str, str | tuple[str, str]]] = {
    "paper": {"fill": ("paper", "#ffffff")},
    "box": {"fill": ("card", "#f6f8fa"), "stroke": ("line", "#afb8c1"), "stroke-width": "1"},
    "host": {"fill": ("card", "#f6f8fa"), "stroke": ("muted", "#6e7781"), "stroke-width": "1.4"},
    "router": {"fill": ("accent-soft", "#ddeefb"), "stroke": ("accent", "#0067a8"), "stroke-width": "1.6"},
    "wire": {"stroke": ("muted", "#6e7781"), "stroke-width": "1.6", "fill": "none"},
    "slow": {"stroke": ("accent", "#0067a8"), "stroke-width": "2.6"},
    "wide": {"stroke-width": "3"},
    "wider": {"stroke-width": "4.6"},
    "widest": {"stroke-width": "6.4"},
    "tunnel": {"stroke-dasharray": "5 4"},
    "good": {"stroke": ("green", "#008a66"), "stroke-width": "2.6", "fill": "none"},
    "doubtful": {"stroke": ("yellow", "#c98500"), "stroke-width": "3.2", "fill": "none"},
    "bad": {"stroke": ("red", "#c8501a"), "stroke-width": "3.8", "fill": "none"},
    "flow": {
        "stroke": ("muted", "#6e7781"),
        "stroke-width": "1.3",
        "fill": "none",
        "marker-end": "url(#pd-arrow)",
    },
    "muted": {"fill": ("muted", "#57606a")},
    "head": {"font-weight": "600"},
    "chip": {"fill": ("accent", "#0067a8")},
    "chip-text": {"fill": ("paper", "#ffffff")},
    "green": {"fill": ("green", "#008a66"), "stroke": "none"},
    "yellow": {"fill": ("yellow", "#c98500"), "stroke": "none"},
    "red": {"fill": ("red", "#c8501a"), "stroke": "none"},
    "arrow": {"fill": ("muted", "#6e7781")},
}


def _rule(kind: str, looks: Mapping[str, str | tuple[str, str]]) -> str:
    declarations = (
        f"{name}: {value if isinstance(value, str) else f'var(--{value[0]}, {value[1]})'};"
        for name, value in looks.items()
    )
    return f".pd .{kind} {{ {' '.join(declarations)} }}"


#: The style of all pictures of a page.
STYLE = "\n".join(
    [
        f".pd {{ font-family: {_FONT}; fill: var(--{_INK[0]}, {_INK[1]}); }}",
        *(_rule(kind, looks) for kind, looks in _KINDS.items()),
    ]
)
ARROW = (
    '<defs><marker id="pd-arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
    'orient="auto-start-reverse"><path class="arrow" d="M0 0L8 4L0 8z"/></marker></defs>'
)


def width_of(text: str, size: float = 12.0) -> float:
    """Return the estimated width of a text."""
    return len(text) * size * _LETTER


def text(
    x: float, y: float, content: str, *, size: float = 12.0, kind: str = "", anchor: str = "start"
) -> str:
    """Return a line of text; `y` is its base line."""
    return (
        f'<text x="{x:.1f}" y="{y:.1f}" font-size="{size:g}" text-anchor="{anchor}"'
        f"{_class(kind)}>{_escaped(content)}</text>"
    )


def rectangle(x: float, y: float, width: float, height: float, kind: str, *, radius: float = 6.0) -> str:
    """Return a rectangle with round corners."""
    size = f'width="{width:.1f}" height="{height:.1f}" rx="{radius:g}"'
    return f'<rect x="{x:.1f}" y="{y:.1f}" {size}{_class(kind)}/>'


def path(data: str, kind: str) -> str:
    """Return a path."""
    return f"<path d={quoteattr(data)}{_class(kind)}/>"


def group(label: str, parts: Iterable[str]) -> str:
    """Return a group of parts with a title for screen readers."""
    return f"<g><title>{_escaped(label)}</title>{''.join(parts)}</g>"


def linked(target: str, content: str) -> str:
    """Return content as a link to a place in its page."""
    return f'<a href="#{_escaped(target)}">{content}</a>'


def moved(x: float, y: float, content: str) -> str:
    """Return content moved to another place."""
    return f'<g transform="translate({x:.1f} {y:.1f})">{content}</g>'


@dataclass(frozen=True)
class Picture:
    """A picture: its size, its title for screen readers, and its content."""

    width: float
    height: float
    title: str
    content: str

    @property
    def frame(self) -> str:
        """The attributes of the SVG element of the picture."""
        size = f'viewBox="0 0 {self.width:.0f} {self.height:.0f}" width="{self.width:.0f}"'
        size += f' height="{self.height:.0f}"'
        return f'class="pd" {size} role="img" aria-label={quoteattr(printable(self.title))}'

    def svg(self) -> str:
        """Return the picture as an SVG document."""
        background = f'<rect class="paper" width="{self.width:.0f}" height="{self.height:.0f}"/>'
        plain = f'fill="{_INK[1]}" font-family="{_FONT}"'
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {self.frame} {plain}>'
            f"<title>{_escaped(self.title)}</title>"
            f"{_plain(f'{ARROW}{background}{self.content}')}</svg>\n"
        )


def _plain(content: str) -> str:
    """Return content with the style of each element as attributes."""
    return re.sub(r' class="([a-z -]+)"', lambda found: f"{found[0]}{_attributes(found[1])}", content)


def _attributes(kinds: str) -> str:
    """Return the style of an element with several kinds; later kinds override earlier ones."""
    looks: dict[str, str] = {}
    for kind in kinds.split():
        looks |= {name: value if isinstance(value, str) else value[1] for name, value in _KINDS[kind].items()}
    return "".join(f' {name}="{value}"' for name, value in looks.items())


def _escaped(content: str) -> str:
    # Quotes are also escaped, so that no text can look like the class of an element.
    return escape(printable(content), {'"': "&quot;"})


def _class(kind: str) -> str:
    return f" class={quoteattr(kind)}" if kind else ""
