"""Colors by role. Drop precedences are green, yellow and red in hues that color-blind readers distinguish.

The hues are those of Okabe & Ito ("Color Universal Design", 2008) and Tol's muted scheme, each in one shade
for a light and one for a dark background. Line styles repeat the distinction.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

#: Role: color on a light background, on a dark background.
PALETTE: dict[str, tuple[str, str]] = {
    "green": ("#008a66", "#1fc49a"),
    "yellow": ("#c98500", "#f0b429"),
    "red": ("#c8501a", "#ff8a5c"),
    "class0": ("#0067a8", "#56b4e9"),
    "class1": ("#b3578f", "#e59cc9"),
    "class2": ("#332288", "#a99cf5"),
    "class3": ("#2f8f83", "#5fd0c3"),
    "class4": ("#7f7a1e", "#cfc95a"),
    "class5": ("#882255", "#dd7fae"),
    "class6": ("#4d7fa8", "#9cc7ea"),
    "class7": ("#7a5c3e", "#cfae8c"),
    "queue": ("#8a94a0", "#78838f"),
    "limit": ("#30363d", "#c9d1d9"),
    "published": ("#5b6470", "#aab4c0"),
    "measured": ("#0067a8", "#56b4e9"),
}
#: Role of each drop precedence, starting with 0.
PRECEDENCES = ("green", "yellow", "red")
#: Line style of each role that does not have a solid line.
STROKES = {"green": "solid", "yellow": "dashed", "red": "dotted"}
_HUES = sum(role.startswith("class") for role in PALETTE)
# Additional classes repeat the colors with other line styles.
for _again, _stroke in enumerate(("dashed", "dotted"), start=1):
    for _hue in range(_HUES):
        PALETTE[f"class{_again * _HUES + _hue}"] = PALETTE[f"class{_hue}"]
        STROKES[f"class{_again * _HUES + _hue}"] = _stroke
#: Colors of a scale from least to greatest: viridis, whose lightness grows with the value.
SEQUENTIAL = ("#440154", "#3b528b", "#21918c", "#5ec962", "#fde725")
_CLASSES = tuple(role for role in PALETTE if role.startswith("class"))


def of_precedences(count: int) -> list[tuple[str, str]]:
    """Return role and line style of each drop precedence, starting with 0.

    More than three roles are, for example, the eight IP precedences, of which a higher value is dropped less.
    Such roles have neutral colors.
    """
    if count > len(PRECEDENCES):
        return of_lines(count)
    return [(role, STROKES[role]) for role in PRECEDENCES[:count]]


def of_classes(names: Iterable[str]) -> dict[str, str]:
    """Return the role of each class, the same in every plot; a class named after a color has that color."""
    roles: dict[str, str] = {}
    for name in dict.fromkeys(names):
        # Match whole words: `assured` is not red.
        words = re.findall("[a-z]+", name.lower())
        named = next((color for color in PRECEDENCES if color in words), None)
        taken = sum(role in _CLASSES for role in roles.values())
        roles[name] = named if named and named not in roles.values() else _CLASSES[taken % len(_CLASSES)]
    return roles


def of_lines(count: int) -> list[tuple[str, str]]:
    """Return role and line style of `count` lines without their own color; up to 24 lines are distinct."""
    roles = [_CLASSES[number % len(_CLASSES)] for number in range(count)]
    return [(role, STROKES.get(role, "solid")) for role in roles]
