"""`perhop draw`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from perhop.command.options import Overrides, pairs
from perhop.command.terminal import say_written
from perhop.configuration import router_text
from perhop.draw import draw as picture
from perhop.draw.router import router
from perhop.errors import Exit, InvalidInputError
from perhop.saving import replace_file
from perhop.scenario import Scenario


def draw(
    scenario: Path,
    /,
    *,
    output: Annotated[Path | None, Parameter(name=["--output", "-o"])] = None,
    set_: Overrides = None,
) -> Exit:
    """Draw the network and policies of a scenario, or the policies of a router configuration, as SVG.

    Parameters
    ----------
    scenario
        The scenario file, or the running configuration of a Cisco IOS router.
    output
        File to write, - for standard output; by default the name of the file with .svg.
    set_
        Replace a value of the scenario, as path=value; may be given several times.

    """
    if output is not None and output.suffix not in (".svg", "") and output != Path("-"):
        raise InvalidInputError(f"`{output}` does not end in .svg", "drawings are SVG files")
    configuration = router_text(scenario)
    if configuration is None:
        text = picture(Scenario.load(scenario, pairs(set_)))
    elif set_:
        raise InvalidInputError("--set replaces values of a scenario, not of a router configuration")
    else:
        text = router(configuration)
    if output == Path("-"):
        print(text, end="")
        return Exit.OK
    file = output or Path(scenario.name.partition(".")[0] + ".svg")
    replace_file(file, text)
    say_written(file)
    return Exit.OK
