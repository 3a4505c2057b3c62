"""`perhop init`."""

from __future__ import annotations

import os
import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from perhop import _core
from perhop.errors import Exit, InvalidInputError
from perhop.saving import replace_file, write_new

_SUFFIX = ".perhop.yaml"
_SCHEMA = "perhop.schema.json"


def init(
    name: Path | None = None,
    /,
    *,
    from_: Annotated[Path | None, Parameter(name="--from")] = None,
    interface: str | None = None,
) -> Exit:
    """Write a starter scenario and, beside it, the schema by which an editor completes and checks it.

    Parameters
    ----------
    name
        Name of the scenario, with or without .perhop.yaml; may have folders before it. By default first, or
        the name of the configuration.
    from_
        A router's configuration: the scenario is put around it, with one kind of traffic for each class.
    interface
        The interface by which packets leave that router; by default the one with most classes.

    """
    if interface is not None and from_ is None:
        raise InvalidInputError("--interface says nothing without --from", "name the router's configuration")
    name = name or (Path("first") if from_ is None else Path(from_.name.partition(".")[0]))
    stem = name.name.removesuffix(_SUFFIX)
    scenario, schema = name.with_name(stem + _SUFFIX), name.with_name(_SCHEMA)
    if not scenario.parent.is_dir():
        raise InvalidInputError(f"{scenario.parent} is not a folder", "make it first")
    write_new(scenario, _starter() if from_ is None else _around(from_, scenario, interface))
    # A schema of an earlier version would mislead the editor: it always follows the installed one.
    replace_file(schema, _core.schema() + "\n")
    print(f"written: {scenario}, {schema}", file=sys.stderr)
    print(f"next:    perhop run {scenario}", file=sys.stderr)
    return Exit.OK


def _starter() -> str:
    return files("perhop").joinpath("starter.perhop.yaml").read_text(encoding="utf-8")


def _around(router: Path, scenario: Path, interface: str | None) -> str:
    """Return a scenario around a router's configuration, which it names relative to itself."""
    from perhop.around import around
    from perhop.around.text import as_yaml
    from perhop.configuration import read

    text = read(router)
    file = os.path.relpath(router, scenario.parent)
    made = around(text, {"file": file}, scenario.parent, interface=interface)
    print(made.summary, file=sys.stderr)
    return as_yaml(made.data, made.missing, file)
