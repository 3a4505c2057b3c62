"""`perhop init`."""

from __future__ import annotations

import os
from difflib import get_close_matches
from importlib.resources import files
from pathlib import Path
from typing import Annotated

from perhop import _core
from perhop.command.options import Assume, Interface, Load, Over, Platform, Policy, Traffic, assumptions
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_note
from perhop.configuration import configured, read
from perhop.errors import Exit, InvalidInputError
from perhop.inference import infer
from perhop.inference.text import as_yaml
from perhop.saving import replace_file, write_new
from perhop.scenario import RouterOptions

_SUFFIX = ".perhop.yaml"
_SCHEMA = "perhop.schema.json"
_USUAL = "voice"


def init(
    name: Path | None = None,
    /,
    *,
    template: Annotated[str | None, Parameter(name="--template")] = None,
    from_: Annotated[Path | None, Parameter(name="--from")] = None,
    interface: Annotated[
        Interface,
        Parameter(help="The output interface of the router. Default: the interface with the most classes."),
    ] = None,
    whole_port: str | None = None,
    platform: Platform = None,
    assume: Assume = None,
    rate: str | None = None,
    policy: Policy = None,
    traffic: Traffic = None,
    load: Load = None,
    over: Over = None,
) -> Exit:
    """Write a starter scenario, and the schema for completion and checks in an editor.

    Parameters
    ----------
    name
        Name or path of the scenario, with or without .perhop.yaml. Default: first, or the name of the
        configuration.
    template
        Template: voice (the default), classes, shaping, wred, sqm, l4s, rfc4594 or rfc8325.
    from_
        A router configuration: infer the scenario from it, with one traffic entry per class.
    whole_port
        Instead of --interface: a physical port. All its tunnels and sub-interfaces with policies run at the
        same time, and share the rate of the port.
    rate
        For tc: the line rate. For a policy that is not attached to an interface: the rate of the interface
        that perhop adds for it.
    over
        With --traffic: the time between the two outputs of the router, or the time for which the counters of
        one output have counted, for example 300s. Default: perhop uses the rates that the output prints.

    """
    options: RouterOptions = {
        "interface": interface,
        "whole_port": whole_port,
        "platform": platform,
        "assume": assumptions(assume),
        "rate": rate,
        "policy": policy,
        "traffic": traffic,
        "load": load,
        "over": over,
    }
    if from_ is None and (given := [name for name, value in options.items() if value]):
        raise InvalidInputError(
            f"--{given[0].replace('_', '-')} needs --from", "give the router configuration"
        )
    if from_ is not None and template is not None:
        raise InvalidInputError("--template and --from exclude each other", "give only one of the two")
    name = name or (Path("first") if from_ is None else Path(from_.name.partition(".")[0]))
    stem = name.name.removesuffix(_SUFFIX)
    scenario, schema = name.with_name(stem + _SUFFIX), name.with_name(_SCHEMA)
    if not scenario.parent.is_dir():
        raise InvalidInputError(f"`{scenario.parent}` is not a folder", "create it first")
    write_new(
        scenario, _starter(template or _USUAL) if from_ is None else _inferred(from_, scenario, options)
    )
    # The schema is always replaced, so that it matches the installed version.
    replace_file(schema, _core.schema() + "\n")
    print_note(f"written: {scenario}, {schema}")
    print_note(f"next:    perhop run {scenario}")
    return Exit.OK


def templates() -> list[str]:
    """Return the names of the templates."""
    found = files("perhop").joinpath("templates").iterdir()
    return sorted(file.name.removesuffix(_SUFFIX) for file in found if file.name.endswith(_SUFFIX))


def _starter(template: str) -> str:
    if template not in templates():
        near = get_close_matches(template, templates(), n=1)
        help = f"did you mean `{near[0]}`?" if near else f"templates: {', '.join(templates())}"
        raise InvalidInputError(f"there is no template `{template}`", help)
    return files("perhop").joinpath("templates", template + _SUFFIX).read_text(encoding="utf-8")


def _inferred(router: Path, scenario: Path, options: RouterOptions) -> str:
    """Return the scenario inferred from a router configuration, with the path relative to the scenario."""
    file = os.path.relpath(router, scenario.parent)
    traffic = options["traffic"]
    made = infer(
        read(router),
        configured({"file": file}, options["platform"], options["assume"]),
        scenario.parent,
        interface=options["interface"],
        whole_port=options.get("whole_port"),
        rate=options["rate"],
        policy=options["policy"],
        traffic=None if traffic is None else Path(traffic),
        load=options.get("load"),
        over=options.get("over"),
    )
    print_note(made.summary)
    ignored = [f"not run: {part}" for part in made.not_looked_at]
    return as_yaml(made.data, [*ignored, made.load, *made.offers, *made.missing], file)
