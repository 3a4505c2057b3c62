"""What `perhop check` says of a router's configuration."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

# The states in the order of the report, and what each means to a reader.
MEANINGS = {
    "suspicious": "understood, and hardly meant",
    "not-recognized": "not commands that perhop knows",
    "not-modelled": "known commands that change what packets experience, and that perhop does not model",
    "modelled": "part of the policy that perhop runs",
    "irrelevant": "known commands without influence on packets",
}
# A simulation may differ from the router because of these.
_CHANGING = ("suspicious", "not-recognized", "not-modelled")
# What there is to say of a file without a line to say it of.
_EMPTY = {
    "severity": "warning",
    "message": "nothing to check: there is no command in it",
    "router": "a router without commands has no interface that is up",
}


def findings(file: Path, text: str, *, strict: bool) -> dict[str, Any]:
    """Return what there is to say of the configuration `text` of `file`."""
    from perhop import _core

    found: dict[str, Any] = json.loads(_core.check_router(text))
    changing = sum(found["counts"][state] for state in _CHANGING) or _is_empty(found)
    if _is_empty(found):
        found["diagnostics"] = [{"line": 1, **_EMPTY}]
    return {"file": str(file), "valid": not (strict and changing), "holds": "router", **found}


def report(found: dict[str, Any], *, lines: bool) -> str:
    """Return the report: the lines by state (all of them with `lines`), and what is wrong with them."""
    wrong: dict[int, list[dict[str, Any]]] = {}
    for diagnostic in found["diagnostics"]:
        wrong.setdefault(diagnostic["line"], []).append(diagnostic)
    counts = ", ".join(f"{count} {_word(state)}" for state, count in found["counts"].items())
    total = sum(found["counts"].values())
    said = _EMPTY["message"] if _is_empty(found) else f"{total} lines: {counts}"
    text = [f"{found['file']}: router, {'ok' if found['valid'] else 'not ok'}: {said}"]
    for state in MEANINGS if lines else _CHANGING:
        of_state = [line for line in found["lines"] if line["state"] == state]
        if of_state:
            text += ["", f"{_word(state)}: {MEANINGS[state]}"]
            for note, several in groupby(of_state, key=lambda line: line.get("note")):
                text += [row for line in several for row in _line(line, wrong)]
                text += [f"        {note}"] if note else []
    errors = sum(diagnostic["severity"] == "error" for diagnostic in found["diagnostics"])
    if errors:
        text += ["", f"{errors} error{'s' * (errors > 1)}, to be put right before perhop runs it"]
    return "\n".join(text)


def _is_empty(found: dict[str, Any]) -> bool:
    return not any(found["counts"].values())


def _line(line: dict[str, Any], wrong: dict[int, list[dict[str, Any]]]) -> list[str]:
    rows = [f"{line['number']:>6}  {line['text'].strip()}"]
    for diagnostic in wrong.get(line["number"], []):
        rows += [
            f"        {diagnostic['severity']}: {diagnostic['message']}",
            f"        {diagnostic['router']}",
        ]
    return rows


def _word(state: str) -> str:
    return state.replace("-", " ")
