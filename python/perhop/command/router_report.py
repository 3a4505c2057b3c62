"""The report of `perhop check` on a router configuration."""

from __future__ import annotations

import json
from itertools import groupby
from pathlib import Path
from typing import Any

from perhop import _core
from perhop.quantity import counted

# The states in the order of the report, and their meanings.
MEANINGS = {
    "suspicious": "valid, but probably a mistake",
    "not-recognized": "commands that perhop does not know",
    "not-modelled": "known commands that affect packets, but that perhop does not model",
    "modelled": "part of the policy that perhop runs",
    "irrelevant": "known commands that do not affect packets",
}
# The states of lines that can make a simulation differ from the router.
_CHANGING = ("suspicious", "not-recognized", "not-modelled")
# The diagnostic for a file without commands.
_EMPTY = {
    "severity": "warning",
    "message": "nothing to check: the file has no commands",
    "router": "a router without commands has no interface that is up",
}


def findings(file: Path, text: str, *, strict: bool) -> dict[str, Any]:
    """Return the findings about the configuration `text` of `file`."""
    found: dict[str, Any] = json.loads(_core.check_router(text))
    changing = sum(found["counts"][state] for state in _CHANGING) or _is_empty(found)
    if _is_empty(found):
        found["diagnostics"] = [{"line": 1, **_EMPTY}]
    return {"file": str(file), "valid": not (strict and changing), "holds": "router", **found}


def report(found: dict[str, Any], *, lines: bool) -> str:
    """Return the report: the lines by state (all of them with `lines`) and their diagnostics."""
    wrong: dict[int, list[dict[str, Any]]] = {}
    for diagnostic in found["diagnostics"]:
        wrong.setdefault(diagnostic["line"], []).append(diagnostic)
    counts = ", ".join(f"{count} {_word(state)}" for state, count in found["counts"].items())
    total = sum(found["counts"].values())
    summary = _EMPTY["message"] if _is_empty(found) else f"{counted(total, 'line')}: {counts}"
    text = [f"{found['file']}: router, {'ok' if found['valid'] else 'not ok'}: {summary}"]
    for state in MEANINGS if lines else _CHANGING:
        of_state = [line for line in found["lines"] if line["state"] == state]
        if of_state:
            text += ["", f"{_word(state)}: {MEANINGS[state]}"]
            for note, several in groupby(of_state, key=lambda line: line.get("note")):
                text += [row for line in several for row in _line(line, wrong)]
                text += [f"        {note}"] if note else []
    errors = sum(diagnostic["severity"] == "error" for diagnostic in found["diagnostics"])
    if errors:
        text += ["", f"{counted(errors, 'error')}; perhop runs only configurations without errors"]
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
