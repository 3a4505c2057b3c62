"""Small charts that summarize a result, as SVG without a script: for the overview of a report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import Any

from markupsafe import Markup

from perhop.plot.description import Description, Line, Points
from perhop.printable import printable
from perhop.quantity import number

_WIDTH, _HEIGHT = 320.0, 96.0
_LEFT, _RIGHT, _TOP, _FOOT = 10.0, 10.0, 8.0, 76.0
# The ends of a strip are 1/4 and 4 times the published value; values beyond are drawn at the ends.
_DECADE = 2.0
_SMALL = 10.0
_MOST_CLASSES = 4


def ratios(figures: Sequence[Mapping[str, Any]]) -> Markup | None:
    """Draw a mark for each figure of a study, at the ratio of measured to published; `None` without any."""
    shown = [
        figure
        for figure in figures
        if figure["verdict"] != "not-comparable" and figure["published"] and figure["measured"] is not None
    ]
    if not shown:
        return None
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    half = middle - _LEFT

    def place(ratio: float) -> float:
        octaves = math.log2(ratio) if ratio > 0 else -_DECADE
        return middle + half * max(-1.0, min(1.0, octaves / _DECADE))

    near, far = place(1 / 1.1), place(1.1)
    parts = [
        f'<rect class="near" x="{near:.1f}" y="{_TOP}" width="{far - near:.1f}"'
        f' height="{_FOOT - _TOP - 4}"/>',
        _line(_LEFT, _FOOT - 4, _WIDTH - _RIGHT, _FOOT - 4),
    ]
    # Marks at about the same place are stacked.
    piles: dict[int, int] = {}
    room = _FOOT - _TOP - 12
    highest = max(_piled(place(figure["measured"] / figure["published"]) for figure in shown).values())
    step = min(7.0, room / max(highest - 1, 1))
    for figure in sorted(shown, key=lambda figure: figure["verdict"]):
        x = place(figure["measured"] / figure["published"])
        pile = round(x / 6)
        above = piles.get(pile, 0)
        piles[pile] = above + 1
        y = _FOOT - 10 - step * above
        parts.append(f'<circle class="{figure["verdict"]}" cx="{6 * pile:.1f}" cy="{y:.1f}" r="2.8"/>')
    labels = [
        (_LEFT, "start", "a quarter"),
        (middle, "middle", "as published (± 10 % shaded)"),
        (_WIDTH - _RIGHT, "end", "4 times"),
    ]
    parts += [_text(x, _HEIGHT - 6, text, anchor) for x, anchor, text in labels]
    agree = sum(figure["verdict"] == "agrees" for figure in shown)
    return _svg(f"Measured over published, {len(shown)} figures: {agree} agree", parts)


def _piled(places: Any) -> dict[int, int]:  # noqa: ANN401 - numbers
    piles: dict[int, int] = {}
    for x in places:
        piles[round(x / 6)] = piles.get(round(x / 6), 0) + 1
    return piles


def classes(rows: Sequence[Mapping[str, Any]]) -> Markup | None:
    """Draw the delivered and the dropped fraction of the offered load of each class."""
    shown = [
        class_row
        for class_row in rows
        if class_row["offered_packets"]["mean"] and not class_row["class"].endswith(" (back)")
    ]
    shown = shown[:_MOST_CLASSES]
    if not shown:
        return None
    begin, end = 104.0, _WIDTH - 64.0
    row = (_HEIGHT - 8) / len(shown)
    parts = []
    for place, class_row in enumerate(shown):
        y = 4 + row * place
        lost = (class_row["dropped_percent"]["mean"] or 0.0) / 100.0
        height = min(row - 6, 14.0)
        top = y + (row - height) / 2
        kept = (end - begin) * (1 - lost)
        parts += [
            _text(begin - 8, y + row / 2 + 3.5, _short(str(class_row["class"])), "end"),
            f'<rect class="kept" x="{begin}" y="{top:.1f}" width="{kept:.1f}" height="{height:.1f}"/>',
            f'<rect class="lost" x="{begin + kept:.1f}" y="{top:.1f}" width="{end - begin - kept:.1f}"'
            f' height="{height:.1f}"/>',
            _text(end + 6, y + row / 2 + 3.5, f"{number(100 * lost, 2)} % lost", "start"),
        ]
    return _svg("Delivered and dropped by class", parts)


def sketch(chart: Description) -> Markup | None:
    """Draw the lines or points of a chart without their scales."""
    marks = [mark for mark in chart.marks if isinstance(mark, Line | Points)]
    places = [
        (float(x), float(y))
        for mark in marks
        for x, y in zip(mark.x, mark.y, strict=True)
        if math.isfinite(x) and math.isfinite(y)
    ]
    if not places:
        return None
    (least_x, greatest_x), (least_y, greatest_y) = (
        _ends([point[side] for point in places]) for side in (0, 1)
    )
    parts = [_line(_LEFT, _FOOT, _WIDTH - _RIGHT, _FOOT)]
    for mark in marks:
        at = [
            (
                _LEFT + (_WIDTH - _LEFT - _RIGHT) * (float(x) - least_x) / (greatest_x - least_x),
                _FOOT - (_FOOT - _TOP) * (float(y) - least_y) / (greatest_y - least_y),
            )
            for x, y in zip(mark.x, mark.y, strict=True)
            if math.isfinite(x) and math.isfinite(y)
        ]
        if isinstance(mark, Line):
            way = " ".join(f"{x:.1f},{y:.1f}" for x, y in at)
            parts.append(f'<polyline class="line" points="{way}"/>')
        else:
            parts += [f'<circle class="agrees" cx="{x:.1f}" cy="{y:.1f}" r="2.8"/>' for x, y in at]
    parts.append(_text(_LEFT, _HEIGHT - 6, chart.x.title, "start"))
    parts.append(_text(_WIDTH - _RIGHT, _HEIGHT - 6, chart.y.title, "end"))
    return _svg(chart.title, parts)


def _ends(values: Sequence[float]) -> tuple[float, float]:
    least, greatest = min(values), max(values)
    return (least, greatest) if greatest > least else (least - 0.5, least + 0.5)


def _short(name: str) -> str:
    return name if len(name) <= 15 else f"{name[:14]}…"


def _line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line class="rule" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}"/>'


def _text(x: float, y: float, text: str, anchor: str) -> str:
    place = f'x="{x:.1f}" y="{y:.1f}" font-size="{_SMALL}" text-anchor="{anchor}"'
    return f"<text {place}>{escape(printable(text))}</text>"


def _svg(label: str, parts: Sequence[str]) -> Markup:
    frame = f'class="glance" viewBox="0 0 {_WIDTH:.0f} {_HEIGHT:.0f}" role="img"'
    return Markup(f'<svg {frame} aria-label="{escape(printable(label))}">{"".join(parts)}</svg>')
