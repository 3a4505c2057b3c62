"""`perhop init`."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path

from perhop import _core
from perhop.errors import Exit, InvalidInputError
from perhop.saving import write_new

_SUFFIX = ".perhop.yaml"
_SCHEMA = "perhop.schema.json"


def init(name: Path = Path("first"), /) -> Exit:
    """Write a starter scenario and, beside it, the schema by which an editor completes and checks it.

    Parameters
    ----------
    name
        Name of the scenario, with or without .perhop.yaml; may have folders before it.

    """
    stem = name.name.removesuffix(_SUFFIX)
    scenario, schema = name.with_name(stem + _SUFFIX), name.with_name(_SCHEMA)
    if not scenario.parent.is_dir():
        raise InvalidInputError(f"{scenario.parent} is not a folder", "make it first")
    template = files("perhop").joinpath("starter.perhop.yaml").read_text(encoding="utf-8")
    write_new(scenario, template)
    # A schema of an earlier version would mislead the editor: it always follows the installed one.
    schema.write_text(_core.schema() + "\n", encoding="utf-8")
    print(f"written: {scenario}, {schema}", file=sys.stderr)
    print(f"next:    perhop run {scenario}", file=sys.stderr)
    return Exit.OK
