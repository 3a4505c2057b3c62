"""Colors, by role. Drop precedences are green, yellow and red in hues that the color-blind tell apart.

The hues are those of Okabe & Ito ("Color Universal Design", 2008) and Tol's muted scheme, each in a shade for
light and one for dark paper. Strokes say the same a second time.
"""

from __future__ import annotations

from collections.abc import Iterable

#: Role: color on light paper, on dark paper.
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
#: Role of each drop precedence, 0 first.
PRECEDENCES = ("green", "yellow", "red")
STROKES = {"green": "solid", "yellow": "dashed", "red": "dotted"}
_CLASSES = tuple(role for role in PALETTE if role.startswith("class"))


def of_precedences(count: int) -> list[tuple[str, str]]:
    """Return role and stroke of each drop precedence, 0 first.

    More than three are no drop precedences but, say, the eight of IP, of which a higher one is dropped
    less: they have colors that promise nothing.
    """
    if count > len(PRECEDENCES):
        return of_lines(count)
    return [(role, STROKES[role]) for role in PRECEDENCES[:count]]


def of_classes(names: Iterable[str]) -> dict[str, str]:
    """Return the role of each class, the same in every plot; one that is named by a color has that color."""
    roles: dict[str, str] = {}
    for name in dict.fromkeys(names):
        named = next((color for color in PRECEDENCES if color in name.lower()), None)
        taken = sum(role in _CLASSES for role in roles.values())
        roles[name] = named if named and named not in roles.values() else _CLASSES[taken % len(_CLASSES)]
    return roles


def of_lines(count: int) -> list[tuple[str, str]]:
    """Return role and stroke for lines without a color of their own: no two are alike up to 24."""
    strokes = list(dict.fromkeys(STROKES.values()))
    return [
        (_CLASSES[number % len(_CLASSES)], strokes[number // len(_CLASSES) % len(strokes)])
        for number in range(count)
    ]
