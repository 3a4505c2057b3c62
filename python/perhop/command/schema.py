"""`perhop schema`."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from cyclopts import Parameter

from perhop import _core
from perhop.answers import json_schema
from perhop.errors import Exit

Document = Literal["scenario", "check", "run", "trace", "diff", "test"]


def schema(name: Annotated[Document, Parameter(negative=())] = "scenario", /) -> Exit:
    """Print the JSON Schema of scenario files, or of the document that a command prints with --json.

    Parameters
    ----------
    name
        scenario: scenario files; check, run, trace, diff or test: the JSON document that the command prints.

    """
    print(_core.schema() if name == "scenario" else json.dumps(json_schema(name), indent=2))
    return Exit.OK
