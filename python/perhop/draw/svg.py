"""SVG elements as text. Colors are variables of the page, with defaults for a light background."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from xml.sax.saxutils import escape, quoteattr

from perhop.printable import printable

# Width of a letter at font size 1, a safe estimate for sans-serif fonts.
_LETTER = 0.57
# Classes instead of attributes, so that a dark page can set other colors.
STYLE = """
.pd { font-family: Inter, "Helvetica Neue", Arial, "DejaVu Sans", sans-serif; fill: var(--ink, #24292f); }
.pd .paper { fill: var(--paper, #ffffff); }
.pd .box { fill: var(--card, #f6f8fa); stroke: var(--line, #afb8c1); stroke-width: 1; }
.pd .host { fill: var(--card, #f6f8fa); stroke: var(--muted, #6e7781); stroke-width: 1.4; }
.pd .router { fill: var(--accent-soft, #ddeefb); stroke: var(--accent, #0067a8); stroke-width: 1.6; }
.pd .wire { stroke: var(--muted, #6e7781); stroke-width: 1.6; fill: none; }
.pd .slow { stroke: var(--accent, #0067a8); stroke-width: 3; }
.pd .flow { stroke: var(--muted, #6e7781); stroke-width: 1.3; fill: none; marker-end: url(#pd-arrow); }
.pd .muted { fill: var(--muted, #57606a); }
.pd .head { font-weight: 600; }
.pd .chip { fill: var(--accent, #0067a8); }
.pd .chip-text { fill: var(--paper, #ffffff); }
.pd .green { fill: var(--green, #008a66); stroke: none; }
.pd .yellow { fill: var(--yellow, #c98500); stroke: none; }
.pd .red { fill: var(--red, #c8501a); stroke: none; }
.pd .arrow { fill: var(--muted, #6e7781); }
"""
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
        f"{_class(kind)}>{escape(printable(content))}</text>"
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
    return f"<g><title>{escape(printable(label))}</title>{''.join(parts)}</g>"


def moved(x: float, y: float, content: str) -> str:
    """Return content in another place."""
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
        """The attributes of its SVG element."""
        size = f'viewBox="0 0 {self.width:.0f} {self.height:.0f}" width="{self.width:.0f}"'
        size += f' height="{self.height:.0f}"'
        return f'class="pd" {size} role="img" aria-label={quoteattr(printable(self.title))}'

    def svg(self) -> str:
        """Return the picture as an SVG document."""
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {self.frame}>'
            f"<title>{escape(printable(self.title))}</title><style>{STYLE}</style>{ARROW}"
            f'<rect class="paper" width="100%" height="100%"/>{self.content}</svg>\n'
        )


def _class(kind: str) -> str:
    return f" class={quoteattr(kind)}" if kind else ""
