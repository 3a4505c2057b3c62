"""The content of a saved study: `study.json`, read from its folder."""

from __future__ import annotations

from typing import Any

from perhop.saved import Saved
from perhop.shape import ByName, OneOf, Optional, OrNull, Pair

FILE = "study.json"

_VERDICT = OneOf(("agrees", "differs", "not-comparable"))
_JUDGMENT = OneOf(("agrees", "partly", "differs", "not-comparable"))
_POINT = {
    "table": str,
    "case": ByName(str),
    "metric": str,
    "unit": str,
    "measured": OrNull(float),
    "ci95": OrNull(Pair(float)),
    "replications": int,
}
_ERRORS = {
    "metric": str,
    "figures": int,
    "median_percent": OrNull(float),
    "within_percent": ByName(int),
    "beyond_percent": int,
    "read": int,
    "within_reading_errors": ByName(int),
    "beyond_reading_errors": int,
    "published_zero": int,
    "zero_exactly": int,
}
_ELLIPSE = {
    "table": str,
    "case": ByName(str),
    "name": str,
    "x": Pair(str),
    "y": Pair(str),
    "samples": int,
    "center": Pair(float),
    "deviation": Pair(float),
    "correlation": float,
}
_TRACE = {
    "table": str,
    "case": ByName(str),
    "name": str,
    "x": Pair(str),
    "y": Pair(str),
    "places": [float],
    "published": [float],
    "measured": [float],
}
_SHAPE = {
    "study": str,
    "title": str,
    "paper": str,
    "seed": int,
    "figures": [_POINT | {"published": float, "verdict": _VERDICT, "reading_error": Optional(float)}],
    "curves": [_POINT],
    # Only a few studies have ellipses or traces.
    "ellipses": Optional([_ELLIPSE]),
    "traces": Optional([_TRACE]),
    # Studies that were saved before perhop stored errors and the parts of claims lack these keys.
    "errors": Optional([_ERRORS]),
    "claims": [
        {
            "id": str,
            "verdict": _JUDGMENT,
            "evidence": str,
            "parts": Optional(ByName(bool)),
            "where": str,
            "text": str,
        }
    ],
    "tables": [{"id": str, "heading": str, "cases": [{"name": str, "folder": str}]}],
    "metrics": ByName(str),
    "sensitivity": {
        "highlights": [str],
        "published": [OrNull(float)],
        "own": [OrNull(float)],
        "rows": [{"assumption": str, "value": str, "measured": [OrNull(float)], "claims": ByName(_JUDGMENT)}],
    },
    "assumptions": [{"name": str, "value": str, "why": str}],
}


def content(saved: Saved) -> dict[str, Any]:
    """Return the content of `study.json`; raises `UnreadableFileError` if perhop did not write it."""
    found: dict[str, Any] = saved.json(FILE, _SHAPE)
    return found
