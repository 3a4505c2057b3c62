"""`perhop init`."""

from __future__ import annotations

import os
import sys
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from perhop import _core
from perhop.configuration import read
from perhop.errors import Exit, InvalidInputError
from perhop.inference import infer
from perhop.inference.text import as_yaml
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
    """Write a starter scenario, and the schema for completion and checks in an editor.

    Parameters
    ----------
    name
        Name or path of the scenario, with or without .perhop.yaml; by default first, or the name of the
        configuration.
    from_
        A router configuration: infer the scenario from it, with one entry of traffic for each class.
    interface
        The interface by which packets leave the router; by default the one with most classes.

    """
    if interface is not None and from_ is None:
        raise InvalidInputError("--interface needs --from", "give the router configuration")
    name = name or (Path("first") if from_ is None else Path(from_.name.partition(".")[0]))
    stem = name.name.removesuffix(_SUFFIX)
    scenario, schema = name.with_name(stem + _SUFFIX), name.with_name(_SCHEMA)
    if not scenario.parent.is_dir():
        raise InvalidInputError(f"`{scenario.parent}` is not a folder", "create it first")
    write_new(scenario, _starter() if from_ is None else _inferred(from_, scenario, interface))
    # The schema is always replaced, so that it matches the installed version.
    replace_file(schema, _core.schema() + "\n")
    print(f"written: {scenario}, {schema}", file=sys.stderr)
    print(f"next:    perhop run {scenario}", file=sys.stderr)
    return Exit.OK


def _starter() -> str:
    return files("perhop").joinpath("starter.perhop.yaml").read_text(encoding="utf-8")


def _inferred(router: Path, scenario: Path, interface: str | None) -> str:
    """Return the scenario inferred from a router configuration, with the path relative to the scenario."""
    text = read(router)
    file = os.path.relpath(router, scenario.parent)
    made = infer(text, {"file": file}, scenario.parent, interface=interface)
    print(made.summary, file=sys.stderr)
    return as_yaml(made.data, made.missing, file)
