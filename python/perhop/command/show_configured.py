"""Outputs that show a configuration, without a run: `show class-of-service`, `show platform … config`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from perhop.command.options import Json, Platform, ScenarioFile, in_order
from perhop.command.terminal import print_json
from perhop.configuration import read
from perhop.errors import Exit
from perhop.show.output import configured


def _command(command: str) -> Callable[..., Exit]:
    """Return the command that shows the output of `show COMMAND`."""

    def show(
        file: ScenarioFile,
        name: str | None = None,
        /,
        *,
        platform: Platform = None,
        json: Json = False,
    ) -> Exit:
        """Show a part of a configuration as the router would. Nothing is simulated.

        Parameters
        ----------
        file
            A router configuration; - reads standard input.
        name
            The interface or the object. Default: all of them.

        """
        file, name = in_order(file, name)
        found = configured(read(Path(file)), command, name, platform=platform)
        if json:
            documents = [part["document"] for part in found["objects"]]
            router = {"hostname": found["hostname"], "profile": found["profile"], "objects": documents}
            print_json({"schema_version": 1, "routers": [router]})
        else:
            print("".join(part["text"] for part in found["objects"]), end="")
        return Exit.OK

    return show


interface = _command("class-of-service interface")
scheduler_map = _command("class-of-service scheduler-map")
forwarding_class = _command("class-of-service forwarding-class")
classifier = _command("class-of-service classifier")
drop_profile = _command("class-of-service drop-profile")
queue_config = _command("platform hardware fed switch active qos queue config interface")
