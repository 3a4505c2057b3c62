"""A folder of configurations in place of a scenario."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from perhop.errors import InvalidInputError
from perhop.scenario import RouterOptions

if TYPE_CHECKING:
    from perhop.network.running import NetworkRun


def network_of(
    folder: Path | None, routes: Path | None, changes: Mapping[str, object], of_router: RouterOptions
) -> NetworkRun | None:
    """Return the network of a folder of configurations; `None` for a file.

    Raises:
        InvalidInputError: an option does not apply, or no traffic can run.

    """
    if folder is None or not folder.is_dir():
        if routes is not None:
            raise InvalidInputError("--routes is for a folder of configurations", "leave it out")
        return None
    from perhop.command.network_run import network_run  # lazy: only for folders

    return network_run(folder, of_router, routes, changes)
