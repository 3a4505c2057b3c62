"""`perhop draw`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from perhop.command.options import Overrides, RoutesFile, ScenarioFile, pairs
from perhop.command.parameter import Parameter
from perhop.command.terminal import print_written
from perhop.configuration import router_text
from perhop.draw import draw as picture
from perhop.draw.router import router
from perhop.draw.still import image
from perhop.errors import Exit, InvalidInputError
from perhop.saving import replace_file, whole_file
from perhop.scenario import Scenario

_SUFFIXES = (".svg", ".png", ".pdf")
# A file without a suffix, such as /dev/stdout, is SVG.
_SVG = (".svg", "")


def draw(
    scenario: ScenarioFile,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    set_: Overrides = None,
    routes: RoutesFile = None,
) -> Exit:
    """Draw the network and policies of a scenario, the policies of a router, or a network of devices.

    Parameters
    ----------
    scenario
        The scenario file, a router configuration, Linux tc commands, or a folder of configurations.
    output
        File to write, .svg, .png or .pdf; - writes SVG to standard output. Default: the name of the file with
        .svg.

    """
    if output is not None and output != Path("-") and output.suffix not in (*_SVG, *_SUFFIXES):
        raise InvalidInputError(
            f"`{output}` does not end in the suffix of a drawing", f"use {_listed(_SUFFIXES)}"
        )
    text = _text(scenario, pairs(set_), routes)
    if output == Path("-"):
        print(text, end="")
        return Exit.OK
    file = output or Path(scenario.resolve().name.partition(".")[0] + ".svg")
    if file.suffix in _SVG:
        replace_file(file, text)
    else:
        made = image(text, file.suffix)
        with whole_file(file) as new:
            new.write_bytes(made)
    print_written(file)
    return Exit.OK


def _text(scenario: Path, changes: dict[str, str], routes: Path | None) -> str:
    """Return the drawing of a file or a folder as SVG."""
    if scenario.is_dir():
        if changes:
            raise InvalidInputError("--set applies to scenarios, not to a folder of configurations")
        from perhop.draw.devices import devices_picture  # lazy: only for folders
        from perhop.network import Network  # lazy: only for folders

        return devices_picture(Network.read(scenario, routes).summary()).svg()
    if routes is not None:
        raise InvalidInputError("--routes is for a folder of configurations", "leave it out")
    configuration = router_text(scenario)
    if configuration is None:
        return picture(Scenario.load(scenario, changes))
    if changes:
        raise InvalidInputError("--set applies to scenarios, not to router configurations")
    return router(configuration)


def _listed(suffixes: tuple[str, ...]) -> str:
    return f"{', '.join(suffixes[:-1])} or {suffixes[-1]}"
