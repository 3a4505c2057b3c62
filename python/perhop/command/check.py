"""`perhop check`."""

from __future__ import annotations

import json as json_text
import sys
from pathlib import Path
from typing import Annotated, Any

from cyclopts import Parameter

from perhop.command.options import Json
from perhop.errors import Exit


def check(
    files: Annotated[list[Path], Parameter(negative=())], /, *, json: Json = False, strict: bool = False
) -> Exit:
    """Say what is wrong with scenario files, without running them.

    Parameters
    ----------
    files
        Scenario files.
    json
        Print all findings as one JSON document.
    strict
        Warnings count as errors.

    """
    from perhop import ScenarioError, _core
    from perhop.command.terminal import colors, show_warnings

    findings: list[dict[str, Any]] = []
    for file in files:
        try:
            kind: str | None
            kind, warnings = _core.check(file)
            show_warnings(warnings)
            diagnostics, valid = warnings.diagnostics, not (strict and len(warnings))
        except ScenarioError as error:
            kind, diagnostics, valid = None, error.diagnostics, False
            print(error.colored if colors(sys.stderr) else error, file=sys.stderr)
        findings.append({"file": str(file), "valid": valid, "holds": kind, "diagnostics": diagnostics})
        if not json:
            print(f"{file}: {f'{kind}, ok' if valid else 'not ok'}")
    if json:
        print(json_text.dumps({"schema_version": 1, "files": findings}, ensure_ascii=False))
    return Exit.OK if all(finding["valid"] for finding in findings) else Exit.INVALID_INPUT
