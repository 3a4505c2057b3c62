"""`perhop schema`."""

from __future__ import annotations

import json
from typing import Annotated, Literal

from perhop import _core
from perhop.answers import facts_schema, json_schema
from perhop.command.parameter import Parameter
from perhop.errors import Exit

Document = Literal["scenario", "network.yaml", "check", "run", "trace", "diff", "prove", "network", "test"]


def schema(name: Annotated[Document, Parameter(negative=())] = "scenario", /) -> Exit:
    """Print the JSON Schema of a file of perhop, or of the document that a command prints with --json.

    Parameters
    ----------
    name
        scenario, network.yaml: the files; others: the JSON document that the command prints.

    """
    match name:
        case "scenario":
            print(_core.schema())
        case "network.yaml":
            print(json.dumps(facts_schema(), indent=2))
        case _:
            print(json.dumps(json_schema(name), indent=2))
    return Exit.OK
